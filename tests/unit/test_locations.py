"""Locations go, everything else stays."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonscope.ir.locations import strip_debug, strip_locations

LOCATIONS = [
    "loc(#loc)",
    "loc(#loc17)",
    "loc(unknown)",
    'loc("matmul.py":32:1)',
    'loc("a"(#loc3))',
    "loc(callsite(#loc3 at #loc30))",
    'loc(callsite("f"("x.py":1:2) at callsite(#loc1 at "y.py":3:4)))',
    'loc(fused<#di_subprogram>["x.py":1:2, #loc3])',
    'loc("odd ) name ("(#loc3))',
    'loc("a loc(b"(#loc3))',
]


@pytest.mark.parametrize("location", LOCATIONS)
def test_every_form_of_location_goes(location: str) -> None:
    operation = f"    %0 = arith.addi %a, %b : i32 {location}\n    tt.return {location}\n"
    assert strip_locations(operation) == "    %0 = arith.addi %a, %b : i32\n    tt.return\n"


@pytest.mark.parametrize("location", LOCATIONS)
def test_block_arguments_keep_their_commas(location: str) -> None:
    assert strip_locations(f"^bb1(%x: i32 {location}, %y: f16 {location}):\n") == "^bb1(%x: i32, %y: f16):\n"
    signature = f"tt.func @f(%a: !tt.ptr<f16> {{tt.divisibility = 16 : i32}} {location}, %b: i32 {location}) {{\n"
    assert strip_locations(signature) == "tt.func @f(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: i32) {\n"


def test_definitions_go_wherever_they_stand() -> None:
    header = '#loc = loc("x":1:1)\n#blocked = #ttg.blocked<{}>\n#loc9 = loc("a"(#loc))\n'
    text = header + "module {\n} loc(#loc)\n#loc2 = loc(unknown)\n"
    assert strip_locations(text) == "#blocked = #ttg.blocked<{}>\nmodule {\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        '%0 = "a.b"() {text = "my loc(#loc1) stays"} : () -> i32\n',
        '%0 = "a.b"() {text = "#loc1 = loc(x)"} : () -> i32\n',
        "%0 = a.b {loc = 3 : i32, location(4)} : i32\n",
        "%loc = a.alloc() : i32\n",
        "#local = #ttg.local<{}>\n",
        "#locality = loc\n",
        "%0 = a.b loc(cut off\n",
        "#location_map\n",
        "",
    ],
)
def test_what_only_looks_like_a_location_stays(text: str) -> None:
    assert strip_locations(text) == text


def test_debug_attributes_go_only_where_nothing_else_uses_them() -> None:
    definitions = '#di_file = #llvm.di_file<"a.py" in "/">\n#di_subprogram = #llvm.di_subprogram<file = #di_file>\n'
    text = definitions + "module {\n} loc(fused<#di_subprogram>[#loc])\n"
    assert strip_locations(text) == "module {\n}\n"
    using = definitions + "llvm.intr.dbg.value #di_file = %0 loc(#loc)\n"
    assert strip_locations(using) == definitions + "llvm.intr.dbg.value #di_file = %0\n"


pieces = st.sampled_from(
    ['"', "loc(", " loc(", "#loc1", ")", "(", "\n", " ", "#loc = loc(", "x", "at", ", ", "#di_f = "]
)


@given(st.lists(pieces, max_size=40).map("".join))
def test_text_without_the_marker_is_never_touched_and_stripping_twice_changes_nothing(text: str) -> None:
    stripped = strip_locations(text)
    if " loc(" not in text and "#loc" not in text and "#di_" not in text:
        assert stripped == text
    # What stays is a subsequence of the lines, each line a subsequence of its characters.
    rest = iter(text)
    assert all(character in rest for character in stripped)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["%0 = a.b %1", 'c.d "quoted ( loc(#loc1) )"', "^bb0(%x: i32", "}"]),
            st.sampled_from(LOCATIONS),
        )
    )
)
def test_operations_come_back_as_they_were_before_locations_were_added(lines: list[tuple[str, str]]) -> None:
    text = "".join(f"  {operation} {location}\n" for operation, location in lines)
    assert strip_locations(text) == "".join(f"  {operation}\n" for operation, _ in lines)


@pytest.mark.parametrize("unit", [" loc(a(", '" loc(#loc', ' loc("', "#loc1\n", " loc(\n", "#loc = loc(", "#di_a\n"])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    def seconds(count: int) -> float:
        text = unit * count
        started = time.process_time()
        strip_locations(text)
        return time.process_time() - started

    seconds(1000)
    # Quadratic, the larger would take 256 times as long as the smaller.
    assert seconds(160_000) < 60 * max(seconds(10_000), 0.005)


LLVM = """\
define void @f(ptr %0) !dbg !4 {
  %2 = load i32, ptr %0, align 4, !dbg !7, !range !8
    #dbg_value(i32 %2, !9, !DIExpression(), !7)
  call void asm "a !dbg !99", ""(), !dbg !7
  br label %3, !dbg !7, !llvm.loop !10
3:
  ret void, !dbg !7
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}

