"""`tritonscope ablate`: what each pass buys."""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tritonscope import ablation, ablation_log, gpu, kernel_reference, runs, variants
from tritonscope.ablation import Ablated, Plan, Variant
from tritonscope.cli import failure_text, one_kernel, terminal
from tritonscope.cli.status_line import StatusLine
from tritonscope.errors import ChildDied, CompileFailed, ExitCode, UsageError
from tritonscope.model import Capture, Target, to_json
from tritonscope.pass_reference import PassReference
from tritonscope.store import layout

__all__ = ["Ready", "add_arguments", "ready", "run"]

DESCRIPTION = """\
Leave out one pass at a time, compile, and say what became of it: what each pass buys for this kernel. With a GPU the
result is run, checked and timed beside the whole compile's, at one size of the kernel's spec; without one, or with
--static, registers, spills, shared memory and instructions are compared. KERNEL is a bundled name, or
FILE.py:FUNCTION."""

EPILOG = """\
examples:
  tritonscope ablate matmul
  tritonscope ablate matmul/pipelined --size M=N=K=4096 --set BLOCK_K=64 --num-stages 3
  tritonscope ablate attention --static --target sm_100 --all
  tritonscope ablate matmul --pass tritongpu-coalesce --pass tritongpu-pipeline,tritongpu-schedule-loops

which passes:
  those that changed the IR, in order; with --all then those that did not; with --pass those alone, of a comma list
  all together. What has the same machine code as the whole compile is not run; what has the same as another is run
  once for both. Passes inside another pass are part of it.

what it says of a pass:
  required    without it the kernel does not compile, or not to what Triton can launch; the first line of why follows
  right       the whole compile's result is wrong, and without this pass it is not
  wrong       without it the result is wrong, or there is none: the launch fails or hangs
  slower      by the times given: medians over 2 % apart, and the middle halves of the times do not meet
  faster      likewise
  no slower   other machine code, and neither of these ("same" in JSON)
  other code  it was not run ("differs" in JSON); where only its metadata is another, that is said below
  The last lines name those without which the machine code is the same.

Results are kept in ablate.jsonl in the whole compile's capture as they come; Ctrl-C prints those there are, and
--resume takes those of the same kernel, options, size and target from there. Only the whole compile stays as a
capture: 'tritonscope compile --skip-pass' makes one of a variant.

spills are bytes stored and loaded (AMD: registers); a pass and the whole compile are timed in turns.

--json: an array, the whole compile first ("baseline", pass and step null), then the passes as in the table:
  [{pass, step, outcome: "baseline"|"right"|"required"|"wrong"|"slower"|"faster"|"same"|"differs", ms, ratio, tflops,
    registers, spills, shared, instructions, classes: {class: n}, identical, detail}]
  ratio is the time over the whole compile's; identical says that the machine code is the whole compile's; classes are
  those of 'stats'.

exit codes: 0 done; 2 wrong usage; 3 the kernel itself does not compile; 4 it crashed the compiler; 5 triton or PyTorch
is missing; 130 interrupted."""


