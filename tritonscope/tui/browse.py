"""The main screen: captures, stages, passes, and the IR."""

import re
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical

from tritonscope import bundled_kernels
from tritonscope.errors import TritonscopeError
from tritonscope.ir.kinds import kind_of
from tritonscope.model import Capture
from tritonscope.store import reader
from tritonscope.tui import texts
from tritonscope.tui.caption import Caption, Hints
from tritonscope.tui.captures import CaptureTree, settings_of
from tritonscope.tui.document import Document, follow
from tritonscope.tui.ir_view import IrView
from tritonscope.tui.overlay import Choice
from tritonscope.tui.pass_list import PassList
from tritonscope.tui.places import Jumps, Place, first_place, named, record_of, stages_of, texts_of
from tritonscope.tui.prompt import Prompt
from tritonscope.tui.rows import Rows, TextRows
from tritonscope.tui.search_screen import SearchScreen
from tritonscope.tui.session import Session
from tritonscope.tui.stage_strip import StageStrip

__all__ = ["BrowseScreen"]

_WIDE, _WIDEST = 110, 160
_CONTEXT = 3
_UNSAID = Place()
_HINTS = (
    ("}", "next change"), ("d", "diff"), ("1-9", "stage"), ("p", "passes"), ("/", "search"), ("K", "explain"),
    ("L", "linked panes"), ("0", "captures"), ("c", "compare"), ("e", "variant"), ("r", "run"),
    ("?", "help"), ("q", "quit"),
)  # fmt: skip


