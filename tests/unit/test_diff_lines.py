"""What a diff calls each line, in small examples that a reader can check."""

import json
import re
import time

import pytest

from tests.unit.diff_oracle import check, read
from tritonscope.ir.diff import Diff, Line, diff, hunks

LAYOUTS = """\
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
"""
BODY = """\
module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32) {
    %c1_i32 = arith.constant 1 : i32
    %0 = arith.addi %n, %c1_i32 : i32
    %1 = arith.muli %0, %n : i32
    %2 = tt.splat %1 : i32 -> tensor<128xi32, #blocked>
    %3 = tt.splat %0 : i32 -> tensor<128xi32, #blocked1>
    tt.store %p, %1 : !tt.ptr<f32>
    tt.return
  }
}
"""
MLIR = LAYOUTS + BODY


def compared(left: str, right: str, kind: str = "mlir", **options: bool) -> Diff:
    found = diff(left, right, kind, **options)
    if not options:
        check(found, left, right)
    return found


def shown(found: Diff) -> list[tuple[str, str, str]]:
    return [(line.kind, line.left_text.strip(), line.right_text.strip()) for line in found.lines if line.shown]


def marked(line: Line) -> tuple[list[str], list[str]]:
    return (
        [line.left_text[start:end] for start, end in line.marks[0]],
        [line.right_text[start:end] for start, end in line.marks[1]],
    )


def only(found: Diff) -> Line:
    (line,) = [line for line in found.lines if line.shown]
    return line


def test_one_line_more_renumbers_the_rest_and_shows_alone() -> None:
    new = MLIR.replace(
        "    %1 = arith.muli %0, %n : i32\n", "    %1 = arith.subi %0, %n : i32\n    %2 = arith.muli %0, %n : i32\n"
    )
    new = new.replace("store %p, %1", "store %p, %2").replace("splat %1", "splat %2").replace("%3 = tt", "%4 = tt")
    new = new.replace("%2 = tt", "%3 = tt")
    found = compared(MLIR, new)
    assert shown(found) == [("added", "", "%1 = arith.subi %0, %n : i32")]
    assert found.stat.renamed == 4


def test_an_operand_that_names_another_value_is_marked() -> None:
    found = compared(MLIR, MLIR.replace("tt.store %p, %1", "tt.store %p, %0"))
    assert only(found).kind == "changed"
    assert marked(only(found)) == (["%1"], ["%0"])


def test_the_same_text_is_changed_where_its_names_mean_other_values() -> None:
    old = MLIR.replace("%0 = arith.addi %n, %c1_i32", "%0 = arith.addi %n, %n")
    swapped = old.replace("%0 = arith.addi %n, %n : i32\n    %1 = arith.muli %0, %n : i32\n", "").replace(
        "    %2 = tt.splat",
        "    %1 = arith.addi %n, %n : i32\n    %0 = arith.muli %1, %n : i32\n    %2 = tt.splat",
    )
    kinds = {line.left_text.strip(): line.kind for line in compared(old, swapped).lines if line.left is not None}
    assert kinds["tt.store %p, %1 : !tt.ptr<f32>"] == "changed"


def test_a_layout_under_another_alias_is_the_same() -> None:
    first, second = LAYOUTS.splitlines(keepends=True)
    new = second.replace("#blocked1 =", "#blocked =") + first.replace("#blocked =", "#blocked1 =")
    new += BODY.replace("#blocked>", "#other>").replace("#blocked1>", "#blocked>").replace("#other>", "#blocked1>")
    found = compared(MLIR, new)
    assert not found.stat.differs
    assert found.stat.renamed == 4
    assert {"#blocked": "#blocked1", "#blocked1": "#blocked"}.items() <= found.renaming[0].names.items()


def test_an_alias_written_out_is_the_same() -> None:
    inline = BODY.replace("#blocked1", LAYOUTS.splitlines()[1].partition(" = ")[2])
    found = diff(MLIR, LAYOUTS.splitlines(keepends=True)[0] + inline, "mlir")
    assert [line.kind for line in found.lines if line.shown] == ["removed"]


def test_another_layout_of_the_same_operation_is_layout() -> None:
    found = compared(MLIR, MLIR.replace("xi32, #blocked>", "xi32, #blocked1>"))
    assert only(found).kind == "layout"
    assert marked(only(found)) == (["#blocked"], ["#blocked1"])


def test_a_redefined_alias_shows_on_the_lines_that_use_it() -> None:
    found = compared(MLIR, MLIR.replace("sizePerThread = [1]", "sizePerThread = [2]"))
    assert found.stat.layout == 1
    assert (found.stat.added, found.stat.removed) == (1, 1)


