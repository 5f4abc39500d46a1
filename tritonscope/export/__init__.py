"""A capture handed on: an archive, a folder that overrides a kernel, a page, a script. Nothing here writes a file."""
