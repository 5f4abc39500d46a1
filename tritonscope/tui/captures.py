"""The captures there are, by kernel, and the bundled kernels that can be compiled."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text
from textual.message import Message
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from tritonscope import recipe
from tritonscope.bundled_kernels import BundledKernel
from tritonscope.model import Capture
from tritonscope.printable import escape
from tritonscope.store import layout

__all__ = ["CaptureTree", "Entry", "settings_of"]

_STATUS = {"ok": "", "failed": "failed", "crashed": "crashed", "timeout": "timed out", "interrupted": "cut off"}


@dataclass(frozen=True)
class Entry:
    """What a node stands for: a capture, or a kernel to compile."""

    capture: Capture | None = None
    kernel: BundledKernel | None = None


class CaptureTree(Tree[Entry]):
    """Captures grouped by kernel, the newest first."""

    DEFAULT_CSS = "CaptureTree { width: 34; height: 1fr; background: $background; background-tint: transparent 0%; }"

    class Opened(Message):
        """A capture was chosen."""

        def __init__(self, capture: Capture) -> None:
            self.capture = capture
            super().__init__()

    class Wanted(Message):
        """A kernel that is to be compiled was chosen."""

        def __init__(self, kernel: BundledKernel) -> None:
            self.kernel = kernel
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual calls it that
        super().__init__(Text("captures"), id=id)
        self.show_root = False
        self.border_title = "captures"
        self.guide_depth = 2

    def fill(self, captures: Sequence[Capture], kernels: Sequence[BundledKernel], current: Capture | None) -> None:
        """Show these; the cursor goes to the current one."""
        self.clear()
        by_kernel: dict[str, list[Capture]] = {}
        for capture in captures:
            by_kernel.setdefault(capture.kernel, []).append(capture)
        chosen: TreeNode[Entry] | None = None
        for kernel, members in by_kernel.items():
            branch = self.root.add(Text(escape(kernel), style="bold"), expand=True)
            apart = settings_of(members)
            for capture, settings in zip(members, apart, strict=True):
                leaf = branch.add_leaf(_label(capture, settings), Entry(capture=capture))
                if current is not None and capture.path == current.path:
                    chosen = leaf
        if kernels:
            branch = self.root.add(Text("compile", style="bold"), expand=True)
            for each in kernels:
                branch.add_leaf(Text(each.name), Entry(kernel=each))
        if chosen is not None:
            self.call_after_refresh(self.move_cursor, chosen)

    def on_tree_node_selected(self, event: Tree.NodeSelected[Entry]) -> None:
        """Open what was chosen."""
        entry = event.node.data
        event.stop()
        if entry is not None and entry.capture is not None:
            self.post_message(self.Opened(entry.capture))
        elif entry is not None and entry.kernel is not None:
            self.post_message(self.Wanted(entry.kernel))


def _label(capture: Capture, settings: str) -> Text:
    text = Text(escape(capture.target))
    name = Path(capture.path).name
    if not layout.is_running(Path(capture.path)):
        text.append(f" {name.rpartition('-')[2][:5]}", style="dim")
    status = _STATUS.get(capture.status, capture.status)
    if status:
        text.append(f" {status}", style="bold red" if capture.status != "running" else "bold yellow")
    for apart in filter(None, (settings, recipe.words(capture.request))):
        text.append(f" {escape(apart)}", style="dim")
    return text


def settings_of(captures: Sequence[Capture]) -> list[str]:
    """What sets each of these captures of one kernel and target apart: constants and options that are not the same."""
    settings = [
        {
            **{str(k): str(v) for k, v in capture.components.get("constants", {}).items()},
            **{k: str(v) for k, v in capture.components.get("options", {}).items() if k in _TOLD},
        }
        for capture in captures
    ]
    found = []
    for capture, mine in zip(captures, settings, strict=True):
        rivals = [other for each, other in zip(captures, settings, strict=True) if each.target == capture.target]
        names = [name for name in mine if len({other.get(name) for other in rivals}) > 1]
        found.append(" ".join(f"{name}={mine[name]}" for name in names))
    return found


_TOLD = ("num_warps", "num_stages", "num_ctas", "maxnreg")
