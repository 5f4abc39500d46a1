"""`tritonscope bisect`: which pass is to blame."""

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonscope import ablation, bisection, bundled_kernels, gpu, kernel_reference, kernel_stats
from tritonscope.ablation import Plan, Variant
from tritonscope.bisection import Found, Snapshot
from tritonscope.cli import ablate, one_kernel, terminal
from tritonscope.cli.check_command import command_words
from tritonscope.cli.status_line import StatusLine
from tritonscope.conditions import SYNTAX, Condition, holds, names_in, parse_condition
from tritonscope.errors import CompileFailed, ExitCode, Missing, UsageError
from tritonscope.model import Capture, Target

__all__ = ["add_arguments", "run"]

DESCRIPTION = """\
Find the pass after which a condition first holds, or those without which it does not. KERNEL is a bundled name or
FILE.py:FUNCTION, which is compiled first; a capture is taken as it is, one that failed included."""

EPILOG = f"""\
examples:
  tritonscope bisect matmul --fail-if 'convert_layout>2'
  tritonscope bisect matmul --fail-if '/wgmma\\.mma_async/'
  tritonscope bisect matmul --check 'grep -q tt.dot'
  tritonscope bisect attention --target sm_90 --fail-if 'registers>128'
  tritonscope bisect my_kernels.py:softmax --wrong

what the IR says is looked up in the IR after each pass, in order, down to the machine code; nothing is compiled again:
  NAME OP NUMBER, where NAME is an operation (convert_layout, ttg.convert_layout) or an instruction of PTX (ld.global):
  how often it stands there; contains(TEXT) and /REGEX/. The answer is the first pass after which it holds, and the
  lines in which it shows.
  --check CMD is run with a file as its last argument, the IR after each pass without source locations. As for 'git
  bisect run', 0 says that all is well, 125 that it cannot tell, 1 to 127 otherwise that it is the case; more ends it.

what only the result says cannot be looked up before the last pass. The kernel is compiled without each pass that
changed the IR, one at a time; the answer is those without which the condition does not hold:
  NAME is one of those of 'stats': registers, spills, shared, stack, occupancy, instructions, a class such as
  local_store (an operation of that name is meant with its dialect, ttg.local_load), an opcode of the machine code in
  capitals, as in HGMMA.
  --wrong asks whether the result is wrong, or the launch fails: needs a GPU and the kernel's spec.

conditions:
{SYNTAX}

--json: of the IR {{capture, condition, first: null | {{step, stage, pass, inner: null | {{step, pass}},
  before: {{name: n}}, after: {{name: n}}, lines: [{{line, text}}], until: null | {{step, stage, pass}}}}}};
  step and pass are null where it holds before any pass, until where it holds to the end.
  Of the result {{capture, condition, holds, values: {{name: n}}, without: [{{pass, step, values}}], required: [pass]}}.

exit codes: 0 found; 1 the condition never holds, or holds whichever pass is left out; 2 wrong usage; 3 the kernel does
not compile where that is needed; 4 the compiler crashed; 5 something is missing; 130 interrupted."""

_MOST_LINES, _WIDEST = 5, 160
_STANDARD_ERROR = 2  # standard output is ours
_SKIP, _MOST_CODE = 125, 127
# Classes of instructions that are called as operations are, which a newcomer is more likely to mean.
_OPERATIONS_TOO = {"local_load": "ttg.local_load", "local_store": "ttg.local_store", "barrier": "ttg.barrier"}


