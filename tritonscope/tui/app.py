"""The application: what the screens share, and what goes beyond one of them."""

import asyncio
import gc
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.notifications import SeverityLevel
from textual.screen import Screen

from tritonscope import bundled_kernels
from tritonscope.errors import CaptureUnreadable, TritonscopeError
from tritonscope.model import Capture, to_json
from tritonscope.store import reader, results
from tritonscope.tui import clipboard, state
from tritonscope.tui.browse import BrowseScreen
from tritonscope.tui.ir_view import GROUNDS, IrView
from tritonscope.tui.keys import keys_of
from tritonscope.tui.overlay import Choice, Reading
from tritonscope.tui.pass_list import PassList
from tritonscope.tui.places import Place

if TYPE_CHECKING:
    from tritonscope.tui.jobs import Job

__all__ = ["ScopeApp"]

_POLL_SECONDS = 1.0
_DRAW_SECONDS = 0.15
_TERMINATED = 128 + signal.SIGTERM


class ScopeApp(App[None]):
    """tritonscope, full screen."""

    TITLE = "tritonscope"
    ENABLE_COMMAND_PALETTE = True
    ANIMATION_LEVEL = "none"

    CSS = """
    Screen { background: $background; }
    ModalScreen { background: $background 60%; }
    ToastRack { align: right bottom; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+q", "quit", "quit", priority=False),
        Binding("question_mark", "help", "help"),
        Binding("S", "screenshot_file", "screenshot", show=False),
        Binding("X", "cancel", "cancel what is being compiled or run", show=False),
        Binding("T", "next_theme", "theme", show=False),
    ]

    def __init__(self, dumps: Path, capture: Capture | None) -> None:
        super().__init__()
        self.dumps = dumps
        self.first = capture
        self.remembered = state.load()
        self.running: list[Job] = []
        self._seen: object = None
        self._last_drawn = 0.0
        self._told, self._told_until = "", 0.0

    # -- life

    def on_mount(self) -> None:
        """The main screen, where the reader left it."""
        # Python would end at once, and leave the terminal as it is now.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, partial(self.exit, return_code=_TERMINATED))
        if self.remembered.theme in self.available_themes:
            self.theme = self.remembered.theme
        self._apply_theme()
        capture, place = self.first, Place()
        if capture is not None and capture.path == self.remembered.capture:
            steps = {record.step for record in capture.passes}
            place = Place(step=self.remembered.step) if self.remembered.step in steps else place
        self.call_later(self._open_first, BrowseScreen(capture, place))  # what is drawn sooner, textual throws away
        self._seen = self._signature()
        self.set_interval(_POLL_SECONDS, self._look_again)

    def _open_first(self, screen: BrowseScreen) -> None:
        self.push_screen(screen)
        self.call_after_refresh(gc.enable)

    def on_unmount(self) -> None:
        """Remember, and leave no child behind."""
        for job in self.running:
            job.cancel.cancel()
        state.save(replace(self.remembered, theme=self.theme))

    def remember(self, capture: str, step: str, changed_only: bool) -> None:
        """Where the reader is; kept when the application ends."""
        self.remembered = replace(self.remembered, capture=capture, step=step, changed_only=changed_only)

    # -- captures

    def captures(self) -> tuple[list[Capture], list[Exception]]:
        """Those of the folder, else those that travel with the tool."""
        try:
            captures, unreadable = reader.list_captures(self.dumps)
        except CaptureUnreadable as problem:  # the folder itself
            captures, unreadable = [], [problem]
        if not captures and (reference := bundled_kernels.reference_dumps()):
            captures, _ = reader.list_captures(reference)
        return captures, list(unreadable)

    def _signature(self) -> object:
        """Changes when a capture comes, goes or is written to."""
        found = []
        try:
            for kernel in os.scandir(self.dumps):
                if kernel.is_dir():
                    found += [(each.path, each.stat().st_mtime_ns) for each in os.scandir(kernel.path)]
        except OSError:
            return None
        return sorted(found)

    def _look_again(self) -> None:
        """Another process may write to the folder."""
        signature = self._signature()
        if signature == self._seen:
            return
        self._seen = signature
        for screen in self.screen_stack:
            if isinstance(screen, BrowseScreen):
                screen.refresh_captures()

    # -- looks

    def _apply_theme(self) -> None:
        for screen in self.screen_stack:
            for view in screen.query(IrView):
                view.palette = self.palette_name
                view.repaint()
            for passes in screen.query(PassList):
                passes.styles_by_name = GROUNDS[self.palette_name]
                passes.refresh()

    @property
    def palette_name(self) -> str:
        """Which of `highlight.PALETTES` suits the theme."""
        if self.theme.startswith("ansi"):
            return "ansi"
        return "dark" if self.current_theme.dark else "light"

    def watch_theme(self) -> None:
        """Views draw themselves."""
        self._apply_theme()

    def action_next_theme(self) -> None:
        """Dark, light, ANSI."""
        themes = ("textual-dark", "textual-light", "ansi-dark")
        at = themes.index(self.theme) if self.theme in themes else -1
        self.theme = themes[(at + 1) % len(themes)]

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """As textual does, but not again what still stands there: a key that is held down asks many times a second."""
        now = time.monotonic()
        if message == self._told and now < self._told_until:
            return
        seconds = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        self._told, self._told_until = message, now + seconds
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    # -- actions

    def action_help_quit(self) -> None:
        """Ctrl-C, which ends other programs."""
        self.notify("q quits; X ends what is being compiled or run")

    def action_help(self) -> None:
        """Every key, from the bindings themselves."""
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        table.add_column(justify="right", style="bold", no_wrap=True)
        table.add_column()
        for owner in (self.screen, self):
            for keys, binding in keys_of(owner):
                table.add_row(keys, binding.description)
        self.push_screen(Reading("keys", table))

    def action_screenshot_file(self) -> None:
        """An SVG in the current folder."""
        try:
            path = self.save_screenshot()
        except OSError as error:
            self.notify(f"the picture cannot be written: {error.strerror}", severity="error")
            return
        self.notify(f"saved {path}", markup=False)

    def open_in_editor(self, path: Path | None) -> None:
        """The file in $EDITOR, the terminal lent to it meanwhile."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if path is None:
            self.notify("there is no file behind this view", severity="warning")
        elif not editor:
            self.notify(f"set $EDITOR to open {path}", severity="warning", markup=False)
        elif path.suffix == ".zst" or not path.exists():
            self.notify(
                f"{path.name} is kept packed; `tritonscope dump` writes it out", severity="warning", markup=False
            )
        else:
            with self.suspend():
                subprocess.run([*shlex.split(editor), str(path)], check=False)
            self.refresh(layout=True)

    def explain(self, *texts: str) -> None:
        """What each is: an operation, a pass, an instruction, a line of a text, a layout with its definition."""
        from tritonscope.explain import explain_all
        from tritonscope.tui.reports import explanation_text

        found = [(text, explain_all(text)) for text in texts]
        if not any(explanations for _, explanations in found):
            self.notify(f"there is nothing to say of {texts[0].strip()[:60]!r}", severity="warning", markup=False)
            return
        self.push_screen(Reading("what it is", explanation_text(found)))

    def copy(self, text: str, what: str) -> None:
        """To the clipboard, and where that may fail to a file; `what` is said to be copied."""
        self.copy_to_clipboard(text)
        file = clipboard.keep(text)
        where = f" and to {file}" if file else ""
        if len(text.encode()) > clipboard.MOST:
            said = f"{what}: too long for a terminal's clipboard, written to {file}" if file else f"{what} is too long"
        elif clipboard.through_tmux(text):
            said = f"copied {what} to tmux's buffer{where}"
        elif clipboard.takes_osc52():
            said = f"copied {what}"
        else:
            said = f"copied {what} to the clipboard, if the terminal lets us{where}"
        self.notify(said, markup=False)

    # -- other screens

    def compare_with(self, capture: Capture | None) -> None:
        """Choose another capture, and compare."""
        others, _ = self.captures()
        if capture is None or len(others) < 2:
            self.notify("there is no other capture to compare with; e compiles a variant", severity="warning")
            return
        options = [(each.path, f"{each.capture}  {each.status}") for each in others if each.path != capture.path]
        # Those of the same kernel are what one mostly wants.
        options.sort(key=lambda option: not option[1].startswith(f"{capture.kernel}/"))
        self.push_screen(Choice(f"compare {capture.capture} with", options), partial(self._compare, capture))

    def _compare(self, capture: Capture, path: str | None) -> None:
        from tritonscope.tui.compare import CompareScreen

        if path is None:
            return
        try:
            self.push_screen(CompareScreen(capture, reader.open_capture(Path(path))))
        except TritonscopeError as error:
            self.notify(str(error), severity="error", markup=False)
        self.call_after_refresh(self._apply_theme)

    def show_ast(self, capture: Capture | None) -> None:
        """The syntax tree beside the source."""
        from tritonscope.tui.ast_view import AstScreen

        if capture is not None:
            self.push_screen(AstScreen(capture))
            self.call_after_refresh(self._apply_theme)

    def show_runs(self, capture: Capture | None) -> None:
        """What runs said: the newest in words, all as a table and a plot."""
        from tritonscope.tui.reports import results_text

        found = results.runs_of(capture) if capture is not None else []
        if not found:
            self.notify("this capture was not run yet; r runs it on this machine's GPU", severity="warning")
            return
        self.push_screen(Reading("runs", results_text(found, min(self.size.width * 9 // 10 - 6, 104))))

    def show_failure(self, capture: Capture) -> None:
        """What the compiler said, where, and what to do with it."""
        from tritonscope.tui.reports import failure_text

        self.push_screen(Reading(f"why {capture.capture} failed", failure_text(capture)))

    # -- work in children

    def compile_form(self, fields: Mapping[str, str]) -> None:
        """Ask what to compile, beginning with `fields`, and with what was asked last time for this kernel."""
        from tritonscope.tui.form import VariantForm

        last = self.remembered.forms.get(fields.get("kernel", ""), {})
        given = {name: value for name, value in fields.items() if value}
        self.push_screen(VariantForm({**last, **given}), self._compile)

    def _compile(self, fields: dict[str, str] | None) -> None:
        from tritonscope.tui import jobs
        from tritonscope.tui.form import VariantForm

        if fields is None:
            return
        self.remembered = replace(
            self.remembered, forms={**self.remembered.forms, fields["kernel"]: {k: v for k, v in fields.items() if v}}
        )
        try:
            requests = jobs.compile_requests(fields)
        except TritonscopeError as error:
            self.notify(str(error), severity="error", timeout=10, markup=False)
            self.push_screen(VariantForm(fields), self._compile)
            return
        for request in requests:
            self.running.append(jobs.start_compile(request, self.dumps, self.remembered.capture, self._job_changed))
        self._say_busy()

    def run_capture(self, capture: Capture | None) -> None:
        """On the GPU, with the spec of its kernel."""
        from tritonscope.tui import jobs

        if capture is None or capture.status != "ok":
            self.notify("only a capture that compiled can run", severity="warning")
            return
        self.running.append(jobs.start_run([capture], self.dumps, self._job_changed))
        self._say_busy()

    def ablate(self, capture: Capture | None) -> None:
        """What each pass buys, on a screen that fills."""
        from tritonscope.tui.ablate_screen import AblateScreen

        if capture is None or capture.status != "ok" or not {"kernel", "target"} <= set(capture.request):
            self.notify("only a capture that compiled here can be compiled without a pass", severity="warning")
            return
        self.push_screen(AblateScreen(capture))

    def action_cancel(self) -> None:
        """End what is being compiled or run."""
        if not self.running:
            self.notify("nothing is being compiled or run")
        for job in self.running:
            job.cancel.cancel()

    def _job_changed(self, job: "Job") -> None:
        """Called in the job's thread, many times a second."""
        now = time.monotonic()
        if not job.done and now - self._last_drawn < _DRAW_SECONDS:
            return
        self._last_drawn = now
        with suppress(RuntimeError):  # the application is closing
            self.call_from_thread(self._draw_job, job)

    def _draw_job(self, job: "Job") -> None:
        browse = next((screen for screen in self.screen_stack if isinstance(screen, BrowseScreen)), None)
        if job.done and job in self.running:
            self.running.remove(job)
            self._finished(job, browse)
        elif job.folder and browse is not None:
            browse.follow(job.folder)
        self._say_busy()

    def _finished(self, job: "Job", browse: BrowseScreen | None) -> None:
        from tritonscope.tui.reports import results_text

        if job.error:
            self.notify(job.error, severity="error", timeout=12, markup=False)
        elif job.capture is not None:
            said = f"{job.capture.capture}: {job.capture.status}"
            self.notify(said, severity="information" if job.capture.status == "ok" else "error", markup=False)
            if browse is not None:
                browse.refresh_captures()
                browse.compiled(job.capture, job.folder, job.origin)
        elif job.results:
            self.push_screen(Reading("run", results_text([to_json(each) for each in job.results], 100)))
            if browse is not None and browse.capture is not None:
                browse.open(browse.capture, browse.place)

    def _say_busy(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, BrowseScreen):
                screen.say_busy("; ".join(f"{job.label}: {job.progress or 'starting'}" for job in self.running))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Everything there is a key for, in the palette too."""
        yield from super().get_system_commands(screen)
        for owner in (screen, self):
            for keys, binding in keys_of(owner):
                yield SystemCommand(binding.description, f"key {keys}", partial(self._act, owner, binding.action))

    def _act(self, owner: DOMNode, action: str) -> None:
        self.call_later(self.run_action, action, owner)
