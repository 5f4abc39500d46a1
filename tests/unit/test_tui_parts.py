"""What the full-screen interface is made of, without a screen: folds, lines on rows, names, places, copies."""

import difflib
import re

import pytest

from tritonscope import bundled_kernels
from tritonscope.ir.raw import raw_diff
from tritonscope.store import reader
from tritonscope.tui import clipboard
from tritonscope.tui.folds import hidden_by, innermost, regions
from tritonscope.tui.names import aliases_of, definition_of, names_of
from tritonscope.tui.places import Jumps, Place, named
from tritonscope.tui.placing import Placing

MODULE = """#blocked = #ttg.blocked<{order = [0]}>
module {
  tt.func public @kernel(%arg0: !tt.ptr<f32>, %n: i32) {
    %0:2 = scf.for %i = %lo to %n step %one iter_args(%acc = %zero, %at = %arg0) -> (f32, i32) {
      scf.if %c {
        "test.a"() : () -> ()
      } else {
        "test.b"() : () -> ()
        "test.c"() : () -> ()
      }
      %1 = "tt.reduce"(%0) ({
      ^bb0(%x: f32, %y: f32):
        tt.reduce.return %x : f32
      }) : (f32) -> f32
    }
    scf.for %i = %lo to %n step %one {
      "test.d"(%0#1) : (i32) -> ()
    }
  }
}""".splitlines()


def test_regions_of_mlir_end_with_their_brace():
    found = [(region.first, region.last, region.key[-1]) for region in regions(MODULE, "mlir")]
    assert found == [
        (1, 19, "module 1"),
        (2, 18, "@kernel 1"),
        (3, 14, "scf.for 1"),
        (4, 5, "scf.if 1"),
        (6, 9, "else 1"),
        (10, 13, "tt.reduce 1"),
        (15, 17, "scf.for 2"),
    ]


def test_regions_of_other_texts():
    python = ["@jit", "def f(a):", "    if a:", "        b()", "", "    c()", "", "x = 1"]
    assert [(each.first, each.last) for each in regions(python, "python")] == [(1, 5), (2, 3)]
    ptx = [".visible .entry f(", ")", "{", "\t.reg .b32 \t%r<2>;", "$L__BB0_1:", "\tret;", "}"]
    assert [(each.first, each.last) for each in regions(ptx, "ptx")] == [(2, 6)]


@pytest.mark.parametrize("stage", ["source", "ttir", "ttgir", "llir", "ptx"])
def test_regions_of_what_the_compiler_wrote_nest(stage):
    """Against a count of braces, which knows nothing of lines and depth."""
    capture = reader.resolve(bundled_kernels.reference_dumps(), "matmul/sm_90").capture
    lines = reader.stage_text(capture, stage).split("\n")
    found = regions(lines, "mlir")
    assert len(found) == len({region.key for region in found})
    assert found
    for region in found:
        inside = re.sub(r'"[^"]*"', "", "\n".join(lines[region.first : region.last + 1]))
        following = lines[region.last + 1].strip() if region.last + 1 < len(lines) else ""
        closed_by_else = following.startswith("} ") and following.endswith("{")
        opens_as_else = lines[region.first].strip().startswith("}")
        assert inside.count("{") - inside.count("}") == closed_by_else - opens_as_else


def test_folds_hide_what_is_in_them_and_the_outer_one_hides_the_inner():
    found = regions(MODULE, "mlir")
    loop, branch = innermost(found, 3), innermost(found, 5)
    assert (loop.first, branch.first) == (3, 4)
    assert hidden_by(found, {branch.key}) == {4: 1}
    assert hidden_by(found, {branch.key, loop.key}) == {3: 11}


