"""Locations put back on an edited text: every line keeps its number, and those that stayed what they had."""

from tritonscope.ir.locations import strip_locations
from tritonscope.ir.relocation import relocated

ORIGINAL = """\
#blocked = #ttg.blocked<{order = [0]}>
#loc = loc("kernel.py":1:1)
#loc5 = loc("x"(#loc))
module {
  tt.func @kernel(%x: i32 loc("x"(#loc))) {
    %0 = arith.addi %x, %x : i32 loc(#loc1)
    %1 = arith.muli %0, %x : i32 loc(#loc2)
    tt.return loc(#loc3)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("kernel.py":2:3)
#loc2 = loc("kernel.py":3:3)
#loc3 = loc("kernel.py":4:3)
"""


def test_what_stayed_has_its_location_and_its_line() -> None:
    shown = strip_locations(ORIGINAL)
    edited = shown.replace("    %1 = arith.muli %0, %x", "    %2 = arith.subi %0, %x").replace(
        "    tt.return", "    %3 = arith.addi %2, %2 : i32\n    tt.return"
    )
    lines = relocated(edited, ORIGINAL).split("\n")
    first, *others = edited.split("\n")
    assert lines[0].endswith(f" {first}")
    assert [strip_locations(line) for line in lines[1:]] == others
    assert lines[3].endswith("loc(#loc1)")
    assert "loc(" not in lines[4] + lines[5]
    assert lines[6] == "    tt.return loc(#loc3)"
    assert sorted(part for part in lines[0].split(" ") if part.startswith("#loc") and part[4:].isdigit()) == [
        "#loc1",
        "#loc2",
        "#loc3",
        "#loc5",
    ]


def test_a_text_with_locations_of_its_own_stays_as_it_is() -> None:
    edited = ORIGINAL.replace("addi", "subi")
    assert relocated(edited, ORIGINAL) == edited


def test_without_locations_there_is_nothing_to_put_back() -> None:
    text = strip_locations(ORIGINAL)
    assert relocated(text.replace("addi", "subi"), text) == text.replace("addi", "subi")
