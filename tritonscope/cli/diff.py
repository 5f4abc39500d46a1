"""`tritonscope diff`: what a pass changed, and in what two captures or files differ."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonscope.cli import terminal
from tritonscope.errors import CaptureUnreadable, ExitCode, Missing, UsageError
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.locations import strip_debug
from tritonscope.model import Capture, PassRecord
from tritonscope.store import files, reader

if TYPE_CHECKING:
    from rich.text import Text

    from tritonscope.ir.diff import Diff, Stat
    from tritonscope.ir.summary import Summary

__all__ = ["add_arguments", "run"]

_DESCRIPTION = """Show what really changed: names, aliases, locations and indentation aside.

  diff CAPTURE               what each pass changed, in numbers
  diff CAPTURE --pass P      what that pass changed
  diff CAPTURE --from P --to Q    what the passes from P to Q, both included, changed together
  diff CAPTURE --stage S     what turned the stage before into S
  diff A B                   stages and passes of two captures: identical, renamed only, or how many lines differ
  diff A B --stage S         the text of a stage of both; --pass P: after that pass of both
  diff FILE FILE             two files of TTIR, TTGIR, MLIR, LLVM IR, PTX, SASS or AMDGCN

A line's first two characters say what it is: "- " gone, "+ " new, "!-" "!+" changed, "~-" "~+" only the layouts of its
types differ, "<-" "->" moved. Lines that are the same but for names are counted and not shown. A pass that turns one
dialect into another is shown by line of Python. Of a capture alone, operations: -gone +new !changed >moved ~layouts."""

_EPILOG = """examples:
  tritonscope diff matmul --pass tritongpu-coalesce
  tritonscope diff matmul --pass remove-layout-conversions#2 --side-by-side
  tritonscope diff matmul/sm_90 matmul/sm_100
  tritonscope diff matmul/sm_90 matmul/sm_100 --stage ttgir --stat
  tritonscope diff before.ttgir after.ttgir --exit-code
  tritonscope diff ~/.triton/cache/<one> ~/.triton/cache/<another>

JSON: {left, right, stat: {unchanged, renamed, layout, changed, added, removed, moved}, hunks: [{left_start,
right_start, lines: [{kind, left, right, text, marks: {left, right}, left_text?, other?}]}]};
where one dialect became another {left, right, lines: [{file, line, left: {operation: count}, right}]};
of one capture alone {capture, passes: [{step, stage, pass, stat, gone: {operation: count}, new, changed, moved,
layouts}]};
of two without --stage or --pass {left, right, steps: [{stage, pass, left_step, right_step, verdict:
"identical"|"renamed"|"differs"|"only_left"|"only_right", stat}], first: null | {stage, pass}}.

exit codes: 0 done; 1 with --exit-code where something differs; 2 wrong usage."""

_ONE_SIDED = ("only_left", "only_right")
_MOST_NAMES = 5
_CONTEXT = 3
_LOOKED_AT = 8192


@dataclass(frozen=True)
class Side:
    """A text to compare, and what it is called."""

    label: str
    text: str
    kind: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    parser.usage = "tritonscope diff A [B] [options]"
    parser.add_argument("left", metavar="A", help="a capture, or a file, or what `import` takes")
    parser.add_argument("right", metavar="B", nargs="?", help="another capture, or another file")
    parser.add_argument("--pass", dest="step", metavar="P", help="a step, a name, or NAME#2 for its second run")
    parser.add_argument("--from", dest="first", metavar="P", help="with --to: from the IR before this pass")
    parser.add_argument("--to", dest="last", metavar="Q", help="with --from: to the IR after this pass")
    parser.add_argument("--stage", metavar="S", help="a stage: source, ttir, ttgir, llir, ptx, sass, amdgcn")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--side-by-side", action="store_true", help="old on the left, new on the right")
    form.add_argument("--stat", action="store_true", help="numbers only")
    form.add_argument("--raw", action="store_true", help="as git shows it, names and all")
    parser.add_argument("--context", type=_count, metavar="N", help="lines around a change (default: 3)")
    parser.add_argument("--rename-registers", action="store_true", help="let the registers of SASS change names")
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 where something differs")
    terminal.add_dumps_option(parser, short=False)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print what differs; returns the exit code."""
    if (args.first is None) != (args.last is None):
        raise UsageError("--from and --to go together: name the first pass and the last")
    if sum(value is not None for value in (args.step, args.first, args.stage)) > 1:
        raise UsageError("--pass, --from with --to, and --stage exclude each other; give one of them")
    _refuse_together(args)
    named = [name for name in (args.left, args.right) if name is not None]
    found = [_file_called(name) for name in named]
    if any(found):
        return _two_files(named, found, args)
    if args.step is None and args.first is None and args.stage is None:
        what = "two captures" if args.right is not None else "a capture"
        _refuse(args, ("raw", "side_by_side", "context", "rename_registers"), f"{what} without --pass or --stage")
    left = terminal.open_capture(args.left, args)
    if args.right is not None:
        return _two_captures(left, terminal.open_capture(args.right, args), args)
    if args.step is not None:
        record = reader.find_step(left, args.step)
        return _texts(_before(left, record), _after(left, record), args, left)
    if args.first is not None:
        first, last = _in_order(left, args)
        return _texts(_before(left, first), _after(left, last), args, left)
    if args.stage is not None:
        return _into_stage(left, args)
    return _every_pass(left, args)


