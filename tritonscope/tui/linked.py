"""Levels of a capture beside each other, cursors linked: what is of one origin is marked in all of them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal

from tritonscope.errors import TritonscopeError, UsageError
from tritonscope.ir.links import Position
from tritonscope.line_history import texts
from tritonscope.line_links import Heat, Listing
from tritonscope.tui.caption import Caption, Hints
from tritonscope.tui.document import Document, follow
from tritonscope.tui.heat_rows import HeatRows
from tritonscope.tui.history import show_history
from tritonscope.tui.ir_view import IrView
from tritonscope.tui.linking import (
    Level,
    Related,
    blocks,
    document_at,
    first_levels,
    nearest,
    origin_text,
    related,
    text_at,
)
from tritonscope.tui.overlay import Choice
from tritonscope.tui.places import Place, named, stages_of
from tritonscope.tui.prompt import Prompt
from tritonscope.tui.rows import TextRows
from tritonscope.tui.search_screen import SearchScreen
from tritonscope.tui.session import Session
from tritonscope.tui.texts import header

__all__ = ["LinkedScreen"]

_PANES = 3
_TWO, _THREE = 100, 150  # columns
_HINTS = (
    ("tab", "next pane"), ("[ ]", "further lines of the origin"), ("1-9 p :", "level of this pane"),
    ("H", "history of this line"), ("enter", "open in the main screen"), ("/", "search"), ("?", "keys"),
    ("esc", "back"),
)  # fmt: skip


class LinkedScreen(SearchScreen):
    """Up to three levels of a capture, as many side by side as there is room for; Escape goes back.

    `go` is told the place that the reader wants to see in the main screen.
    """

    DEFAULT_CSS = """
    LinkedScreen #header, LinkedScreen #origin { background: $panel; }
    LinkedScreen #origin { height: 3; }
    LinkedScreen IrView {
        border: round $foreground 35%; border-title-color: $foreground 80%; border-subtitle-color: $foreground 80%;
    }
    LinkedScreen IrView:focus { border: round $accent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("L", "app.pop_screen", "back", show=False),
        Binding("right_square_bracket", "further(1)", "further lines of the origin in the other panes", show=False),
        Binding("left_square_bracket", "further(-1)", "lines before, of the origin, in the other panes", show=False),
        Binding("right_curly_bracket", "changed(1)", "next changed pass, in this pane"),
        Binding("left_curly_bracket", "changed(-1)", "previous changed pass, in this pane"),
        Binding("p", "choose", "choose a level for this pane"),
        Binding("colon", "command", "line, pass or stage", show=False, priority=True),
        Binding("H", "history", "what the passes made of this line"),
        Binding("enter", "enter", "open in the main screen", show=False),
        Binding("plus", "zoom", "this pane alone", show=False),
        *(Binding(str(number), f"stage({number})", f"stage {number}", show=False) for number in range(1, 10)),
    ]
    TOGGLES = ("wrap", "sticky")
    AUTO_FOCUS = None  # the first pane is not the one that the reader comes from

    def __init__(self, session: Session, present: Place, go: Callable[[Place], None]) -> None:
        super().__init__()
        self.session = session
        self._places, self._at = first_levels(session.capture, present)
        self._row, self._go = present.row, go
        self._levels: list[Level] = []
        self._first = 0  # of the panes that are seen
        self._zoomed = False

    def compose(self) -> ComposeResult:
        """The panes, where the line under the cursor came from, keys."""
        yield Caption(id="header")
        with Horizontal():
            for number in range(_PANES):
                yield IrView(id=f"level{number}")
        yield Caption(id="origin")
        yield Hints(_HINTS)
        yield Prompt()

    def on_mount(self) -> None:
        """The texts at once; what their lines came from as it is read."""
        self.query_one("#header", Caption).say(header(self.session.capture))
        self._levels = [Level(place, self._document(place)) for place in self._places]
        for number, level in enumerate(self._levels):
            self.panes[number].show(TextRows(level.document), self._row if number == self._at else 0)
        self._arrange()
        self.view.focus()
        self.call_after_refresh(self._follow_all)  # when the panes know their heights

    def on_resize(self) -> None:
        """As many panes as there is room for."""
        self._arrange()
        self._say()

    @property
    def panes(self) -> list[IrView]:
        """All of them, seen or not."""
        return list(self.query(IrView))

    @property
    def view(self) -> IrView:
        """The pane that the reader is in."""
        return self.panes[self._at]

    def _document(self, place: Place) -> Document:
        try:
            return document_at(self.session, place)
        except TritonscopeError as error:
            return Document(str(error), "text", place.stage or place.step)

    def _arrange(self) -> None:
        width = self.size.width
        count = 1 if self._zoomed or width < _TWO else 2 if width < _THREE else _PANES
        self._first = min(max(self._first, self._at - count + 1), self._at, _PANES - count)
        for number, pane in enumerate(self.panes):
            pane.display = self._first <= number < self._first + count

    # -- levels

    def show(self, number: int, place: Place) -> None:
        """Show another text in a pane, at what is of the origin of the line that the reader was on there."""
        before, pane = self._levels[number], self.panes[number]
        line = pane.cursor + 1
        document = self._document(place)
        self._levels[number] = Level(place, document)
        pane.show(TextRows(document), place.row or follow(before.document, pane.cursor, document))
        self._follow(number, None if place.row else (before, line))

    def _follow_all(self) -> None:
        for number in range(_PANES):
            self._follow(number)

    @work(thread=True, group="links")
    def _follow(self, number: int, came_from: tuple[Level, int] | None = None) -> None:
        """Read what the lines of a pane came from, in a thread; of Python what became of them."""
        place = self._levels[number].place
        listing: Listing | None = None
        heat: tuple[Heat, Mapping[Position, int]] | None = None
        said = ""
        try:
            if place.stage == "python":
                heat = self.session.heat()
            else:
                listing = self.session.listing(text_at(self.session.capture, place))
        except UsageError:
            pass  # its lines lead nowhere, which the screen says
        except TritonscopeError as error:
            said = str(error)
        self.app.call_from_thread(self._followed, number, place, listing, heat, came_from, said)

    def _followed(
        self,
        number: int,
        place: Place,
        listing: Listing | None,
        heat: tuple[Heat, Mapping[Position, int]] | None,
        came_from: tuple[Level, int] | None,
        said: str,
    ) -> None:
        if not self.is_attached or self._levels[number].place is not place:
            return
        if said:
            self.notify(said, severity="warning", markup=False)
        level = self._levels[number] = replace(self._levels[number], listing=listing, known=True)
        pane = self.panes[number]
        if heat is not None and heat[0].stages:
            rows = HeatRows(level.document, self.session.links.kernel_file, *heat)
            pane.show(rows, pane.cursor, pane.screen_row)
        if came_from is not None:
            found = related(self.session.links, *came_from, level)
            if found.lines:
                pane.bring(nearest(found.lines, pane.cursor + 1) - 1)
        self._link()

    # -- links

    def on_ir_view_cursor_moved(self, event: IrView.CursorMoved) -> None:
        """The other panes follow."""
        if event.view is self.view:
            self._link()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Another pane leads."""
        if event.widget in self.panes:
            self._at = self.panes.index(event.widget)
            self._arrange()
            self._link()

    def _related(self, number: int) -> Related:
        source = self._levels[self._at]
        return related(self.session.links, source, self.view.cursor + 1, self._levels[number])

    def _link(self) -> None:
        """Mark what is of the origin of the reader's line, and bring the nearest of it into sight."""
        if not self._levels:
            return
        for number, pane in enumerate(self.panes):
            found = self._related(number)
            pane.link(frozenset(line - 1 for line in found.lines))
            if number != self._at and found.lines and pane.cursor not in pane.linked:
                pane.bring(nearest(found.lines, pane.cursor + 1) - 1)
            if number != self._at:
                pane.say_below(found.words if self._levels[number].known else "following its lines ..")
        self._say()

    def _say(self) -> None:
        if not self._levels:
            return
        line, level = self.view.cursor + 1, self._levels[self._at]
        self.view.say_below(f"{line}/{len(level.document)}")
        self.query_one("#origin", Caption).say(origin_text(self.session.links, level, line))
        seen = sum(pane.display for pane in self.panes)
        pane = f"pane {self._at + 1} of {_PANES}  " if seen < _PANES else ""
        self.query_one(Hints).say(Text(pane, style="bold"))

    def say_where(self) -> None:
        self._say()

    # -- actions

    def action_pane(self, direction: int) -> None:
        """The next pane, seen or not."""
        self._at = (self._at + direction) % _PANES
        self._arrange()
        self.view.focus()
        self._link()

    def action_further(self, direction: int) -> None:
        """The other panes go to the next run of lines of the origin."""
        moved = False
        for number, pane in enumerate(self.panes):
            starts = [line - 1 for line in blocks(self._related(number).lines)]
            further = [row for row in starts if (row > pane.cursor if direction > 0 else row < pane.cursor)]
            if number != self._at and further:
                pane.bring(further[0] if direction > 0 else further[-1])
                moved = True
        if not moved:
            self.notify("there are no further lines of that origin in the other panes")

    def action_stage(self, number: int) -> None:
        """Stage `number` of the main screen's strip, in this pane."""
        stages = stages_of(self.session.capture)
        if number > len(stages):
            self.notify(f"this capture has {len(stages)} stages", severity="warning")
        else:
            self.show(self._at, Place(stage=stages[number - 1].stage))

    def _choices(self) -> list[tuple[Place, str]]:
        """Every text that a pane can show: the stages, then the passes that changed something."""
        capture = self.session.capture
        found = [(Place(stage=stage.stage), stage.stage) for stage in stages_of(capture)]
        steps = [text for text in texts(capture) if not isinstance(text, str)]
        return found + [(Place(step=record.step), f"after {record.step:>5} {record.name}") for record in steps]

    def action_choose(self) -> None:
        """From a list."""
        choices = self._choices()

        def chosen(index: str | None) -> None:
            if index is not None:
                self.show(self._at, choices[int(index)][0])

        labels = [(str(index), label) for index, (_, label) in enumerate(choices)]
        self.app.push_screen(Choice("show in this pane", labels), chosen)

    def action_changed(self, direction: int) -> None:
        """To the next pass that changed something; from a stage to the one that made it, or the first of the next."""
        steps = [text for text in texts(self.session.capture) if not isinstance(text, str)]
        place = self._levels[self._at].place
        if place.step:
            further = [record.step for record in steps]
            at = (further.index(place.step) if place.step in further else 0) + direction
        else:
            stages = [stage.stage for stage in stages_of(self.session.capture)]
            rank = stages.index(place.stage)
            before = sum(record.stage in stages and stages.index(record.stage) <= rank for record in steps)
            at = before if direction > 0 else before - 1
        if 0 <= at < len(steps):
            self.show(self._at, Place(step=steps[at].step))
        else:
            self.notify("there is no further pass that changed anything")

    def action_command(self) -> None:
        """A line number, a pass or a stage."""
        self.query_one(Prompt).ask("command", "line, pass, step or stage of this pane")

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        """What was typed."""
        self.view.focus()
        if event.purpose == "search":
            self._search(event.text)
        elif event.text.strip().isdigit():
            self.view.go(int(event.text) - 1)
        elif event.text.strip():
            try:
                self.show(self._at, named(self.session.capture, event.text.strip()))
            except TritonscopeError as error:
                self.notify(str(error), severity="warning", markup=False)

    def action_history(self) -> None:
        """What the passes made of this line; the choice is shown in this pane."""
        place = self._levels[self._at].place
        show_history(self, self.session, place, self.view.cursor + 1, partial(self.show, self._at))

    def action_enter(self) -> None:
        """This level, at this line, in the main screen."""
        place = replace(self._levels[self._at].place, row=self.view.cursor)
        self.app.pop_screen()
        self._go(place)

    def action_zoom(self) -> None:
        """This pane alone, or all that fit."""
        self._zoomed = not self._zoomed
        self._arrange()
        self._say()

    def action_escape(self) -> None:
        """Back out of a selection, of marks, and then of the screen."""
        if not (self.unselect() or self.unmark()):
            self.app.pop_screen()

    def show_again(self) -> None:
        """As the toggles now say."""
        self.view.repaint()
