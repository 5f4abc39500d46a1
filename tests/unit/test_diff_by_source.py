"""Operations by the Python line they come from, and passes in numbers."""

from collections import Counter

from tests.unit.diff_oracle import read
from tritonscope.ir.locations import strip_locations
from tritonscope.ir.origins import Origin, by_source_line, operations
from tritonscope.ir.stats import op_counts
from tritonscope.ir.summary import summary

LOCATED = """\
#loc = loc("k.py":1:0)
#loc1 = loc("k.py":3:4)
#loc2 = loc("/lib/triton/language/standard.py":40:8)
#loc3 = loc("helper.py":9:8)
module {
  tt.func @f(%a: i32 loc("a"(#loc))) {
    %0 = arith.addi %a, %a : i32 loc(#loc4)
    %1 = arith.muli %a, %a : i32 loc(#loc5)
    %2 = scf.if %c -> (i32) {
      scf.yield %0 : i32 loc(#loc1)
    } else {
      scf.yield %1 : i32 loc(unknown)
    } loc(#loc6)
    tt.return loc("k.py":8:0)
  } loc(#loc)
} loc(#loc)
#loc4 = loc(callsite(#loc2 at #loc1))
#loc5 = loc("x"(callsite(#loc3 at #loc1)))
#loc6 = loc(fused["k.py":5:2, "k.py":6:2])
"""


def test_each_operation_has_its_line() -> None:
    found = {operation.at: (operation.name, operation.origin) for operation in operations(LOCATED)}
    assert found == {
        5: ("builtin.module", Origin("k.py", 1)),
        6: ("tt.func", Origin("k.py", 1)),
        7: ("arith.addi", Origin("k.py", 3)),  # Triton's own library counts for its caller
        8: ("arith.muli", Origin("helper.py", 9)),
        9: ("scf.if", Origin("k.py", 5)),  # the location stands behind the closing brace
        10: ("scf.yield", Origin("k.py", 3)),
        12: ("scf.yield", None),
        14: ("tt.return", Origin("k.py", 8)),
    }


def test_no_operation_of_a_real_text_is_lost() -> None:
    for name in ("rows.located.ttir", "rows.located.ttgir"):
        text, _ = read(name)
        assert Counter(operation.name for operation in operations(text)) == op_counts(text)


def test_a_conversion_by_source_line() -> None:
    new = LOCATED.replace("arith.addi %a, %a : i32", "llvm.add %a, %a : i32").replace(
        "    tt.return", "    %9 = llvm.mul %a, %a : i32 loc(#loc1)\n    tt.return"
    )
    lines = {line.origin: line for line in by_source_line(LOCATED, new)}
    third = lines[Origin("k.py", 3)]
    assert third.left_counts == {"arith.addi": 1, "scf.yield": 1}
    assert third.right_counts == {"llvm.add": 1, "scf.yield": 1, "llvm.mul": 1}
    assert [origin for origin, line in lines.items() if line.differs] == [Origin("k.py", 3)]
    assert list(lines)[-1] is None


def test_locations_that_go_round_in_circles_end() -> None:
    assert not [o for o in operations('#loc = loc("x"(#loc))\n%0 = a.b loc(#loc)\n') if o.origin]


def test_a_pass_in_numbers() -> None:
    (old, kind), (new, _) = read("attention.layouts.ttgir"), read("attention.cse.ttgir")
    assert sum(summary(old, new).gone.values()) == sum(op_counts(old).values()) - sum(op_counts(new).values())
    assert not summary(old, new).new
    assert not summary(old, old, kind).differs


def test_a_layout_counts_as_one_and_another_operation_as_gone_and_new() -> None:
    old = "%0 = tt.load %p : tensor<8xi32, #ttg.a<{}>>\n%1 = tt.dot %0 : i32\n"
    new = "%0 = tt.load %p : tensor<8xi32, #ttg.b<{}>>\n%1 = ttng.dot %0 : i32\n"
    found = summary(old, new)
    assert (found.layouts, found.gone, found.new, found.changed) == (1, {"tt.dot": 1}, {"ttng.dot": 1}, {})


def test_instructions_of_assembly_count_too() -> None:
    old = "        /*0000*/              @!P0 BRA `(.L_x_1) ;\n"
    assert summary(old, "", "sass").gone == {"BRA": 1}
    assert summary("", "\t@%p1 bra \t$L__BB0_1;\n", "ptx").new == {"bra": 1}
    assert summary("", "  %1 = tail call i32 @f()\n", "llir").new == {"call": 1}
    located, _ = read("rows.located.ttir")
    assert not summary(strip_locations(located), strip_locations(located)).differs