!0 = distinct !DICompileUnit(file: !1)
!1 = !DIFile(filename: "a.py", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "f", unit: !0, type: !5)
!5 = !DISubroutineType(types: !6)
!6 = !{}
!7 = !DILocation(line: 1, scope: !4)
!8 = !{i32 0, i32 8}
!9 = !DILocalVariable(name: "x")
!10 = distinct !{!10, !11}
!11 = !{!"llvm.loop.unroll.disable"}
"""


def test_llvm_keeps_the_metadata_that_means_something() -> None:
    stripped = strip_debug(LLVM, "llir")
    defined = re.findall(r"^!(\d+) =", stripped, re.MULTILINE)
    assert defined == ["2", "8", "10", "11"]
    assert "define void @f(ptr %0) {" in stripped
    assert "  %2 = load i32, ptr %0, align 4, !range !8\n" in stripped
    assert '  call void asm "a !dbg !99", ""()\n' in stripped
    assert "  br label %3, !llvm.loop !10\n" in stripped
    assert "  ret void\n" in stripped
    assert "!llvm.module.flags = !{!2}" in stripped
    assert "dbg_value" not in stripped
    assert "llvm.dbg.cu" not in stripped


def test_ptx_loses_its_line_table_and_its_debug_sections() -> None:
    text = (
        '\t.loc\t1 32 0\n$L__tmp0:\n\tmov.u32 %r1, %r2;\n$L__BB0_1:\n\t.file\t1 "a.py"\n'
        "\t.section\t.debug_abbrev\n\t{\n.b8 1\n\t}\n\t.section\t.text\n\tret;\n"
    )
    assert strip_debug(text, "ptx") == "\tmov.u32 %r1, %r2;\n$L__BB0_1:\n\t.section\t.text\n\tret;\n"


def test_amdgcn_loses_its_line_table_and_its_debug_sections() -> None:
    text = (
        '\t.text\n.Ltmp0:\n\t.loc\t1 32 0\n\ts_endpgm\n.LBB0_1:\n\t.section\t.debug_info,"",@progbits\n\t.byte 1\n'
        '\t.section\t".note.GNU-stack","",@progbits\n\t.p2align 6\n'
    )
    kept = '\t.text\n\ts_endpgm\n.LBB0_1:\n\t.section\t".note.GNU-stack","",@progbits\n\t.p2align 6\n'
    assert strip_debug(text, "amdgcn") == kept


def test_sass_loses_its_file_comments() -> None:
    text = '\t//## File ".nv_debug_ptx_txt", line 26\n        /*0000*/  LDC R1, c[0x0][0x28] ;\n'
    assert strip_debug(text, "sass") == "        /*0000*/  LDC R1, c[0x0][0x28] ;\n"


def test_other_kinds_stay_as_they_are() -> None:
    assert strip_debug("x loc(#loc)\n", "python") == "x loc(#loc)\n"