def _into_stage(capture: Capture, args: argparse.Namespace) -> int:
    before, after = _stage(capture, _stage_before(capture, args.stage)), _stage(capture, args.stage)
    if args.stage == "llir":
        # The stage's own text is LLVM's; what the passes made of TTGIR is the module that went into LLVM.
        after = _before(capture, reader.find_step(capture, "llvm.to_module"))
    if before.kind != after.kind:
        raise UsageError(
            f"{before.kind} and {after.kind} are different languages; compare stage {args.stage} of two captures, "
            f"or read it with `tritonscope dump {terminal.called(capture)} {args.stage}`"
        )
    return _texts(before, after, args, capture)


# -- the two sides


def _before(capture: Capture, record: PassRecord) -> Side:
    kind = kind_of(reader.file_before(capture, record) or "x.mlir")
    return Side(f"{capture.capture} before {record.step} {record.name}", reader.before(capture, record), kind)


def _after(capture: Capture, record: PassRecord) -> Side:
    kind = kind_of(reader.file_after(capture, record) or "x.mlir")
    return Side(f"{capture.capture} after {record.step} {record.name}", reader.after(capture, record), kind)


def _stage(capture: Capture, stage: str) -> Side:
    found = reader.find_stage(capture, stage)
    if found.lines is None:
        raise UsageError(_is_binary(f"stage {stage}"))
    return Side(f"{capture.capture} {stage}", reader.stage_text(capture, stage), kind_of(found.file))


def _stage_before(capture: Capture, stage: str) -> str:
    names = [s.stage for s in capture.stages if s.lines is not None and s.stage not in ("python", "ast")]
    if reader.find_stage(capture, stage).lines is None:
        raise UsageError(_is_binary(f"stage {stage}"))
    if stage not in names[1:]:
        first = f"the first that something turned into is {names[1]}" if names[1:] else "nothing turned into another"
        raise UsageError(f"nothing goes before stage {stage}; {first}")
    return names[names.index(stage) - 1]


def _in_order(capture: Capture, args: argparse.Namespace) -> tuple[PassRecord, PassRecord]:
    """The passes of --from and --to."""
    first, last = reader.find_step(capture, args.first), reader.find_step(capture, args.last)
    inside = first.step.startswith(f"{last.step}.")  # a pass ends after those within it
    if not inside and capture.passes.index(first) > capture.passes.index(last):
        raise UsageError(f"--from {args.first} is step {first.step}, after --to, step {last.step}; swap the two")
    return first, last


def _is_binary(what: str) -> str:
    return f"{what} is a binary, which has no lines to compare; compare the stage sass of two captures"


# -- files


def _file_called(name: str) -> Path | None:
    """The file, pipe or descriptor that `name` means, which may be kept packed; None where there is none.

    One that another tool wrote, with whole compilations in it, is none: it is taken for a capture.
    """
    for path in (Path(name), Path(f"{name}.zst")):
        try:
            if path.exists() and not path.is_dir():
                from tritonscope.foreign import importing

                return None if importing.is_foreign(path) else path
        except OSError:  # a name that is too long, a folder that nobody may look into
            return None
    return None


