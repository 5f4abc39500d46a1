"""The form that asks what to compile."""

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Label

__all__ = ["FIELDS", "VariantForm"]

#: Each field, what it is called, and what to type into it.
FIELDS = (
    ("kernel", "kernel", "a bundled name, or FILE.py:FUNCTION"),
    ("target", "target", "sm_90, sm_100, gfx942; several with commas"),
    ("set", "constexprs", "BLOCK_M=64 BLOCK_N=128,256"),
    ("option", "options", "num_warps=4,8 num_stages=3"),
    ("signature", "signature", "empty: the kernel's own"),
    ("env", "environment", "TRITON_.. variables that the compiler is to see"),
)


class VariantForm(ModalScreen[dict[str, str] | None]):
    """Gives the fields that were filled in, None where nothing is to be compiled."""

    DEFAULT_CSS = """
    VariantForm { align: center middle; }
    VariantForm > VerticalScroll {
        width: 84; max-width: 95%; height: auto; max-height: 95%; border: round $primary; padding: 0 1;
        background: $surface;
    }
    VariantForm Vertical { height: auto; }
    VariantForm Input { border: none; height: 1; background: $boost; padding: 0 1; }
    VariantForm Input:focus { border: none; background: $primary-background; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "none", "close"),
        # Before the field sees the key: what is typed next goes to the next field, however fast it comes.
        Binding("down,ctrl+j", "app.focus_next", "next field", show=False, priority=True),
        Binding("up", "app.focus_previous", "previous field", show=False, priority=True),
    ]

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__()
        self._values = values

    def compose(self) -> ComposeResult:
        """A line a field."""
        with VerticalScroll() as frame:
            for name, label, placeholder in FIELDS:
                with Vertical():
                    yield Label(label)
                    yield Input(self._values.get(name, ""), placeholder=placeholder, id=f"field-{name}")
        frame.border_title = "compile a variant"
        frame.border_subtitle = "enter compiles, esc closes"

    def on_mount(self) -> None:
        """Begin where something is missing."""
        first = next((name for name, _, _ in FIELDS if not self._values.get(name)), "set")
        self.set_focus(self.query_one(f"#field-{first}", Input))

    def on_input_submitted(self) -> None:
        """Enter, anywhere."""
        self.dismiss({name: self.query_one(f"#field-{name}", Input).value.strip() for name, _, _ in FIELDS})

    def action_none(self) -> None:
        """Nothing is compiled."""
        self.dismiss(None)
