"""Linked panes, and a line followed through the passes."""

import pytest
from textual.widgets import OptionList

from tests.tui.conftest import SIZES, browse, check_sizes, driven, reference, settled, text_of
from tritonscope.tui.app import ScopeApp
from tritonscope.tui.browse import BrowseScreen
from tritonscope.tui.linked import LinkedScreen
from tritonscope.tui.overlay import Choice


@pytest.fixture(autouse=True)
def no_stats(monkeypatch):
    """What every pass changed, in numbers, is another test's."""
    monkeypatch.setattr(BrowseScreen, "find_stats", lambda _: None)


def at(view, words):
    """The first row with these words."""
    return next(row for row in range(len(view.rows)) if words in view.rows.text(row))


def marked(view):
    return [view.rows.text(row) for row in sorted(view.linked)]


async def linked(pilot, words, stage="5") -> LinkedScreen:
    """Linked panes, opened from the first line with `words` of a stage."""
    await pilot.press(stage)
    view = browse(pilot.app).view
    view.go(at(view, words))
    await pilot.press("L")
    await settled(pilot)
    assert isinstance(pilot.app.screen, LinkedScreen)
    return pilot.app.screen


async def press(pilot, *keys):
    await pilot.press(*keys)
    await settled(pilot)


def test_what_is_of_one_origin_is_marked_in_every_pane(matmul):
    async def script(pilot):
        screen = await linked(pilot, "ttng.warp_group_dot ")
        python, ttgir, ptx = screen.panes
        assert screen.view is ttgir
        assert "ttng.warp_group_dot " in ttgir.rows.text(ttgir.cursor)
        assert [line.strip() for line in marked(python)] == ["acc = tl.dot(first, second, acc)"]
        assert python.cursor in python.linked
        every = [row for row in range(len(ptx.rows)) if "wgmma.mma_async" in ptx.rows.text(row)]
        assert every
        assert ptx.linked.issuperset(every)
        assert not any("cp.async.bulk" in line for line in marked(ptx))
        assert ptx.cursor in ptx.linked
        top = ptx.scroll_offset.y
        assert top <= ptx.cursor < top + ptx.size.height
        assert "expression" in ptx.border_subtitle
        assert "matmul.py:128:19" in "\n".join(text_of(pilot.app))
        ttgir.go(at(ttgir, "ttng.async_tma_copy_global_to_local"))
        await pilot.pause()
        assert "b_tile" not in "".join(marked(python))
        assert [line.strip()[:6] for line in marked(python)] == ["a_tile"]
        assert any("cp.async.bulk" in line for line in marked(ptx))
        assert not any("wgmma" in line for line in marked(ptx))

    driven(matmul, (200, 60), script)


def test_the_source_leads_too_and_says_what_became_of_it(matmul):
    async def script(pilot):
        screen = await linked(pilot, "acc = tl.dot", stage="1")
        python, ttgir, _ = screen.panes
        assert screen.view is python
        assert any("ttng.warp_group_dot" in line for line in marked(ttgir))
        (line,) = [line for line in text_of(pilot.app) if "acc = tl.dot(first" in line]
        assert line.split()[2:5] == ["•", "48", "28"]
        assert "ptx sass" in text_of(pilot.app)[1]
        python.go(0)
        await pilot.pause()
        assert not ttgir.linked
        assert "none of that origin" in ttgir.border_subtitle

    driven(matmul, (200, 60), script)


def test_sass_leads_to_the_line_of_ptx_that_the_binary_names(matmul):
    async def script(pilot):
        screen = await linked(pilot, "HGMMA", stage="8")
        _, ptx, sass = screen.panes
        assert screen.view is sass
        assert [line.split()[0].startswith("wgmma.mma_async") for line in marked(ptx)] == [True]
        assert "binary says" in ptx.border_subtitle or "inferred" in ptx.border_subtitle
        assert "from PTX line" in "\n".join(text_of(pilot.app))
        await press(pilot, "shift+tab")
        assert screen.view is ptx
        assert any("HGMMA" in line for line in marked(sass))

    driven(matmul, (200, 60), script)


def test_an_instruction_from_no_line_of_python_still_leads_to_its_ptx(matmul):
    async def script(pilot):
        screen = await linked(pilot, "CS2R R144", stage="8")
        assert [line.split()[0] for line in marked(screen.panes[1])] == ["bra.uni"]
        text = "\n".join(text_of(pilot.app))
        assert "from no line of Python" in text
        assert "from PTX line" in text

    driven(matmul, (200, 60), script)


def test_another_level_in_a_pane_stays_with_the_origin(matmul):
    async def script(pilot):
        screen = await linked(pilot, "ttng.warp_group_dot ")
        pane = screen.view
        await press(pilot, "4")
        assert "tt.dot" in pane.rows.text(pane.cursor)
        await press(pilot, "right_curly_bracket")
        assert pane.rows.title.startswith("after 7 convert-triton")
        assert "tt.dot" in pane.rows.text(pane.cursor)
        await press(pilot, "left_curly_bracket")
        assert pane.rows.title.startswith("after 4 cse")
        await press(pilot, "colon", *"pipeline", "enter")
        assert "tritongpu-pipeline" in pane.rows.title
        assert "warp_group_dot" in pane.rows.text(pane.cursor)
        await press(pilot, "p")
        await press(pilot, *"accelerate", "enter")
        assert "accelerate-matmul" in pane.rows.title
        await press(pilot, "colon", *"12", "enter")
        assert pane.cursor == 11
        await press(pilot, "2")
        assert "its lines lead nowhere" in "\n".join(text_of(pilot.app))

    driven(matmul, (200, 60), script)


