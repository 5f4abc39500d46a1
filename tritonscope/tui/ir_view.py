"""The main view: any number of lines, drawn as they come into sight."""

import re
from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.markup import escape as escape_markup
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tritonscope.printable import escape
from tritonscope.tui.document import words_of
from tritonscope.tui.highlight import PALETTES, spans
from tritonscope.tui.rows import Cell, Row, Rows

__all__ = ["GROUNDS", "IrView"]

_CACHED = 1000
_STICKY = 3


class IrView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows `Rows`, with a cursor line, sticky headers on top, matches and the name under the cursor marked."""

    DEFAULT_CSS = """
    IrView { height: 1fr; width: 1fr; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; }
    """

    cursor = reactive(0, repaint=False)

    class CursorMoved(Message):
        """The cursor is on another row."""

        def __init__(self, view: "IrView") -> None:
            self.view = view
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual calls it that
        super().__init__(id=id)
        self.rows: Rows | None = None
        self.pattern: re.Pattern[str] | None = None
        self.name_marked = ""
        self.sticky = True
        self._strips: OrderedDict[tuple[object, ...], Strip] = OrderedDict()
        self._generation = 0
        self.palette = "dark"

    def on_mount(self) -> None:
        """Colours as the application has them."""
        self.palette = getattr(self.app, "palette_name", self.palette)

    # -- what is shown

    def show(self, rows: Rows, cursor: int = 0, screen_row: int | None = None) -> None:
        """Show other rows with the cursor on row `cursor`, which stays on that row of the screen if it is given."""
        self.rows = rows
        self._generation += 1
        self._strips.clear()
        widest = max((len(rows.text(number)) for number in _sample(len(rows))), default=0)
        self.virtual_size = Size(widest + self._gutter + 2, len(rows))
        self.border_title = escape_markup(rows.title)
        self.set_reactive(IrView.cursor, min(max(cursor, 0), max(len(rows) - 1, 0)))
        row = self.size.height // 3 if screen_row is None else screen_row
        self.scroll_to(y=max(self.cursor - row, 0), animate=False, force=True)
        self.refresh()
        self.post_message(self.CursorMoved(self))

    @property
    def screen_row(self) -> int:
        """The row of the screen that the cursor is on."""
        return int(self.cursor - self.scroll_offset.y)

    @property
    def _gutter(self) -> int:
        return len(str(len(self.rows) if self.rows else 0)) + 3

    def mark(self, pattern: "re.Pattern[str] | None" = None, name: str = "") -> None:
        """Mark matches of `pattern`, and the uses of `name`."""
        self.pattern, self.name_marked = pattern, name
        self._strips.clear()
        self.refresh()

    def repaint(self) -> None:
        """Draw everything anew, after a change of theme."""
        self._strips.clear()
        self.refresh()

    # -- moving

    def watch_cursor(self, before: int, after: int) -> None:
        """Keep the cursor in sight, clear of what is sticky."""
        height = self.scrollable_content_region.height or self.size.height
        top = int(self.scroll_offset.y)
        lead = min(_STICKY, height // 4) if self.sticky else 0
        if after < top + lead:
            self.scroll_to(y=max(after - lead, 0), animate=False, force=True)
        elif after >= top + height:
            self.scroll_to(y=after - height + 1, animate=False, force=True)
        self.refresh()
        if before != after:
            self.post_message(self.CursorMoved(self))

    def move(self, rows: int) -> None:
        """Move the cursor by so many rows."""
        self.go(self.cursor + rows)

    def go(self, row: int) -> None:
        """Put the cursor on a row."""
        count = len(self.rows) if self.rows else 0
        self.cursor = min(max(row, 0), max(count - 1, 0))

    def go_to_hunk(self, direction: int) -> None:
        """Put the cursor on the next (1) or previous (-1) hunk of a diff, where there is one."""
        hunks: Sequence[int] = getattr(self.rows, "hunks", ())
        further = [at for at in hunks if (at > self.cursor if direction > 0 else at < self.cursor)]
        if further:
            self.go(further[0] if direction > 0 else further[-1])

    def page(self, pages: float) -> None:
        """Move by so many screens, the cursor with them."""
        height = max(self.scrollable_content_region.height - 2, 1)
        self.move(int(height * pages))

    def word_at_cursor(self) -> str:
        """The first name on the cursor's row."""
        if self.rows is None or not len(self.rows):
            return ""
        words = words_of(self.rows.text(self.cursor))
        return next((word for _, _, word in words if word[0] in "%#^@!"), words[0][2] if words else "")

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor there."""
        self.focus()
        self.go(int(self.scroll_offset.y) + event.y - (1 if self.styles.border_top[0] else 0))

    # -- drawing

    def render_line(self, y: int) -> Strip:
        """Row `y` of the screen."""
        scroll_x, scroll_y = self.scroll_offset
        width = self.size.width
        number = int(scroll_y) + y
        if self.rows is None or number >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        headers = self._headers(int(scroll_y))
        if y < len(headers):
            strip = self._strip(headers[y], "sticky", width, int(scroll_x))
        else:
            strip = self._strip(number, "cursor" if number == self.cursor else "", width, int(scroll_x))
        return strip

    def _headers(self, top: int) -> list[int]:
        """Sticky rows, less those that the cursor would be under."""
        if not self.sticky or self.rows is None or top == 0:
            return []
        found = [row for row in self.rows.headers(top + _STICKY, _STICKY) if row < top + _STICKY]
        found = [row for row in found if row < top + len(found)]
        return found[: max(min(self.screen_row, _STICKY), 0)] if self.has_focus else found

    def _strip(self, number: int, mode: str, width: int, scroll_x: int) -> Strip:
        key = (self._generation, number, mode, width, scroll_x, self.palette, self.has_focus)
        if key in self._strips:
            self._strips.move_to_end(key)
            return self._strips[key]
        assert self.rows is not None
        row = self.rows.row(number)
        strip = self._draw(row, mode, width, scroll_x)
        self._strips[key] = strip
        if len(self._strips) > _CACHED:
            self._strips.popitem(last=False)
        return strip

    def _draw(self, row: Row, mode: str, width: int, scroll_x: int) -> Strip:
        base = self.rich_style
        if mode == "cursor":
            base += Style(bgcolor=self._colour("cursor")) if self.has_focus else Style(bgcolor=self._colour("faint"))
        elif mode == "sticky":
            base += Style(bgcolor=self._colour("sticky"), italic=True)
        share = width // len(row.cells)
        segments: list[Segment] = []
        for index, cell in enumerate(row.cells):
            room = share if index < len(row.cells) - 1 else width - share * (len(row.cells) - 1)
            segments += self._cell(cell, row.heading, base, room, scroll_x, mode)
        return Strip(segments).adjust_cell_length(width, base)

    def _cell(self, cell: Cell, heading: bool, base: Style, room: int, scroll_x: int, mode: str) -> list[Segment]:
        ground = base
        if cell.style and mode != "cursor" and (colour := self._colour(cell.style)):
            ground = base + Style(bgcolor=colour)
        if heading:
            return [Segment(cell.text.ljust(room)[:room], base + Style(bold=True, color=self._colour("muted")))]
        digits = len(str(len(self.rows or ()))) if self.rows else 1
        digits = max(digits, 4)
        number = "" if cell.number is None else str(cell.number)
        gutter = f"{number:>{digits}} {cell.sign} "
        pieces = [Segment(gutter, ground + Style(color=self._colour("muted"), bold=cell.sign != " "))]
        pieces += _cropped(self._words(cell, ground), scroll_x, max(room - len(gutter), 0), ground)
        return pieces

    def _words(self, cell: Cell, ground: Style) -> list[Segment]:
        """The text in colour, what is marked underlined and bold."""
        text = cell.text
        kind = self.rows.kind if self.rows else ""
        palette = PALETTES[self.palette]
        styles: list[tuple[int, int, Style]] = [
            (start, end, Style(color=palette[name])) for start, end, name in spans(text, kind) if name in palette
        ]
        styles += [(start, end, Style(bold=True, underline=True)) for start, end in cell.marks]
        if self.name_marked:
            name = self.name_marked
            styles += [(start, end, Style(reverse=True)) for start, end, word in words_of(text) if word == name]
        if self.pattern is not None:
            found = [match.span() for match in self.pattern.finditer(text)]
            styles += [(start, end, Style(reverse=True, bold=True)) for start, end in found if end > start]
        return _styled(text, styles, ground)

    def _colour(self, name: str) -> str:
        return GROUNDS[self.palette].get(name, "")


#: Colours behind and around the text, for dark and light grounds.
GROUNDS: dict[str, dict[str, str]] = {
    "dark": {
        "cursor": "#30405a",
        "faint": "#25292f",
        "sticky": "#2b2f3a",
        "muted": "#7f848e",
        "added": "#12351f",
        "new": "#12351f",
        "removed": "#43191c",
        "old": "#43191c",
    },
    "light": {
        "cursor": "#cfe2ff",
        "faint": "#eeeeee",
        "sticky": "#e4e7ee",
        "muted": "#6a737d",
        "added": "#d7f5dd",
        "new": "#d7f5dd",
        "removed": "#fbdcdc",
        "old": "#fbdcdc",
    },
    "ansi": {"cursor": "blue", "faint": "", "sticky": "", "muted": "bright_black"},
}


def _sample(count: int) -> range:
    """Rows to measure: all of a few thousand, of more some; the widest line is not worth reading them all."""
    return range(0, count, max(count // 5000, 1))


def _styled(text: str, styles: list[tuple[int, int, Style]], ground: Style) -> list[Segment]:
    """`text` cut where a style begins or ends; later styles lie over earlier ones."""
    edges = sorted({0, len(text), *(edge for start, end, _ in styles for edge in (start, end) if edge <= len(text))})
    segments = []
    for start, end in pairwise(edges):
        style = ground
        for first, last, each in styles:
            if first <= start and end <= last:
                style += each
        segments.append(Segment(escape(text[start:end]).replace("\t", "    "), style))
    return segments


def _cropped(segments: list[Segment], skip: int, room: int, ground: Style) -> list[Segment]:
    """The part of `segments` from column `skip` on, `room` cells wide, an ellipsis where more follows."""
    strip = Strip(segments)
    width = strip.cell_length
    strip = strip.crop(skip, skip + room)
    if width > skip + room > 0:
        strip = Strip([*strip.crop(0, room - 1), Segment("…", ground)])
    return list(strip.adjust_cell_length(room, ground))
