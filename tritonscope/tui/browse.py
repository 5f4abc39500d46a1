"""The main screen: captures, stages, passes, and the IR."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, cast

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.markup import escape as escape_markup
from textual.screen import Screen
from textual.widgets import Static

from tritonscope import bundled_kernels
from tritonscope.errors import TritonscopeError
from tritonscope.ir.kinds import kind_of
from tritonscope.model import Capture, PassRecord
from tritonscope.store import reader
from tritonscope.tui import texts
from tritonscope.tui.captures import CaptureTree, settings_of
from tritonscope.tui.document import Document, follow, next_match
from tritonscope.tui.host import Host
from tritonscope.tui.ir_view import IrView
from tritonscope.tui.overlay import Choice
from tritonscope.tui.pass_list import PassList
from tritonscope.tui.prompt import Prompt
from tritonscope.tui.rows import Rows, TextRows
from tritonscope.tui.session import Session
from tritonscope.tui.stage_strip import StageStrip, stages_of

__all__ = ["BrowseScreen", "Place"]

_WIDE, _WIDEST = 110, 160
_CONTEXT = 3
_DEFINITION = 300  # characters of a definition that are shown


@dataclass(frozen=True)
class Place:
    """Where a reader is: a stage, or a step, as text or as a diff, and the row."""

    stage: str = ""
    step: str = ""
    diff: bool = False
    row: int = 0


@dataclass(frozen=True)
class Toggles:
    """What `t` switches."""

    locations: bool = False
    side_by_side: bool = False
    sticky: bool = True


class BrowseScreen(Screen[None]):
    """One capture at a time, every level and every pass of it."""

    DEFAULT_CSS = """
    BrowseScreen #header { height: 1; padding: 0 1; background: $panel; }
    BrowseScreen #details { height: 1; padding: 0 1; background: $panel; }
    BrowseScreen #keys { height: 1; padding: 0 1; color: $text-muted; }
    BrowseScreen .pane { border: round $foreground 35%; border-title-color: $foreground 80%; }
    BrowseScreen .pane:focus { border: round $accent; }
    BrowseScreen.narrow PassList { display: none; }
    BrowseScreen.narrow.list PassList { display: block; width: 1fr; }
    BrowseScreen.narrow.list IrView { display: none; }
    BrowseScreen CaptureTree { display: none; }
    BrowseScreen.widest CaptureTree { display: block; }
    BrowseScreen.tree CaptureTree { display: block; }
    BrowseScreen.narrow.tree CaptureTree { width: 1fr; }
    BrowseScreen.narrow.tree IrView { display: none; }
    BrowseScreen.narrow.tree PassList { display: none; }
    BrowseScreen.zoom PassList { display: none; }
    BrowseScreen.zoom CaptureTree { display: none; }
    """

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
        Binding("right_curly_bracket", "changed(1)", "next changed pass"),
        Binding("left_curly_bracket", "changed(-1)", "previous changed pass"),
        Binding("J", "step(1)", "next pass", show=False),
        Binding("K", "explain", "explain", show=False),
        Binding("right_square_bracket", "hunk(1)", "next hunk", show=False),
        Binding("left_square_bracket", "hunk(-1)", "previous hunk", show=False),
        Binding("d", "diff", "diff"),
        Binding("slash", "search", "search", priority=True),
        Binding("n", "again(1)", "next match", show=False),
        Binding("N", "again(-1)", "previous match", show=False),
        Binding("F", "search_all", "search every stage and pass", show=False),
        Binding("asterisk", "uses", "uses of the name under the cursor", show=False),
        Binding("f", "filter", "filter passes", show=False, priority=True),
        Binding("u", "changed_only", "changed passes only", show=False),
        Binding("z", "fold", "fold nested passes", show=False),
        Binding("s", "sort", "sort passes", show=False),
        Binding("t", "toggles", "toggles", show=False),
        Binding("colon", "command", "line or pass", show=False, priority=True),
        Binding("tab", "pane(1)", "next pane", show=False, priority=True),
        Binding("shift+tab", "pane(-1)", "previous pane", show=False, priority=True),
        Binding("enter", "enter", "view", show=False),
        Binding("p", "list", "passes"),
        Binding("0", "tree", "captures"),
        Binding("plus", "zoom", "zoom", show=False),
        Binding("ctrl+o", "back", "back", show=False),
        Binding("alt+o,ctrl+i", "forward", "forward", show=False),
        Binding("y", "copy", "copy", show=False),
        Binding("o", "editor", "open in $EDITOR", show=False),
        Binding("c", "compare", "compare with", show=False),
        Binding("e", "variant", "compile a variant", show=False),
        Binding("r", "run", "run", show=False),
        Binding("R", "runs", "runs", show=False),
        Binding("a", "ast", "syntax tree", show=False),
        Binding("x", "failure", "failure", show=False),
        Binding("escape", "escape", "back", show=False),
        *(Binding(str(number), f"stage({number})", f"stage {number}", show=False) for number in range(1, 10)),
    ]

    def __init__(self, capture: Capture | None, place: Place = Place()) -> None:
        super().__init__()
        self.session = Session(capture) if capture is not None else None
        self.place = place
        self.toggles = Toggles()
        self.captures: list[Capture] = []
        self.pattern: re.Pattern[str] | None = None
        self.matches: list[int] = []
        self.jumps: list[Place] = []
        self.forward: list[Place] = []
        self.busy = ""
        self._shown: Document | None = None
        self._stat_words = ""
        self._details = Text()  # of the capture: not read anew at every step through its passes
        self._followed: set[str] = set()

    # -- layout

    def compose(self) -> ComposeResult:
        """Header, stages, panes, details, keys."""
        yield Static(id="header", markup=False)
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
        yield Static(id="details", markup=False)
        yield Static(id="keys", markup=False)
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

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a line is being typed, the keys that would ask for one are text."""
        typing = self.query_one(Prompt).has_class("asking")
        return not (typing and action in ("search", "command", "filter", "pane"))

    @property
    def host(self) -> Host:
        """The application."""
        return cast(Host, self.app)

    @property
    def view(self) -> IrView:
        """The main view."""
        return self.query_one(IrView)

    @property
    def passes(self) -> PassList:
        """The list of passes."""
        return self.query_one(PassList)

    @property
    def capture(self) -> Capture | None:
        """The capture that is open."""
        return self.session.capture if self.session else None

    # -- opening

    def open(self, capture: Capture, place: Place = Place()) -> None:
        """Open a capture: at `place`, else where its failure is, else at the last stage of MLIR."""
        self.session = Session(capture)
        self._details = texts.details(capture, texts.last_run(capture))
        self.passes.show(capture)
        if not (place.stage or place.step):
            place = _first_place(capture)
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
            self.jumps.append(replace(self.place, row=self.view.cursor))
            self.forward.clear()
        row = self.view.screen_row if anchor else None
        try:
            rows, document, words = self._rows(place)
        except TritonscopeError as error:
            self.notify(str(error), severity="warning", markup=False)
            return
        cursor = place.row
        if anchor and self._shown is not None and document is not None and not place.diff and not self.place.diff:
            cursor = follow(self._shown.lines, self.view.cursor, document.lines)
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
        record = _record(session.capture, place.step)
        if record.file is not None and kind_of(record.file) == "binary":
            said = f"{record.name} left {record.file}, which is no text; the last stage is its disassembly"
            return TextRows(Document(said, "text", f"after {record.step} {record.name}")), None, ""
        if not place.diff:
            document = session.after(record, self.toggles.locations)
            return TextRows(document), document, ""
        from tritonscope.ir.summary import summarise
        from tritonscope.tui.diff_rows import SideBySide, UnifiedRows

        found = session.diff(record)
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
        self.query_one("#header", Static).update(texts.header(capture, variant, self.busy))
        stage = self.place.stage or _record(capture, self.place.step).stage
        self.query_one(StageStrip).show(capture, stage)
        self.query_one("#details", Static).update(self._details)
        self._subtitle()
        self._remember()

    def _remember(self) -> None:
        if self.capture is not None:
            self.host.remember(self.capture.path, self.place.step, self.passes.filter.changed_only)

    def _subtitle(self) -> None:
        count = len(self.view.rows) if self.view.rows else 0
        parts = [f"{self.view.cursor + 1}/{count}"]
        if self._stat_words:
            parts.insert(0, self._stat_words)
        if self.pattern is not None:
            place = self.matches.index(self.view.cursor) + 1 if self.view.cursor in self.matches else "-"
            parts.insert(0, f"/{self.pattern.pattern}  {place} of {len(self.matches)} lines")
        self.view.border_subtitle = escape_markup("  ".join(parts)[: max(self.view.size.width - 6, 10)])
        self.query_one("#keys", Static).update(self.host.hints())

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
        self._subtitle()

    def on_prompt_answered(self, event: Prompt.Answered) -> None:
        """What was typed."""
        self.view.focus()
        if event.purpose == "search":
            self._search(event.text)
        elif event.purpose == "command":
            self._command(event.text)
        elif event.purpose == "filter":
            self.passes.apply(replace(self.passes.filter, text=event.text))
            self.passes.focus()

    def on_prompt_typed(self, event: Prompt.Typed) -> None:
        """The list narrows, and matches show, as one types."""
        if event.purpose == "filter":
            self.passes.apply(replace(self.passes.filter, text=event.text))
        elif event.purpose == "search":
            self.view.mark(_compiled(event.text))

    def on_prompt_dismissed(self, event: Prompt.Dismissed) -> None:
        """Nothing happened."""
        if event.purpose == "filter":
            self.passes.apply(replace(self.passes.filter, text=""))
        self.view.mark(self.pattern)
        self.view.focus()

    # -- actions: moving

    def action_move(self, rows: int) -> None:
        """In whichever pane has the focus."""
        if self.passes.has_focus:
            self.passes.go(self.passes.cursor + rows)
        else:
            self.view.move(rows)

    def action_pan(self, columns: int) -> None:
        """Sideways."""
        self.view.scroll_relative(x=columns, animate=False)

    def action_ends(self, direction: int) -> None:
        """First or last line, or pass."""
        last = 1 << 40
        if self.passes.has_focus:
            self.passes.go(0 if direction < 0 else last)
        else:
            self.view.go(0 if direction < 0 else last)

    def action_page(self, pages: float) -> None:
        """By screens."""
        if self.passes.has_focus:
            self.passes.go(self.passes.cursor + int(pages * max(self.passes.size.height - 2, 1)))
        else:
            self.view.page(pages)

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
                self.passes.set_reactive(PassList.cursor, row)
                self.passes.watch_cursor(row, row)
                self.go(Place(step=record.step, diff=self.place.diff), anchor=True)
                return
        self.notify("there is no further pass that changed anything", severity="information")

    def action_step(self, direction: int) -> None:
        """To the next pass, whatever it did."""
        self.passes.go(self.passes.cursor + direction)

    def action_hunk(self, direction: int) -> None:
        """To the next hunk of a diff."""
        hunks: Sequence[int] = getattr(self.view.rows, "hunks", ())
        if not hunks:
            self.notify("hunks are in a diff; d shows that of this pass", severity="information")
            return
        self.view.go_to_hunk(direction)

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
        if self.view.pattern is not None or self.view.name_marked:
            self.pattern = None
            self.view.mark()
            self._subtitle()
        elif self.passes.filter.text:
            self.passes.apply(replace(self.passes.filter, text=""))
        elif self.place.diff:
            self.action_diff()
        elif self.passes.has_focus:
            self.view.focus()

    def action_back(self) -> None:
        """Where the reader was before."""
        if not self.jumps:
            self.notify("there is nowhere to go back to")
            return
        self.forward.append(replace(self.place, row=self.view.cursor))
        self.go(self.jumps.pop(), remember=False)

    def action_forward(self) -> None:
        """Where the reader went back from."""
        if not self.forward:
            self.notify("there is nowhere to go forward to")
            return
        self.jumps.append(replace(self.place, row=self.view.cursor))
        self.go(self.forward.pop(), remember=False)

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
        """Nested passes, or not."""
        self.passes.apply(replace(self.passes.filter, folded=not self.passes.filter.folded))

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

    def action_toggles(self) -> None:
        """What can be switched, and how it stands."""
        names = {
            "locations": "source locations",
            "side_by_side": "diffs side by side",
            "sticky": "enclosing headers stay on top",
        }
        options = [
            (name, f"{label}: {'on' if getattr(self.toggles, name) else 'off'}") for name, label in names.items()
        ]
        self.app.push_screen(Choice("toggle", options), self._toggle)

    def _toggle(self, name: str | None) -> None:
        if name is None:
            return
        self.toggles = replace(self.toggles, **{name: not getattr(self.toggles, name)})
        self.view.sticky = self.toggles.sticky
        self.go(replace(self.place, row=self.view.cursor), remember=False)

    # -- actions: searching

    def action_search(self) -> None:
        """A regular expression."""
        self.query_one(Prompt).ask("search", "regular expression; enter, then n and N")

    def _search(self, text: str) -> None:
        if not text:
            return
        pattern = _compiled(text)
        if pattern is None:
            self.notify(f"{text!r} is no regular expression", severity="warning", markup=False)
            return
        self.pattern = pattern
        self.view.mark(pattern)
        self.action_again(1, self.view.cursor - 1)

    def action_again(self, direction: int, start: int | None = None) -> None:
        """The next match, and how many there are."""
        if self.pattern is None or self.view.rows is None:
            self.notify("nothing was searched for; / does", severity="information")
            return
        lines = [self.view.rows.text(number) for number in range(len(self.view.rows))]
        found = next_match(lines, self.pattern, self.view.cursor if start is None else start, direction)
        if found is None:
            self.notify(f"no {self.pattern.pattern!r} here; ? in the palette searches every pass", markup=False)
            return
        self.matches = [number for number, line in enumerate(lines) if self.pattern.search(line)]
        self.view.go(found)
        self._subtitle()

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
        found: list[tuple[str, str]] = []
        for name, document in _texts_of(session):
            count = sum(1 for line in document.lines if pattern.search(line))
            if count:
                found.append((name, f"{document.title}: {count} lines"))
        self.app.call_from_thread(self._choose_from, pattern, found)

    def _choose_from(self, pattern: "re.Pattern[str]", found: list[tuple[str, str]]) -> None:
        if not found:
            self.notify(f"{pattern.pattern!r} is nowhere in this capture", markup=False)
            return
        self.app.push_screen(Choice(f"{pattern.pattern}, in the order of the pipeline", found), self._go_to_match)

    def _go_to_match(self, name: str | None) -> None:
        if name is None:
            return
        kind, _, which = name.partition(" ")
        self.go(Place(stage=which) if kind == "stage" else Place(step=which))
        self.action_again(1, -1)

    def action_uses(self) -> None:
        """Every use of the name under the cursor."""
        name = self.view.word_at_cursor()
        if not name:
            self.notify("there is no name on this line")
            return
        self.pattern = re.compile(rf"(?<![\w.$-]){re.escape(name)}(?![\w.$-])")
        self.view.mark(None, name)
        if definition := self._definition(name):
            self.notify(definition, title="defined as", markup=False)
        self.action_again(1)

    def _definition(self, name: str) -> str:
        """The line that defines a name, where it is not the cursor's own."""
        rows = self.view.rows
        if rows is None:
            return ""
        pattern = re.compile(rf"\s*{re.escape(name)}(:\d+)?\s*=")
        numbers = (number for number in range(len(rows)) if pattern.match(rows.text(number)))
        found = next(numbers, None)
        return "" if found is None or found == self.view.cursor else rows.text(found).strip()[:_DEFINITION]

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
        if any(stage.stage == text for stage in self.capture.stages):
            self.go(Place(stage=text))
            return
        try:
            record = reader.find_step(self.capture, text.removeprefix("#"))
        except TritonscopeError as error:
            near = [each for each in self.capture.passes if text.lower() in each.name.lower()]
            if not near:
                self.notify(str(error), severity="warning", markup=False)
                return
            record = near[0]
        self.go(Place(step=record.step, diff=self.place.diff), anchor=True)

    # -- actions: out of here

    def action_copy(self) -> None:
        """The line under the cursor, to the terminal's clipboard."""
        if self.view.rows is not None and len(self.view.rows):
            self.app.copy_to_clipboard(self.view.rows.text(self.view.cursor).strip())
            self.notify("copied the line")

    def action_editor(self) -> None:
        """The file, in $EDITOR."""
        self.host.open_in_editor(self._file())

    def _file(self) -> Path | None:
        capture = self.capture
        if capture is None:
            return None
        if self.place.step:
            file = reader.file_after(capture, _record(capture, self.place.step))
        else:
            file = reader.find_stage(capture, self.place.stage).file
        return Path(capture.path) / file if file else None

    def action_explain(self) -> None:
        """What this operation, layout or pass is."""
        line = self.view.rows.text(self.view.cursor) if self.view.rows and len(self.view.rows) else ""
        name = self.passes.current.name if self.passes.has_focus and self.passes.current else ""
        self.host.explain(name or line)

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

    def action_ast(self) -> None:
        """The syntax tree beside the source."""
        self.host.show_ast(self.capture)

    def action_failure(self) -> None:
        """What went wrong."""
        if self.capture is None or self.capture.failure is None:
            self.notify("this capture has no failure")
            return
        self.host.show_failure(self.capture)


