"""LLVM's own passes, from what LLVM printed while a step ran: recorded as children of that step."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from tritonscope.engine.snapshots import MANY, SnapshotFolder
from tritonscope.ir.llvm_dump import LlvmDump, read_llvm_dumps
from tritonscope.ir.stats import count_ops
from tritonscope.model import PassRecord

__all__ = ["records"]

_DEFINE = re.compile(r"^define [^\n]*?@(\"[^\"\n]*\"|[\w.$-]+)\(", re.MULTILINE)
_BRACE = re.compile(r"^}$", re.MULTILINE)
#: Metadata and attribute groups are numbered anew by each printer, a function's alone otherwise than its module's.
_NUMBER = re.compile(r"([!#])\d+")
_HEADING = re.compile(r"^(?:; ModuleID|; Function Attrs|source_filename|target |[!#]).*\n", re.MULTILINE)


def records(
    output: Path, start: int, end: int, outer: PassRecord, before: str, snapshots: SnapshotFolder
) -> Iterator[PassRecord]:
    """The LLVM passes in the bytes `start` to `end` of the file `output`, numbered below the step `outer`.

    `before` is the LLVM IR that went into that step. A pass that left what it was given has no file, and equal texts
    share one. Passes over a loop print the loop alone: what they did to it shows against the same loop before.
    """
    module = _Module()
    module.differs(before)
    files: dict[bytes, str] = {}
    seen: set[tuple[str, str]] = set()
    with output.open("rb") as file:
        file.seek(start)
        for number, dump in enumerate(read_llvm_dumps(cast(BinaryIO, _Span(file, end - start))), 1):
            step, name = f"{outer.step}.{number}", dump.mnemonic or dump.name
            whole = dump.kind in ("module", "function", "scc") and not dump.invalidated
            ops = module.ops() if whole else None
            changed = module.differs(dump.text) if whole else bool(dump.changed)
            scope = (dump.kind, dump.on)
            # The first text of a scope is kept, changed or not: later ones without a file refer to it.
            keep = changed or scope not in seen
            seen.add(scope)
            yield PassRecord(
                step=step,
                stage=outer.stage,
                name=name,
                options="",
                ms=None,
                changed=changed,
                ops_before=ops,
                ops_after=module.ops() if whole else None,
                file=_keep(dump, step, name, files, snapshots) if keep else None,
                method="dumped",
                scope=f"{dump.kind} {dump.on}".strip(),
            )


class _Module:
    """The functions as they were last seen, whether printed alone or with their module."""

    def __init__(self) -> None:
        self._functions: dict[str, str] = {}
        self._ops: dict[str, int] = {}
        self._rest = ""

    def ops(self) -> int:
        """The number of instructions in all functions."""
        return sum(self._ops.values())

    def differs(self, text: str) -> bool:
        """Whether `text`, a module or some of its functions, says something new; it is what counts from now on."""
        functions = list(_functions(text))
        found = {name: _NUMBER.sub(r"\1", text[start:end]) for name, start, end in functions}
        new = {name: body for name, body in found.items() if self._functions.get(name) != body}
        self._functions.update(new)
        self._ops.update((name, count_ops(body, "llir")) for name, body in new.items())
        changed = bool(new)
        if text.startswith("; ModuleID") or "\ntarget triple" in text:
            ends = [0, *(end for _, _, end in functions)]
            starts = [*(start for _, start, _ in functions), len(text)]
            beside = "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
            rest = _NUMBER.sub(r"\1", _HEADING.sub("", beside))
            changed = changed or rest.split() != self._rest.split()
            self._rest = rest
        return changed


def _functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, start and end of each function that `text` defines."""
    position = 0
    while (define := _DEFINE.search(text, position)) and (brace := _BRACE.search(text, define.end())):
        yield define[1], define.start(), brace.end()
        position = brace.end()


def _keep(dump: LlvmDump, step: str, name: str, files: dict[bytes, str], snapshots: SnapshotFolder) -> str:
    data = dump.text.encode()
    digest = hashlib.sha256(data).digest()
    if digest not in files:
        files[digest] = snapshots.add(step, name, "mir" if dump.kind == "machine" else "ll", data, MANY)
    return files[digest]


class _Span:
    """A part of a file, read like a whole one."""

    def __init__(self, file: BinaryIO, length: int) -> None:
        self._file = file
        self._left = length

    def read(self, size: int) -> bytes:
        data = self._file.read(min(size, self._left))
        self._left -= len(data)
        return data
