"""The main view: any number of lines, drawn as they come into sight."""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.content import Content
from textual.geometry import Offset, Region, Size
from textual.markup import escape as escape_markup
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from tritonscope.printable import escape
from tritonscope.tui.document import words_of
from tritonscope.tui.folds import hidden_by, innermost
from tritonscope.tui.highlight import PALETTES, spans
from tritonscope.tui.names import names_of
from tritonscope.tui.placing import Placing
from tritonscope.tui.rows import Cell, Row, Rows

__all__ = ["GROUNDS", "IrView", "cursor_style"]

_CACHED = 1000
_STICKY = 3
_TAB = "    "
_LINKED = "•"  # never told by colour alone
_MOST_DRAWN = 10  # columns that one character can take: \U0010ffff
_MODULES = ("module ", "builtin.module ")

Piece = tuple[int, int, Style]


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

        def can_replace(self, message: Message) -> bool:
            """Where the cursor is now is all that matters."""
            return isinstance(message, IrView.CursorMoved) and message.view is self.view

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual calls it that
        super().__init__(id=id)
        self.rows: Rows | None = None
        self.pattern: re.Pattern[str] | None = None
        self.name_marked = ""
        self.sticky = True
        self.wrap = False
        self.closed: frozenset[tuple[str, ...]] = frozenset()  # keys of the regions that are folded, of any text
        self.linked: frozenset[int] = frozenset()  # rows of the same origin as the cursor of this or another view
        self.selected_from: int | None = None  # where the lines that are being selected begin
        self._placing = Placing(0, {}, None)
        self._strips: OrderedDict[tuple[object, ...], Strip] = OrderedDict()
        self._ground = Style()
        self._on_top: list[int] = []
        self.palette = "dark"

    def on_mount(self) -> None:
        """Colours as the application has them."""
        self.palette = getattr(self.app, "palette_name", self.palette)

    def on_resize(self) -> None:
        """Wrapped lines take other room, and the cursor stays in sight."""
        if self.wrap and self.rows is not None:
            self._place(self.screen_row)
        self._into_sight()

    # -- what is shown

    def show(self, rows: Rows, cursor: int = 0, screen_row: int | None = None) -> None:
        """Show other rows with the cursor on row `cursor`, which stays on that row of the screen if it is given.

        Regions that were folded stay so, where the new rows have the same.
        """
        self.rows = rows
        self.linked = frozenset()
        self.selected_from = None
        self.border_title = escape_markup(rows.title)
        self.set_reactive(IrView.cursor, min(max(cursor, 0), max(len(rows) - 1, 0)))
        self._place(self.size.height // 3 if screen_row is None else screen_row)
        self._tell()

    def _place(self, screen_row: int) -> None:
        """Put the rows on lines anew, the cursor on that row of the screen."""
        rows = self.rows
        assert rows is not None
        hidden = hidden_by(rows.regions, self.closed) if self.closed else {}
        self._placing = Placing(len(rows), hidden, self._heights() if self.wrap else None)
        widest = 0 if self.wrap else max((len(rows.text(number)) for number in _sample(len(rows))), default=0)
        self.virtual_size = Size(widest + self._gutter + 2 if widest else 0, self._placing.lines)
        self.set_reactive(IrView.cursor, self._placing.shown(self.cursor))
        self.scroll_to(y=max(self._placing.line_of(self.cursor) - screen_row, 0), animate=False, force=True)
        self.refresh()

    def set_wrap(self, wrap: bool) -> None:
        """Wrap long lines, or let them run out of sight."""
        self.wrap = wrap
        self.scroll_to(x=0, animate=False, force=True)
        if self.rows is not None:
            self._place(self.screen_row)

    def _heights(self) -> Callable[[int], int]:
        """Says how many lines a row takes when it is wrapped."""
        rows = self.rows
        assert rows is not None
        room = max(self._width // rows.columns - self._gutter, 1)
        short = room // _MOST_DRAWN

        def height(number: int) -> int:
            texts = rows.cell_texts(number)
            return max(1 if len(text) <= short else max(-(-_drawn_width(text) // room), 1) for text in texts)

        return height

    @property
    def screen_row(self) -> int:
        """The row of the screen that the cursor is on."""
        return int(self._placing.line_of(self.cursor) - self.scroll_offset.y)

    @property
    def _width(self) -> int:
        """The columns that no scroll bar covers."""
        return int(self.scrollable_content_region.width)

    @property
    def _digits(self) -> int:
        return max(len(str(self.rows.largest if self.rows else 0)), 4)

    @property
    def _gutter(self) -> int:
        return self._digits + 3 + (self.rows.margin if self.rows else 0)

    def say_below(self, text: str) -> None:
        """Put `text` into the frame, below. Set as `border_subtitle` it would have the whole view drawn anew."""
        self._border_subtitle = Content(text)
        below = self.outer_size.height - 1 - self.content_offset.y
        self.refresh(Region(0, below, self.outer_size.width, 1))

    def mark(self, pattern: "re.Pattern[str] | None" = None, name: str = "") -> None:
        """Mark matches of `pattern`, and the uses of `name`."""
        self.pattern, self.name_marked = pattern, name
        self.repaint()

    def link(self, rows: frozenset[int]) -> None:
        """Mark the rows that are of the same origin as what a reader stands on."""
        other, self.linked = self.linked ^ rows, rows
        top = int(self.scroll_offset.y)
        for line in range(top, min(top + self.size.height, self._placing.lines)) if other else ():
            if self._placing.at(line)[0] in other:
                self.refresh_lines(line)

    def repaint(self) -> None:
        """Draw everything anew, after a change of theme."""
        self._strips.clear()
        self.refresh()

    # -- folds

    def fold(self, close: bool | None = None) -> bool:
        """Close (True) or open (False) the region that the cursor is in, None for the other; False where there is none.

        The cursor goes to the line that opens the region.
        """
        rows = self.rows
        if rows is None:
            return False
        region = innermost(rows.regions, self.cursor)
        while close and region is not None and region.key in self.closed:  # closed already: the one around it
            region = innermost(rows.regions, region.first - 1) if region.first else None
            if region is not None and region.last < self.cursor:
                region = None
        if region is None:
            return False
        shut = region.key not in self.closed if close is None else close
        row = self.screen_row
        self.closed = self.closed | {region.key} if shut else self.closed - {region.key}
        self.set_reactive(IrView.cursor, region.first if shut else self.cursor)
        self._place(row)
        self._tell()
        return True

    def fold_all(self, close: bool) -> None:
        """Fold every region of these rows but the module around all, or open all, those of other texts too."""
        if self.rows is None:
            return
        keys = {region.key for region in self.rows.regions if not region.key[-1].startswith(_MODULES)}
        self.closed = self.closed | keys if close else frozenset()
        self._place(self.screen_row)
        self._tell()

    def _reveal(self, row: int) -> None:
        """Open the folds that hide `row`."""
        assert self.rows is not None
        around = {region.key for region in self.rows.regions if region.first < row <= region.last}
        self.closed = self.closed - around
        self._place(self.screen_row)

    # -- selecting

    def select_lines(self) -> None:
        """Begin to select lines at the cursor, or end it."""
        self.selected_from = self.cursor if self.selected_from is None else None
        self.repaint()

    @property
    def selected_lines(self) -> range:
        """The rows that are selected from the keyboard, whole folds with them; none where nothing is."""
        if self.selected_from is None or self.rows is None or not len(self.rows):
            return range(0)
        first, last = sorted((self.selected_from, self.cursor))
        return range(first, last + self._placing.hidden.get(last, 0) + 1)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text that the mouse selected, without line numbers."""
        rows = self.rows
        if rows is None or not len(rows):
            return None
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else len(rows) - 1
        found = []
        for number in range(max(first, 0), min(last, len(rows) - 1) + 1):
            text = rows.text(number)
            span = _selected(selection, number, text)
            found.append(text[span[0] : span[1]] if span else "")
        return "\n".join(found), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw what is selected."""
        self.repaint()

    # -- moving

    def watch_cursor(self, before: int, after: int) -> None:
        """Keep the cursor in sight, clear of what is sticky."""
        top = self.scroll_offset.y
        self._into_sight()
        if self.selected_from is not None:
            self.repaint()
        elif self.scroll_offset.y == top:  # else all of it is drawn anew
            self._refresh_row(before)
            self._refresh_row(after)
        if before != after:
            self._tell()

    def _tell(self) -> None:
        """Straight to the screen, which says where the cursor is: through the widgets between it would take a frame."""
        self.screen.post_message(self.CursorMoved(self))

    def _refresh_row(self, row: int) -> None:
        """Draw one row anew, and what is sticky where it was or is among that."""
        line, top = self._placing.line_of(row), int(self.scroll_offset.y)
        first = top if line < top + _STICKY else line
        self.refresh_lines(first, max(line - first, 0) + self._placing.height(row))

    def _into_sight(self) -> None:
        height = self.scrollable_content_region.height or self.size.height
        top = int(self.scroll_offset.y)
        lead = min(_STICKY, height // 4) if self.sticky else 0
        line = self._placing.line_of(self.cursor)
        if line < top + lead:
            self.scroll_to(y=max(line - lead, 0), animate=False, force=True)
        elif line >= top + height:
            self.scroll_to(y=line - height + 1, animate=False, force=True)

    def move(self, rows: int) -> None:
        """Move the cursor by so many rows; a fold is one."""
        self.cursor = self._placing.moved(self.cursor, rows)

    def end(self, direction: int) -> None:
        """Put the cursor on the first (-1) or the last (1) row that is seen."""
        self.move(direction * self._placing.lines)

    def go(self, row: int) -> None:
        """Put the cursor on a row, and open the folds that it is in."""
        count = len(self.rows) if self.rows else 0
        row = min(max(row, 0), max(count - 1, 0))
        if self._placing.hidden and self._placing.shown(row) != row:
            self._reveal(row)
        self.cursor = row

    def bring(self, row: int) -> None:
        """Put the cursor on a row that belongs to what is read elsewhere; out of sight, it comes a third down."""
        height, top = self.scrollable_content_region.height or self.size.height, int(self.scroll_offset.y)
        self.go(row)
        line = self._placing.line_of(self.cursor)
        if not top <= line < top + height:
            self.scroll_to(y=max(line - height // 3, 0), animate=False, force=True)

    def go_to_hunk(self, direction: int) -> None:
        """Put the cursor on the next (1) or previous (-1) hunk of a diff, where there is one."""
        hunks: Sequence[int] = getattr(self.rows, "hunks", ())
        further = [at for at in hunks if (at > self.cursor if direction > 0 else at < self.cursor)]
        if further:
            self.go(further[0] if direction > 0 else further[-1])

    def page(self, pages: float) -> None:
        """Move by so many screens, the cursor with them."""
        height = max(self.scrollable_content_region.height - 2, 1)
        line = self._placing.line_of(self.cursor) + int(height * pages)
        row = self._placing.at(min(max(line, 0), max(self._placing.lines - 1, 0)))[0] if self._placing.lines else 0
        self.cursor = row if row != self.cursor else self._placing.moved(row, 1 if pages > 0 else -1)

    def names_at_cursor(self) -> list[str]:
        """The names on the cursor's row whose definition or uses can be looked up."""
        return names_of(self.rows.text(self.cursor)) if self.rows is not None and len(self.rows) else []

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor there, a second one selects the word."""
        event.prevent_default()  # textual would select the whole text
        self.focus()
        y = int(self.scroll_offset.y) + event.y - (1 if self.styles.border_top[0] else 0)
        if self.rows is None or not 0 <= y < self._placing.lines:
            return
        widget, offset = self.screen.get_widget_and_offset_at(event.screen_x, event.screen_y)
        if event.chain == 2 and widget is self and offset is not None and 0 <= offset.y < len(self.rows):
            self._select_word(offset)
        elif event.chain == 1 and self.text_selection is None:
            self.cursor = self._placing.at(y)[0]

    def _select_word(self, at: Offset) -> None:
        assert self.rows is not None
        text = self.rows.text(at.y)
        column = _column(text, at.x)
        span = next(((start, end) for start, end, _ in words_of(text) if start <= column < end), None)
        if span is not None:
            drawn = (len(_drawn(text[: span[0]])), len(_drawn(text[: span[1]])))
            self.screen.selections = {self: Selection(Offset(drawn[0], at.y), Offset(drawn[1], at.y))}

    # -- drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        """What is seen of the view; that which holds for all of its lines is found out once."""
        self._ground = self.rich_style
        self._on_top = self._headers(int(self.scroll_offset.y))
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Row `y` of the screen."""
        scroll_x, scroll_y = self.scroll_offset
        width = self._width
        line = int(scroll_y) + y
        if self.rows is None or line >= self._placing.lines:
            return Strip.blank(width, self._ground)
        if y < len(self._on_top):
            return self._strip(self._on_top[y], 0, "sticky", width, int(scroll_x))
        number, part = self._placing.at(line)
        return self._strip(number, part, self._mode(number), width, int(scroll_x))

    def _mode(self, number: int) -> str:
        """What a row is, beside what is in it."""
        if number == self.cursor:
            return "linked cursor" if number in self.linked else "cursor"
        return "selected" if number in self.selected_lines else "linked" if number in self.linked else ""

    def _headers(self, top: int) -> list[int]:
        """Sticky rows, less those that the cursor would be under."""
        if not self.sticky or self.rows is None or top == 0:
            return []
        placing = self._placing
        first = placing.at(min(top + _STICKY, placing.lines - 1))[0]
        found = [row for row in self.rows.headers(first, _STICKY) if placing.line_of(row) < top + _STICKY]
        found = [row for row in found if placing.line_of(row) < top + len(found)]
        return found[: max(min(self.screen_row, _STICKY), 0)] if self.has_focus else found

    def _strip(self, number: int, part: int, mode: str, width: int, scroll_x: int) -> Strip:
        rows = self.rows
        assert rows is not None
        row = rows.row(number)
        # Most rows of the text after a pass are those of the text before it.
        folded, look = self._placing.hidden.get(number), (mode, self.palette, self.has_focus)
        key = (row, number, part, folded, rows.kind, self._gutter, self.wrap, width, scroll_x, look)
        if key in self._strips:
            self._strips.move_to_end(key)
            return self._strips[key]
        strip = self._draw(row, number, part, mode, width, scroll_x)
        self._strips[key] = strip
        if len(self._strips) > _CACHED:
            self._strips.popitem(last=False)
        return strip

    def _draw(self, row: Row, number: int, part: int, mode: str, width: int, scroll_x: int) -> Strip:
        base = self._ground
        if mode.endswith("cursor") and (self.has_focus or mode == "cursor" or self.palette == "ansi"):
            base += cursor_style(GROUNDS[self.palette], self.has_focus)
        elif mode == "selected":
            base += self._selection_style
        elif mode.startswith("linked"):
            base += Style(bgcolor=self._colour("linked"))
        elif mode == "sticky":
            base += Style(bgcolor=self._colour("sticky"), italic=True)
        share = width // len(row.cells)
        segments: list[Segment] = []
        for index, cell in enumerate(row.cells):
            last = index == len(row.cells) - 1
            room = width - share * index if last else share
            # What the mouse selects is the text of the last cell; all that is left of it counts as its beginning.
            at = (number, 0 if last else index * share - width)
            segments += self._cell(cell, row.heading, base, room, part if self.wrap else None, scroll_x, mode, at)
        return Strip(segments).adjust_cell_length(width, base)

    def _cell(
        self,
        cell: Cell,
        heading: bool,
        base: Style,
        room: int,
        part: int | None,
        scroll_x: int,
        mode: str,
        at: tuple[int, int],
    ) -> list[Segment]:
        """One cell, `room` cells wide, of a wrapped row its part number `part`; `at` is its row and column of text."""
        number, column = at
        ground = base
        if cell.style and mode in ("", "sticky") and (colour := self._colour(cell.style)):
            ground = base + Style(bgcolor=colour)
        if heading:
            heading_text = "" if part else cell.text
            return [Segment(heading_text.ljust(room)[:room], base + Style(bold=True, color=self._colour("muted")))]
        hidden = self._placing.hidden.get(number, 0)
        label = "" if cell.number is None or part else str(cell.number)
        sign = "▸" if hidden else _LINKED if mode.startswith("linked") else cell.sign
        margin = "" if part else cell.margin
        gutter = f"{label:>{self._digits}} {sign} {margin:{self._gutter - self._digits - 3}}"
        look = ground + Style(color=self._colour("muted"), bold=sign != " ")
        pieces = [Segment(gutter, look + Style.from_meta({"offset": (column - len(gutter), number)}))]
        note = f" ⋯ {hidden} lines" if hidden else ""
        room = max(room - len(gutter), 0)
        words = Strip(self._words(cell, ground, number if not column else -1))
        if part is None or hidden:
            skip = scroll_x
            drawn = _cropped(words, skip, max(room - len(note), 0), ground, fill=not note)
        else:
            skip = part * room
            drawn = list(words.crop(skip, skip + room).adjust_cell_length(room, ground))
        pieces += _placed(drawn, column + skip, number)
        if not note:
            return pieces
        pieces.append(Segment(note, ground + Style(color=self._colour("muted"), italic=True)))
        return list(Strip(pieces).adjust_cell_length(room + len(gutter), ground))

    def _words(self, cell: Cell, ground: Style, number: int) -> list[Segment]:
        """The text in colour, what is marked underlined and bold, what the mouse selected of row `number` on its own
        ground."""
        text = cell.text
        kind = self.rows.kind if self.rows else ""
        classes = ((0, len(text), cell.inside),) if cell.inside else spans(text, kind)
        pieces = _coloured(len(text), classes, self.palette, ground)
        over = [(start, end, Style(bold=True, underline=True)) for start, end in cell.marks]
        if self.name_marked:
            name = self.name_marked
            over += [(start, end, Style(reverse=True)) for start, end, word in words_of(text) if word == name]
        if self.pattern is not None:
            found = [match.span() for match in self.pattern.finditer(text)]
            over += [(start, end, Style(reverse=True, bold=True)) for start, end in found if end > start]
        if (selection := self.text_selection) and number >= 0 and (span := _selected(selection, number, text)):
            over.append((*span, self._selection_style))
        for start, end, style in over:
            pieces = _overlaid(pieces, start, end, style)
        return [Segment(_drawn(text[start:end]), style) for start, end, style in pieces]

    @property
    def _selection_style(self) -> Style:
        return Style(reverse=True) if self.palette == "ansi" else Style(bgcolor=self._colour("selected"))

    def _colour(self, name: str) -> str | None:
        return GROUNDS[self.palette].get(name)


#: Colours behind and around the text, for dark and light grounds.
GROUNDS: dict[str, dict[str, str]] = {
    "dark": {
        "cursor": "#30405a",
        "faint": "#25292f",
        "sticky": "#2b2f3a",
        "selected": "#3d5a80",
        "linked": "#4a3f1a",
        "warm": "#2e2620",
        "hot": "#4a2a20",
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
        "selected": "#a8c7fa",
        "linked": "#fff3b8",
        "warm": "#fbf1e6",
        "hot": "#fbdcc4",
        "muted": "#6a737d",
        "added": "#d7f5dd",
        "new": "#d7f5dd",
        "removed": "#fbdcdc",
        "old": "#fbdcdc",
    },
    "ansi": {"cursor": "blue", "muted": "bright_black"},
}


def cursor_style(grounds: Mapping[str, str], focus: bool) -> Style:
    """How the row under a cursor looks; an underline where there is no colour for it."""
    colour = grounds.get("cursor" if focus else "faint")
    return Style(bgcolor=colour) if colour else Style(underline=True)


def _sample(count: int) -> range:
    """Rows to measure: all of a few thousand, of more some; the widest line is not worth reading them all."""
    return range(0, count, max(count // 5000, 1))


def _coloured(length: int, classes: Iterable[tuple[int, int, str]], palette: str, ground: Style) -> list[Piece]:
    """A text in pieces, each in the colour of its class; `classes` are in order and apart."""
    pieces = []
    at = 0
    for start, end, name in classes:
        if start > at:
            pieces.append((at, start, ground))
        pieces.append((start, end, ground + _look(palette, name)))
        at = end
    if at < length:
        pieces.append((at, length, ground))
    return pieces


@cache
def _look(palette: str, name: str) -> Style:
    return Style(color=PALETTES[palette].get(name))


def _overlaid(pieces: list[Piece], start: int, end: int, style: Style) -> list[Piece]:
    """The pieces with `style` over what is between `start` and `end`."""
    found = []
    for first, last, under in pieces:
        inner, outer = max(first, start), min(last, end)
        if inner >= outer:
            found.append((first, last, under))
            continue
        cut = ((first, inner, under), (inner, outer, under + style), (outer, last, under))
        found += [piece for piece in cut if piece[0] < piece[1]]
    return found


def _placed(segments: Iterable[Segment], column: int, row: int) -> list[Segment]:
    """The segments with what textual looks for when the mouse selects: the column and row of text of each."""
    found = []
    for text, style, _ in segments:
        offset = Style.from_meta({"offset": (column, row)})
        found.append(Segment(text, style + offset if style else offset))
        column += len(text)
    return found


def _cropped(strip: Strip, skip: int, room: int, ground: Style, fill: bool) -> list[Segment]:
    """The part of `strip` from column `skip` on, at most `room` cells wide, an ellipsis where more follows."""
    width = strip.cell_length
    strip = strip.crop(skip, skip + room)
    if width > skip + room > 0:
        strip = Strip([*strip.crop(0, room - 1), Segment("…", ground)])
    return list(strip.adjust_cell_length(room, ground) if fill else strip)


def _drawn(text: str) -> str:
    """`text` as it is drawn."""
    return escape(text).replace("\t", _TAB)


def _drawn_width(text: str) -> int:
    if text.isascii() and (text.isprintable() or text.replace("\t", " ").isprintable()):
        return len(text) + (len(_TAB) - 1) * text.count("\t")
    return cell_len(_drawn(text))


def _column(text: str, drawn: int) -> int:
    """The character of `text` that is drawn at column `drawn`."""
    column = 0
    for index, character in enumerate(text):
        column += len(_drawn(character))
        if column > drawn:
            return index
    return len(text)


def _selected(selection: Selection, number: int, text: str) -> tuple[int, int] | None:
    """Which characters of row `number` are selected."""
    span = selection.get_span(number)
    if span is None:
        return None
    start, end = span
    return _column(text, max(start, 0)), len(text) if end == -1 else _column(text, max(end, 0))