def _record(capture: Capture, step: str) -> PassRecord:
    return next(record for record in capture.passes if record.step == step)


def _texts_of(session: Session) -> Iterator[tuple[str, Document]]:
    """Every text of a capture once, in the order of the pipeline: "stage NAME" or "step N", and the document."""
    for stage in stages_of(session.capture):
        if stage.stage in ("python", "source"):
            yield f"stage {stage.stage}", session.stage(stage.stage)
    for record in session.capture.passes:
        if record.file is None or kind_of(record.file) == "binary":
            continue
        try:
            yield f"step {record.step}", session.after(record)
        except TritonscopeError:
            continue
    if any(stage.stage == "sass" for stage in session.capture.stages):
        yield "stage sass", session.stage("sass")


def _first_place(capture: Capture) -> Place:
    if capture.failure is not None and capture.failure.step is not None:
        records = [record for record in capture.passes if record.changed and record.file]
        if records:
            return Place(step=records[-1].step)
    names = [stage.stage for stage in stages_of(capture)]
    return Place(
        stage=next((name for name in ("ttgir", "ttir", "source") if name in names), names[-1] if names else "")
    )


def _compiled(text: str) -> "re.Pattern[str] | None":
    """Case counts only where a capital was typed."""
    try:
        return (
            re.compile(text, 0 if any(character.isupper() for character in text) else re.IGNORECASE) if text else None
        )
    except re.error:
        return None
