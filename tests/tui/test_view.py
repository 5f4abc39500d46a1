"""The view of a text: folds, wrapped lines, selecting and copying."""

from textual.widgets import OptionList

from tests.tui.conftest import browse, driven, settled, text_of
from tritonscope.tui.ir_view import IrView
from tritonscope.tui.overlay import Choice, FoldKeys, Reading

WIDE = (120, 40)


def row_with(view, text, after=-1):
    return next(row for row in range(after + 1, len(view.rows)) if text in view.rows.text(row))


def line_with(app, text):
    return next(line for line in text_of(app) if text in line)


def test_folds(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        view = screen.view
        whole = [view.rows.text(row) for row in range(len(view.rows))]
        loop = row_with(view, "scf.for", row_with(view, "scf.for"))
        inside = loop + 3
        view.go(inside)
        await pilot.press("z")
        assert isinstance(pilot.app.screen, FoldKeys)
        await pilot.press("j")  # not one of its keys
        assert pilot.app.screen is screen
        assert view.cursor == inside
        await pilot.press("z", "a")
        await pilot.pause()
        assert view.cursor == loop
        region = next(each for each in view.rows.regions if each.first == loop)
        assert f"⋯ {region.last - region.first} lines" in line_with(pilot.app, "⋯")
        await pilot.press("j")
        assert view.cursor == region.last + 1
        await pilot.pause()
        after = whole[region.last + 1].strip()
        assert line_with(pilot.app, after).split(str(region.last + 2))[1].strip().startswith(after)  # its own number
        await pilot.press("k")
        assert view.cursor == loop
        # The next pass has the same loop: it stays folded, and the cursor on it on its row.
        await pilot.press("colon", *"tritongpu-coalesce", "enter")
        await settled(pilot)
        view.go(row_with(view, "scf.for"))
        await pilot.press("z", "c")
        await pilot.pause()
        row = view.screen_row
        await pilot.press("right_curly_bracket")
        await settled(pilot)
        assert "scf.for" in view.rows.text(view.cursor)
        assert view.screen_row == row
        first = view.cursor
        await pilot.press("j")
        assert view.cursor > first + 1
        # A match inside a fold opens it.
        wanted = row_with(view, "tt.dot", first)
        await pilot.press("k", "slash", *"tt.dot ", "enter")
        assert view.cursor == wanted
        await pilot.press("z", "M", "g")
        seen = 1
        while view.cursor < len(view.rows) - 1:
            before = view.cursor
            await pilot.press("j")
            assert view.cursor > before
            seen += 1
        assert seen < len(view.rows) / 2
        await pilot.press("k", "k", "z", "o", "z", "R", "g", "j", "j")
        assert view.cursor == 2
        assert not view.closed
        await pilot.press("d", "z", "a")
        await pilot.pause()
        assert any("nothing can be folded here" in each.message for each in pilot.app._notifications)

    driven(matmul, (120, 20), script)  # fewer rows than there are lines, folds and all


def test_wrapped_and_raw(matmul):
    async def script(pilot):
        screen = browse(pilot.app)
        view = screen.view
        long = max(range(len(view.rows)), key=lambda row: len(view.rows.text(row)))
        view.go(long)
        await pilot.pause()
        cut = view.rows.text(long)[-20:]
        assert not any(cut in line for line in text_of(pilot.app))
        await pilot.press("t", *"wrapped", "enter")
        await settled(pilot)
        room = view._width - view._gutter
        text = view.rows.text(long)
        pieces = [text[at : at + room].rstrip() for at in range(0, len(text), room)]
        shown = "\n".join(text_of(pilot.app))
        assert len(pieces) > 1
        assert all(piece in shown for piece in pieces)
        assert view.virtual_size.height > len(view.rows)
        await pilot.press("j", "k", "ctrl+d", "ctrl+u")
        assert view.cursor == long
        await pilot.press("t", *"wrapped", "enter", "1", "right_curly_bracket", "right_curly_bracket", "d")
        await settled(pilot)
        renaming = len(view.rows)
        await pilot.press("t", *"letter", "enter")
        await settled(pilot)
        assert screen.place.diff
        assert len(view.rows) >= renaming
        signs = {cell.sign for number in range(len(view.rows)) for cell in view.rows.row(number).cells}
        assert signs <= {" ", "", "+", "-"}

    driven(matmul, WIDE, script)


def test_selecting_and_copying(matmul, tmp_path):
    kept = tmp_path / "state" / "tritonscope" / "copied.txt"

    async def script(pilot):
        screen = browse(pilot.app)
        view = screen.view
        lines = [view.rows.text(row) for row in range(len(view.rows))]
        await pilot.press("j", "v", "j", "j", "y")
        assert pilot.app.clipboard == "\n".join(lines[1:4])
        assert kept.read_text() == "\n".join(lines[1:4]) + "\n"
        assert any("copied 3 lines" in each.message for each in pilot.app._notifications)
        assert not view.selected_lines
        await pilot.press("V", "escape")
        assert not view.selected_lines
        # The mouse, from within one line to within another; line numbers are not text.
        row = row_with(view, "arith.constant") + 1
        view.go(row)
        await pilot.pause()
        y = view.screen_row + 1
        left = view._gutter + 1
        await pilot.mouse_down(IrView, offset=(left + 4, y))
        await pilot.hover(IrView, offset=(left + 10, y + 1))
        await pilot.mouse_up(IrView, offset=(left + 10, y + 1))
        await pilot.pause()
        expected = f"{lines[row][4:]}\n{lines[row + 1][:11]}"
        assert screen.get_selected_text() == expected
        await pilot.press("y")
        assert pilot.app.clipboard == expected
        await pilot.press("escape")
        assert not screen.selections
        # A second click takes the word.
        start = lines[row].index("arith.constant")
        await pilot.click(IrView, offset=(left + start + 8, y), times=2)
        await pilot.pause()
        assert screen.get_selected_text() == "arith.constant"

    driven(matmul, WIDE, script)


def test_a_layout_by_its_alias(matmul):
    """Its definition, and what it means, from the line that uses it."""

    async def script(pilot):
        screen = browse(pilot.app)
        view = screen.view
        definition = next(
            view.rows.text(row) for row in range(len(view.rows)) if view.rows.text(row).startswith("#mma =")
        )
        view.go(row_with(view, "#mma>"))
        await pilot.press("K")
        assert isinstance(pilot.app.screen, Reading)
        said = str(pilot.app.screen._content)
        assert definition in said
        assert "ttg.nvidia_mma" in said
        await pilot.press("escape", "asterisk")
        assert isinstance(pilot.app.screen, Choice)
        await pilot.press(*"#mma")
        await pilot.pause()
        label = str(pilot.app.screen.query_one(OptionList).get_option_at_index(0).prompt)
        assert label.startswith("#mma")
        assert definition.partition(" = ")[2][:40] in label
        await pilot.press("enter")
        assert view.name_marked == "#mma"
        assert any(definition[:60] in each.message for each in pilot.app._notifications)

    driven(matmul, WIDE, script)


def test_what_is_drawn_row_by_row_is_what_is_drawn_whole(matmul):
    """Keys draw the rows that changed alone; nothing may be left over from before."""
    keys = "j j j k G k k g space j j } } d j j } d { J v j k j v u } p j k p / a d d enter n n N z c j z o * t escape"
    names = {"}": "right_curly_bracket", "{": "left_curly_bracket", "/": "slash", "*": "asterisk"}

    async def script(pilot):
        app = pilot.app
        for key in keys.split():
            await pilot.press(names.get(key, key))
            await settled(pilot)
            if app.screen is browse(app):
                kept = app.screen._compositor.render_strips()
                for view in (app.screen.view, app.screen.passes):
                    view.refresh()
                await pilot.pause()
                whole = app.screen._compositor.render_strips()
                assert [list(strip.simplify()) for strip in kept] == [list(strip.simplify()) for strip in whole], key

    driven(matmul, WIDE, script)


def test_a_key_draws_few_rows(matmul, monkeypatch):
    drawn = []
    original = IrView.render_line
    monkeypatch.setattr(IrView, "render_line", lambda self, y: drawn.append(y) or original(self, y))

    async def script(pilot):
        await pilot.press("g", *"jjjjj")
        await settled(pilot)
        drawn.clear()
        await pilot.press("j")
        await settled(pilot)
        assert drawn == [5, 6]

    driven(matmul, WIDE, script)


def test_what_stands_there_is_not_said_again(matmul):
    async def script(pilot):
        for _ in range(5):
            await pilot.press("g", "x")
        await settled(pilot)
        assert [each.message for each in pilot.app._notifications] == ["this capture has no failure"]
        await pilot.press("X")
        assert len(list(pilot.app._notifications)) == 2

    driven(matmul, WIDE, script)
