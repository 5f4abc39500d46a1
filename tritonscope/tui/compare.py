"""Two captures side by side: stages and passes with their verdicts, why the keys differ, and the texts compared."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tritonscope import keydiff, pairing
from tritonscope.errors import TritonscopeError
from tritonscope.model import Capture
from tritonscope.printable import escape
from tritonscope.tui import texts
from tritonscope.tui.diff_rows import SideBySide, UnifiedRows
from tritonscope.tui.document import Document
from tritonscope.tui.ir_view import IrView
from tritonscope.tui.prompt import Prompt
from tritonscope.tui.rows import Rows, TextRows
from tritonscope.tui.search_screen import SearchScreen
from tritonscope.tui.session import Session

__all__ = ["CompareScreen"]

_MARKS = {"identical": " ", "renamed": "~", "differs": "*", "only_left": "<", "only_right": ">"}
_CONTEXT = 3
_NAME = 24
_MOST_COMPONENTS = 5


@dataclass(frozen=True)
class _Line:
    paired: pairing.Paired
    text: Text


class CompareScreen(SearchScreen):
    """Escape goes back to where the reader was."""

    DEFAULT_CSS = """
    CompareScreen #sides { height: auto; padding: 0 1; background: $panel; }
    CompareScreen #why { height: auto; max-height: 3; padding: 0 1; text-style: bold; }
    CompareScreen #key { height: auto; max-height: 6; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    CompareScreen #keys { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    CompareScreen OptionList { width: 50; height: 1fr; background: $background; background-tint: transparent 0%; }
    CompareScreen OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    CompareScreen OptionList, CompareScreen IrView {
        border: round $foreground 35%; border-title-color: $foreground 80%; border-subtitle-color: $foreground 80%;
    }
    CompareScreen OptionList:focus { border: round $accent; }
    CompareScreen IrView:focus { border: round $accent; }
    CompareScreen.narrow OptionList { width: 1fr; height: 8; }
    CompareScreen.narrow #key { display: none; }
    CompareScreen.narrow Horizontal { layout: vertical; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "app.pop_screen", "back", show=False),
        Binding("s", "side_by_side", "side by side"),
        Binding("right_curly_bracket", "differing(1)", "next that differs"),
        Binding("left_curly_bracket", "differing(-1)", "previous that differs"),
        Binding("plus", "zoom", "zoom", show=False),
    ]
    TOGGLES = ("wrap", "side_by_side", "raw", "sticky")

    def __init__(self, left: Capture, right: Capture) -> None:
        super().__init__()
        self.left, self.right = Session(left), Session(right)
        self.lines: list[_Line] = []

    def compose(self) -> ComposeResult:
        """Both sides, the key, the list and the view."""
        sides = Text()
        for sign, session in (("---", self.left), ("+++", self.right)):
            sides.append(f"{sign} ").append_text(texts.header(session.capture)).append("\n")
        sides.rstrip()
        yield Static(sides, id="sides")
        differences = keydiff.compare(self.left.capture.components, self.right.capture.components)
        yield Static(escape(keydiff.summarise(differences)), id="why", markup=False)
        yield Static(_components(differences), id="key")
        with Horizontal():
            yield OptionList(id="pairs")
            with Vertical():
                yield IrView(id="difference")
        yield Static("", id="keys", markup=False)
        yield Prompt()

    def on_mount(self) -> None:
        """The list fills as verdicts come."""
        self.query_one(OptionList).border_title = "stages and passes"
        self.view.show(TextRows(Document("comparing ..", "text", "difference")))
        self.query_one(OptionList).focus()
        self.find()

    def on_resize(self) -> None:
        """List over view where it is narrow."""
        self.set_class(self.size.width < 110, "narrow")

    @work(thread=True, exclusive=True)
    def find(self) -> None:
        """Every verdict, one after the other."""
        try:
            for paired in pairing.compare(self.left.capture, self.right.capture):
                self.app.call_from_thread(self._add, paired)
        except TritonscopeError as error:
            self.app.call_from_thread(self.notify, str(error), severity="warning", markup=False)
        self.app.call_from_thread(self._found)

    def _add(self, paired: pairing.Paired) -> None:
        self.lines.append(_Line(paired, _label(paired)))
        self.query_one(OptionList).add_option(Option(self.lines[-1].text))
        if len(self.lines) == 1:
            self.query_one(OptionList).highlighted = 0

    def _found(self) -> None:
        differing = [line.paired for line in self.lines if line.paired.verdict not in ("identical", "renamed")]
        first = next((each for each in differing if each.pass_name), None)
        where = f"; they first part in {first.pass_name}" if first else ""
        self.query_one(OptionList).border_subtitle = f"{len(differing)} differ"
        self.query_one("#keys", Static).update(
            Text(f"{len(differing)} of {len(self.lines)} differ{where}   }} next  tab pane  s side by side  esc back")
        )

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the difference."""
        self.show(event.option_index)

    def show(self, index: int) -> None:
        """The text of pair number `index`."""
        paired = self.lines[index].paired
        try:
            rows = self._rows(paired)
        except TritonscopeError as error:
            rows = TextRows(Document(str(error), "text", "difference"))
        self.view.show(rows)

    def _rows(self, paired: pairing.Paired) -> Rows:
        title = f"{paired.stage} {paired.pass_name or ''}".strip()
        if paired.verdict in ("only_left", "only_right"):
            side = "first" if paired.verdict == "only_left" else "second"
            return TextRows(Document(f"only the {side} capture has {title}", "text", title))
        if paired.pass_name is None:
            left, right = self.left.stage(paired.stage), self.right.stage(paired.stage)
        else:
            assert paired.left is not None
            assert paired.right is not None
            left, right = self.left.after(paired.left), self.right.after(paired.right)
        raw = self.toggles.raw
        key = ("raw pair" if raw else "pair", paired.stage, paired.pass_name, paired.left and paired.left.step)
        found = self.left.compare(left, right, key, raw)
        rows = (SideBySide if self.toggles.side_by_side else UnifiedRows)(found, right.kind, title, _CONTEXT)
        self.view.border_subtitle = texts.stat_words(found.stat)
        if not len(rows):
            return TextRows(Document(f"{title}: {texts.stat_words(found.stat)} differs", "text", title))
        return rows

    # -- actions

    def action_pane(self, direction: int) -> None:
        """Between list and view."""
        pairs = self.query_one(OptionList)
        (self.view if pairs.has_focus else pairs).focus()

    def action_move(self, rows: int) -> None:
        """In the pane with the focus."""
        pairs = self.query_one(OptionList)
        if pairs.has_focus:
            pairs.action_cursor_down() if rows > 0 else pairs.action_cursor_up()
        else:
            super().action_move(rows)

    def action_ends(self, direction: int) -> None:
        """First or last."""
        pairs = self.query_one(OptionList)
        if pairs.has_focus:
            pairs.action_first() if direction < 0 else pairs.action_last()
        else:
            super().action_ends(direction)

    def action_escape(self) -> None:
        """Back out of a selection, of marks, and then of the screen."""
        if not (self.unselect() or self.unmark()):
            self.app.pop_screen()

    def action_differing(self, direction: int) -> None:
        """To the next pair that differs."""
        pairs = self.query_one(OptionList)
        at = (pairs.highlighted or 0) + direction
        while 0 <= at < len(self.lines):
            if self.lines[at].paired.verdict not in ("identical", "renamed"):
                pairs.highlighted = at
                return
            at += direction
        self.notify("there is no further one that differs")

    def action_side_by_side(self) -> None:
        """Unified or side by side."""
        self.toggles = replace(self.toggles, side_by_side=not self.toggles.side_by_side)
        self.show_again()

    def show_again(self) -> None:
        """The same pair, as the toggles now say."""
        index = self.query_one(OptionList).highlighted
        if index is not None:
            self.show(index)

    def action_zoom(self) -> None:
        """The view alone."""
        pairs = self.query_one(OptionList)
        pairs.display = not pairs.display
        self.view.focus()


def _components(differences: Sequence[keydiff.Difference]) -> Text:
    """The first of those that differ, with both values."""
    text = Text()
    for number, each in enumerate(differences[:_MOST_COMPONENTS]):
        text.append("\n" if number else "").append(f"  {escape(each.component)}  ", style="dim")
        text.append(escape(f"{_short(each.left)} -> {_short(each.right)}"))
    if len(differences) > _MOST_COMPONENTS:
        text.append(f"\n  and {len(differences) - _MOST_COMPONENTS} more", style="dim")
    return text


def _label(paired: pairing.Paired) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis")
    mark = _MARKS[paired.verdict]
    text.append(f"{mark} ", style="bold yellow" if mark in "*<>" else "cyan")
    if paired.pass_name is None:
        text.append(escape(paired.stage), style="bold")
    else:
        step = paired.left or paired.right
        name = escape(paired.pass_name)
        name = name if len(name) <= _NAME else f"…{name[1 - _NAME :]}"
        text.append(f"{step.step if step else '':>4} ", style="dim").append(name)
    verdict = paired.verdict.replace("_", " ")
    if paired.verdict == "differs" and paired.stat is not None:
        verdict = f"{paired.stat.lines} lines"
    text.append(f"  {verdict}", style="dim")
    return text


def _short(value: object) -> str:
    text = "absent" if value is None else " ".join(str(value).split())
    return text if len(text) <= 40 else f"{text[:40]} .."