class BrowseScreen(SearchScreen):
    """One capture at a time, every level and every pass of it."""

    DEFAULT_CSS = """
    BrowseScreen #header, BrowseScreen #details { background: $panel; }
    BrowseScreen .pane {
        border: round $foreground 35%; border-title-color: $foreground 80%; border-subtitle-color: $foreground 80%;
    }
    BrowseScreen .pane:focus { border: round $accent; }
    BrowseScreen.narrow PassList { display: none; }
    BrowseScreen.narrow.list PassList { display: block; width: 1fr; }
    BrowseScreen.narrow.list Vertical, BrowseScreen.narrow.list IrView { display: none; }
    BrowseScreen CaptureTree { display: none; }
    BrowseScreen.widest CaptureTree { display: block; }
    BrowseScreen.widest PassList { width: 68; }
    BrowseScreen.tree CaptureTree { display: block; }
    BrowseScreen.narrow.tree CaptureTree { width: 1fr; }
    BrowseScreen.narrow.tree Vertical, BrowseScreen.narrow.tree IrView { display: none; }
    BrowseScreen.narrow.tree PassList { display: none; }
    BrowseScreen.zoom PassList { display: none; }
    BrowseScreen.zoom CaptureTree { display: none; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right_curly_bracket", "changed(1)", "next changed pass"),
        Binding("left_curly_bracket", "changed(-1)", "previous changed pass"),
        Binding("J", "step(1)", "next pass", show=False),
        Binding("d", "diff", "diff"),
        Binding("F", "search_all", "search every stage and pass", show=False),
        Binding("f", "filter", "filter passes", show=False, priority=True),
        Binding("u", "changed_only", "changed passes only", show=False),
        Binding("s", "sort", "sort passes", show=False),
        Binding("colon", "command", "line or pass", show=False, priority=True),
        Binding("enter", "enter", "view", show=False),
        Binding("p", "list", "passes"),
        Binding("0", "tree", "captures"),
        Binding("plus", "zoom", "zoom", show=False),
        Binding("ctrl+o", "back", "back", show=False),
        Binding("alt+o,ctrl+i", "forward", "forward", show=False),
        Binding("o", "editor", "open in $EDITOR", show=False),
        Binding("c", "compare", "compare with", show=False),
        Binding("e", "variant", "compile a variant", show=False),
        Binding("r", "run", "run", show=False),
        Binding("R", "runs", "runs", show=False),
        Binding("w", "ablate", "what each pass buys", show=False),
        Binding("a", "ast", "syntax tree", show=False),
        Binding("L", "linked", "linked panes: Python and two levels, what is of one origin marked", show=False),
        Binding("H", "history", "history: what the passes made of this line", show=False),
        Binding("x", "failure", "failure", show=False),
        *(Binding(str(number), f"stage({number})", f"stage {number}", show=False) for number in range(1, 10)),
    ]
    TOGGLES = ("wrap", "side_by_side", "raw", "locations", "sticky")

    def __init__(self, capture: Capture | None, place: Place = _UNSAID) -> None:
        super().__init__()
        self.session = Session(capture) if capture is not None else None
        self.place = place
        self.captures: list[Capture] = []
        self.jumps = Jumps()
        self.busy = ""
        self._shown: Document | None = None
        self._stat_words = ""
        self._details = Text()  # of the capture: not read anew at every step through its passes
        self._followed: set[str] = set()

    # -- layout

    def compose(self) -> ComposeResult:
        """Header, stages, panes, details, keys."""
        yield Caption(id="header")
        yield StageStrip(id="stages")
        with Horizontal():
            tree = CaptureTree(id="captures")
            tree.add_class("pane")
            yield tree
            passes = PassList(id="passes")
            passes.add_class("pane")
            yield passes
            with Vertical():
                view = IrView(id="view")
                view.add_class("pane")
                yield view
        yield Caption(id="details")
        yield Hints(_HINTS)
        yield Prompt()

    def on_mount(self) -> None:
        """Show what was asked for."""
        self.passes.apply(replace(self.passes.filter, changed_only=self.host.remembered.changed_only))
        if self.session is not None:
            self.open(self.session.capture, self.place)
        self.view.focus()
        self.call_after_refresh(self.refresh_captures)  # the IR first

    def on_resize(self) -> None:
        """As many panes as there is room for."""
        width = self.size.width
        self.set_class(width < _WIDE, "narrow")
        self.set_class(width >= _WIDEST, "widest")

    @property
    def passes(self) -> PassList:
        """The list of passes."""
        return self.query_one(PassList)

    @property
    def capture(self) -> Capture | None:
        """The capture that is open."""
        return self.session.capture if self.session else None

    # -- opening

    def open(self, capture: Capture, place: Place = _UNSAID) -> None:
        """Open a capture: at `place`, else where its failure is, else at the last stage of MLIR."""
        self.session = Session(capture)
        self._details = texts.details(capture, texts.last_run(capture))
        self.passes.show(capture)
        if not (place.stage or place.step):
            place = first_place(capture)
        self.go(place, remember=False)
        self.call_after_refresh(self.find_stats)

    def follow(self, folder: str) -> None:
        """A capture is being written in `folder`: show it as it grows, where it is new to the reader."""
        try:
            capture = reader.open_capture(Path(folder))
        except TritonscopeError:
            return
        if self.capture is not None and self.capture.path == capture.path:
            assert self.session is not None
            self.session.capture = capture
            self._details = texts.details(capture, None)
            self.passes.show(capture)
            self._frame()
        elif capture.stages and folder not in self._followed:
            self._followed.add(folder)
            self.open(capture, Place(stage=stages_of(capture)[-1].stage))

    def compiled(self, capture: Capture, folder: str, origin: str) -> None:
        """The capture that was written in `folder` is published: show it, unless the reader went elsewhere meanwhile.

        `origin` is the capture that the reader was in when the compile was asked for.
        """
        if self.capture is None or self.capture.path in (folder, origin):
            self.open(capture)

    def say_busy(self, text: str) -> None:
        """What goes on in children, in the header."""
        self.busy = text
        self._frame()

    def refresh_captures(self) -> None:
        """Read the folder anew."""
        captures, unreadable = self.host.captures()
        self.captures = captures
        self.query_one(CaptureTree).fill(captures, bundled_kernels.kernels(), self.capture)
        if unreadable:
            self.notify(f"{len(unreadable)} captures cannot be read: {unreadable[0]}", severity="warning", markup=False)

    @work(thread=True, exclusive=True, group="stats")
    def find_stats(self) -> None:
        """How many lines each changed pass changed, one after the other, while the reader reads."""
        session = self.session
        if session is None:
            return
        for record in session.capture.passes:
            if not record.changed or record.file is None or self.session is not session:
                continue
            try:
                stat = session.stat(record)
            except TritonscopeError:
                continue
            self.app.call_from_thread(self._add_stat, session, record.step, stat)

    def _add_stat(self, session: Session, step: str, stat: object) -> None:
        if self.session is session:
            self.passes.add_stat(step, stat)  # type: ignore[arg-type]

    # -- going places

    def go(self, place: Place, remember: bool = True, anchor: bool = False) -> None:
        """Show `place`. With `anchor` the operation under the cursor stays on its row of the screen."""
        if self.session is None:
            return
        if remember and self.place != place:
            self.jumps.leave(replace(self.place, row=self.view.cursor))
        row = self.view.screen_row if anchor else None
        try:
            rows, document, words = self._rows(place)
        except TritonscopeError as error:
            self.notify(str(error), severity="warning", markup=False)
            return
        cursor = place.row
        if anchor and self._shown is not None and document is not None and not place.diff and not self.place.diff:
            cursor = follow(self._shown, self.view.cursor, document)
        self.place, self._shown, self._stat_words = place, document, words
        self.view.show(rows, cursor, row)
        if place.step and self.passes.current is not None and self.passes.current.step != place.step:
            self.passes.go_to(place.step)
        self._frame()

    def _rows(self, place: Place) -> tuple[Rows, Document | None, str]:
        """The rows of `place`, the document under them, and a diff in numbers."""
        session = self.session
        assert session is not None
        if not place.step:
            document = session.stage(place.stage, self.toggles.locations)
            return TextRows(document), document, ""
        record = record_of(session.capture, place.step)
        if record.file is not None and kind_of(record.file) == "binary":
            said = f"{record.name} left {record.file}, which is no text; the last stage is its disassembly"
            return TextRows(Document(said, "text", f"after {record.step} {record.name}")), None, ""
        if not place.diff:
            document = session.after(record, self.toggles.locations)
            return TextRows(document), document, ""
        from tritonscope.ir.summary import summarise
        from tritonscope.tui.diff_rows import SideBySide, UnifiedRows

        found = session.raw_diff(record) if self.toggles.raw else session.diff(record)
        kind = session.after(record).kind
        layout = SideBySide if self.toggles.side_by_side else UnifiedRows
        rows = layout(found, kind, f"what {record.step} {record.name} changed", _CONTEXT)
        words = texts.stat_words(found.stat)
        if not len(rows):
            empty = Document(f"{record.name} changed {words}.", "text", rows.title)
            return TextRows(empty), None, words
        return rows, None, f"{words}   {texts.summary_words(summarise(found))}"

    def _frame(self) -> None:
        """Everything around the view says what is in it."""
        capture = self.capture
        if capture is None:
            return
        siblings = [each for each in self.captures if each.kernel == capture.kernel]
        variant = next((s for c, s in zip(siblings, settings_of(siblings), strict=True) if c.path == capture.path), "")
        self.query_one("#header", Caption).say(texts.header(capture, variant, self.busy))
        stage = self.place.stage or record_of(capture, self.place.step).stage
        self.query_one(StageStrip).show(capture, stage)
        self.query_one("#details", Caption).say(self._details)
        self.say_where()
        self._remember()

    def _remember(self) -> None:
        if self.capture is not None:
            self.host.remember(self.capture.path, self.place.step, self.passes.filter.changed_only)

    def say_where(self) -> None:
        count = len(self.view.rows) if self.view.rows else 0
        parts: list[str] = []
        if self._stat_words:
            parts.insert(0, self._stat_words)
        if self.pattern is not None:
            place = self.matches.index(self.view.cursor) + 1 if self.view.cursor in self.matches else "-"
            parts.insert(0, f"/{self.pattern.pattern}  {place} of {len(self.matches)} lines")
        where = f"{self.view.cursor + 1}/{count}"
        said, room = "  ".join(parts), max(self.view.size.width - len(where) - 8, 0)
        said = said if len(said) <= room else f"{said[: max(room - 1, 0)]}…"
        self.view.say_below(f"{said}  {where}" if said else where)

    # -- messages

    def on_pass_list_selected(self, event: PassList.Selected) -> None:
        """The cursor of the list moved."""
        if event.record.step != self.place.step:
            self.go(Place(step=event.record.step, diff=self.place.diff, row=0), remember=False, anchor=True)

    def on_pass_list_entered(self) -> None:
        """Into the view."""
        self.action_enter()

    def on_stage_strip_chosen(self, event: StageStrip.Chosen) -> None:
        """A click on a stage."""
        self.go(Place(stage=event.stage), anchor=True)

    def on_capture_tree_opened(self, event: CaptureTree.Opened) -> None:
        """Another capture."""
        self.remove_class("tree")
        self.open(event.capture)
        self.view.focus()

    def on_capture_tree_wanted(self, event: CaptureTree.Wanted) -> None:
        """A kernel to compile."""
        self.remove_class("tree")
        self.host.compile_form({"kernel": event.kernel.name})

    def on_ir_view_cursor_moved(self) -> None:
        """Say where."""
        self.say_where()

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        """What was typed."""
        if event.purpose == "command":
            self._command(event.text)
        elif event.purpose == "filter":
            self.passes.apply(replace(self.passes.filter, text=event.text))
            self.passes.focus()

    def on_prompt_typed(self, event: Prompt.Typed) -> None:
        """The list narrows as one types."""
        if event.purpose == "filter":
            self.passes.apply(replace(self.passes.filter, text=event.text))

    def on_prompt_dismissed(self, event: Prompt.Dismissed) -> None:
        """Nothing is filtered."""
        if event.purpose == "filter":
            self.passes.apply(replace(self.passes.filter, text=""))

    # -- actions: moving

    def action_move(self, rows: int) -> None:
        """In whichever pane has the focus."""
        if self.passes.has_focus:
            self.passes.go(self.passes.cursor + rows)
        else:
            super().action_move(rows)

    def action_ends(self, direction: int) -> None:
        """First or last line, or pass."""
        if self.passes.has_focus:
            self.passes.go(0 if direction < 0 else 1 << 40)
        else:
            super().action_ends(direction)

    def action_page(self, pages: float) -> None:
        """By screens."""
        if self.passes.has_focus:
            self.passes.go(self.passes.cursor + int(pages * max(self.passes.size.height - 2, 1)))
        else:
            super().action_page(pages)

    def action_changed(self, direction: int) -> None:
        """To the next pass that changed something: the gesture of this screen."""
        if not self.passes.records:
            self.notify("no pass is listed; f and u change the filter", severity="warning")
            return
        if not self.place.step:
            self._enter_passes(direction)
            return
        if not self.passes.next_changed(direction):
            self.notify("there is no further pass that changed anything", severity="information")

    def _enter_passes(self, direction: int) -> None:
        """From a stage to the passes around it: forward those of the next stage, backward its own last."""
        stages = [stage.stage for stage in stages_of(self.capture)] if self.capture else []
        at = stages.index(self.place.stage) if self.place.stage in stages else 0
        records = self.passes.records
        order = range(len(records)) if direction > 0 else range(len(records) - 1, -1, -1)
        for row in order:
            record = records[row]
            position = stages.index(record.stage) if record.stage in stages else len(stages)
            if record.changed and (position > at if direction > 0 else position <= at):
                self.passes.put(row)
                self.go(Place(step=record.step, diff=self.place.diff), anchor=True)
                return
        self.notify("there is no further pass that changed anything", severity="information")

    def action_step(self, direction: int) -> None:
        """To the next pass, whatever it did."""
        self.passes.go(self.passes.cursor + direction)

    def action_stage(self, number: int) -> None:
        """Stage `number` of the strip."""
        stages = stages_of(self.capture) if self.capture else []
        if number > len(stages):
            self.notify(f"this capture has {len(stages)} stages", severity="warning")
            return
        self.go(Place(stage=stages[number - 1].stage), anchor=True)

    def action_pane(self, direction: int) -> None:
        """The next pane that is seen."""
        every = (self.query_one(CaptureTree), self.passes, self.view)
        panes = [pane for pane in every if pane.display and pane.size.width]
        if self.has_class("narrow"):
            self.action_list()
            return
        at = next((index for index, pane in enumerate(panes) if pane.has_focus), 0)
        panes[(at + direction) % len(panes)].focus()

    def action_enter(self) -> None:
        """From a list into the view."""
        self.remove_class("list")
        self.view.focus()

    def action_list(self) -> None:
        """The list of passes, which a narrow terminal shows in place of the view."""
        if self.has_class("narrow"):
            self.toggle_class("list")
            (self.passes if self.has_class("list") else self.view).focus()
        else:
            (self.view if self.passes.has_focus else self.passes).focus()

    def action_tree(self) -> None:
        """The captures."""
        tree = self.query_one(CaptureTree)
        if self.has_class("widest"):
            (self.view if tree.has_focus else tree).focus()
            return
        self.toggle_class("tree")
        (tree if self.has_class("tree") else self.view).focus()

    def action_zoom(self) -> None:
        """The view alone."""
        self.toggle_class("zoom")
        self.view.focus()

    def action_escape(self) -> None:
        """Back out: of an overlay, of marks, of a filter, of a diff."""
        for name in ("list", "tree", "zoom"):
            if self.has_class(name):
                self.remove_class(name)
                self.view.focus()
                return
        if self.unselect() or self.unmark():
            return
        if self.passes.filter.text:
            self.passes.apply(replace(self.passes.filter, text=""))
        elif self.place.diff:
            self.action_diff()
        elif self.passes.has_focus:
            self.view.focus()

    def action_back(self) -> None:
        """Where the reader was before."""
        self._jump(self.jumps.back(replace(self.place, row=self.view.cursor)), "back to")

    def action_forward(self) -> None:
        """Where the reader went back from."""
        self._jump(self.jumps.forward(replace(self.place, row=self.view.cursor)), "forward to")

    def _jump(self, place: Place | None, where: str) -> None:
        if place is None:
            self.notify(f"there is nowhere to go {where}")
        else:
            self.go(place, remember=False)

    # -- actions: what is shown

    def action_diff(self) -> None:
        """What this pass changed, or the IR after it."""
        if not self.place.step:
            self.notify("a stage has no diff of its own: } goes to a pass, c compares with another capture")
            return
        self.go(replace(self.place, diff=not self.place.diff, row=0), remember=True)

    def action_changed_only(self) -> None:
        """List all passes, or those that changed something."""
        self.passes.apply(replace(self.passes.filter, changed_only=not self.passes.filter.changed_only))
        self._remember()

    def action_fold(self) -> None:
        """In the list nested passes, or not; in the view its regions."""
        if self.passes.has_focus:
            self.passes.apply(replace(self.passes.filter, folded=not self.passes.filter.folded))
        else:
            super().action_fold()

    def action_sort(self) -> None:
        """By order, time, change."""
        orders = ("order", "time", "change")
        following = orders[(orders.index(self.passes.filter.sort) + 1) % len(orders)]
        self.passes.apply(replace(self.passes.filter, sort=following))

    def action_filter(self) -> None:
        """Passes by name."""
        if self.has_class("narrow"):
            self.add_class("list")
        self.query_one(Prompt).ask("filter", "passes whose name has ..", self.passes.filter.text)

    def show_again(self) -> None:
        """The same place, as the toggles now say."""
        self.go(replace(self.place, row=self.view.cursor), remember=False)

    # -- actions: searching

    def action_search_all(self) -> None:
        """Where else the pattern is: every stage and every pass that changed something."""
        if self.pattern is None:
            self.notify("nothing was searched for; / does, and then F looks everywhere", severity="information")
            return
        self.notify("searching every stage and pass")
        self._find_everywhere(self.pattern)

    @work(thread=True, exclusive=True, group="search")
    def _find_everywhere(self, pattern: "re.Pattern[str]") -> None:
        session = self.session
        if session is None:
            return
        found: list[tuple[Place, str]] = []
        for place, document in texts_of(session):
            count = sum(1 for line in document.lines if pattern.search(line))
            if count:
                found.append((place, f"{document.title}: {count} lines"))
        self.app.call_from_thread(self._choose_from, pattern, found)

    def _choose_from(self, pattern: "re.Pattern[str]", found: list[tuple[Place, str]]) -> None:
        if not found:
            self.notify(f"{pattern.pattern!r} is nowhere in this capture", markup=False)
            return

        def go_to(chosen: str | None) -> None:
            if chosen is not None:
                self.go(found[int(chosen)][0])
                self.action_again(1, -1)

        options = [(str(number), label) for number, (_, label) in enumerate(found)]
        self.app.push_screen(Choice(f"{pattern.pattern}, in the order of the pipeline", options), go_to)

    def action_command(self) -> None:
        """A line number, a pass or a stage."""
        self.query_one(Prompt).ask("command", "line, pass, step or stage")

    def _command(self, text: str) -> None:
        text = text.strip()
        if text.isdigit():
            self.view.go(int(text) - 1)
            return
        if self.capture is None or not text:
            return
        try:
            place = named(self.capture, text)
        except TritonscopeError as error:
            self.notify(str(error), severity="warning", markup=False)
            return
        self.go(replace(place, diff=bool(place.step) and self.place.diff), anchor=bool(place.step))

    # -- actions: out of here

    def action_editor(self) -> None:
        """The file, in $EDITOR."""
        self.host.open_in_editor(self._file())

    def _file(self) -> Path | None:
        capture = self.capture
        if capture is None:
            return None
        if self.place.step:
            file = reader.file_after(capture, record_of(capture, self.place.step))
        else:
            file = reader.find_stage(capture, self.place.stage).file
        return Path(capture.path) / file if file else None

    def action_explain(self) -> None:
        """What this pass is, or what is on this line."""
        if self.passes.has_focus and self.passes.current:
            self.host.explain(self.passes.current.name)
        else:
            super().action_explain()

    def action_compare(self) -> None:
        """With another capture."""
        self.host.compare_with(self.capture)

    def action_variant(self) -> None:
        """Compile a variant of this kernel."""
        from tritonscope.tui.jobs import fields_of

        self.host.compile_form(fields_of(self.capture) if self.capture else {})

    def action_run(self) -> None:
        """Run this capture."""
        self.host.run_capture(self.capture)

    def action_runs(self) -> None:
        """What runs said."""
        self.host.show_runs(self.capture)

    def action_ablate(self) -> None:
        """What each pass buys: one left out after the other."""
        self.host.ablate(self.capture)

    def action_ast(self) -> None:
        """The syntax tree beside the source."""
        self.host.show_ast(self.capture)

    def _line(self) -> int:
        """The line that the cursor is on, from 1, as texts without locations count; in a diff the new one."""
        from tritonscope.tui.linking import line_shown

        rows, place = self.view.rows, self.place
        assert self.session is not None
        if not place.diff:
            return line_shown(self.session.capture, place, self.toggles.locations, self.view.cursor + 1)
        found = (rows.row(number).cells[-1] for number in range(self.view.cursor, len(rows))) if rows else iter(())
        return next((cell.number for cell in found if cell.number and cell.style not in ("removed", "old")), 1)

    def action_linked(self) -> None:
        """Levels beside each other, what is of one origin marked."""
        from tritonscope.tui.linked import LinkedScreen

        if self.session is None or not self.session.links.stages:
            self.notify("this capture has no text whose lines lead to Python", severity="warning")
            return
        place = replace(self.place, row=self._line() - 1)
        self.app.push_screen(LinkedScreen(self.session, place, self.go))

    def action_history(self) -> None:
        """What the passes made of the operation under the cursor."""
        from tritonscope.tui.history import show_history

        if self.session is not None:
            show_history(self, self.session, self.place, self._line(), self.go)

    def action_failure(self) -> None:
        """What went wrong."""
        if self.capture is None or self.capture.failure is None:
            self.notify("this capture has no failure")
            return
        self.host.show_failure(self.capture)
