"""Files of other tools, made into captures: Triton's cache and dump folders, pass dumps, traces, archives of captures.

Whatever is read here is hostile until it is parsed: regular files alone, links never followed, everything bounded, no
name taken for a path. Nothing is executed or unpickled.
"""