def _two_files(names: list[str], found: list[Path | None], args: argparse.Namespace) -> int:
    _refuse(args, ("step", "first", "stage"), "files")
    there = next(path for path in found if path)
    if len(found) == 1:
        raise UsageError(f"{there} is a file: give another file to compare it with")
    for name, path in zip(names, found, strict=True):
        if path is None:
            what = "a folder" if Path(name).is_dir() else "no file"
            raise UsageError(f"{name} is {what}, and {there} is a file; give two files, or two captures")
    left, right = (_file(path) for path in found if path)
    # A pipe, <(..), has no name to tell its language by.
    if left.kind == "text" and not (found[0] or there).is_file():
        left = replace(left, kind=right.kind)
    elif right.kind == "text" and not (found[1] or there).is_file():
        right = replace(right, kind=left.kind)
    return _texts(left, right, args)


def _file(path: Path) -> Side:
    kind = kind_of(path.name)
    data = b"" if kind == "binary" else files.read_loose(path)
    if kind == "binary" or b"\0" in data[:_LOOKED_AT]:
        raise UsageError(
            f"{path} is a binary, which has no lines to compare; "
            "compare its SASS (`tritonscope dump CAPTURE sass`, `cuobjdump -sass FILE`)"
        )
    return Side(str(path), data.decode("utf-8", "replace"), kind)


# -- what does not go together

_FLAGS = {
    "step": "--pass",
    "first": "--from",
    "stage": "--stage",
    "raw": "--raw",
    "side_by_side": "--side-by-side",
    "context": "--context",
    "rename_registers": "--rename-registers",
}


def _refuse(args: argparse.Namespace, flags: Iterable[str], where: str) -> None:
    """Raise UsageError for a flag that was given and means nothing for `where`."""
    for flag in flags:
        if getattr(args, flag) not in (None, False):
            raise UsageError(f"{_FLAGS[flag]} means nothing for {where}; leave it out")


def _refuse_together(args: argparse.Namespace) -> None:
    if args.json:
        _refuse(args, ("raw", "side_by_side"), "--json")
    if args.raw:
        _refuse(args, ("rename_registers",), "--raw")
    if args.stat and not args.json:
        _refuse(args, ("context",), "--stat")


# -- one comparison of texts


def _texts(left: Side, right: Side, args: argparse.Namespace, capture: Capture | None = None) -> int:
    """Compare two texts; of one `capture`, a conversion from a dialect to another is shown by source line."""
    from tritonscope.ir.diff import diff

    kind = left.kind if left.kind == right.kind else "text"
    a, b = strip_debug(left.text, left.kind), strip_debug(right.text, right.kind)
    if args.raw:
        return _raw(a, b, left.label, right.label, args)
    if capture is not None and kind == "mlir" and not args.stat and not args.side_by_side:
        from tritonscope.cli import conversion

        if conversion.is_conversion(a, b):
            return _by_line(left, right, capture, args)
    found = diff(a, b, kind, rename_registers=args.rename_registers)
    if args.json:
        terminal.print_json({"left": left.label, "right": right.label, **found.to_json(_context(args))})
    elif args.stat:
        _print_stat(found, left.label, right.label)
    else:
        from tritonscope.cli.diff_text import print_diff

        print_diff(
            found,
            (left.label, right.label),
            terminal.console(),
            context=_context(args),
            side_by_side=args.side_by_side,
        )
    return ExitCode.DIFFERS if args.exit_code and found.stat.differs else ExitCode.DONE


def _context(args: argparse.Namespace) -> int:
    return _CONTEXT if args.context is None else args.context


def _by_line(left: Side, right: Side, capture: Capture, args: argparse.Namespace) -> int:
    from tritonscope.cli import conversion

    if args.json:
        lines = conversion.by_line_json(left.text, right.text)
        terminal.print_json({"left": left.label, "right": right.label, "lines": lines})
    else:
        python = reader.stage_text(capture, "python").splitlines() if _has_stage(capture, "python") else []
        sources = {str(capture.request.get("kernel", {}).get("path")): python}
        conversion.print_by_line(left.text, right.text, (left.label, right.label), sources, terminal.console())
    return ExitCode.DIFFERS if args.exit_code else ExitCode.DONE


def _has_stage(capture: Capture, name: str) -> bool:
    return any(stage.stage == name for stage in capture.stages)


