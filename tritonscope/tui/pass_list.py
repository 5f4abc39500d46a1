"""The list of passes: one row a pass, drawn as it comes into sight."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.markup import escape as escape_markup
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tritonscope.model import Capture, PassRecord
from tritonscope.printable import escape
from tritonscope.tui.ir_view import GROUNDS, cursor_style

if TYPE_CHECKING:
    from tritonscope.ir.diff import Stat

__all__ = ["PassFilter", "PassList", "chosen"]

_BAR = 4


@dataclass(frozen=True)
class PassFilter:
    """Which passes are listed, and in which order: "order", "time" or "change"."""

    text: str = ""
    changed_only: bool = False
    stage: str = ""
    sort: str = "order"
    folded: bool = True

    def said(self) -> str:
        """What is left out, in a few words."""
        parts = [f"/{self.text}" if self.text else "", "changed" if self.changed_only else "", self.stage]
        parts.append("" if self.sort == "order" else f"by {self.sort}")
        return ", ".join(filter(None, parts))


def chosen(passes: Sequence[PassRecord], filter_: PassFilter, stats: Mapping[str, "Stat"]) -> list[PassRecord]:
    """The passes that `filter_` lets through, in its order. What is searched for is shown wherever it is nested."""
    found = [
        record
        for record in passes
        if (not filter_.text or filter_.text.lower() in f"{record.step} {record.name}".lower())
        and (record.changed or not filter_.changed_only)
        and (not filter_.stage or record.stage == filter_.stage)
        and ("." not in record.step or not filter_.folded or filter_.text)
    ]
    if filter_.sort == "time":
        found.sort(key=lambda record: -(record.ms or 0.0))
    elif filter_.sort == "change":
        found.sort(key=lambda record: -(stats[record.step].lines if record.step in stats else 0))
    return found


class PassList(ScrollView, can_focus=True, inherit_bindings=False):
    """Steps of the pipeline: number, mark, name, time, operations, lines changed.

    Marks: `*` changed, `~` renamed only, ` ` unchanged, `x` failed, `/` left out; `+` folds, `-` unfolds.
    """

    DEFAULT_CSS = """
    PassList { width: 52; height: 1fr; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; }
    """

    cursor = reactive(0, repaint=False)

    class Selected(Message):
        """Another pass is under the cursor."""

        def __init__(self, record: PassRecord) -> None:
            self.record = record
            super().__init__()

        def can_replace(self, message: Message) -> bool:
            """Of several passes that a quick reader goes over, only the last is shown."""
            return isinstance(message, PassList.Selected)

    class Entered(Message):
        """Enter, or a second click: the reader wants to be in the view."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual calls it that
        super().__init__(id=id)
        self.capture: Capture | None = None
        self.records: list[PassRecord] = []
        self.stats: dict[str, Stat] = {}
        self.filter = PassFilter()
        self.styles_by_name: Mapping[str, str] = {}
        self._slowest = 1.0
        self._nested: set[str] = set()

    def on_mount(self) -> None:
        """Colours as the application has them."""
        self.styles_by_name = GROUNDS[getattr(self.app, "palette_name", "dark")]

    def on_resize(self) -> None:
        """The cursor stays in sight."""
        self._into_sight()

    def show(self, capture: Capture) -> None:
        """List the passes of `capture`, keeping the cursor on the step that it is on where that is still there."""
        if self.capture is None or self.capture.path != capture.path:
            self.stats = {}
        self.capture = capture
        self._slowest = max((record.ms or 0.0 for record in capture.passes), default=1.0) or 1.0
        self._nested = {record.step.partition(".")[0] for record in capture.passes if "." in record.step}
        self.apply(self.filter)

    def apply(self, filter_: PassFilter) -> None:
        """List what `filter_` lets through."""
        current = self.current
        self.filter = filter_
        self.records = chosen(self.capture.passes, filter_, self.stats) if self.capture else []
        self.virtual_size = Size(self.size.width, len(self.records))
        said = filter_.said()
        total = len(self.capture.passes) if self.capture else 0
        self.border_title = escape_markup(f"passes {len(self.records)}/{total}" + (f"  ({said})" if said else ""))
        steps = [record.step for record in self.records]
        row = steps.index(current.step) if current is not None and current.step in steps else 0
        self.set_reactive(PassList.cursor, min(row, max(len(steps) - 1, 0)))
        self._into_sight()
        self.refresh()

    @property
    def current(self) -> PassRecord | None:
        """The pass under the cursor."""
        return self.records[self.cursor] if self.cursor < len(self.records) else None

    def add_stat(self, step: str, stat: "Stat") -> None:
        """A pass's diff is known."""
        self.stats[step] = stat
        rows = [row for row, record in enumerate(self.records) if record.step == step]
        if rows:
            self.refresh_lines(rows[0])

    # -- moving

    def go(self, row: int) -> None:
        """Put the cursor on a row."""
        self.cursor = min(max(row, 0), max(len(self.records) - 1, 0))

    def go_to(self, step: str) -> bool:
        """Put the cursor on a step; False where it is not listed."""
        rows = [row for row, record in enumerate(self.records) if record.step == step]
        if rows:
            self.go(rows[0])
        return bool(rows)

    def next_changed(self, direction: int) -> bool:
        """To the next or previous pass that changed something; False where there is none."""
        row = self.cursor + direction
        while 0 <= row < len(self.records):
            if self.records[row].changed:
                self.go(row)
                return True
            row += direction
        return False

    def watch_cursor(self, before: int, after: int) -> None:
        """Tell the screen."""
        self._moved(before, after)
        if before != after and self.current is not None:
            self.screen.post_message(self.Selected(self.current))  # straight: the next of them may follow at once

    def put(self, row: int) -> None:
        """Put the cursor on a row, and do not tell the screen."""
        before = self.cursor
        self.set_reactive(PassList.cursor, row)
        self._moved(before, row)

    def _moved(self, before: int, after: int) -> None:
        top = self.scroll_offset.y
        self._into_sight()
        if self.scroll_offset.y == top:  # else all of it is drawn anew
            self.refresh_lines(before)
            self.refresh_lines(after)

    def _into_sight(self) -> None:
        height = self.scrollable_content_region.height or self.size.height
        top = int(self.scroll_offset.y)
        if height and self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif height and self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, force=True)

    def on_click(self, event: events.Click) -> None:
        """A click chooses; a second one enters."""
        self.focus()
        row = int(self.scroll_offset.y) + event.y - (1 if self.styles.border_top[0] else 0)
        if row == self.cursor and event.chain > 1:
            self.post_message(self.Entered())
        self.go(row)

    # -- drawing

    def render_line(self, y: int) -> Strip:
        """Row `y` of the screen."""
        width = int(self.scrollable_content_region.width)  # less the scroll bar
        row = int(self.scroll_offset.y) + y
        base = self.rich_style
        if row >= len(self.records):
            text = "  no pass is listed" if row == 0 else ""
            return Strip([Segment(text, base)]).adjust_cell_length(width, base)
        record = self.records[row]
        if row == self.cursor:
            base += cursor_style(self.styles_by_name, self.has_focus)
        return Strip(self._segments(record, base, width)).adjust_cell_length(width, base)

    def _segments(self, record: PassRecord, base: Style, width: int) -> list[Segment]:
        mark = self._mark(record)
        nested = "." in record.step
        fold = "+" if self.filter.folded and record.step in self._nested else " "
        right = self._figures(record, width)
        room = max(width - len(right) - 8 - (2 if nested else 0), 4)
        name = escape(record.name)
        # Names begin alike (tritongpu-, triton-nvidia-gpu-): their ends tell them apart.
        name = name if len(name) <= room else f"…{name[1 - room :]}"
        dim = Style(dim=True) if not record.changed else Style(bold=True)
        return [
            Segment(f"{record.step:>5}{fold}", base + Style(color=self.styles_by_name.get("muted"))),
            Segment(f"{mark} ", base + self._mark_style(mark)),
            Segment("  " if nested else "", base),
            Segment(name.ljust(room), base + dim),
            Segment(right, base + Style(color=self.styles_by_name.get("muted"))),
        ]

    def _mark(self, record: PassRecord) -> str:
        failure = self.capture.failure if self.capture else None
        if failure is not None and failure.step == record.step:
            return "x"
        if record.method == "skipped":
            return "/"
        if record.method == "edited":
            return "e"
        if not record.changed:
            return " "
        stat = self.stats.get(record.step)
        return "~" if stat is not None and not stat.differs else "*"

    def _mark_style(self, mark: str) -> Style:
        colour = {"x": "red", "*": "yellow", "~": "cyan"}.get(mark)
        return Style(color=colour, bold=True)

    def _figures(self, record: PassRecord, width: int) -> str:
        """Time as a bar and a number, operations gained or lost, lines that differ."""
        ms = "" if record.ms is None else f"{record.ms:.1f}"
        bar = _bar((record.ms or 0.0) / self._slowest)
        delta = ""
        if record.ops_before is not None and record.ops_after is not None and record.ops_before != record.ops_after:
            delta = f"{record.ops_after - record.ops_before:+d}"
        stat = self.stats.get(record.step)
        lines = str(stat.lines) if stat is not None and stat.lines else ""
        if width < 44:
            return f" {ms:>6} {delta:>6}"
        return f" {bar:{_BAR}}{ms:>6}{delta:>6}{lines:>5}"


_EIGHTHS = " ▏▎▍▌▋▊▉█"


def _bar(share: float) -> str:
    eighths = round(share * _BAR * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else ""))[:_BAR]
