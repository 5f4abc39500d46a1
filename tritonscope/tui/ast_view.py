"""The syntax tree beside the Python source; moving in the tree moves in the source."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Static, Tree
from textual.widgets.tree import TreeNode

from tritonscope.errors import CaptureUnreadable, TritonscopeError
from tritonscope.model import Capture
from tritonscope.printable import escape
from tritonscope.store import reader
from tritonscope.tui.document import Document
from tritonscope.tui.ir_view import IrView
from tritonscope.tui.prompt import Prompt
from tritonscope.tui.rows import TextRows
from tritonscope.tui.search_screen import SearchScreen
from tritonscope.tui.session import Session

__all__ = ["AstScreen"]

_DEEPEST = 200


class AstScreen(SearchScreen):
    """Escape goes back."""

    DEFAULT_CSS = """
    AstScreen Tree { width: 48; height: 1fr; }
    AstScreen Tree, AstScreen IrView {
        border: round $foreground 35%; border-title-color: $foreground 80%; border-subtitle-color: $foreground 80%;
    }
    AstScreen Tree { background: $background; background-tint: transparent 0%; }
    AstScreen Tree:focus { border: round $accent; }
    AstScreen IrView:focus { border: round $accent; }
    AstScreen #keys { height: 1; padding: 0 1; color: $text-muted; }
    AstScreen.narrow Horizontal { layout: vertical; }
    AstScreen.narrow Tree { width: 1fr; height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "app.pop_screen", "back", show=False),
    ]
    TOGGLES = ("wrap", "sticky")

    def __init__(self, capture: Capture) -> None:
        super().__init__()
        self.session = Session(capture)

    def compose(self) -> ComposeResult:
        """Tree and source."""
        with Horizontal():
            tree: Tree[tuple[int, int]] = Tree("functions", id="ast")
            tree.show_root = False
            tree.guide_depth = 2
            yield tree
            yield IrView(id="python")
        yield Static("j k move   enter folds   tab other pane   esc back", id="keys", markup=False)
        yield Prompt()

    def on_mount(self) -> None:
        """Read both."""
        tree = self.query_one(Tree)
        tree.border_title = "syntax tree"
        try:
            for function in _functions(self.session.capture):
                branch = tree.root.add(
                    Text(escape(str(function.get("name", "?"))), style="bold"), expand=not function.get("library")
                )
                if isinstance(function.get("ast"), Mapping):
                    _grow(branch, function["ast"], 0)
            source = self.session.stage("python")
        except TritonscopeError as error:
            source = Document(str(error), "text", "python")
        self.view.show(TextRows(source))
        tree.focus()

    def on_resize(self) -> None:
        """Tree over source where it is narrow."""
        self.set_class(self.size.width < 100, "narrow")

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[tuple[int, int]]) -> None:
        """The source follows."""
        if event.node.data is not None:
            self.view.go(event.node.data[0] - 1)

    def action_pane(self, direction: int) -> None:
        """Between tree and source."""
        tree = self.query_one(Tree)
        (self.view if tree.has_focus else tree).focus()

    def action_move(self, rows: int) -> None:
        """In the pane with the focus."""
        tree = self.query_one(Tree)
        if tree.has_focus:
            tree.action_cursor_down() if rows > 0 else tree.action_cursor_up()
        else:
            super().action_move(rows)

    def action_ends(self, direction: int) -> None:
        """First or last."""
        tree = self.query_one(Tree)
        if tree.has_focus:
            tree.action_scroll_home() if direction < 0 else tree.action_scroll_end()
        else:
            super().action_ends(direction)

    def action_escape(self) -> None:
        """Back out of a selection, of marks, and then of the screen."""
        if not (self.unselect() or self.unmark()):
            self.app.pop_screen()


def _functions(capture: Capture) -> Iterator[Mapping[str, Any]]:
    try:
        document = json.loads(reader.stage_text(capture, "ast"))
    except (ValueError, RecursionError) as error:
        raise CaptureUnreadable(
            f"the syntax tree of {capture.capture} is damaged ({error}); compile it again"
        ) from None
    functions = document.get("functions", []) if isinstance(document, Mapping) else []
    yield from (each for each in functions if isinstance(each, Mapping))


def _grow(branch: TreeNode[tuple[int, int]], node: Mapping[str, Any], depth: int) -> None:
    """A node with its type, the field it is in, and its plain values."""
    fields = node.get("fields") if isinstance(node.get("fields"), Mapping) else {}
    label = Text()
    if node.get("field"):
        label.append(f"{escape(str(node['field']))}: ", style="dim")
    label.append(escape(str(node.get("type", "?"))), style="cyan")
    for name, value in dict(fields or {}).items():
        label.append(f" {escape(str(name))}=", style="dim").append(escape(str(value))[:60])
    line = node.get("line")
    data = (line, int(node.get("column") or 0)) if isinstance(line, int) else None
    children = [each for each in node.get("children") or [] if isinstance(each, Mapping)]
    if not children or depth > _DEEPEST:
        branch.add_leaf(label, data)
        return
    twig = branch.add(label, data, expand=depth < 2)
    for child in children:
        _grow(twig, child, depth + 1)