def test_further_lines_of_the_origin(matmul):
    async def script(pilot):
        screen = await linked(pilot, "ttng.warp_group_dot ")
        ptx = screen.panes[2]
        ptx.go(0)
        await press(pilot, "right_square_bracket")
        first = ptx.cursor
        assert first in ptx.linked
        await press(pilot, "right_square_bracket")
        assert ptx.cursor > first
        assert ptx.cursor in ptx.linked
        assert ptx.cursor - 1 not in ptx.linked
        await press(pilot, "left_square_bracket")
        assert ptx.cursor == first

    driven(matmul, (200, 60), script)


def test_as_many_panes_as_fit_and_the_way_back(matmul):
    async def script(pilot):
        screen = await linked(pilot, "ttng.warp_group_dot ")
        assert [pane.display for pane in screen.panes] == [True, True, False]
        await press(pilot, "tab")
        assert [pane.display for pane in screen.panes] == [False, True, True]
        assert "wgmma" in "".join(marked(screen.panes[2]))
        await press(pilot, "plus")
        assert [pane.display for pane in screen.panes] == [False, False, True]
        await pilot.resize_terminal(80, 24)
        await press(pilot, "plus", "shift+tab")
        assert [pane.display for pane in screen.panes] == [False, True, False]
        assert "pane 2 of 3" in text_of(pilot.app)[-1]
        await press(pilot, "4", "enter")
        main = browse(pilot.app)
        assert pilot.app.screen is main
        assert main.place.stage == "ttir"
        assert "tt.dot" in main.view.rows.text(main.view.cursor)
        for key in ("L", "escape"):
            await press(pilot, "L")
            assert isinstance(pilot.app.screen, LinkedScreen)
            await press(pilot, key)
            assert pilot.app.screen is main

    driven(matmul, (120, 40), script)


def test_how_it_looks(matmul):
    async def script(pilot):
        await linked(pilot, "ttng.warp_group_dot ")
        await check_sizes(pilot, "linked")
        await press(pilot, "H")
        await check_sizes(pilot, "history")

    driven(matmul, SIZES[0], script)


def test_a_binary_instruction_is_followed_back_to_the_pass_that_made_it_such(matmul):
    async def script(pilot):
        await pilot.press("7")
        main = browse(pilot.app)
        main.view.go(at(main.view, "wgmma.mma_async"))
        await press(pilot, "H")
        assert isinstance(pilot.app.screen, Choice)
        options = pilot.app.screen.query_one(OptionList)
        (made,) = [row for row in text_of(pilot.app) if "+ttng.warp_group_dot " in row]
        assert "tritongpu-accelerate-matmul" in made
        assert "translate_to_asm" in str(options.get_option_at_index(options.highlighted).prompt)
        await press(pilot, *"accelerate", "enter")
        assert main.place.step == "15"
        assert "ttng.warp_group_dot" in main.view.rows.text(main.view.cursor)

    driven(matmul, (120, 40), script)


def test_a_diff_and_a_text_with_locations_mean_the_same_line(matmul):
    async def script(pilot):
        main = browse(pilot.app)
        await press(pilot, "t", *"locations", "enter")
        main.view.go(at(main.view, "ttng.warp_group_dot "))
        await press(pilot, "L")
        screen = pilot.app.screen
        assert "ttng.warp_group_dot " in screen.view.rows.text(screen.view.cursor)
        await press(pilot, "escape", "colon", *"accelerate", "enter", "d")
        main.view.go(at(main.view, "ttng.warp_group_dot "))
        await press(pilot, "L")
        screen = pilot.app.screen
        assert "ttng.warp_group_dot " in screen.view.rows.text(screen.view.cursor)

    driven(matmul, (200, 60), script)


def test_a_narrow_terminal_shows_the_level_that_the_reader_came_from(matmul):
    async def script(pilot):
        screen = await linked(pilot, "wgmma.mma_async", stage="7")
        assert [pane.display for pane in screen.panes] == [False, False, True]
        assert screen.view.has_focus
        assert "wgmma.mma_async" in screen.view.rows.text(screen.view.cursor)
        assert "pane 3 of 3" in text_of(pilot.app)[-1]

    driven(matmul, (80, 24), script)


def test_what_is_no_text_says_so(matmul):
    async def script(pilot):
        await press(pilot, "t", *"locations", "enter", "colon", *"ptxas", "enter", "L")
        assert "which is no text" in "\n".join(text_of(pilot.app))
        assert "its lines lead nowhere" in "\n".join(text_of(pilot.app))

    driven(matmul, (120, 40), script)


def test_what_cannot_be_followed_says_so(matmul):
    async def script(pilot):
        await press(pilot, "7", "g", "H")
        await pilot.pause()
        said = [notification.message for notification in pilot.app._notifications]
        assert any("cannot be followed" in each for each in said), said

    driven(matmul, (120, 40), script)


def test_amd(dumps):
    async def script(pilot):
        screen = await linked(pilot, "tt.dot ")
        final = screen.panes[2]
        assert final.rows.title == "amdgcn"
        assert any("mfma" in line for line in marked(final))

    driven(ScopeApp(dumps, reference("attention", "gfx942")), (200, 60), script)