def test_a_first_encoding_is_a_layout_and_a_memory_space_is_not() -> None:
    plain = "%0 = tt.splat %x : i32 -> tensor<8xi32>\n"
    assert only(compared(plain, plain.replace("i32>", "i32, #ttg.blocked<{order = [0]}>>"))).kind == "layout"
    memory = "%0 = ttg.local_alloc : () -> !ttg.memdesc<8xi32, #ttg.shared_memory>\n"
    assert only(compared(memory, memory.replace("shared_memory", "tensor_memory"))).kind != "layout"


def test_a_line_that_moved_stands_where_it_was_and_where_it_is() -> None:
    line = "    %c1_i32 = arith.constant 1 : i32\n"
    two = MLIR.replace(line, line + "    %c2_i32 = arith.constant 2 : i32\n    %9 = arith.muli %n, %n : i32\n")
    moved = two.replace("    %9 = arith.muli %n, %n : i32\n", "").replace(
        "    tt.return", "    %9 = arith.muli %n, %n : i32\n    tt.return"
    )
    found = compared(two, moved)
    halves = [line for line in found.lines if line.kind == "moved"]
    assert [(half.left, half.right, half.other) for half in halves] == [(7, None, 12), (None, 12, 7)]
    assert found.stat.moved == 1
    assert found.stat.lines == 2


def test_a_loop_that_carries_one_value_less() -> None:
    old = """\
tt.func @f(%a: i32, %b: i32) {
  %r:2 = scf.for %i = %a to %b step %a iter_args(%x = %a, %y = %b) -> (i32, i32) : i32 {
    %1 = arith.addi %y, %i : i32
    scf.yield %x, %1 : i32, i32
  }
  tt.call @g(%r#1) : (i32) -> ()
}
"""
    new = """\
tt.func @f(%a: i32, %b: i32) {
  %r = scf.for %i = %a to %b step %a iter_args(%y = %b) -> (i32) : i32 {
    %1 = arith.addi %y, %i : i32
    scf.yield %1 : i32
  }
  tt.call @g(%r) : (i32) -> ()
}
"""
    for left, right in ((old, new), (new, old)):
        found = compared(left, right)
        assert [line.kind for line in found.lines] == [
            "unchanged", "changed", "unchanged", "changed", "unchanged", "renamed", "unchanged",
        ]  # fmt: skip


def test_the_same_name_in_two_regions_is_two_values() -> None:
    def loops(first: str, second: str) -> str:
        return "".join(
            f"  scf.for %i{k} = %n to %n step %n : i32 {{\n    {name} = tt.load %p : !tt.ptr<f32>\n"
            f"    tt.store %p, {name} : !tt.ptr<f32>\n  }}\n"
            for k, name in enumerate((first, second))
        )

    head = "tt.func @f(%p: !tt.ptr<f32>, %n: i32) {\n"
    left, right = head + loops("%1", "%1") + "}\n", head + loops("%1", "%7") + "}\n"
    assert not compared(left, right).stat.differs
    assert not compared(right, left).stat.differs


def test_labels_metadata_and_attribute_groups_of_llvm() -> None:
    text, _ = read("rows.llir")
    new = text.replace("#0", "#90").replace("!0", "!80")
    assert new != text
    assert not compared(text, new, "llir").stat.differs


def test_another_branch_target_shows() -> None:
    old = "{\n$L__BB0_1:\n\tmov.b32 \t%r1, 0;\n$L__BB0_2:\n\tbra \t$L__BB0_1;\n}\n"
    found = compared(old, old.replace("bra \t$L__BB0_1", "bra \t$L__BB0_2"), "ptx")
    assert only(found).kind == "changed"


def test_registers_of_sass_are_real_unless_asked_otherwise() -> None:
    old = "        /*0000*/  MOV R1, 0x1 ;\n        /*0010*/  IADD3 R2, R1, RZ, RZ ;\n"
    new = "        /*0000*/  MOV R7, 0x1 ;\n        /*0010*/  IADD3 R2, R7, RZ, RZ ;\n"
    assert compared(old, new, "sass").stat.changed == 2
    assert not compared(old, new, "sass", rename_registers=True).stat.differs
    assert compared(old, new.replace("R7, RZ", "R9, RZ"), "sass", rename_registers=True).stat.differs


def test_addresses_of_sass_shift_without_a_trace() -> None:
    text, kind = read("rows.sass")
    lines = text.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if "/*0030*/" in line)
    address = re.compile(r"(?<=/\*)[0-9a-f]{4}(?=\*/)")
    shifted = [address.sub(lambda match: f"{int(match[0], 16) + 16:04x}", line) for line in lines[at:]]
    extra = "        /*0030*/                   NOP ;\n"
    found = compared(text, "".join([*lines[:at], extra, *shifted]), kind)
    assert shown(found) == [("added", "", extra.strip())]


