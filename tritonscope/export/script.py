"""A capture as one Python script that compiles the kernel again, or runs and checks it, with triton and torch alone."""

import ast
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from typing import Any

from tritonscope.calls import Tensor, parse_call
from tritonscope.errors import UsageError
from tritonscope.export.sources import Sources, sources_of
from tritonscope.model import Capture
from tritonscope.printable import escape
from tritonscope.signature import Argument, Constant, Expression, Scalar, TupleOf, parse_signature
from tritonscope.store import reader, results

__all__ = ["Script", "script"]


@dataclass(frozen=True)
class Script:
    """The script, the source files that are in it, and sentences on what it lacks."""

    text: str
    files: tuple[str, ...]
    notes: tuple[str, ...]


def script(capture: Capture) -> Script:
    """The script for a capture.

    Raises UsageError where the capture ended before its key was known, or holds what no script can write.
    """
    if not capture.request.get("used") or "python" not in {stage.stage for stage in capture.stages}:
        raise UsageError(_incomplete(capture))
    sources = sources_of(capture)
    notes = tuple(_notes(capture, sources))
    body = files("tritonscope.export").joinpath("reproduce.py").read_text(encoding="utf-8")
    parts = [
        "\n".join(f"# {line}".rstrip() for line in _heading(capture, notes)),
        "\n".join(["KERNEL = {", *(_entry(*item) for item in _kernel(capture, sources).items()), "}"]),
        body[body.index("import argparse") :].rstrip(),
        "\n".join(["FILES = {", *(f"    {name!r}: {_literal(text)}," for name, text in sources.files.items()), "}"]),
        'if __name__ == "__main__":\n    sys.exit(main(KERNEL, FILES))',
    ]
    return Script("\n\n\n".join(parts) + "\n", tuple(sources.files), notes)


def _heading(capture: Capture, notes: tuple[str, ...]) -> list[str]:
    versions = ", ".join(f"{name} {version}" for name, version in capture.versions.items())
    lines = [
        f"{capture.kernel} for {capture.target}, from the capture {capture.capture} ({capture.status})",
        f"made {capture.created} with {versions}",
        "",
        "python THIS_FILE           compiles it again, without a GPU, and writes each stage beside this file",
        "python THIS_FILE --run     runs it on the GPU that is here, and checks what it computes",
        "",
        f"Needs Triton {capture.versions.get('triton', '')} for the same result, and torch to run.",
        *notes,
    ]
    return [escape(line).replace("\n", " ") for line in lines]


def _notes(capture: Capture, sources: Sources) -> Iterator[str]:
    if sources.missing:
        yield f"The kernel imports {', '.join(sources.missing)}, which must be importable: it is not in the script."
    if sources.is_program:
        yield (
            "The kernel stood in the program that was traced: the script imports that file, which runs all of it but "
            "what is under `if __name__ == '__main__':`."
        )
    if left_out := capture.request.get("skip"):
        yield f"The capture left passes out ({', '.join(map(str, left_out))}); the script runs them all."
    if capture.request.get("edits"):
        yield "The capture goes on from an edited text in its folder; the script compiles the kernel as it is."


def _entry(name: str, value: Any) -> str:
    if isinstance(value, dict) and value:
        return "\n".join(
            [f"    {name!r}: {{", *(f"        {key!r}: {each!r}," for key, each in value.items()), "    },"]
        )
    return f"    {name!r}: {value!r},"


def _kernel(capture: Capture, sources: Sources) -> dict[str, Any]:
    components = capture.components
    used = capture.request.get("used", {})
    try:
        target = capture.request["target"]
        arch = int(target["arch"]) if target["backend"] == "cuda" else str(target["arch"])
        function = str(capture.request["kernel"]["function"])
        if not function.isidentifier() or not all(map(_names_a_file, sources.module.split("."))):
            raise ValueError(function)
        return {
            "function": function,
            "module": sources.module,
            "target": (str(target["backend"]), arch, int(target["warp_size"])),
            "signature": {name: _type(kind) for name, kind in components["signature"].items()},
            "constants": _constants(used["signature"], components["constants"]),
            "attributes": {name: ast.literal_eval(text) for name, text in components["attributes"].items()},
            "options": {
                name: _plain(value)
                for name, value in used["options"].items()
                if value is not None and name != "extern_libs"  # which are Triton's own, by their paths
            },
            "environment": {**_texts(components["environment"]), **_texts(capture.request.get("env", {}))},
            "key": capture.key,
            "spec": _spec(capture, function),
            **_run(capture),
        }
    except (KeyError, TypeError, ValueError, AttributeError, SyntaxError, RecursionError):
        raise UsageError(_incomplete(capture)) from None


