"""What every screen with a text in it does: moving, folds, selecting and copying, toggles."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, cast

from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.screen import Screen

from tritonscope.tui.host import Host
from tritonscope.tui.ir_view import IrView
from tritonscope.tui.overlay import Choice, FoldKeys
from tritonscope.tui.toggles import LABELS, Toggles

__all__ = ["ViewScreen"]


class ViewScreen(Screen[None]):
    """A screen with one `IrView`. Screens with lists beside it move those where they have the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "down", show=False),
        Binding("k,up", "move(-1)", "up", show=False),
        Binding("h,left", "pan(-8)", "left", show=False),
        Binding("l,right", "pan(8)", "right", show=False),
        Binding("g,home", "ends(-1)", "top", show=False),
        Binding("G,end", "ends(1)", "end", show=False),
        Binding("ctrl+d", "page(0.5)", "half a page down", show=False),
        Binding("ctrl+u", "page(-0.5)", "half a page up", show=False),
        Binding("space,pagedown,ctrl+f", "page(1)", "page down", show=False),
        Binding("b,pageup,ctrl+b", "page(-1)", "page up", show=False),
        Binding("right_square_bracket", "hunk(1)", "next hunk", show=False),
        Binding("left_square_bracket", "hunk(-1)", "previous hunk", show=False),
        # Before the view sees the key: what is typed next belongs to it, however fast it comes.
        Binding("z", "fold", "fold: za this region, zc close, zo open, zM all, zR none", show=False, priority=True),
        Binding("v,V", "select", "select lines", show=False),
        Binding("y", "copy", "copy the line, or what is selected", show=False),
        Binding("t", "toggles", "toggles: wrap, raw diff, side by side ..", show=False),
        Binding("tab", "pane(1)", "next pane", show=False, priority=True),
        Binding("shift+tab", "pane(-1)", "previous pane", show=False, priority=True),
        Binding("escape", "escape", "back", show=False),
    ]

    #: The toggles that mean something here.
    TOGGLES: ClassVar[Sequence[str]] = ()

    def __init__(self) -> None:
        super().__init__()
        self.toggles = Toggles()

    @property
    def view(self) -> IrView:
        """The main view."""
        return self.query_one(IrView)

    @property
    def host(self) -> Host:
        """The application."""
        return cast(Host, self.app)

    # -- moving

    def action_move(self, rows: int) -> None:
        """By lines."""
        self.view.move(rows)

    def action_pan(self, columns: int) -> None:
        """Sideways."""
        self.view.scroll_relative(x=columns, animate=False)

    def action_ends(self, direction: int) -> None:
        """First or last line."""
        self.view.end(direction)

    def action_page(self, pages: float) -> None:
        """By screens."""
        self.view.page(pages)

    def action_hunk(self, direction: int) -> None:
        """To the next hunk of a diff."""
        hunks: Sequence[int] = getattr(self.view.rows, "hunks", ())
        if not hunks:
            self.notify("hunks are in a diff; d shows that of a pass", severity="information")
            return
        self.view.go_to_hunk(direction)

    # -- folds

    def action_fold(self) -> None:
        """Ask for the second key."""
        self.app.push_screen(FoldKeys(), self._fold)

    def _fold(self, how: str | None) -> None:
        if how is None:
            return
        if self.view.rows is None or not self.view.rows.regions:
            self.notify("nothing can be folded here: a fold is a function, a loop or another region of a text")
        elif how in ("all", "none"):
            self.view.fold_all(how == "all")
        elif not self.view.fold({"toggle": None, "close": True, "open": False}[how]):
            self.notify("the cursor is in no region that can be folded")

    # -- selecting and copying

    def action_select(self) -> None:
        """Lines, from the cursor on."""
        self.view.focus()
        self.view.select_lines()
        if self.view.selected_from is not None:
            self.notify("selecting lines: move, y copies, esc ends")

    def action_copy(self) -> None:
        """What is selected with v or the mouse, else the line under the cursor."""
        view = self.view
        if view.rows is None or not len(view.rows):
            return
        if lines := view.selected_lines:
            text = "\n".join(view.rows.text(number) for number in lines)
            view.select_lines()
            self.host.copy(text, "1 line" if len(lines) == 1 else f"{len(lines)} lines")
        elif selected := self.get_selected_text():
            count = selected.count("\n") + 1
            self.host.copy(selected, "the selection" if count == 1 else f"{count} lines")
        else:
            self.host.copy(view.rows.text(view.cursor).strip(), "the line")

    def action_copy_text(self) -> None:
        """What textual's ctrl+c does: copy what the mouse selected, and nothing else."""
        if not self.get_selected_text():
            raise SkipAction
        self.action_copy()

    def unselect(self) -> bool:
        """Select nothing any more; False where nothing was selected."""
        if self.view.selected_from is not None:
            self.view.select_lines()
        elif self.selections:
            self.clear_selection()
        else:
            return False
        return True

    # -- toggles

    def action_toggles(self) -> None:
        """What can be switched, and how it stands."""
        options = [(name, f"{LABELS[name]}: {'on' if getattr(self.toggles, name) else 'off'}") for name in self.TOGGLES]
        self.app.push_screen(Choice("toggle", options), self._toggle)

    def _toggle(self, name: str | None) -> None:
        if name is None:
            return
        self.toggles = replace(self.toggles, **{name: not getattr(self.toggles, name)})
        self.view.sticky = self.toggles.sticky
        if name == "wrap":
            self.view.set_wrap(self.toggles.wrap)
        else:
            self.show_again()

    def show_again(self) -> None:
        """Show the same again, after a toggle was switched."""
        self.view.repaint()
