"""`tritonscope key`: what Triton's cache key is made of, and why two compilations have different ones."""

import argparse
import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tritonscope import cachekey, gpu, interpreter, kernel_reference, keydiff, recipe, variants
from tritonscope.api import specialize
from tritonscope.calls import parse_call
from tritonscope.cli import terminal
from tritonscope.errors import ExitCode, UsageError
from tritonscope.model import Capture, Target

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["add_arguments", "run"]

_DESCRIPTION = """What Triton's cache key is made of, and why a kernel is compiled again.

  key A                  every component of a capture's key
  key A B                why two captures have different keys, in a sentence, then each component that differs
  key KERNEL --call C --call D    which of these calls would share a kernel, without compiling any

A call is written as the kernel is called: x=fp16[4096,4096] is a tensor (";4096,1" before the bracket closes gives
strides, "@8" after it an address that is only a multiple of 8), M=4096 a number, causal=True a flag; defaults, and for
a bundled kernel its own signature, fill in what is not given."""

_EPILOG = """examples:
  tritonscope key matmul
  tritonscope key matmul/sm_90-c80bc matmul/sm_90-1f91f
  tritonscope key matmul --call "M=4096" --call "M=4095" --call "M=8192"
  tritonscope key my_kernels.py:softmax --call "x=fp16[64,1024], y=fp16[64,1024], n=1024, BLOCK=1024" --call "..."

JSON: {capture, hash, recombined, components: {..}}, recombined being whether the components put together give the hash;
of two {left, right, same, summary, unknown: [component, ..], differs: [{component, left, right, clause}]}, same being
null where a key is not known; of calls {calls: [{call, group, hash, signature}], groups: [[0, 2], [1]], differs:
[{left, right, summary, differs}]} with calls numbered from 0.

exit codes: 0 done; 1 with --exit-code where two keys differ; 2 wrong usage; with --call also 4 the kernel's file
crashed or ran past its time; 5 triton is missing."""