@dataclass(frozen=True)
class _Without:
    """A pass without which the condition does not hold, and what its names come to then."""

    variant: Variant
    values: dict[str, float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope bisect`."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.add_argument("kernel", metavar="KERNEL|CAPTURE", help="what to look into")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--fail-if", metavar="CONDITION", help="what is to be found, see below")
    what.add_argument("--check", metavar="CMD", help="a command that fails where it is the case")
    what.add_argument("--wrong", action="store_true", help="that the result is wrong")
    parser.add_argument("--all", action="store_true", help="leave out passes that changed nothing, too")
    one_kernel.add_options(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Find it; returns the exit code."""
    if args.wrong:
        return _wrong(args)
    if args.check is not None:
        return _in_the_ir(_capture(args), None, args)
    condition = parse_condition(args.fail_if)
    of_result = [kernel_stats.knows(name) for name in names_in(condition)]
    if not any(of_result):
        return _in_the_ir(_capture(args), condition, args)
    if not all(of_result):
        ir = next(name for name, known in zip(names_in(condition), of_result, strict=True) if not known)
        raise UsageError(f"{ir} is looked up in the IR, and the other names in the result; ask for one after the other")
    return _of_the_result(_capture(args), condition, args)


def _capture(args: argparse.Namespace) -> Capture:
    """The capture that is named, else that of the kernel, compiled now."""
    bundled = {kernel.name for kernel in bundled_kernels.kernels()}
    if args.kernel not in bundled and ".py" not in args.kernel:
        if args.target or args.signature or args.set or args.option or args.config is not None:
            raise UsageError(f"{args.kernel} is a capture, made already; name the kernel to compile it otherwise")
        return terminal.open_capture(args.kernel, args)
    target = Target.parse(args.target) if args.target else gpu.present() or Target.parse("sm_90")
    kernel = kernel_reference.find(args.kernel)
    return one_kernel.compile_whole(kernel, one_kernel.asked(args, target), args)


# -- what the IR says


def _in_the_ir(capture: Capture, condition: Condition | None, args: argparse.Namespace) -> int:
    text = args.fail_if if condition is not None else args.check
    if condition is not None:
        found = bisection.first_holding(capture, bisection.judge_by(condition))
    else:
        with tempfile.TemporaryDirectory(prefix="tritonscope-bisect-") as folder:
            found = bisection.first_holding(capture, _Command(args.check, Path(folder)))
    lines = bisection.brought_by(found, condition) if found and condition is not None else []
    if args.json:
        first = found and _as_json(found, condition, lines)
        terminal.print_json({"capture": capture.capture, "condition": text, "first": first})
    elif found is None:
        terminal.say(f"{text} never holds in {capture.capture}")
    else:
        _print_found(capture, found, condition, lines)
    return ExitCode.DIFFERS if found is None else ExitCode.DONE


class _Command:
    """Judges a snapshot by what a command says of it."""

    def __init__(self, text: str, folder: Path) -> None:
        self._words = command_words(text)
        self._folder = folder

    def __call__(self, snapshot: Snapshot) -> bool | None:
        suffix = {"mlir": "mlir", "llir": "ll"}.get(snapshot.kind, snapshot.kind)
        step = snapshot.record.step if snapshot.record else snapshot.stage
        path = self._folder / f"{step}.{suffix}"
        path.write_text(snapshot.text, encoding="utf-8")
        code = subprocess.run([*self._words, str(path)], stdout=_STANDARD_ERROR).returncode
        if not 0 <= code <= _MOST_CODE:
            raise UsageError(f"{self._words[0]} ended with {code} on the IR after {snapshot.name}; see what it printed")
        return None if code == _SKIP else code != 0


def _as_json(found: Found, condition: Condition | None, lines: Sequence[tuple[int, str]]) -> dict[str, Any]:
    return {
        **_place(found.first),
        "inner": found.inner and {"step": found.inner.step, "pass": found.inner.name},
        "before": bisection.values_of(condition, found.before) if condition is not None and found.before else {},
        "after": bisection.values_of(condition, found.first) if condition is not None else {},
        "lines": [{"line": number, "text": text} for number, text in lines],
        "until": found.until and _place(found.until),
    }


def _place(snapshot: Snapshot) -> dict[str, Any]:
    record = snapshot.record
    return {"step": record and record.step, "stage": snapshot.stage, "pass": record and record.name}


def _print_found(capture: Capture, found: Found, condition: Condition | None, lines: Sequence[tuple[int, str]]) -> None:
    from rich.text import Text

    console = terminal.console()
    where = f"after {found.first.name}" if found.first.record else f"in the {found.first.name}"
    early = ", before any pass" if found.before is None and found.first.record is None else ""
    console.print(Text(terminal.escape(f"first holds {where}{early}"), style="bold"), soft_wrap=True)
    if found.inner is not None:
        console.print(terminal.escape(f"  inside it after step {found.inner.step}, {found.inner.name}"), soft_wrap=True)
    if condition is not None:
        before = bisection.values_of(condition, found.before) if found.before else {}
        for name, value in bisection.values_of(condition, found.first).items():
            was = f", it was {before[name]}" if name in before else ""
            console.print(terminal.escape(f"  {name} is {value} there{was}"), soft_wrap=True)
    for number, text in lines[:_MOST_LINES]:
        shown = text if len(text) <= _WIDEST else f"{text[:_WIDEST]} .."
        console.print(Text(terminal.escape(f"  {number:5}  {shown}"), style="dim"), soft_wrap=True)
    if len(lines) > _MOST_LINES:
        console.print(Text(f"         and {len(lines) - _MOST_LINES} more lines", style="dim"))
    if found.until is not None:
        again = f"after {found.until.name}" if found.until.record else f"in the {found.until.name}"
        console.print(terminal.escape(f"  no longer {again}"), soft_wrap=True)
    if found.first.record is not None:
        name, step = terminal.called(capture), found.first.record.step
        console.print(f"next: tritonscope diff {terminal.escape(name)} --pass {step}", soft_wrap=True)


# -- what the result says


def _of_the_result(capture: Capture, condition: Condition, args: argparse.Namespace) -> int:
    if capture.status != "ok":
        raise CompileFailed(f"{capture.capture} {capture.status}, so it has no result; see 'tritonscope show'")
    if not {"kernel", "target"} <= set(capture.request):
        raise UsageError(f"{capture.capture} was not compiled here, so it cannot be without a pass; name its kernel")
    values = _values(capture, condition)
    if not holds(condition, values.__getitem__):
        return _report(capture, args, values, None, [])
    status = StatusLine(not args.json)
    without, required = [], []
    records = [each for each in ablation.optional_passes(capture) if each.changed or args.all]
    with tempfile.TemporaryDirectory(prefix="tritonscope-bisect-") as scratch:
        how = one_kernel.asked(args, Target(**capture.request["target"]))
        plan = Plan(capture, None, how, Path(scratch), args.jobs, args.timeout)
        found = ablation.compiled(plan, ablation.variants_of(capture, records))
        for number, (variant, compiled) in enumerate(found, 1):
            status.show(f"compiling: {number} of {len(records)}")
            if compiled.status != "ok":
                required.append(variant)
            elif not holds(condition, (there := _values(compiled, condition)).__getitem__):
                without.append(_Without(variant, there))
            shutil.rmtree(compiled.path, ignore_errors=True)
    status.clear()
    return _report(capture, args, values, without, required)


def _values(capture: Capture, condition: Condition) -> dict[str, float]:
    stats = kernel_stats.stats_of(capture)
    return {name: kernel_stats.value_of(name, stats, None) for name in names_in(condition)}


def _wrong(args: argparse.Namespace) -> int:
    if gpu.present() is None:
        raise Missing("there is no GPU here to run it; --fail-if looks into the IR and the machine code without one")
    whole = ablate.ready(args, static=False, repetitions=1)
    if whole.unit is None:
        raise UsageError("--wrong runs the kernel; leave --target out, or name this GPU")
    status = StatusLine(not args.json)
    records = [each for each in ablation.optional_passes(whole.baseline) if each.changed or args.all]
    with tempfile.TemporaryDirectory(prefix="tritonscope-bisect-") as scratch:
        plan = Plan(whole.baseline, whole.unit, whole.asked, Path(scratch), args.jobs, args.timeout)
        rows = list(ablation.ablate(plan, ablation.variants_of(whole.baseline, records), status.show))
    status.clear()
    without = [_Without(Variant((row.pass_ or "",), (row.step or "",)), {}) for row in rows if row.outcome == "right"]
    required = [Variant((row.pass_ or "",), (row.step or "",)) for row in rows if row.outcome == "required"]
    flaw = next(row.detail for row in rows if row.outcome == "baseline")
    if flaw and not args.json:
        terminal.say(f"the whole compile is wrong: {flaw}")
    return _report(whole.baseline, args, {}, without if flaw else None, required)


def _report(
    capture: Capture,
    args: argparse.Namespace,
    values: dict[str, float],
    without: Sequence[_Without] | None,
    required: Sequence[Variant],
) -> int:
    """Print those without which it does not hold; None where it does not hold at all."""
    ordered = sorted(without or (), key=lambda each: int(each.variant.steps[0]))
    if args.json:
        terminal.print_json(
            {
                "capture": capture.capture,
                "condition": args.fail_if,
                "holds": without is not None,
                "values": values,
                "without": [
                    {"pass": each.variant.passes[0], "step": each.variant.steps[0], "values": each.values}
                    for each in ordered
                ],
                "required": [each.passes[0] for each in required],
            }
        )
    elif without is None:
        said = f"{args.fail_if} does not hold" if args.fail_if else "the result is right"
        terminal.say(f"{said} for {capture.capture}{_in_words(values)}")
        for name in sorted(_OPERATIONS_TOO.keys() & values.keys()):
            terminal.say(f"{name} counts instructions; write {_OPERATIONS_TOO[name]} for the operation of that name")
    else:
        said = f"{args.fail_if} holds" if args.fail_if else "the result is wrong"
        _print_without(f"{said}{_in_words(values)}", ordered, required)
    return ExitCode.DONE if ordered else ExitCode.DIFFERS


def _print_without(said: str, ordered: Sequence[_Without], required: Sequence[Variant]) -> None:
    from rich.text import Text

    console = terminal.console()
    which = "and not without" if ordered else "and whichever pass that can be left out is left out"
    console.print(Text(terminal.escape(f"{said}, {which}"), style="bold"), soft_wrap=True)
    for each in ordered:
        line = f"  {each.variant.steps[0]:>4}  {each.variant.passes[0]}{_in_words(each.values)}"
        console.print(terminal.escape(line), soft_wrap=True)
    if required:
        names = ", ".join(each.passes[0] for each in required)
        console.print(Text(terminal.escape(f"required, so nothing is known of: {names}"), style="dim"), soft_wrap=True)


def _in_words(values: dict[str, float]) -> str:
    return f" ({', '.join(f'{name} {value:g}' for name, value in values.items())})" if values else ""