def test_rows_on_lines():
    placing = Placing(10, {2: 3}, None)
    assert [placing.at(line)[0] for line in range(placing.lines)] == [0, 1, 2, 6, 7, 8, 9]
    assert [placing.line_of(row) for row in range(10)] == [0, 1, 2, 2, 2, 2, 3, 4, 5, 6]
    assert placing.moved(1, 2) == 6
    assert placing.moved(4, -1) == 1
    assert (placing.moved(0, -5), placing.moved(0, 99)) == (0, 9)
    wrapped = Placing(4, {2: 1}, lambda row: row + 1)  # the fold takes one line, however long it is
    assert [wrapped.at(line) for line in range(wrapped.lines)] == [(0, 0), (1, 0), (1, 1), (2, 0)]
    assert Placing(0, {}, None).lines == 0


def test_names_of_a_line_and_where_they_are_defined():
    assert names_of('  "test.d"(%0#1) : (i32) -> ()') == ["%0"]
    assert aliases_of("tensor<64x!ttg.thing<2>, #blocked1> -> tensor<4xf32, #mma>, !tile %5#1") == [
        "#blocked1",
        "#mma",
        "!tile",
    ]
    for name, line in [("#blocked", 0), ("%0", 3), ("%acc", 3), ("%n", 2), ("@kernel", 2), ("%x", 11), ("%i", 15)]:
        assert definition_of(name, MODULE, 16) == line, name
    assert definition_of("%i", MODULE, 8) == 3  # the nearest above
    assert definition_of("%nothing", MODULE, 8) is None


def test_a_raw_diff_is_a_diff_to_the_letter():
    capture = reader.resolve(bundled_kernels.reference_dumps(), "matmul/sm_90").capture
    for record in [each for each in capture.passes if each.changed and each.stage == "ttgir"][:8]:
        before, after = reader.before(capture, record).rstrip("\n"), reader.after(capture, record).rstrip("\n")
        found = raw_diff(before, after, "mlir")
        kept = {"left": ("unchanged", "removed"), "right": ("unchanged", "added")}
        texts = {
            side: [getattr(line, f"{side}_text") for line in found.lines if line.kind in kinds]
            for side, kinds in kept.items()
        }
        assert texts == {"left": before.split("\n"), "right": after.split("\n")}
        matcher = difflib.SequenceMatcher(None, texts["left"], texts["right"], autojunk=False)
        longest = sum(block.size for block in matcher.get_matching_blocks())
        assert found.stat.unchanged >= 0.95 * longest


def test_jumps_go_back_and_forward():
    jumps = Jumps()
    a, b, c = (Place(stage=name) for name in "abc")
    assert jumps.back(a) is None
    jumps.leave(a)
    jumps.leave(b)
    assert jumps.back(c) == b
    assert jumps.back(b) == a
    assert jumps.forward(a) == b
    jumps.leave(b)
    assert jumps.forward(c) is None


def test_a_place_is_a_stage_a_step_or_a_part_of_a_name():
    capture = reader.resolve(bundled_kernels.reference_dumps(), "matmul/sm_90").capture
    assert named(capture, "ptx") == Place(stage="ptx")
    assert named(capture, "8") == named(capture, "#8") == Place(step="8")
    assert any(each.step == named(capture, "LOOP-AWARE").step and "loop" in each.name for each in capture.passes)


def test_what_is_copied_is_kept_in_a_file(tmp_path):
    environment = {"XDG_STATE_HOME": str(tmp_path), "TERM": "xterm-256color"}
    file = clipboard.keep("one\ntwo", environment)
    assert file.read_text() == "one\ntwo\n"
    clipboard.keep("three", environment)
    assert file.read_text() == "three\n"
    assert clipboard.keep("one", {"XDG_STATE_HOME": str(file)}) is None  # a file is no folder
    assert not clipboard.through_tmux("one", environment)  # not in tmux


@pytest.mark.parametrize(
    ("environment", "known"),
    [
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, True),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/tmux-0/default,1,0"}, False),  # tmux may not hand it on
    ],
)
def test_terminals_that_are_known_to_take_copies(environment, known):
    assert clipboard.takes_osc52(environment) is known