def _print_stat(found: "Diff", left: str, right: str) -> None:
    from tritonscope.cli.diff_text import stat_text

    console = terminal.console()
    console.print(terminal.escape(f"{left} -> {right}: {stat_text(found.stat)}"), soft_wrap=True)


def _raw(left: str, right: str, left_label: str, right_label: str, args: argparse.Namespace) -> int:
    git = shutil.which("git")
    if git is None:
        raise Missing("--raw shows what git shows, and there is no git on PATH; install it, or leave --raw out")
    with tempfile.TemporaryDirectory(prefix="tritonscope-") as folder:
        for name, text in (("a", left), ("b", right)):
            (Path(folder) / name).write_text(text, encoding="utf-8")
        command = [
            git,
            "diff",
            "--no-index",
            "--histogram",
            f"-U{_context(args)}",
            "--no-ext-diff",
            "--no-color",
            "a",
            "b",
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", errors="replace")
    body = "".join(line for line in done.stdout.splitlines(keepends=True)[4:])
    if body:
        sys.stdout.write(
            f"--- {left_label}\n+++ {right_label}\n" + (terminal.escape(body) if terminal.is_terminal() else body)
        )
    return ExitCode.DIFFERS if args.exit_code and body else ExitCode.DONE


# -- a whole capture, and two


def _every_pass(capture: Capture, args: argparse.Namespace) -> int:
    """A line for each pass that changed something, by what happened to operations."""
    from tritonscope.ir.diff import diff
    from tritonscope.ir.summary import summarise

    found = []
    for record in capture.passes:
        if not record.changed or record.file is None or "." in record.step or kind_of(record.file) == "binary":
            continue
        try:
            before, after = _before(capture, record), _after(capture, record)
        except CaptureUnreadable as problem:
            terminal.say(f"left out: step {record.step}, {record.name}: {problem}")
            continue
        if before.kind == after.kind:
            texts = strip_debug(before.text, before.kind), strip_debug(after.text, after.kind)
            difference = diff(*texts, before.kind)
            found.append((record, difference.stat, summarise(difference)))
    if args.json:
        passes = [
            {"step": r.step, "stage": r.stage, "pass": r.name, "stat": _stat_json(stat), **asdict(numbers)}
            for r, stat, numbers in found
        ]
        terminal.print_json({"capture": capture.capture, "passes": passes})
    else:
        console = terminal.console()
        for record, stat, numbers in found:
            console.print(_pass_line(record, stat, numbers), soft_wrap=True)
        if not found:
            console.print("no pass changed anything")
    return ExitCode.DIFFERS if args.exit_code and found else ExitCode.DONE


def _pass_line(record: PassRecord, stat: "Stat", numbers: "Summary") -> "Text":
    from rich.text import Text

    line = Text(f"{record.step:>4}  {terminal.escape(record.stage):6}", style="dim")
    line.append(terminal.escape(record.name), style="bold not dim")
    signs = (("-", numbers.gone), ("+", numbers.new), ("!", numbers.changed), (">", numbers.moved))
    parts = [f"{sign}{count} {name}" for sign, counts in signs for name, count in _most(counts)]
    if numbers.layouts:
        parts.append(f"~{numbers.layouts} layouts")
    if not parts:
        parts.append("attributes only" if stat.differs else f"names only, {stat.renamed} lines")
    line.append(terminal.escape(f"  {', '.join(parts)}"), style="not dim")
    return line


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most frequent by name, and the rest together."""
    items = list(counts.items())
    rest = sum(count for _, count in items[_MOST_NAMES:])
    return items[:_MOST_NAMES] + ([("others", rest)] if rest else [])


def _counts(stat: "Stat") -> str:
    parts = [f"{getattr(stat, name)} {name}" for name in ("changed", "layout", "added", "removed", "moved")]
    return ", ".join(part for part in parts if not part.startswith("0 ")) or f"only names, {stat.renamed} lines"


def _stat_json(stat: "Stat") -> dict[str, int]:
    return {name: getattr(stat, name) for name in type(stat).__dataclass_fields__}


def _two_captures(left: Capture, right: Capture, args: argparse.Namespace) -> int:
    if args.first is not None:
        raise UsageError("--from and --to are for one capture; of two, compare --pass or --stage")
    if args.stage is not None:
        return _texts(_stage(left, args.stage), _stage(right, args.stage), args)
    if args.step is not None:
        record = reader.find_step(left, args.step)
        return _texts(_after(left, record), _after(right, _counterpart(left, right, record)), args)
    from tritonscope import pairing

    rows = list(pairing.compare(left, right))
    first = next((row for row in rows if row.pass_name and row.verdict not in ("identical", "renamed")), None)
    if args.json:
        terminal.print_json(
            {
                "left": left.capture,
                "right": right.capture,
                "steps": [row.to_json() for row in rows],
                "first": first and {"stage": first.stage, "pass": first.pass_name},
            }
        )
    else:
        _print_table(left, right, rows, first)
    differs = any(row.verdict not in ("identical", "renamed") for row in rows)
    return ExitCode.DIFFERS if args.exit_code and differs else ExitCode.DONE


def _counterpart(left: Capture, right: Capture, record: PassRecord) -> PassRecord:
    """The pass of `right` that stands where `record` does in `left`, by name and order."""
    from tritonscope import pairing

    if "." in record.step:
        outer = _counterpart(left, right, reader.find_step(left, record.step.partition(".")[0]))
        same = [
            p for p in left.passes if p.step.startswith(f"{record.step.partition('.')[0]}.") and p.name == record.name
        ]
        theirs = [p for p in right.passes if p.step.startswith(f"{outer.step}.") and p.name == record.name]
        if same.index(record) < len(theirs):
            return theirs[same.index(record)]
    else:
        for a, b in pairing.pair(left, right):
            if a == record and b is not None:
                return b
    raise UsageError(
        f"{right.capture} has no pass that stands where {record.step} {record.name} does; "
        f"`tritonscope diff {terminal.called(left)} {terminal.called(right)}` lists both pipelines"
    )


def _print_table(left: Capture, right: Capture, rows: Sequence[Any], first: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    console = terminal.console()
    for sign, capture in (("---", left), ("+++", right)):
        version = capture.versions.get("triton", "unknown")
        console.print(
            Text(terminal.escape(f"{sign} {capture.capture}  triton {version}"), style="bold"), soft_wrap=True
        )
    console.print()
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name, justify in (("stage", "left"), ("---", "right"), ("+++", "right"), ("pass", "left"), ("", "left")):
        table.add_column(name, justify=justify, no_wrap=name != "", overflow="fold")  # type: ignore[arg-type]
    skipped = 0
    for row in rows:
        idle = row.left is not None and row.right is not None and not (row.left.changed or row.right.changed)
        if row.pass_name and (idle or row.verdict == "identical"):
            skipped += 1
            continue
        table.add_row(
            terminal.escape(row.stage),
            row.left.step if row.left else "",
            row.right.step if row.right else "",
            Text(terminal.escape(row.pass_name or ""), style="" if row.pass_name else "bold"),
            _verdict(row) + _special(row),
        )
    console.print(table)
    if skipped:
        console.print(
            Text(f"{skipped} passes that changed nothing, or left the same on both sides, are not listed", style="dim")
        )
    console.print()
    apart = next((row.stage for row in rows if row.verdict not in ("identical", "renamed", *_ONE_SIDED)), None)
    if first is None and apart and not (left.passes and right.passes):
        lacking = [capture.capture for capture in (left, right) if not capture.passes]
        without = f"{' and '.join(lacking)} {'have' if lacking[1:] else 'has'} none"
        said = f"They differ from stage {apart} on; at which pass is not known, since {without}."
        console.print(terminal.escape(said), soft_wrap=True)
    elif first is None:
        console.print("The two never part but for names.")
    else:
        steps = f"step {first.left.step if first.left else '-'} and {first.right.step if first.right else '-'}"
        console.print(
            terminal.escape(f"They part at {first.pass_name} ({steps}, stage {first.stage})."), soft_wrap=True
        )


def _verdict(row: Any) -> str:
    if row.verdict == "differs":
        return _counts(row.stat)
    return {
        "identical": "identical",
        "renamed": "renamed only",
        "only_left": "only in ---",
        "only_right": "only in +++",
    }[row.verdict]


def _special(row: Any) -> str:
    """Where the pass of a row was left out, or its result edited."""
    sides = (("---", row.left), ("+++", row.right))
    special = ("skipped", "edited")
    return "".join(f", {record.method} in {sign}" for sign, record in sides if record and record.method in special)


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return count