def test_addresses_count_from_the_start_of_each_function() -> None:
    text, kind = read("rows.sass")
    section = text[text.index("\t.section\t.text.rows") :]
    second = section.replace("rows", "more").replace(".L_x_", ".L_x_9")
    first, _, rest = second.partition("        /*0000*/")
    extra = "        /*0000*/                   NOP ;\n"
    address = re.compile(r"(?<=/\*)[0-9a-f]{4}(?=\*/)")
    shifted = address.sub(lambda match: f"{int(match[0], 16) + 16:04x}", "        /*0000*/" + rest)
    found = compared(text + second, text + first + extra + shifted, kind)
    assert shown(found) == [("added", "", extra.strip())]


@pytest.mark.parametrize("kind", ["mir", "text"])
def test_other_kinds_have_no_names_and_keep_their_indentation(kind: str) -> None:
    assert diff("  %1 = x\n", "  %2 = x\n", kind).stat.differs
    assert diff("  a\n", "a\n", kind).stat.differs


def test_strings_are_not_renamed() -> None:
    old = '%0 = llvm.inline_asm "mov %r1;" : () -> i32\n'
    assert only(compared(old, old.replace("%r1", "%r2"))).kind == "changed"


def test_a_text_with_the_masking_character_is_compared_as_it_is() -> None:
    assert diff("%0 = a\n%1\x01 = b", "%1 = a\n%0\x01 = b", "mlir").stat.differs


def test_hunks_number_their_lines_and_join_where_they_touch() -> None:
    old = "".join(f"line {i}\n" for i in range(40))
    new = old.replace("line 10\n", "").replace("line 13\n", "line 13\nmore\n").replace("line 30\n", "other 30\n")
    first, second = hunks(diff(old, new, "text"), 2)
    assert (first.left_start, first.right_start) == (9, 9)
    assert [line.kind for line in first.lines] == [
        "unchanged", "unchanged", "removed", "unchanged", "unchanged", "unchanged", "added", "unchanged", "unchanged",
    ]  # fmt: skip
    assert (second.left_start, second.right_start) == (29, 29)
    assert not list(hunks(diff(old, old, "text"), 2))


def test_json_has_what_scripts_rely_on() -> None:
    value = diff(MLIR, MLIR.replace("tt.store %p, %1", "tt.store %p, %0"), "mlir").to_json(context=1)
    value = json.loads(json.dumps(value))
    assert value["stat"] == {
        "unchanged": 12, "renamed": 0, "layout": 0, "changed": 1, "added": 0, "removed": 0, "moved": 0,
    }  # fmt: skip
    (hunk,) = value["hunks"]
    assert (hunk["left_start"], hunk["right_start"]) == (9, 9)
    changed = hunk["lines"][1]
    assert (changed["kind"], changed["left"], changed["right"]) == ("changed", 10, 10)
    assert changed["text"].strip() == "tt.store %p, %0 : !tt.ptr<f32>"
    assert changed["left_text"].strip() == "tt.store %p, %1 : !tt.ptr<f32>"
    assert changed["marks"] == {"left": [[17, 19]], "right": [[17, 19]]}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param("a\nb\n" * 10_000, "b\na\n" * 10_000, id="two lines over and over"),
        pytest.param("x\n" * 20_000, "y\n" * 20_000, id="nothing in common"),
        pytest.param(
            "".join(f"%{i} = op %{i - 1}\n" for i in range(20_000)),
            "".join(f"%{i} = op %{i - 2}\n" for i in range(20_000)),
            id="a chain of the same operation",
        ),
        pytest.param("{\n" * 5_000, "}\n" * 5_000, id="braces that match nothing"),
        pytest.param("#a = #b\n#b = #a\n%0 = x #a\n", "%0 = x " + "#a.b<" * 20_000, id="attributes that never end"),
        pytest.param(
            "".join(f"#a{i} = #t.p<#a{i - 1}, #a{i - 1}>\n" for i in range(1, 3_000)),
            "%0 = x #a9\n",
            id="aliases nested",
        ),
        pytest.param(
            "".join(f"#a{i} = #t.p<#a{i + 1}, #a{i + 1}>\n" for i in range(3_000)),
            "%0 = x #a9\n",
            id="aliases backwards",
        ),
    ],
)
def test_hostile_texts_take_seconds_not_minutes(left: str, right: str) -> None:
    started = time.process_time()
    diff(left, right, "mlir")
    assert time.process_time() - started < 8
