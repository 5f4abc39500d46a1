"""What each key of the main screen does."""

import pytest
from rich.console import Console
from textual.widgets import Input

from tests.tui.conftest import browse, check_sizes, check_snapshot, driven, settled, text_of
from tritonscope.tui.app import ScopeApp
from tritonscope.tui.captures import CaptureTree
from tritonscope.tui.compare import CompareScreen
from tritonscope.tui.form import VariantForm
from tritonscope.tui.ir_view import IrView
from tritonscope.tui.keys import keys_of
from tritonscope.tui.overlay import Choice, Reading
from tritonscope.tui.pass_list import PassList

WIDE = (120, 40)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("keys", [(), ("right_curly_bracket", "d")], ids=["stage", "diff"])
def test_screens(matmul, size, keys):
    async def script(pilot):
        await pilot.press(*keys)
        await settled(pilot)
        check_snapshot(f"{'diff' if keys else 'stage'}-{size[0]}x{size[1]}", text_of(pilot.app))

    driven(matmul, size, script)


def test_moving(matmul):
    async def script(pilot):
        view = browse(pilot.app).view
        last = len(view.rows) - 1
        for keys, row in [
            (("j", "j", "k"), 1),
            (("G",), last),
            (("g",), 0),
            (("down", "down"), 2),
            (("up",), 1),
            (("end",), last),
            (("home",), 0),
        ]:
            await pilot.press(*keys)
            assert view.cursor == row
        for key in ("ctrl+d", "space", "pagedown", "ctrl+f"):
            before = view.cursor
            await pilot.press(key)
            assert view.cursor > before
        for key in ("ctrl+u", "b", "pageup", "ctrl+b"):
            before = view.cursor
            await pilot.press(key)
            assert view.cursor < before
        await pilot.press("l")
        assert view.scroll_offset.x == 8
        await pilot.press("h")
        assert view.scroll_offset.x == 0

    driven(matmul, WIDE, script)


def test_stepping_keeps_the_operation_on_its_row(matmul):
    """The gesture: the line under the cursor stays on its row of the screen, while the IR changes around it."""

    async def script(pilot):
        screen = browse(pilot.app)
        await pilot.press("colon", *"8", "enter")  # by step
        await pilot.press("colon")
        pilot.app.screen.query_one(Input).value = "tritongpu-coalesce"
        await pilot.press("enter")
        await settled(pilot)
        assert screen.passes.current.name == "tritongpu-coalesce"
        lines = [screen.view.rows.text(row) for row in range(len(screen.view.rows))]
        target = next(row for row, line in enumerate(lines) if "scf.for" in line)
        screen.view.go(target)
        await pilot.pause()
        row = screen.view.screen_row
        for _ in range(4):
            await pilot.press("right_curly_bracket")
            await settled(pilot)
            assert "scf.for" in screen.view.rows.text(screen.view.cursor)
            assert screen.view.screen_row == row
        await pilot.press("left_curly_bracket")
        await settled(pilot)
        assert "scf.for" in screen.view.rows.text(screen.view.cursor)

    driven(matmul, WIDE, script)


