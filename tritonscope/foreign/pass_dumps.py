"""What MLIR_ENABLE_DUMP and LLVM_IR_ENABLE_DUMP print, made into compilations with their passes.

A file is gone through twice: first for where each compilation begins, which kernel it is of and for which target, and
then, compilation by compilation, for the passes. One dump is in memory at a time.

Where a compilation begins nothing says, but the IR does: a kernel of another name, or IR that is a level higher again.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tritonscope.engine import llvm_record
from tritonscope.engine.nested import nested_records, short_name
from tritonscope.engine.snapshots import SnapshotFolder
from tritonscope.errors import UsageError
from tritonscope.foreign import facts
from tritonscope.foreign.found import UNKNOWN_TARGET, Artefact, Found
from tritonscope.foreign.reading import lines
from tritonscope.ir.locations import strip_locations
from tritonscope.ir.mlir_dump import Dump, Noise, is_header, read_dumps, why_failed
from tritonscope.ir.stats import count_ops
from tritonscope.model import Failure, PassRecord, Target

__all__ = ["compilations"]

MLIR = "MLIR_ENABLE_DUMP"
LLVM = "LLVM_IR_ENABLE_DUMP"

_LARGEST_DUMP = 256 << 20
_MOST_LOG = 200_000
_MOST_INSIDE = 1000

_LLVM_MARK = b"*** IR Dump "
_LLVM_HEADER = re.compile(rb"(?P<printer>; |# |)\*\*\* IR Dump (?:Before|After) [^\n]+ \*\*\*:?\r?\n?")
_ON_GPU = re.compile(rb"(?:ttg|triton_gpu)\.\"?num-warps")
_KERNEL = re.compile(rb" *tt\.func public @")
_LLVM_FUNCTION = re.compile(rb" *llvm\.func |define ")

#: Levels of IR, by which a compilation that begins anew is told, and the stages whose passes leave them.
_TTIR, _TTGIR, _LLIR = range(3)
_STAGES = ("ttir", "ttgir", "llir")

#: MLIR's inliner runs passes on each function within itself; other passes on a function are the pipeline's own.
_INLINER = "inline"

_NOTES = {
    MLIR: (
        "Made from the compiler's own dump: no times; what the last pass left was not printed; passes that run inside "
        "another are listed after it, except in the inliner; the stage is told by the form of the IR.",
    ),
    LLVM: ("Made from LLVM's own dump: no times; what came before the first pass was not printed.",),
}


@dataclass
class _Extent:
    """Where in the file one compilation is, and what its IR says of it."""

    start: int
    end: int = 0
    kernel: str = ""
    target: Target | None = None
    level: int | None = None
    source: tuple[int, int] | None = None  # the dump that came first
    ttir: tuple[int, int] | None = None  # the last of TTIR
    llvm: int | None = None
    code_generation: int | None = None
    on_amd: bool = False
    digest: str = ""


def compilations(path: Path, place: str) -> Iterator[Found]:
    """The compilations whose passes are printed in the regular file `path`, which the user calls `place`.

    Raises UsageError where a line or a dump is larger than any compiler prints.
    """
    for extent in _Survey(path, place).extents():
        yield _found(path, place, extent)


# -- first: where each begins


@dataclass
class _Seen:
    """What the lines of the dump that is being read have said so far."""

    start: int
    whole: bool = False  # it is a module, not a function alone
    on_gpu: bool = False
    tt: bool = False
    llvm: bool = False
    kernel: str = ""
    target: Target | None = None
    step: bool = False  # what a pass prints inside itself

    @property
    def level(self) -> int:
        return _LLIR if self.llvm and not self.tt else _TTGIR if self.on_gpu else _TTIR


@dataclass
class _Survey:
    path: Path
    place: str
    current: _Extent | None = None
    ended: list[_Extent] = field(default_factory=list)

    def extents(self) -> list[_Extent]:
        position, dump, in_llvm, machine = 0, None, False, False
        with self.path.open("rb") as file:
            for line in lines(file, self.place):
                if line.startswith(b"// -----// ") and (header := is_header(line)):
                    self._close(dump, position)
                    dump = _Seen(position, step=header == "step")
                    if in_llvm:
                        self._begin(position)
                        in_llvm = machine = False
                elif _LLVM_MARK in line[:16] and (found := _LLVM_HEADER.fullmatch(line)):
                    self._close(dump, position)
                    dump = None
                    optimiser = found["printer"] == b"; "
                    if self.current is None or (machine and optimiser):
                        self._begin(position)
                        machine = False
                    assert self.current is not None
                    if self.current.llvm is None:
                        self.current.llvm = position
                    if not optimiser and self.current.code_generation is None:
                        self.current.code_generation = position
                    in_llvm, machine = True, machine or found["printer"] == b"# "
                elif dump:
                    self._look(dump, line)
                    if position - dump.start > _LARGEST_DUMP:
                        raise UsageError(f"a dump in {self.place} has over {_LARGEST_DUMP} bytes; cut it out")
                elif in_llvm and self.current and line.startswith((b"define ", b"attributes ", b"target ")):
                    self._look_llvm(self.current, line)
                position += len(line)
        self._close(dump, position)
        self._begin(position)
        return [self._measured(extent) for extent in self.ended]

    def _begin(self, position: int) -> None:
        """The compilation so far ends at `position`, where another begins."""
        if self.current:
            self.current.end = position
            self.ended.append(self.current)
        self.current = _Extent(position)

    def _close(self, dump: _Seen | None, end: int) -> None:
        """The dump ends: does it belong to the compilation so far, or does it begin another?"""
        if dump is None:
            return
        now = self.current
        if now is None:
            self._begin(dump.start)
        elif dump.whole and not dump.step and now.level is not None:
            other = bool(dump.kernel and now.kernel and dump.kernel != now.kernel)
            if other or dump.level < now.level:
                self._begin(dump.start)
        now = self.current
        assert now is not None
        if dump.step or not dump.whole:
            return
        now.source = now.source or (dump.start, end)
        if dump.level == _TTIR:
            now.ttir = (dump.start, end)
        now.level = dump.level
        now.kernel = now.kernel or dump.kernel
        now.target = dump.target or now.target

    def _look(self, dump: _Seen, line: bytes) -> None:
        if line.startswith((b"module", b'"builtin.module"')):
            dump.whole = True
            dump.on_gpu = bool(_ON_GPU.search(line))
            dump.target = facts.target_of(line.decode("utf-8", "replace"))
        elif _KERNEL.match(line):
            dump.tt = True
            dump.kernel = dump.kernel or facts.kernel_name(line.decode("utf-8", "replace"))
        elif _LLVM_FUNCTION.match(line):
            dump.llvm = True
            if b".kernel" in line and not dump.kernel:
                dump.kernel = facts.kernel_name(line.decode("utf-8", "replace"))

    def _look_llvm(self, extent: _Extent, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        extent.kernel = extent.kernel or facts.kernel_name(text)
        extent.target = extent.target or facts.target_of(text)
        extent.on_amd = extent.on_amd or line.startswith(b'target triple = "amd')

    def _measured(self, extent: _Extent) -> _Extent:
        digest = hashlib.sha256()
        for line in _span(self.path, extent.start, extent.end):
            digest.update(line)
        return replace(extent, digest=digest.hexdigest())


# -- then: the passes


def _found(path: Path, place: str, extent: _Extent) -> Found:
    artefacts, text = [], ""
    for stage, at in (("source", extent.source), ("ttir", extent.ttir)):
        if at and (stage == "source" or extent.level != _TTIR):
            first = next(item for item in read_dumps(_span(path, *at)) if isinstance(item, Dump))
            artefacts.append(Artefact(stage, first.text.encode("utf-8", "replace")))
            text = text or first.text
    middle = extent.end if extent.llvm is None else extent.llvm
    failed, log = _what_went_wrong(_span(path, extent.start, middle))
    tools = [tool for tool, there in ((MLIR, middle > extent.start), (LLVM, extent.llvm is not None)) if there]
    kernel, target = extent.kernel or "unnamed", extent.target or UNKNOWN_TARGET
    return Found(
        kernel=kernel,
        target=target,
        tool=" and ".join(tools),
        place=place,
        identity=extent.digest,
        artefacts=tuple(artefacts),
        source=facts.source_file(text),
        status="failed" if failed else "ok",
        components=facts.components(kernel, target, {}, text, None),
        notes=tuple(note for tool in tools for note in _NOTES[tool]),
        passes=partial(_passes, path, extent),
        failure=failed,
        log=log,
    )


def _passes(path: Path, extent: _Extent, snapshots: SnapshotFolder) -> Iterator[PassRecord]:
    middle = extent.end if extent.llvm is None else extent.llvm
    count = 0
    for record in _mlir_passes(read_dumps(_span(path, extent.start, middle)), snapshots):
        count += "." not in record.step
        yield record
    if extent.llvm is None:
        return
    turn = extent.end if extent.code_generation is None else extent.code_generation
    asm = "amdgcn" if extent.on_amd else "ptx"
    for name, stage, start, end in (
        ("llvm.optimize_module", "llir", extent.llvm, turn),
        ("llvm.translate_to_asm", asm, turn, extent.end),
    ):
        if start < end:
            outer = PassRecord(str(count), stage, name, "", None, True, None, None, None, "dumped")
            yield outer
            for number, inner in enumerate(llvm_record.records(path, start, end, outer, "", snapshots)):
                # What went into the first nobody printed.
                yield inner if number else replace(inner, changed=False, ops_before=None)
            count += 1


def _mlir_passes(items: Iterable[Dump | Noise], snapshots: SnapshotFolder) -> Iterator[PassRecord]:
    """Each pass, and after it what ran inside it. What a pass left is what the next one was given."""
    step = 0
    group: list[Dump | Noise] = []
    for item in items:
        if isinstance(item, Noise):
            continue
        if group and len(group) <= _MOST_INSIDE and _is_inside(item, _outer(group)):
            group.append(item)
            continue
        after = item.text
        if group:
            yield from _grouped(step, group, after, snapshots)
            step += 1
        group = [item] if item.when == "Before" else []
    if group:
        yield from _grouped(step, group, None, snapshots)


def _outer(group: list[Dump | Noise]) -> Dump:
    outer = group[0]
    assert isinstance(outer, Dump)
    return outer


def _is_inside(dump: Dump, outer: Dump) -> bool:
    if dump.owner:
        return True
    on_function = dump.when == "Before" and dump.operation not in (None, "builtin.module")
    return on_function and short_name(outer).lower().rpartition("-")[2].startswith(_INLINER)


def _grouped(
    step: int, group: list[Dump | Noise], after: str | None, snapshots: SnapshotFolder
) -> Iterator[PassRecord]:
    """The first of `group` and what ran inside it; `after` is None where what they left was not printed."""
    outer = _outer(group)
    left = outer.text if after is None else after
    name = short_name(outer)
    file = snapshots.add(str(step), name, "mlir", left.encode("utf-8", "replace")) if left != outer.text else None
    record = PassRecord(
        step=str(step),
        stage=_STAGES[_level(left)],
        name=name,
        options=" ".join((outer.options or "").split()),
        ms=None,
        changed=strip_locations(left) != strip_locations(outer.text),
        ops_before=count_ops(outer.text),
        ops_after=None if after is None else count_ops(left),
        file=file,
        method="dumped",
    )
    yield record
    yield from nested_records(group, record, outer.text, left, snapshots)


def _level(text: str) -> int:
    if re.search(r"^ *tt\.func ", text, re.MULTILINE):
        return _TTGIR if re.search(r"^module[^\n]*(?:ttg|triton_gpu)\.\"?num-warps", text, re.MULTILINE) else _TTIR
    return _LLIR if re.search(r"^ *llvm\.func ", text, re.MULTILINE) else _TTIR


def _what_went_wrong(printed: Iterable[bytes]) -> tuple[Failure | None, str]:
    """The failure that the compiler printed last, and what else it printed, shortened."""
    log, running, failed = "", None, None
    step = -1
    for item in read_dumps(printed):
        if isinstance(item, Noise):
            log = (log + item.text)[-_MOST_LOG:]
        elif item.when == "After failed":
            failed = item
        elif not item.owner and not (running and _is_inside(item, running)):
            running, step = item, step + 1
    if failed is None or running is None:
        return None, log
    inner = short_name(failed) if failed.name != running.name else None
    failure = Failure(
        stage=_STAGES[_level(running.text)],
        pass_=short_name(running),
        inner=inner,
        step=str(step),
        message=why_failed(log),
        diagnostics=log,
    )
    return failure, log


def _span(path: Path, start: int, end: int) -> Iterator[bytes]:
    """The lines of a part of a file."""
    with path.open("rb") as file:
        file.seek(start)
        left = end - start
        while left > 0 and (line := file.readline(left)):
            left -= len(line)
            yield line