_WIDEST = 200
_TIMEOUT = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    parser.add_argument("left", metavar="A", help="a capture; with --call a kernel")
    parser.add_argument("right", metavar="B", nargs="?", help="another capture")
    parser.add_argument("--call", action="append", default=[], metavar="C", help="a call to specialize; repeatable")
    parser.add_argument(
        "-t",
        "--target",
        action="append",
        default=[],
        metavar="T",
        help="with --call: the target (default: this GPU, else sm_90)",
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="K=V", help="with --call: num_warps=4 and so on"
    )
    parser.add_argument("--python", metavar="PATH", help="with --call: the Python whose triton decides")
    terminal.add_timeout_option(parser, "with --call: looking into the kernel's file", _TIMEOUT)
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 where keys differ")
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the key, or why two differ; returns the exit code."""
    if args.call:
        if args.right is not None:
            raise UsageError("--call takes one kernel; leave the second name out")
        return _calls(args)
    for flag, value in (("--target", args.target), ("--option", args.option), ("--python", args.python)):
        if value:
            raise UsageError(f"{flag} goes with --call; a capture's key was made for its own")
    left = _open(args.left, args)
    if args.right is None:
        return _one(left, args)
    return _two(left, _open(args.right, args), args)


def _open(name: str, args: argparse.Namespace) -> Capture:
    capture = terminal.open_capture(name, args)
    if not capture.components:
        raise UsageError(f"{capture.capture} ended before its key was known; compile it again")
    return capture


# -- one


def _one(capture: Capture, args: argparse.Namespace) -> int:
    components = capture.components
    recombined = _recombines(components)
    missing = keydiff.unknown(components, components)
    if args.json:
        value = {"capture": capture.capture, "hash": capture.key, "recombined": recombined, "components": components}
        terminal.print_json(value)
        return ExitCode.DONE
    console = terminal.console()
    _say(console, f"{capture.capture}  {capture.key or 'key unknown'}", bold=True)
    joined = "give Triton's own hash" if recombined else "do not give Triton's hash: something is missing below"
    _say(console, f"imported; {_not_known(missing)}" if missing else f"the components put together {joined}")
    _heading(
        console,
        "arguments: type, specialization, value of what is constant (these and the options are the key in memory)",
    )
    for name in components.get("parameters", []):
        kind = components.get("signature", {}).get(name, "")
        attribute = components.get("attributes", {}).get(name, "")
        constant = components.get("constants", {}).get(name)
        shown = kind["repr"] if isinstance(kind, Mapping) else kind
        _say(console, f"  {name}: {constant if shown == 'constexpr' else shown}{_specialization(attribute)}")
    _heading(console, "options")
    _say(console, "  " + ", ".join(f"{name}={text}" for name, text in components.get("options", {}).items()))
    if "functions" not in missing:
        _functions(components, console)
    if "environment" not in missing:
        _environment(components, console)
    _compiler(components, console)
    return ExitCode.DONE


def _not_known(missing: Sequence[str]) -> str:
    return f"not known of its key: {', '.join(missing)}"


def _functions(components: Mapping[str, Any], console: "Console") -> None:
    _heading(console, "functions: first line, hash; globals they read")
    for name, function in components.get("functions", {}).items():
        _say(
            console, f"  {name}: {function.get('line', '?')}, {str(function.get('hash', function.get('opaque')))[:16]}"
        )
        for variable, value in function.get("globals") or []:
            _say(console, f"    {variable} = {value}")


def _environment(components: Mapping[str, Any], console: "Console") -> None:
    _heading(console, "environment")
    variables = [f"  {name}={value}" for name, value in components.get("environment", {}).items()]
    _say(console, "\n".join(variables) or "  no variable that counts is set")


def _compiler(components: Mapping[str, Any], console: "Console") -> None:
    _heading(console, "compiler")
    triton, backend = components.get("triton", {}), components.get("backend", {})
    files = f", {len(triton['files'])} files of its own" if "files" in triton else ""
    _say(console, f"  Triton {triton.get('version', 'unknown')}{files}")
    tools = f": {' '.join(str(backend['hash']).split())}" if "hash" in backend else ""
    _say(console, f"  backend {backend.get('name')}{tools}")
    for name, value in components.get("libraries", {}).items():
        _say(console, f"  {name}: {value[:16]}")
    for note in components.get("notes", []):
        _say(console, f"note: {note}")


def _recombines(components: Mapping[str, Any]) -> bool:
    try:
        return cachekey.recombine(components) == components.get("hash")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return False  # a damaged capture


def _specialization(attribute: str) -> str:
    parts = []
    if "'tt.divisibility', 16" in attribute:
        parts.append("divisible by 16")
    if "'tt.pointer_range', 32" in attribute:
        parts.append("under 2 GiB")
    return f", {', '.join(parts)}" if parts else ""


# -- two


def _two(left: Capture, right: Capture, args: argparse.Namespace) -> int:
    differences = keydiff.compare(left.components, right.components)
    missing = keydiff.unknown(left.components, right.components)
    same = left.key == right.key if left.key and right.key else None
    summary = keydiff.summarise(differences, partial=bool(missing) and not same)
    if apart := _recipes_apart(left, right):
        summary = f"{summary.removesuffix('.')}; {apart}."
    if args.json:
        value = {"left": left.capture, "right": right.capture, "same": same, "summary": summary}
        terminal.print_json({**value, "unknown": missing, "differs": [_as_json(each) for each in differences]})
    else:
        console = terminal.console()
        _say(console, summary, bold=True)
        for sign, capture in (("---", left), ("+++", right)):
            _say(console, f"{sign} {capture.capture}  {capture.key[:16] or 'key unknown'}")
        if missing:
            _say(console, _not_known(missing).replace("its key", "both"))
        for difference in differences:
            console.print()
            _print_difference(difference, left, right, console)
    return ExitCode.DIFFERS if args.exit_code and (differences or same is False) else ExitCode.DONE


def _recipes_apart(left: Capture, right: Capture) -> str:
    """What sets the two captures apart beside their keys: the passes that were left out."""
    a, b = (recipe.words(capture.request) for capture in (left, right))
    if a == b:
        return ""
    return f"the second capture is {b or 'a whole compile'}, the first {a or 'a whole compile'}"


def _as_json(difference: keydiff.Difference) -> dict[str, Any]:
    return {
        "component": difference.component,
        "left": difference.left,
        "right": difference.right,
        "clause": difference.clause,
    }


def _print_difference(difference: keydiff.Difference, left: Capture, right: Capture, console: "Console") -> None:
    _say(console, f"{difference.component}: {difference.clause}")
    if difference.component.startswith("functions.") and difference.component.endswith(".source"):
        name = difference.component.removeprefix("functions.").removesuffix(".source")
        for line in _source_diff(name, left, right):
            _say(console, f"    {line}")
        return
    _say(console, f"  - {_short(difference.left)}")
    _say(console, f"  + {_short(difference.right)}")


def _source_diff(function: str, left: Capture, right: Capture) -> Iterator[str]:
    """The very function that changed."""
    before, after = ((keydiff.source_of(capture.components, function) or "").splitlines() for capture in (left, right))
    yield from list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]


def _short(value: Any) -> str:
    text = "absent" if value is None else " ".join(str(value).split())
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]} .."


# -- calls


def _calls(args: argparse.Namespace) -> int:
    kernel = kernel_reference.find(args.left)
    calls = [parse_call(text) for text in args.call]
    if len(args.target) > 1:
        raise UsageError("--call takes one --target; ask for one after the other")
    options = {name: _only(name, values) for name, values in variants.assignments("--option", args.option).items()}
    target = Target.parse(args.target[0]) if args.target else _default_target()
    found = specialize(kernel, target, calls, options, python=interpreter.choose(args.python), timeout=args.timeout)
    groups: dict[str, list[int]] = {}
    for number, each in enumerate(found):
        groups.setdefault(each["components"]["hash"], []).append(number)
    numbered = list(groups.values())
    apart = [
        (
            numbered[0][0],
            members[0],
            keydiff.compare(found[numbered[0][0]]["components"], found[members[0]]["components"]),
        )
        for members in numbered[1:]
    ]
    if args.json:
        terminal.print_json(
            {
                "calls": [
                    {
                        "call": text,
                        "group": next(i for i, members in enumerate(numbered) if number in members),
                        "hash": found[number]["components"]["hash"],
                        "signature": found[number]["signature"],
                    }
                    for number, text in enumerate(args.call)
                ],
                "groups": numbered,
                "differs": [
                    {"left": a, "right": b, "summary": keydiff.summarise(d), "differs": [_as_json(each) for each in d]}
                    for a, b, d in apart
                ],
            }
        )
    else:
        _print_groups(numbered, apart, args.call, terminal.console())
    return ExitCode.DIFFERS if args.exit_code and len(numbered) > 1 else ExitCode.DONE


def _only(name: str, values: list[str]) -> str:
    if len(values) > 1:
        raise UsageError(f"--call takes one value for --option {name}, not {', '.join(values)}; ask for one at a time")
    return values[0]


def _print_groups(
    groups: list[list[int]],
    apart: list[tuple[int, int, list[keydiff.Difference]]],
    calls: list[str],
    console: "Console",
) -> None:
    kernels = "one kernel" if len(groups) == 1 else f"{len(groups)} kernels"
    _say(console, f"{len(calls)} call{'s' if len(calls) > 1 else ''}, {kernels} (calls are numbered from 1)", bold=True)
    for members, reason in zip(groups, [None, *apart], strict=True):
        numbers = [str(number + 1) for number in members]
        who = f"call {numbers[0]}" if len(numbers) == 1 else f"calls {', '.join(numbers[:-1])} and {numbers[-1]}"
        shares = "has a kernel of its own" if len(numbers) == 1 else "share a kernel"
        if reason is None:
            _say(console, f"{who} {shares}")
        else:
            clauses = "; ".join(difference.clause for difference in reason[2])
            _say(console, f"{who} {shares}: against call {reason[0] + 1}, {clauses}")
        for number in members:
            _say(console, f"  {number + 1}: {calls[number]}")


def _default_target() -> Target:
    target = gpu.present() or Target.parse("sm_90")
    terminal.say(f"asking for {target.name}; --target chooses another")
    return target


def _heading(console: "Console", text: str) -> None:
    console.print()
    _say(console, text, bold=True)


def _say(console: "Console", text: str, bold: bool = False) -> None:
    console.print(terminal.escape(text), style="bold" if bold else None, soft_wrap=True)
