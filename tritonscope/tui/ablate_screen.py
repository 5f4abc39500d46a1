"""What each pass of a capture buys, filled in as it is found out."""

from contextlib import suppress
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from tritonscope.ablation import Ablated
from tritonscope.ablation_text import ablation_lines
from tritonscope.model import Capture
from tritonscope.tui.jobs import Job, start_ablation

__all__ = ["AblateScreen"]

_FRAME = 4  # columns of the frame and its padding


class AblateScreen(ModalScreen[None]):
    """Leaves one pass of `capture` out after the other; closing it ends that."""

    DEFAULT_CSS = """
    AblateScreen { align: center middle; }
    AblateScreen > VerticalScroll {
        width: 95%; height: 90%; border: round $primary; padding: 0 1; background: $surface;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "close"),
        Binding("j,down", "scroll(1)", "down", show=False),
        Binding("k,up", "scroll(-1)", "up", show=False),
    ]

    def __init__(self, capture: Capture) -> None:
        super().__init__()
        self._capture = capture
        self._rows: list[Ablated] = []
        self._job: Job | None = None

    def compose(self) -> ComposeResult:
        """A frame with the table in it."""
        with VerticalScroll() as frame:
            yield Static(markup=False)
        frame.border_title = f"what each pass of {self._capture.capture} buys"

    def on_mount(self) -> None:
        """Begin."""
        self._job = start_ablation(self._capture, self._rows, self._changed)
        self._draw(self._job)

    def on_unmount(self) -> None:
        """Nobody looks any more."""
        if self._job is not None:
            self._job.cancel.cancel()

    def _changed(self, job: Job) -> None:
        """Called in the job's thread."""
        with suppress(RuntimeError):  # the application is closing
            self.app.call_from_thread(self._draw, job)

    def _draw(self, job: Job) -> None:
        if not self.is_attached:
            return
        frame = self.query_one(VerticalScroll)
        width = max(frame.size.width, self.app.size.width * 95 // 100 - _FRAME)
        lines = ablation_lines(self._rows, width) if self._rows else []
        said = job.error or ("" if job.done else job.progress or "starting")
        self.query_one(Static).update(Text("\n").join([*lines, Text(said, style="bold" if job.error else "dim")]))
        frame.border_subtitle = "esc closes" if job.done else f"{said}; esc ends it"

    def action_scroll(self, lines: int) -> None:
        """Scroll."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_close(self) -> None:
        """End it, and go back."""
        self.dismiss(None)