@dataclass(frozen=True)
class Ready:
    """The whole compile, how it is run, and the circumstances that a kept result must share."""

    baseline: Capture
    unit: runs.Unit | None
    asked: runs.Asked
    how: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope ablate`."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.add_argument("kernel", metavar="KERNEL", help="a bundled name, or FILE.py:FUNCTION")
    parser.add_argument("--pass", dest="passes", action="append", default=[], metavar="P,..", help="leave these out")
    parser.add_argument("--all", action="store_true", help="the passes that changed nothing, too")
    parser.add_argument("--limit", type=one_kernel.count, metavar="N", help="no more than N passes")
    parser.add_argument("--static", action="store_true", help="compare the machine code, and run nothing")
    parser.add_argument("--resume", action="store_true", help="go on where an earlier one was cut off")
    parser.add_argument(
        "--reps", type=one_kernel.count, metavar="N", help="launches to time (default: as many as are worth it)"
    )
    one_kernel.add_options(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Leave passes out; returns the exit code."""
    status = StatusLine(not args.json)
    status.show(f"compiling {args.kernel}")
    whole = ready(args, args.static, args.reps)
    rows: list[Ablated] = []
    code = ExitCode.DONE
    try:
        for row in _rows(whole, args, status):
            rows.append(row)
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    status.clear()
    if args.json:
        from tritonscope.ablation_text import by_worth

        terminal.print_json(to_json(by_worth(rows)))
    elif rows:
        from tritonscope.ablation_text import print_ablation

        print_ablation(rows, terminal.console())
    if code == ExitCode.INTERRUPTED and rows:
        terminal.say("interrupted; --resume goes on from here")
    return code


def _rows(whole: Ready, args: argparse.Namespace, status: StatusLine) -> Iterator[Ablated]:
    """The rows that are kept already, then the others, each kept as it comes."""
    folder = Path(whole.baseline.path)
    wanted = []
    for variant in _variants(whole.baseline, args):
        known = ablation_log.kept(folder, whole.how, variant) if args.resume else None
        if known is not None:
            yield known
        else:
            wanted.append(variant)
    with tempfile.TemporaryDirectory(prefix="tritonscope-ablate-") as scratch:
        plan = Plan(whole.baseline, whole.unit, whole.asked, Path(scratch), args.jobs, args.timeout)
        for row in ablation.ablate(plan, wanted, status.show):
            if row.pass_ is not None:
                ablation_log.keep(folder, whole.how, row)
            yield row


def _variants(baseline: Capture, args: argparse.Namespace) -> list[Variant]:
    if args.passes:
        return [_together(baseline, variants.split(text)) for text in args.passes]
    records = [each for each in ablation.optional_passes(baseline) if each.changed or args.all]
    return ablation.variants_of(baseline, records[: args.limit])


def _together(baseline: Capture, texts: list[str]) -> Variant:
    """The variant of --pass; a name that no pass has is told by the compile that would leave it out."""
    steps = []
    for text in texts:
        reference = PassReference.parse(text)
        seen: dict[str, int] = {}
        for record in baseline.passes:
            if "." not in record.step:
                seen[record.name] = seen.get(record.name, 0) + 1
                steps += [record.step] if reference.means(record.step, record.name, seen[record.name]) else []
    return Variant(tuple(texts), tuple(steps))


# -- the whole compile


def ready(args: argparse.Namespace, static: bool, repetitions: int | None) -> Ready:
    """Compile the kernel as it is; `static` where nothing is to be run, nor is it where the target is not this GPU.

    `repetitions` are launches to time, as many as are worth it where None.

    Raises CompileFailed and ChildDied where the compile comes to nothing, else as `runs.plan`.
    """
    present = gpu.present()
    target = Target.parse(args.target) if args.target else present or Target.parse("sm_90")
    kernel = kernel_reference.find(args.kernel)
    if static or present is None or present.name != target.name:
        if not static:
            why = "there is no GPU here" if present is None else f"the GPU here is {present.name}"
            terminal.say(f"{why}, so nothing is run: machine code for {target.name} is compared")
        if args.size:
            raise UsageError("--size is for what is run; give --signature or --set, or leave --size out")
        how = one_kernel.asked(args, target)
        capture = one_kernel.compile_whole(kernel, how, args)
        if capture.status != "ok":
            raise (CompileFailed if capture.status == "failed" else ChildDied)(failure_text.sentence(capture))
        return Ready(capture, None, how, "static")
    if args.signature is not None:
        raise UsageError("--signature is not for what is run, which has the signature of its --size; leave it out")
    how = one_kernel.asked(args, target, repetitions)
    with tempfile.TemporaryDirectory(prefix="tritonscope-ablate-") as scratch:
        units = runs.plan(kernel, replace(how, seeds=()), layout.dumps_folder(args.dumps), Path(scratch))
    if len(units) != 1:
        raise UsageError("one size is run; give one value for each name of --size")
    unit = replace(units[0], checked=(units[0].main,))
    size = ",".join(f"{name}={value}" for name, value in unit.main.size.items())
    return Ready(unit.main.capture, unit, how, f"{target.name} {size}")
