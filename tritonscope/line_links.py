"""What the lines of a capture's texts came from: its stages and passes as they are shown, each line with its Python.

Line numbers are those of the texts without locations, as `tritonscope dump` prints them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

from tritonscope.errors import UsageError
from tritonscope.ir.instruction_classes import PADDING
from tritonscope.ir.instruction_mix import bytes_moved
from tritonscope.ir.instructions import KINDS as MACHINE_CODE
from tritonscope.ir.instructions import Instruction, read_code
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.links import KINDS, LineMap, Position, counted, line_map, ptx_lines, shown
from tritonscope.ir.locations import kept_lines, strip_debug
from tritonscope.model import Capture, PassRecord
from tritonscope.store import reader

__all__ = ["Heat", "Links", "Listing", "PythonFile", "PythonLine"]

_WIDEST_MARGIN = 400
_LARGEST_AST_DEPTH = 200
_HIDDEN_NODES = ("Load", "Store", "arguments")  # which say nothing of what is written


@dataclass(frozen=True)
class Listing:
    """A text as it is shown: the stage or pass whose it is, its lines, and where each came from.

    `ptx` has for each line of SASS the line of the PTX, as that is shown, that it is from; it is empty for other texts.
    `inferred` are the lines for which that is told by their order among their like, and not by the binary.
    """

    stage: str
    file: str
    kind: str
    lines: Sequence[str]
    map: LineMap
    step: str | None = None
    pass_: str | None = None
    ptx: Sequence[int | None] = ()
    inferred: frozenset[int] = frozenset()

    @property
    def exact(self) -> bool:
        """Whether this is SASS whose binary names the lines of PTX that it came from."""
        return any(line is not None for line in self.ptx)

    def ptx_line(self, line: int) -> int | None:
        """The line of PTX that a line of SASS, from 1, came from; None where that is not known."""
        return self.ptx[line - 1] if 0 < line <= len(self.ptx) else None


@dataclass(frozen=True)
class PythonLine:
    """What a line of Python became: instructions of each stage of machine code, and bytes of its final one.

    `loaded` and `stored` are bytes that each thread loads from global memory and stores there, every instruction
    counted once.
    """

    line: int
    text: str | None
    instructions: Mapping[str, int]
    loaded: int
    stored: int


@dataclass(frozen=True)
class PythonFile:
    """A file, with its lines that instructions came from; their texts where the capture has them."""

    file: str
    lines: tuple[PythonLine, ...]


@dataclass(frozen=True)
class Heat:
    """The Python files, the kernel's own first, with what became of their lines.

    `stages` are those of machine code, the final one last; `nowhere` counts what came from no line, `total` all.
    """

    stages: tuple[str, ...]
    files: tuple[PythonFile, ...]
    nowhere: Mapping[str, int]
    total: Mapping[str, int]


class Links:
    """The links of one capture, read as they are asked for. Methods raise CaptureUnreadable for damaged files."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self._stages: dict[str, Listing] = {}

    @property
    def stages(self) -> list[str]:
        """The stages whose lines lead to Python, in the order in which they were made."""
        return [stage.stage for stage in self.capture.stages if kind_of(stage.file) in KINDS]

    def stage(self, name: str) -> Listing:
        """A stage; raises UsageError for one that is absent or whose lines lead nowhere."""
        found = reader.find_stage(self.capture, name)
        if found.stage not in self._stages:
            if kind_of(found.file) not in KINDS:
                there = ", ".join(self.stages) or "none"
                raise UsageError(f"lines of the stage {found.stage} are not followed; those of {there} are")
            self._stages[found.stage] = self._listing(found.stage, found.file)
        return self._stages[found.stage]

    def after(self, step: PassRecord) -> Listing:
        """What a pass left; raises UsageError where that was not kept or its lines lead nowhere."""
        file = reader.file_after(self.capture, step)
        if file is None or kind_of(file) not in KINDS:
            raise UsageError(
                f"step {step.step} ({step.name}) left no text whose lines can be followed; ask for another"
            )
        return self._listing(step.stage, file, step.step, step.name)

    def text(self, text: str | PassRecord) -> Listing:
        """A stage by its name, or what a pass left; raises as `stage` and `after` do."""
        return self.stage(text) if isinstance(text, str) else self.after(text)

    def _listing(self, stage: str, file: str, step: str | None = None, pass_: str | None = None) -> Listing:
        text, kind = reader.read_text(self.capture, file), kind_of(file)
        found = shown(line_map(text, kind, self._ptx if kind == "sass" else ""), text, kind)
        lines = strip_debug(text, kind).split("\n")
        if kind != "sass":
            return Listing(stage, file, kind, lines, found, step, pass_)
        ptx, inferred = self._shown_ptx_lines(text)
        return Listing(stage, file, kind, lines, found, step, pass_, ptx, inferred)

    @cached_property
    def _ptx(self) -> str:
        stages = [stage for stage in self.capture.stages if stage.stage == "ptx"]
        return reader.read_text(self.capture, stages[0].file) if stages else ""

    def _shown_ptx_lines(self, sass: str) -> tuple[list[int | None], frozenset[int]]:
        numbers = {line: number for number, line in enumerate(kept_lines(self._ptx, "ptx"), 1)}
        joined = ptx_lines(sass, self._ptx)
        found: list[int | None] = []
        inferred = []
        for number, at in enumerate(kept_lines(sass, "sass"), 1):
            line = joined.lines[at]
            found.append(numbers.get(line - 1) if line else None)
            if at + 1 in joined.inferred:
                inferred.append(number)
        return found, frozenset(inferred)

    def sass_of_ptx(self, line: int) -> list[int]:
        """The lines of SASS that the binary says came from a line of PTX; none where it does not say."""
        if "sass" not in self.stages:
            return []
        return [number for number, found in enumerate(self.stage("sass").ptx, 1) if found == line]

    def heat(self) -> Heat:
        """What each line of Python became in machine code; inlined library code counts for the line that called it."""
        stages = [name for name in self.stages if kind_of(reader.find_stage(self.capture, name).file) in MACHINE_CODE]
        found_in = {name: _by_place(self.stage(name)) for name in stages}
        counts = {name: {place: len(each) for place, each in found.items()} for name, found in found_in.items()}
        final, kind = (found_in[stages[-1]], self.stage(stages[-1]).kind) if stages else ({}, "")
        moved = {place: bytes_moved(each, kind) for place, each in final.items()}
        places = sorted({place for found in counts.values() for place in found if place is not None})
        files: dict[str, list[PythonLine]] = {}
        for place in places:
            numbers = {name: found.get(place, 0) for name, found in counts.items()}
            text = self.python_line(place.file, place.line)
            files.setdefault(place.file, []).append(PythonLine(place.line, text, numbers, *moved.get(place, (0, 0))))
        ordered = sorted(files, key=lambda file: (file != self.kernel_file, file))
        return Heat(
            tuple(stages),
            tuple(PythonFile(file, tuple(files[file])) for file in ordered),
            {name: found.get(None, 0) for name, found in counts.items()},
            {name: sum(found.values()) for name, found in counts.items()},
        )

    @property
    def kernel_file(self) -> str:
        """The kernel's own file, as the compiler called it."""
        return self._kernel_file or str((self.capture.request.get("kernel") or {}).get("path", ""))

    @cached_property
    def _kernel_file(self) -> str:
        functions = self._functions
        return str(functions[0].get("file", "")) if functions else ""

    @cached_property
    def source(self) -> list[str]:
        """The lines of the kernel's own file, none where the capture has none."""
        stages = [stage for stage in self.capture.stages if stage.stage == "python"]
        return reader.read_text(self.capture, stages[0].file).split("\n") if stages else []

    def python_line(self, file: str, line: int) -> str | None:
        """The text of a line of Python, None where the capture does not have it."""
        if file == self.kernel_file and self.source:
            return self.source[line - 1] if 0 < line <= len(self.source) else None
        return self._elsewhere.get((file, line))

    @cached_property
    def _elsewhere(self) -> dict[tuple[str, int], str]:
        """The lines of functions in other files: their text is in the cache key, dedented, and begins at "def"."""
        named = self.capture.components.get("functions")
        sources = named if isinstance(named, dict) else {}
        lines = {}
        for function in self._functions:
            known = sources.get(function.get("name"))
            text = known.get("source") if isinstance(known, dict) else None
            first, column = function["ast"].get("line"), function["ast"].get("column")
            if isinstance(text, str) and isinstance(first, int) and isinstance(column, int):
                margin = " " * min(max(column, 0), _WIDEST_MARGIN)
                for number, line in enumerate(text.split("\n"), first):
                    lines[str(function.get("file", "")), number] = margin + line if line else line
        return lines

    def spans(self, file: str) -> list[tuple[int, int]]:
        """First and last line of each function of `file` that the kernel is made of, in order."""
        trees = [found["ast"] for found in self._functions if found.get("file") == file]
        spans = [(tree.get("line"), tree.get("end_line")) for tree in trees if isinstance(tree, dict)]
        return sorted((a, b) for a, b in spans if isinstance(a, int) and isinstance(b, int))

    def node(self, position: Position) -> tuple[str, str] | None:
        """The type and the text of the outermost node of the syntax tree that begins at a position, None for none.

        Text of several lines ends after the first; "" where the capture has not that file.
        """
        found = self._nodes.get((position.file, position.line, position.column))
        if found is None:
            return None
        type_, end_line, end_column = found
        text = self.python_line(position.file, position.line) or ""
        # Columns of the tree count bytes of UTF-8.
        data = text.encode("utf-8", "replace")[position.column - 1 : end_column if end_line == position.line else None]
        return type_, data.decode("utf-8", "replace") + ("" if end_line == position.line else " ..")

    @cached_property
    def _functions(self) -> list[dict[str, Any]]:
        stages = [stage for stage in self.capture.stages if stage.stage == "ast"]
        if not stages:
            return []
        try:
            value = json.loads(reader.read_text(self.capture, stages[0].file))
        except (ValueError, RecursionError):
            return []
        functions = value.get("functions") if isinstance(value, dict) else None
        return [found for found in functions or () if isinstance(found, dict) and isinstance(found.get("ast"), dict)]

    @cached_property
    def _nodes(self) -> dict[tuple[str, int, int], tuple[str, int, int]]:
        nodes: dict[tuple[str, int, int], tuple[str, int, int]] = {}
        for function in self._functions:
            file = str(function.get("file", ""))
            for node in _walk(function["ast"], 0):
                line, column = node.get("line"), node.get("column")
                end_line, end_column = node.get("end_line"), node.get("end_column")
                if not (isinstance(line, int) and isinstance(column, int)):
                    continue
                if isinstance(end_line, int) and isinstance(end_column, int):
                    # The compiler counts columns from 1, the syntax tree from 0. The outermost comes first.
                    nodes.setdefault((file, line, column + 1), (str(node.get("type")), end_line, end_column))
        return nodes

    def find_file(self, name: str) -> str:
        """The file, among those that the stages name, that `name` means: a path or the end of one; "" is the kernel's.

        Raises UsageError where there is none or there are several.
        """
        if not name:
            return self.kernel_file
        wanted = PurePath(name).parts
        files = {file for stage in self.stages for file, _ in self.stage(stage).map.places} | {self.kernel_file}
        found = sorted(file for file in files if file == name or PurePath(file).parts[-len(wanted) :] == wanted)
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(f"{name} could be {' or '.join(found)}; write more of the path")
        there = ", ".join(sorted({PurePath(file).name for file in files if file}))
        raise UsageError(f"nothing in {self.capture.capture} came from {name}; it came from {there or 'no file'}")


def _by_place(listing: Listing) -> dict[Position | None, list[Instruction]]:
    """The instructions of machine code by the line of Python that they count for."""
    found: dict[Position | None, list[Instruction]] = {}
    for instruction in read_code("\n".join(listing.lines), listing.kind).instructions:
        if instruction.opcode not in PADDING:
            place = counted(listing.map.at(instruction.line))
            found.setdefault(place._replace(column=0) if place else None, []).append(instruction)
    return found


def _walk(node: dict[str, Any], depth: int) -> Iterator[dict[str, Any]]:
    if depth > _LARGEST_AST_DEPTH:
        return
    if node.get("type") not in _HIDDEN_NODES:
        yield node
    children = node.get("children")
    for child in children if isinstance(children, list) else ():
        if isinstance(child, dict):
            yield from _walk(child, depth + 1)