def test_changed_passes_one_after_the_other(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        changed = [record.step for record in screen.capture.passes if record.changed and "." not in record.step]
        await pilot.press("1")
        seen = []
        for _ in changed:
            await pilot.press("right_curly_bracket")
            seen.append(screen.place.step)
        assert seen == changed
        await pilot.press("right_curly_bracket")
        assert screen.place.step == changed[-1]
        await pilot.press("left_curly_bracket")
        assert screen.place.step == changed[-2]

    driven(matmul, WIDE, script)


def test_stages_by_number(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        names = [stage.stage for stage in screen.capture.stages if stage.stage != "cubin"]
        for number, name in enumerate(names, 1):
            await pilot.press(str(number))
            assert screen.place.stage == name
            assert len(screen.view.rows) > 0
        await pilot.press("9")
        assert screen.place.stage == names[-1]  # there is no ninth

    driven(matmul, WIDE, script)


def test_diff_hunks_and_back(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        await pilot.press("right_curly_bracket", "d")
        await settled(pilot)
        assert screen.place.diff
        while len(screen.view.rows.hunks) < 2:
            await pilot.press("right_curly_bracket")
        hunks = screen.view.rows.hunks
        await pilot.press("right_square_bracket")
        assert screen.view.cursor == hunks[1]
        await pilot.press("left_square_bracket")
        assert screen.view.cursor == hunks[0]
        await pilot.press("t")
        await pilot.press(*"side", "enter")
        await settled(pilot)
        assert len(screen.view.rows.row(1).cells) == 2
        await pilot.press("escape")
        assert not screen.place.diff
        await pilot.press("ctrl+o")
        assert screen.place.diff
        await pilot.press("alt+o")
        assert not screen.place.diff

    driven(matmul, WIDE, script)


def test_search_and_uses(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        lines = [screen.view.rows.text(row) for row in range(len(screen.view.rows))]
        wanted = [row for row, line in enumerate(lines) if "arith.constant" in line]
        await pilot.press("slash", *"arith.constant", "enter")
        assert screen.view.cursor == wanted[0]
        assert f"1 of {len(wanted)} lines" in screen.view.border_subtitle
        await pilot.press("n")
        assert screen.view.cursor == wanted[1]
        await pilot.press("N", "N")
        assert screen.view.cursor == wanted[-1]  # it wraps
        await pilot.press("escape")
        assert screen.view.pattern is None
        screen.view.go(wanted[0])
        name = screen.view.names_at_cursor()[0]
        await pilot.press("asterisk", "enter")
        assert screen.view.name_marked == name
        assert name in screen.view.rows.text(screen.view.cursor)
        await pilot.press("slash", *"(", "enter")
        assert screen.view.cursor >= 0  # no regular expression, and no crash

    driven(matmul, WIDE, script)


def test_search_everywhere(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        await pilot.press("slash", *"convert_layout", "enter", "F")
        await settled(pilot)
        assert isinstance(pilot.app.screen, Choice)
        first = next(
            record
            for record in screen.capture.passes
            if record.file
            and not record.file.endswith("cubin")
            and any("convert_layout" in line for line in screen.session.after(record).lines)
        )
        await pilot.press("enter")
        await settled(pilot)
        assert screen.place.step == first.step
        assert "convert_layout" in screen.view.rows.text(screen.view.cursor)

    driven(matmul, WIDE, script)


def test_the_list_of_passes(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        whole = len(screen.passes.records)
        await pilot.press("u")
        assert all(record.changed for record in screen.passes.records)
        await pilot.press("u", "f", *"coalesce")
        assert {"coalesce" in record.name for record in screen.passes.records} == {True}
        await pilot.press("escape")
        assert len(screen.passes.records) == whole
        await pilot.press("p", "z")
        assert len(screen.passes.records) == len(screen.capture.passes)
        await pilot.press("z", "p", "s")
        times = [record.ms or 0 for record in screen.passes.records]
        assert times == sorted(times, reverse=True)
        await pilot.press("s")
        stats = screen.passes.stats
        changes = [stats[each.step].lines if each.step in stats else 0 for each in screen.passes.records]
        assert changes == sorted(changes, reverse=True)
        await pilot.press("s", "p")
        assert screen.passes.has_focus
        await pilot.press("g", "j", "J")
        assert screen.passes.cursor == 2
        assert screen.place.step == screen.passes.current.step
        await pilot.press("enter")
        assert screen.view.has_focus
        await pilot.press("tab")
        assert screen.passes.has_focus
        await pilot.press("shift+tab")
        assert screen.view.has_focus

    driven(matmul, WIDE, script)


def test_a_line_a_step_a_pass_or_a_stage(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        await pilot.press("colon", *"12", "enter")
        assert screen.view.cursor == 11
        await pilot.press("colon", *"ptx", "enter")
        assert screen.place.stage == "ptx"
        await pilot.press("colon", *"pipeline", "enter")
        assert screen.passes.current.name == "tritongpu-pipeline"
        await pilot.press("colon", *"nothing", "enter")
        assert screen.passes.current.name == "tritongpu-pipeline"

    driven(matmul, WIDE, script)


def test_narrow_shows_one_pane_and_lists_over_it(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        assert not screen.passes.display
        await pilot.press("p")
        assert screen.passes.display
        assert not screen.view.display
        await pilot.press("escape")
        assert screen.view.display
        await pilot.press("tab")
        assert screen.passes.display
        await pilot.press("j", "enter")
        assert screen.view.display
        await pilot.press("0")
        assert screen.query_one(CaptureTree).display
        await pilot.press("escape")
        assert not screen.query_one(CaptureTree).display

    driven(matmul, (80, 24), script)


def test_zoom(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        width = screen.view.size.width
        await pilot.press("plus")
        await pilot.pause()
        assert screen.view.size.width > width
        await pilot.press("escape")
        await pilot.pause()
        assert screen.view.size.width == width

    driven(matmul, WIDE, script)


def test_another_capture_from_the_tree(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        await pilot.press("0")
        await pilot.pause()
        tree = screen.query_one(CaptureTree)
        node = next(
            leaf
            for branch in tree.root.children
            for leaf in branch.children
            if leaf.data.capture is not None and leaf.data.capture.target == "gfx942"
        )
        tree.move_cursor(node)
        await pilot.press("enter")
        await settled(pilot)
        assert screen.capture.target == "gfx942"
        await pilot.press("7")
        await settled(pilot)
        assert screen.place.stage == "amdgcn"

    driven(matmul, WIDE, script)


def test_compare(attention):
    async def script(pilot):
        await pilot.press("c")
        assert isinstance(pilot.app.screen, Choice)
        await pilot.press(*"gfx942", "enter")
        await settled(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, CompareScreen)
        verdicts = {line.paired.stage: line.paired.verdict for line in screen.lines if line.paired.pass_name is None}
        assert verdicts["python"] == "identical"
        assert verdicts["ptx"] == "only_left"
        assert verdicts["amdgcn"] == "only_right"
        assert any("the target is gfx942" in line for line in text_of(pilot.app))
        await pilot.press("right_curly_bracket")
        await settled(pilot)
        view = screen.query_one(IrView)
        assert view.rows.hunks
        await check_sizes(pilot, "compare")
        await pilot.press("s")
        assert len(view.rows.row(1).cells) == 2
        await pilot.press("tab", "j", "right_square_bracket", "left_square_bracket", "G", "g", "space", "b", "plus")
        await pilot.press("escape")
        assert pilot.app.screen is browse(pilot.app)

    driven(attention, WIDE, script)


def test_the_syntax_tree_beside_the_source(matmul):
    async def script(pilot):
        await pilot.press("a")
        await settled(pilot)
        view = pilot.app.screen.query_one(IrView)
        await pilot.press("j", "j", "j")
        assert "def matmul" in "\n".join(view.rows.document.lines)
        assert view.cursor > 0
        await pilot.press("tab", "k", "escape")
        assert pilot.app.screen is browse(pilot.app)

    driven(matmul, WIDE, script)


def test_help_lists_every_binding(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        wanted = {binding.description for owner in (screen, pilot.app) for _, binding in keys_of(owner)}
        await pilot.press("question_mark")
        assert isinstance(pilot.app.screen, Reading)
        console = Console(width=200)
        with console.capture() as captured:
            console.print(pilot.app.screen._content)
        shown = captured.get()
        assert all(description in shown for description in wanted)
        await pilot.press("j", "k", "G", "g", "q")
        assert pilot.app.screen is screen

    driven(matmul, WIDE, script)


def test_the_palette_has_every_binding(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        names = {command.title for command in pilot.app.get_system_commands(screen)}
        assert {"diff", "search", "compile a variant", "compare with", "zoom"} <= names

    driven(matmul, WIDE, script)


def test_copy_and_screenshot(matmul, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def script(pilot):
        await pilot.press("y")
        assert pilot.app.clipboard == browse(pilot.app).view.rows.text(0).strip()
        await pilot.press("S")
        await pilot.pause()

    driven(matmul, WIDE, script)
    assert list(tmp_path.glob("*.svg"))


def test_what_cannot_be_done_says_why(matmul, monkeypatch):
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)

    async def script(pilot):
        for key, why in [
            ("d", "a stage has no diff"),
            ("right_square_bracket", "hunks are in a diff"),
            ("n", "nothing was searched for"),
            ("x", "no failure"),
            ("R", "was not run yet"),
            ("o", "set $EDITOR"),
            ("ctrl+o", "nowhere to go back"),
            ("alt+o", "nowhere to go forward"),
            ("X", "nothing is being compiled"),
        ]:
            await pilot.press(key)
            await pilot.pause()
            said = [notification.message for notification in pilot.app._notifications]
            assert any(why in message for message in said), (key, said)
            pilot.app.clear_notifications()

    driven(matmul, WIDE, script)


def test_explain(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        row = next(row for row in range(len(screen.view.rows)) if "tt.get_program_id" in screen.view.rows.text(row))
        screen.view.go(row)
        await pilot.press("K")
        assert isinstance(pilot.app.screen, Reading)
        assert "operation" in str(pilot.app.screen._content)
        await pilot.press("escape", "p", "K")
        assert "pass" in str(pilot.app.screen._content)

    driven(matmul, WIDE, script)


def test_the_form_remembers_and_refuses(matmul):
    async def script(pilot):
        await pilot.press("e")
        form = pilot.app.screen
        assert isinstance(form, VariantForm)
        form.query_one("#field-target", Input).value = "sm_1"
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, VariantForm)  # with the text that was wrong still in it
        assert pilot.app.screen.query_one("#field-target", Input).value == "sm_1"
        await pilot.press("escape")
        assert pilot.app.screen is browse(pilot.app)
        await pilot.press("e")
        assert pilot.app.screen.query_one("#field-target", Input).value == "sm_1"
        await pilot.press("down", "up", "escape")

    driven(matmul, WIDE, script)


def test_themes_and_state(matmul, dumps):
    async def first(pilot):
        await pilot.press("T", "u", "right_curly_bracket")
        await settled(pilot)
        assert browse(pilot.app).view.palette == "light"
        await pilot.press("T")
        assert browse(pilot.app).view.palette == "ansi"
        await pilot.press("p")  # the view draws its cursor without the focus as well
        await settled(pilot)
        await pilot.press("p", "T", "T")

    driven(matmul, WIDE, first)
    capture, step = matmul.remembered.capture, matmul.remembered.step
    assert capture
    again = ScopeApp(dumps, matmul.first)

    async def second(pilot):
        screen = browse(pilot.app)
        assert pilot.app.theme == "textual-light"
        assert screen.place.step == step
        assert screen.passes.current.step == step
        assert screen.passes.filter.changed_only
        assert screen.view.palette == "light"

    driven(again, WIDE, second)


def test_a_folder_that_another_process_writes_to(matmul, dumps):
    """The captures appear without being asked for."""
    import shutil

    async def script(pilot):
        screen = browse(pilot.app)
        shutil.copytree(screen.capture.path, dumps / "copied" / "sm_90-0123456789")
        for _ in range(60):
            await pilot.pause(0.1)
            if any(capture.path.startswith(str(dumps)) for capture in screen.captures):
                return
        raise AssertionError("the folder was not looked at again")

    driven(matmul, WIDE, script)


def test_mouse(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        await pilot.click(IrView, offset=(20, 6))
        assert screen.view.cursor == 5
        await pilot.click(PassList, offset=(10, 5))
        await settled(pilot)
        assert screen.passes.cursor == 4
        assert screen.place.step == screen.passes.records[4].step

    driven(matmul, WIDE, script)


def test_nothing_to_show_and_quit(dumps):
    app = ScopeApp(dumps, None)

    async def script(pilot):
        await pilot.press("j", "right_curly_bracket", "d", "slash", "escape", "1", "c", "r", "q")

    driven(app, WIDE, script)
    assert app.return_code == 0


def test_ctrl_c_says_how_to_leave(dumps):
    app = ScopeApp(dumps, None)

    async def script(pilot):
        await pilot.press("ctrl+c")
        assert any(each.message.startswith("q quits") for each in app._notifications)

    driven(app, WIDE, script)
