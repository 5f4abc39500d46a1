"""Lines of one origin across the levels of a capture. No textual here."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from rich.text import Text

from tritonscope.errors import UsageError
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.links import KINDS, Chain, Position
from tritonscope.ir.locations import kept_lines
from tritonscope.ir.summary import operation_of
from tritonscope.line_links import Links, Listing
from tritonscope.model import Capture, PassRecord
from tritonscope.printable import escape
from tritonscope.store import reader
from tritonscope.tui.document import Document
from tritonscope.tui.places import Place, record_of, stages_of
from tritonscope.tui.session import Session

__all__ = [
    "Level",
    "Related",
    "blocks",
    "chains_of",
    "document_at",
    "first_levels",
    "level_at",
    "line_shown",
    "nearest",
    "operation_at",
    "origin_text",
    "related",
    "text_at",
]

_WORDS = {
    "binary": "as the binary says",
    "order": "inferred from their order",
    "expression": "of the same expression",
    "line": "of the same line of Python",
}


@dataclass(frozen=True)
class Level:
    """A text in a pane, and what its lines came from: None while that is not known, and for what leads nowhere."""

    place: Place
    document: Document
    listing: Listing | None = None
    known: bool = False

    @property
    def python(self) -> bool:
        """Whether this is the source itself."""
        return self.place.stage == "python"


@dataclass(frozen=True)
class Related:
    """Lines, from 1 and in order, of the origin of a line of another text; `by` says how that is known."""

    lines: Sequence[int] = ()
    by: str = ""

    @property
    def words(self) -> str:
        """In words, for a frame."""
        if not self.lines:
            return "none of that origin"
        return f"{'1 line' if len(self.lines) == 1 else f'{len(self.lines):,} lines'} {_WORDS.get(self.by, '')}".strip()


def text_at(capture: Capture, place: Place) -> str | PassRecord:
    """The text at a place, as `Session.listing` takes it."""
    return record_of(capture, place.step) if place.step else place.stage


def document_at(session: Session, place: Place) -> Document:
    """The text at a place; raises UsageError and CaptureUnreadable."""
    text = text_at(session.capture, place)
    if isinstance(text, str):
        return session.stage(text)
    if text.file is not None and kind_of(text.file) == "binary":
        raise UsageError(f"{text.name} left {text.file}, which is no text; the last stage is its disassembly")
    return session.after(text)


def level_at(session: Session, place: Place) -> Level:
    """The text at a place and what its lines came from; raises UsageError, also where they lead nowhere, and
    CaptureUnreadable."""
    listing = None if place.stage == "python" else session.listing(text_at(session.capture, place))
    return Level(place, document_at(session, place), listing, known=True)


def first_levels(capture: Capture, present: Place) -> tuple[list[Place], int]:
    """The places to show beside each other where the reader is at `present`, and which of them that is."""
    names = [stage.stage for stage in stages_of(capture)]
    followed = [stage.stage for stage in capture.stages if kind_of(stage.file) in KINDS]
    final = next((name for name in ("ptx", "amdgcn", "sass") if name in followed), followed[-1] if followed else "")
    middle = next((name for name in ("ttgir", "ttir", "source") if name in followed), final)
    python = Place(stage="python" if "python" in names else middle)
    here = Place(stage=present.stage, step=present.step)
    if present.stage == python.stage:
        return [here, Place(stage=middle), Place(stage=final)], 0
    if present.stage == "sass" and final != "sass":
        return [python, Place(stage=final), here], 2
    if present.stage == final:
        return [python, Place(stage=middle), here], 2
    return [python, here, Place(stage=final)], 1


def line_shown(capture: Capture, place: Place, locations: bool, line: int) -> int:
    """The line, as texts without locations count, of line `line` of the text at `place`, which may be shown with."""
    text = text_at(capture, place)
    file = reader.find_stage(capture, text).file if isinstance(text, str) else reader.file_after(capture, text)
    kind = kind_of(file or "")
    if not locations or kind not in KINDS:
        return line
    whole = reader.stage_text(capture, text) if isinstance(text, str) else reader.after(capture, text)
    return bisect_left(kept_lines(whole, kind), line - 1) + 1


def chains_of(links: Links, level: Level, line: int) -> tuple[Chain, ...]:
    """What a line came from; a line of Python came from itself."""
    if level.python:
        return ((Position(links.kernel_file, line),),)
    return level.listing.map.at(line) if level.listing is not None else ()


def related(links: Links, source: Level, line: int, target: Level) -> Related:
    """The lines of `target` that are of the origin of a line of `source`."""
    chains = chains_of(links, source, line)
    if target.python:
        if source.python:
            return Related((line,))
        lines = {frame.line for chain in chains for frame in chain if frame.file == links.kernel_file}
        return Related(sorted(lines))
    if target.listing is None:
        return Related()
    if source.python:
        return Related(target.listing.map.lines_of(links.kernel_file, line), "line")
    if source.listing is not None and (joined := _by_binary(source.listing, line, target.listing)).lines:
        return joined
    found = target.listing.map.same_origin(chains)
    return Related(found.lines, found.by)


def _by_binary(source: Listing, line: int, target: Listing) -> Related:
    """SASS and PTX, where the binary says which line of one is of which of the other."""
    if source.kind == "sass" and target.kind == "ptx" and (ptx_line := source.ptx_line(line)):
        return Related((ptx_line,), "order" if line in source.inferred else "binary")
    if source.kind == "ptx" and target.kind == "sass":
        lines = [number for number, found in enumerate(target.ptx, 1) if found == line]
        return Related(lines, "order" if not target.inferred.isdisjoint(lines) else "binary")
    return Related()


def nearest(lines: Sequence[int], line: int) -> int:
    """The one of `lines`, in order and not empty, that is nearest to `line`."""
    at = bisect_left(lines, line)
    return min(lines[max(at - 1, 0) : at + 1], key=lambda each: abs(each - line))


def blocks(lines: Sequence[int]) -> list[int]:
    """The first of each run of lines that follow each other."""
    return [line for index, line in enumerate(lines) if not index or lines[index - 1] != line - 1]


def origin_text(links: Links, level: Level, line: int) -> Text:
    """Where a line came from, in three lines: the place, the calls that led there, what is known of the binary."""
    text = Text(no_wrap=True, overflow="ellipsis")
    if level.python:
        return text.append("python ", style="dim").append(f"{PurePath(links.kernel_file).name}:{line}", style="bold")
    if level.listing is None:
        return text.append("its lines lead nowhere" if level.known else "following its lines ..", style="dim")
    chains = level.listing.map.at(line)
    if not chains:
        text.append("from no line of Python that the compiler names", style="dim")
    for index, frame in enumerate(chains[0] if chains else ()):
        text.append("" if not index else "\n" if index == 1 else "   ")
        text.append("from " if not index else "called at ", style="dim")
        text.append(_place(frame), style="bold")
        node = links.node(frame)
        said = node[1] if node and node[1] else (links.python_line(frame.file, frame.line) or "").strip()
        text.append(f"  {escape(said)}" if said else "")
    if len(chains) > 1:
        text.append(f"   and {len(chains) - 1} other origins", style="dim")
    if ptx_line := level.listing.ptx_line(line):
        how = "inferred from its order" if line in level.listing.inferred else "the binary says so"
        text.append("\nfrom PTX line ", style="dim").append(f"{ptx_line}", style="bold").append(f"  {how}", style="dim")
    elif chains and level.listing.kind == "sass" and not level.listing.exact:
        text.append("\nthe binary names source lines alone, no PTX: columns are not known", style="dim")
    return text


def _place(frame: Position) -> str:
    column = f":{frame.column}" if frame.column else ""
    return escape(f"{PurePath(frame.file).name}:{frame.line}{column}")


def operation_at(level: Level, line: int) -> str:
    """The operation or instruction of a line, "" for none."""
    lines = level.document.lines
    return operation_of(lines[line - 1], level.document.kind) if 0 < line <= len(lines) else ""