def _names_a_file(part: str) -> bool:
    """Whether a part of a module's name can become a file's: Triton's own tutorials are called 01-vector-add."""
    return bool(part) and part.isprintable() and not set(part) & set("/\\")


def _incomplete(capture: Capture) -> str:
    return (
        f"{capture.capture} does not hold all that a script needs (it was imported, ended early or is damaged); "
        "compile the kernel with tritonscope, and export that"
    )


def _type(recorded: Any) -> Any:
    return recorded if isinstance(recorded, str) else ast.literal_eval(recorded["repr"])


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    """An option as Triton had it: JSON has no tuples, and Triton's options are no lists, for they are hashed."""
    return tuple(map(_plain, value)) if isinstance(value, list) else value


def _constants(signature: str, places: Mapping[str, str]) -> dict[str, str]:
    """Each constant as Python that is evaluated in the kernel's file."""
    arguments = dict(parse_signature(signature).named)
    found = {}
    for place in places:
        name, *items = place.replace("]", "").split("[")
        argument = arguments[name]
        for item in items:
            argument = argument.items[int(item)]  # type: ignore[union-attr]
        found[place] = _python(argument)
    return found


def _python(argument: Argument) -> str:
    if isinstance(argument, Constant):
        special = isinstance(argument.value, float) and not math.isfinite(argument.value)
        return f"float({str(argument.value)!r})" if special else repr(argument.value)
    if isinstance(argument, TupleOf):
        return f"({''.join(f'{_python(item)}, ' for item in argument.items)})"
    if isinstance(argument, Scalar) and argument.hint == 1:
        return "1"
    if isinstance(argument, Scalar):
        return f"tl.{_DTYPES.get(argument.type, argument.type)}"
    if isinstance(argument, Expression):
        ast.parse(argument.text, mode="eval")
        return argument.text
    raise ValueError(argument)


#: What Triton's language calls a dtype that signatures call otherwise.
_DTYPES = {
    **{f"i{bits}": f"int{bits}" for bits in (1, 8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"fp{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "u1": "int1",
    "bf16": "bfloat16",
    "fp8e5": "float8e5",
    "fp8e4nv": "float8e4nv",
    "fp8e4b8": "float8e4b8",
    "fp8e5b16": "float8e5b16",
    "fp8e4b15": "float8e4b15",
}


def _spec(capture: Capture, function: str) -> str | None:
    """The class that the kernel's file names as its spec."""
    for node in ast.parse(reader.stage_text(capture, "python")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TRITONSCOPE":
            name = ast.literal_eval(node.value).get(function, {}).get("spec")
            return name if isinstance(name, str) else None
    return None


def _run(capture: Capture) -> dict[str, Any]:
    """What the newest run was called with: its size for the spec, or the call that was written out, and the grid."""
    runs = results.runs_of(capture)
    if not runs:
        return {"size": {}, "call": {}, "grid": []}
    run = runs[-1]
    words = [str(word) for word in run.get("command", ())]
    texts = [text for word, text in pairwise(words) if word == "--call"]
    texts += [word.removeprefix("--call=") for word in words if word.startswith("--call=")]
    size = {str(name): value for name, value in run["size"].items()}
    grid = [int(each) for each in run.get("grid", ())]
    return {"size": size, "call": _call(texts[0], capture) if texts else {}, "grid": grid}


def _call(text: str, capture: Capture) -> dict[str, Any]:
    """The arguments of a call by name, as `reproduce.Call` takes them; raises UsageError for one that is none."""
    found: dict[str, Any] = {}
    for parameter, argument in zip(capture.components["parameters"], parse_call(text), strict=False):
        value: Any = argument.value
        if isinstance(value, Tensor):
            dtype = _TORCH.get(value.dtype) or _DTYPES[value.dtype]
            value = {"dtype": dtype, "shape": value.shape, "strides": value.strides, "aligned": value.aligned}
        else:
            value = ast.literal_eval(value)
        found[argument.name or parameter] = value
    return found


#: What PyTorch calls a dtype that Triton's language calls otherwise.
_TORCH = {"fp8e5": "float8_e5m2", "fp8e4nv": "float8_e4m3fn", "i1": "bool", "u1": "bool"}


def _literal(text: str) -> str:
    """A file as a string in the script: as it reads, where that gives the same text."""
    if text.endswith("\n") and text.replace("\n", "").replace("\t", "").isprintable():
        for quote in ('"""', "'''"):
            if quote not in text:
                return f"r{quote}{text}{quote}"
    return repr(text)
