"""Searching in a text: a regular expression, the uses of a name, what is under the cursor."""

import re
from typing import ClassVar

from textual.binding import Binding, BindingType

from tritonscope.tui.document import next_match
from tritonscope.tui.names import aliases_of, definition_of, use_pattern
from tritonscope.tui.overlay import Choice
from tritonscope.tui.prompt import Prompt
from tritonscope.tui.rows import Rows
from tritonscope.tui.view_screen import ViewScreen

__all__ = ["SearchScreen", "compiled"]

_DEFINITION = 300  # characters of a definition that are shown


class SearchScreen(ViewScreen):
    """A screen with an `IrView` and a `Prompt`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "search", priority=True),
        Binding("n", "again(1)", "next match", show=False),
        Binding("N", "again(-1)", "previous match", show=False),
        Binding("asterisk", "uses", "uses and definition of a name of this line", show=False),
        Binding("K", "explain", "explain", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.pattern: re.Pattern[str] | None = None
        self.matches: list[int] = []
        self._searched: tuple[Rows | None, re.Pattern[str] | None] = (None, None)  # what the matches are of

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a line is being typed, the keys that would ask for one are text."""
        typing = self.query_one(Prompt).has_class("asking")
        return not (typing and action in ("search", "command", "filter", "pane", "fold"))

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        """What was typed."""
        self.view.focus()
        if event.purpose == "search":
            self._search(event.text)

    def on_prompt_typed(self, event: Prompt.Typed) -> None:
        """Matches show as one types."""
        if event.purpose == "search":
            self.view.mark(compiled(event.text))

    def on_prompt_dismissed(self, event: Prompt.Dismissed) -> None:
        """Nothing happened."""
        self.view.mark(self.pattern)
        self.view.focus()

    def action_search(self) -> None:
        """A regular expression."""
        self.query_one(Prompt).ask("search", "regular expression; enter, then n and N")

    def _search(self, text: str) -> None:
        if not text:
            return
        pattern = compiled(text)
        if pattern is None:
            self.notify(f"{text!r} is no regular expression", severity="warning", markup=False)
            return
        self.pattern = pattern
        self.view.mark(pattern)
        self.action_again(1, self.view.cursor - 1)

    def shown_lines(self) -> list[str]:
        """What the view shows, row by row."""
        rows = self.view.rows
        return [rows.text(number) for number in range(len(rows))] if rows is not None else []

    def action_again(self, direction: int, start: int | None = None) -> None:
        """The next match, and how many there are; a fold that it is in opens."""
        if self.pattern is None or self.view.rows is None:
            self.notify("nothing was searched for; / does", severity="information")
            return
        if (searched := (self.view.rows, self.pattern)) != self._searched:
            self._searched = searched
            self.matches = [number for number, line in enumerate(self.shown_lines()) if self.pattern.search(line)]
        found = next_match(self.matches, self.view.cursor if start is None else start, direction)
        if found is None:
            self.notify(f"no {self.pattern.pattern!r} here", markup=False)
            return
        self.view.go(found)
        self.say_where()

    def say_where(self) -> None:
        """Where the cursor is, and among how many matches, in the view's frame."""

    def unmark(self) -> bool:
        """Mark no matches any more; False where none were marked."""
        if self.view.pattern is None and not self.view.name_marked:
            return False
        self.pattern = None
        self.view.mark()
        self.say_where()
        return True

    # -- names

    def selected_name(self) -> str:
        """A name that the mouse selected, "" where it selected no single word."""
        words = (self.get_selected_text() or "").split()
        return words[0] if len(words) == 1 else ""

    def action_uses(self) -> None:
        """Every use of a name of the cursor's line; which one is asked where there are several."""
        names = [selected] if (selected := self.selected_name()) else self.view.names_at_cursor()
        if not names:
            self.notify("there is no name on this line")
        elif len(names) == 1:
            self._show_uses(names[0])
        else:
            lines = self.shown_lines()
            wide = min(max(map(len, names)), 24)
            options = [(name, f"{name:{wide}}  {self._defined(name, lines)}") for name in names]
            self.app.push_screen(Choice("uses of which name", options), self._show_uses)

    def _show_uses(self, name: str | None) -> None:
        if name is None:
            return
        lines = self.shown_lines()
        self.pattern = use_pattern(name)
        self.view.mark(None, name)
        defined = definition_of(name, lines, self.view.cursor)
        if defined is not None and defined != self.view.cursor:
            self.notify(f"line {self._number(defined)}: {lines[defined].strip()[:_DEFINITION]}", markup=False)
        self.action_again(1)

    def _number(self, row: int) -> int:
        assert self.view.rows is not None
        return self.view.rows.row(row).cells[-1].number or row + 1

    def _defined(self, name: str, lines: list[str]) -> str:
        """What a name is defined as, after its own name."""
        at = definition_of(name, lines, self.view.cursor)
        if at is None:
            return ""
        text = lines[at].strip()
        _, sign, value = text.partition(" = ")
        return (value if sign and text.startswith(name) else text)[:_DEFINITION]

    def action_explain(self) -> None:
        """What the operation of this line is, and the layouts that it names, with their definitions."""
        if name := self.selected_name():
            line = name
        else:
            rows = self.view.rows
            line = rows.text(self.view.cursor) if rows is not None and len(rows) else ""
        lines = self.shown_lines()
        found = [definition_of(alias, lines, self.view.cursor) for alias in aliases_of(line)]
        definitions = dict.fromkeys(lines[at].strip() for at in found if at is not None)
        self.host.explain(*dict.fromkeys([*([] if line in definitions else [line]), *definitions]))


def compiled(text: str) -> "re.Pattern[str] | None":
    """Case counts only where a capital was typed; None for what is no regular expression."""
    try:
        return (
            re.compile(text, 0 if any(character.isupper() for character in text) else re.IGNORECASE) if text else None
        )
    except re.error:
        return None
