"""Triton's cache key put together again from its components, without Triton: what proves that they are all of it.

The components, as `engine.cachekey.components` takes them from a compilation and captures keep them:

    hash         the key itself
    triton       {version, files: {module: hash}}        Triton's own code
    kernel       the name of the kernel in `functions`
    functions    {name: {hash, line, source, references, globals, hashed}}   the kernel and all it calls
    parameters   [name]
    signature    {parameter: type}                       {"repr": text} where the type is a tuple
    attributes   {parameter or item of a tuple: text}    such as "[['tt.divisibility', 16]]"
    constants    {parameter or item of a tuple: text}
    backend      {name, hash}                            the hash is text with the assembler's version in it
    options      {option: text}                          null for extern_libs, which are:
    libraries    {library: hash of the file, or its path where Triton hashes that}
    environment  {variable: text}                        those that Triton says count
    stages_hook  text, "" mostly                         of a hook that inspects or changes stages
    notes        [sentence]                              what could not be taken apart

`triton`, `options`, one of `functions`, or the whole source as `source` may be {"opaque": text} where this Triton does
it in a way not known here. The order of the keys of an object counts. Standard library only.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["combine_function", "recombine", "source_hash"]


def recombine(components: Mapping[str, Any]) -> str:
    """The key, 64 hex digits, from its components; it never looks at `hash`."""
    key = "-".join(
        [
            _triton(components["triton"]),
            source_hash(components),
            components["backend"]["hash"],
            _options(components),
            str(sorted(components["environment"].items())),
        ]
    )
    return _sha256(key + components["stages_hook"])


def combine_function(name: str, functions: Mapping[str, Any]) -> str:
    """The hash of one function from its source, its line, what it refers to and the globals it read."""
    function = functions[name]
    if "opaque" in function:
        return str(function["opaque"])
    text = function["source"]
    for reference in function["references"]:
        called = reference.get("function")
        text += (combine_function(called, functions) if called else "") + reference["text"]
    whole = _sha256(text) + str(function["line"])
    if not function["hashed"]:
        return whole
    read = ", ".join(f"({name!r}, {value})" for name, value in function["globals"])
    return _sha256(f"{whole}[{read}]")


def source_hash(components: Mapping[str, Any]) -> str:
    """The hash of the source alone, 64 hex digits: Triton names dump and override folders by it."""
    if "source" in components:
        return str(components["source"]["opaque"])
    parameters = {name: index for index, name in enumerate(components["parameters"])}
    attributes = ", ".join(f"{_path(place, parameters)}: {text}" for place, text in components["attributes"].items())
    signature = ", ".join(
        value["repr"] if isinstance(value, Mapping) else repr(value)
        for _, value in sorted(components["signature"].items(), key=lambda item: item[0])
    )
    kernel = combine_function(components["kernel"], components["functions"])
    constants = "-".join(components["constants"].values())
    return _sha256(f"{kernel}-{{{attributes}}}-[{signature}]-{constants}")


def _triton(triton: Mapping[str, Any]) -> str:
    if "opaque" in triton:
        return str(triton["opaque"])
    return str(triton["version"]) + "-".join(triton["files"].values())


def _path(place: str, parameters: Mapping[str, int]) -> tuple[int, ...]:
    """The path that Triton uses for "pair[1]": (index of pair, 1)."""
    name, *items = re.split(r"[\[\]]+", place.rstrip("]"))
    return (parameters[name], *map(int, items))


def _options(components: Mapping[str, Any]) -> str:
    options = components["options"]
    if "opaque" in options:
        return str(options["opaque"])
    libraries = str(tuple(components["libraries"].items()))
    parts = (f"{name}-{libraries if text is None else text}" for name, text in options.items())
    return _sha256("_".join(parts))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
