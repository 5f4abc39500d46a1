"""From lines to Python: snippets checked by hand, and the levels of the reference captures against each other."""

import time

import pytest

from tritonscope import bundled_kernels
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.links import (
    KINDS,
    Chain,
    LineMap,
    Position,
    PtxLines,
    SameOrigin,
    counted,
    line_map,
    ptx_lines,
    shown,
)
from tritonscope.ir.locations import kept_lines, strip_debug
from tritonscope.line_links import Links
from tritonscope.model import Capture
from tritonscope.store import reader

FOLDER = bundled_kernels.reference_dumps()
assert FOLDER is not None
CAPTURES, _ = reader.list_captures(FOLDER)
by_name = pytest.mark.parametrize("capture", CAPTURES, ids=lambda c: f"{c.kernel}-{c.target}")

MLIR = """\
#loc = loc("k.py":10:1)
#loc1 = loc(unknown)
#loc3 = loc("x"(#loc))
module {
  tt.func public @k(%x: !tt.ptr<f32> loc("x"(#loc))) {
    %0 = tt.load %x : !tt.ptr<f32> loc(#loc9)
    %1 = arith.addf %0, %0 : f32 loc(#loc7)
    %2 = arith.constant 0 : i32 loc(#loc1)
    scf.if %c {
      tt.store %x, %1 : !tt.ptr<f32> loc(#loc8)
    } else {
      tt.store %x, %0 : !tt.ptr<f32> loc(callsite("y"("other.py":3:5) at callsite(#loc4 at #loc5)))
    } loc(#loc4)
    tt.return loc("a \\22quoted\\22 (name"("k.py":20:2))
  } loc(#loc)
} loc(#loc)
#loc4 = loc("k.py":11:3)
#loc5 = loc("k.py":12:3)
#loc6 = loc("lib.py":7:9)
#loc7 = loc(callsite(#loc6 at #loc4))
#loc8 = loc(fused<#ttg.x<["k.py":1:1]>>[#loc4, #loc7, "k.py":30:1])
#loc9 = loc("x"(#loc4))
"""

LLVM = """\
define void @k(ptr %0) !dbg !4 {
  %2 = load float, ptr %0, align 4, !dbg !7
  %3 = fadd float %2, %2, !dbg !9, !annotation !2
  ret void
}
!llvm.dbg.cu = !{!0}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1)
!1 = !DIFile(filename: "k.py", directory: "/src")
!2 = !{!"note"}
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 10, unit: !0)
!5 = !DIFile(filename: "/lib/lib.py", directory: "/src")
!6 = distinct !DILexicalBlockFile(scope: !4, file: !5, discriminator: 0)
!7 = !DILocation(line: 11, column: 3, scope: !4)
!8 = !DILocation(line: 0, scope: !4, inlinedAt: !7)
!9 = !DILocation(line: 7, column: 9, scope: !6, inlinedAt: !8)
"""

PTX = """\
.visible .entry k(
)
{
	.reg .b32 %r<4>;
	.loc	1 10 0
$L__func_begin0:
	ld.param.b32 	%r1, [k_param_0];
	.loc	1 20 5                          // k.py:20:5
	.loc	2 3 9, function_name $L__info_string0, inlined_at 1 20 5 // lib.py:3:9
	.loc	2 7 1, function_name $L__info_string0, inlined_at 2 3 9 // lib.py:7:1
	add.s32 	%r2, %r1, 1;
	.loc	1 21 5                          // k.py:21:5
	.loc	2 3 9, function_name $L__info_string0, inlined_at 1 21 5 // lib.py:3:9
	.loc	2 7 1, function_name $L__info_string0, inlined_at 2 3 9 // lib.py:7:1
	// a comment
	add.s32 	%r3, %r1, 1;
	.loc	1 0 5                           // k.py:0:5
	mov.b32 	%r1, %r3;
	ret;
}
	.file	1 "/src/k.py"
	.file	2 "/src/lib.py"
"""

AMDGCN = """\
	.text
k:
	.file	1 "/src" "k.py"
	.file	2 "/src" "lib.py"
	.loc	1 10 0 prologue_end             ; k.py:10:0
	s_load_dword s0, s[0:1], 0x0
	.loc	2 7 1 is_stmt 1                 ; lib.py:7:1 @[ lib.py:3:9 @[ k.py:20:5 ] ]
	v_add_u32_e32 v0, v0, v1
	.loc	1 0 5 is_stmt 0                 ; k.py:0:5
	s_endpgm
.Lfunc_end0:
"""

SASS = """\
.text.k:
	//## File ".nv_debug_ptx_txt", line 11
        /*0000*/                   IADD3 R2, R1, 0x1, RZ ;
        /*0010*/                   IADD3 R3, R1, 0x1, RZ ;
	//## File ".nv_debug_ptx_txt", line 18
        /*0020*/                   MOV R1, R3 ;
.L_x_0:
        /*0030*/                   BRA `(.L_x_0);
"""

SASS_OF_SOURCE = """\
.text.k:
	//## File "/src/lib.py", line 7 inlined at "/src/lib.py", line 3
	//## File "/src/lib.py", line 3 inlined at "/src/k.py", line 20
	//## File "/src/k.py", line 20
        /*0000*/                   IADD3 R2, R1, 0x1, RZ ;
"""

LIB_7, LIB_3 = Position("/src/lib.py", 7, 1), Position("/src/lib.py", 3, 9)


def at(found: LineMap, text: str, part: str) -> tuple[Chain, ...]:
    (line,) = [number for number, line in enumerate(text.split("\n"), 1) if part in line]
    return found.at(line)


@pytest.mark.parametrize(
    ("part", "chains"),
    [
        ("tt.load", ((("k.py", 11, 3),),)),
        ("arith.addf", ((("lib.py", 7, 9), ("k.py", 11, 3)),)),
        ("arith.constant", ()),
        ("%1 : !tt.ptr", ((("k.py", 11, 3),), (("lib.py", 7, 9), ("k.py", 11, 3)), (("k.py", 30, 1),))),
        ("%x, %0 :", ((("other.py", 3, 5), ("k.py", 11, 3), ("k.py", 12, 3)),)),
        ("scf.if", ((("k.py", 11, 3),),)),
        ("} else {", ((("k.py", 11, 3),),)),
        ("tt.func", ((("k.py", 10, 1),),)),
        ("tt.return", ((("k.py", 20, 2),),)),
        ("#loc5 =", ()),
    ],
)
def test_mlir(part: str, chains: tuple[Chain, ...]) -> None:
    assert at(line_map(MLIR, "mlir"), MLIR, part) == chains


def test_a_location_that_refers_to_itself_is_nowhere() -> None:
    text = '%0 = a.b : i32 loc(#loc1)\n#loc1 = loc(callsite(#loc2 at #loc1))\n#loc2 = loc("x"(#loc1))\n'
    assert line_map(text, "mlir").at(1) == ()
    deep = "callsite(" * 5000
    assert line_map(f"%0 = a.b loc({deep})\n", "mlir").at(1) == ()


def test_many_fused_callsites_stay_few() -> None:
    places = ", ".join(f'"k.py":{n}:1' for n in range(1, 200))
    text = f"%0 = a.b : i32 loc(callsite(fused[{places}] at fused[{places}]))\n"
    start = time.monotonic()
    assert 0 < len(line_map(text, "mlir").at(1)) <= 16
    assert time.monotonic() - start < 1


def test_llvm() -> None:
    found = line_map(LLVM, "llir")
    assert at(found, LLVM, "load float") == ((("/src/k.py", 11, 3),),)
    assert at(found, LLVM, "fadd") == ((("/lib/lib.py", 7, 9), ("/src/k.py", 11, 3)),)  # a frame of line 0 is none
    assert at(found, LLVM, "define") == ((("/src/k.py", 10, 0),),)
    assert at(found, LLVM, "ret void") == ()
    assert at(found, LLVM, "!7 = ") == ()


def test_ptx() -> None:
    found = line_map(PTX, "ptx")
    assert at(found, PTX, "ld.param") == ((("/src/k.py", 10, 0),),)
    assert at(found, PTX, "%r2, %r1, 1") == ((LIB_7, LIB_3, ("/src/k.py", 20, 5)),)
    assert at(found, PTX, "%r3, %r1, 1") == ((LIB_7, LIB_3, ("/src/k.py", 21, 5)),)
    assert at(found, PTX, "mov.b32") == ()
    assert at(found, PTX, "a comment") == at(found, PTX, "func_begin0") == at(found, PTX, ".reg") == ()


def test_lines_that_llvm_counts_on_within_inline_assembly_are_not_heeded() -> None:
    text = PTX.replace(
        "\tmov.b32",
        "\t.loc 1 30 1\n\t// begin inline asm\n\t{\n\t.loc 1 31 1\n\tbar.sync 0;\n\t}\n\t// end inline asm\n\tmov.b32",
    )
    found = line_map(text, "ptx")
    assert at(found, text, "bar.sync") == at(found, text, "mov.b32") == ((("/src/k.py", 30, 1),),)


def test_ptx_whose_calls_are_in_comments() -> None:
    """As Triton 3.6 writes it."""
    text = PTX.replace(
        "2 7 1, function_name $L__info_string0, inlined_at 2 3 9 // lib.py:7:1",
        "2 7 1 // lib.py:7:1 @[ lib.py:3:9 @[ k.py:20:5 ] ]",
    )
    assert at(line_map(text, "ptx"), text, "%r2, %r1, 1") == ((LIB_7, LIB_3, ("/src/k.py", 20, 5)),)


def test_amdgcn() -> None:
    found = line_map(AMDGCN, "amdgcn")
    assert at(found, AMDGCN, "s_load") == ((("/src/k.py", 10, 0),),)
    assert at(found, AMDGCN, "v_add") == ((LIB_7, LIB_3, ("/src/k.py", 20, 5)),)
    assert at(found, AMDGCN, "s_endpgm") == ()


def test_sass_has_the_chains_of_its_ptx() -> None:
    ptx = line_map(PTX, "ptx")
    found = line_map(SASS, "sass", PTX)
    assert at(found, SASS, "0000") == at(found, SASS, "0010") == at(ptx, PTX, "%r2, %r1, 1")
    assert at(found, SASS, "0020") == at(found, SASS, ".L_x_0:") == ()
    assert ptx_lines(SASS, PTX).lines == [None, None, 11, 11, None, 18, None, 18, None]


def test_sass_that_names_source_lines() -> None:
    chain = (("/src/lib.py", 7, 0), ("/src/lib.py", 3, 0), ("/src/k.py", 20, 0))
    assert at(line_map(SASS_OF_SOURCE, "sass"), SASS_OF_SOURCE, "IADD3") == (chain,)
    assert not any(ptx_lines(SASS_OF_SOURCE, PTX).lines)


def test_from_python_to_lines() -> None:
    found = line_map(PTX, "ptx")
    assert found.lines_of("/src/lib.py", 3) == (11, 16)
    assert found.lines_of("/src/k.py", 20) == (11,)
    assert found.lines_of("/src/k.py", 99) == ()


def test_files_of_one_name_are_two() -> None:
    text = '%0 = a.b loc("/one/k.py":1:1)\n%1 = a.c loc("/two/k.py":1:1)\n'
    found = line_map(text, "mlir")
    assert found.lines_of("/one/k.py", 1) == (1,)
    assert found.lines_of("/two/k.py", 1) == (2,)


def test_library_code_counts_for_its_caller() -> None:
    library = Position("/v/site-packages/triton/language/standard.py", 43, 12)
    assert counted(((library, Position("k.py", 2, 1)),)) == ("k.py", 2, 1)
    assert counted(((library,),)) == library
    assert counted(()) is None


@by_name
def test_shown_lines_keep_their_places(capture: Capture) -> None:
    files = [stage.file for stage in capture.stages] + [p.file for p in capture.passes[::9] if p.file]
    for file in files:
        kind = kind_of(file)
        if kind not in KINDS:
            continue
        text = reader.read_text(capture, file)
        raw, lines = text.split("\n"), strip_debug(text, kind).split("\n")
        kept = kept_lines(text, kind)
        assert len(kept) == len(lines)
        for number, line in zip(kept, lines, strict=True):
            assert strip_debug(raw[number] + "\n", kind).rstrip("\n") in (line, "") or kind == "llir"
        found = line_map(text, kind)
        assert shown(found, text, kind).chains == [found.chains[number] for number in kept]


@by_name
def test_levels_agree(capture: Capture) -> None:
    """Each level's chains are among those of the level that it was made from, read from another notation."""
    links = Links(capture)
    chains = {name: {c for each in links.stage(name).map.chains for c in each} for name in links.stages}
    lines = {name: {(c[0].file, c[0].line) for c in found} for name, found in chains.items()}
    assert lines["ttgir"] <= lines["ttir"] <= lines["source"]
    assert chains["ttgir"] <= chains["ttir"]
    for later, earlier in (("amdgcn", "llir"), ("sass", "ptx")):
        if later in chains:
            assert chains[later]
            assert chains[later] <= chains[earlier]
    if "ptx" in chains:
        assert chains["ptx"] <= chains["llir"]
    assert max(len(chain) for chain in chains["llir"]) >= 3


def test_tensor_core_instructions_come_from_products() -> None:
    """ptxas gives some of them no line of their own, and they would seem to come from the copy before them."""
    for capture in (c for c in CAPTURES if c.target.startswith("sm_")):
        links = Links(capture)
        sass, ptx = links.stage("sass"), links.stage("ptx")
        assert sass.exact
        products = [n for n, line in enumerate(sass.lines, 1) if "HGMMA" in line or "UTCHMMA" in line]
        for number in products:
            line = sass.ptx_line(number)
            assert line is not None
            assert "wgmma.mma_async" in ptx.lines[line - 1] or "tcgen05.mma" in ptx.lines[line - 1]
        assert len({sass.ptx_line(number) for number in products}) == len(products)


def test_nothing_is_inferred_where_the_order_is_another() -> None:
    ptx = "{\n" + "".join(f"\tmma.sync.m{n} %r{n};\n" for n in range(3)) + "\tret;\n}"
    place = '\t//## File ".nv_debug_ptx_txt", line {}\n'
    product = "        /*0000*/                   HMMA R1 ;\n"
    assert ptx_lines(
        place.format(2) + product + place.format(5) + product + place.format(4) + product, ptx
    ) == PtxLines([None, 2, None, 3, None, 4, None], frozenset({4}))
    moved = place.format(4) + product + place.format(5) + product + place.format(2) + product
    assert ptx_lines(moved, ptx) == PtxLines([None, 4, None, 5, None, 2, None], frozenset())
    assert ptx_lines(place.format(2) + product + place.format(5) + product, ptx).inferred == frozenset()


def test_lines_of_one_origin_are_told_by_column_then_by_line() -> None:
    def chain(*frames: tuple[int, int]) -> Chain:
        return tuple(Position("k.py", line, column) for line, column in frames)

    found = LineMap([
        (chain((5, 3)),),
        (chain((5, 9)),),
        (chain((5, 9)), chain((7, 1))),
        (),
        (chain((2, 4), (5, 9)),),
    ])  # fmt: skip
    assert found.same_origin((chain((5, 9)),)) == SameOrigin((2, 3), "expression")
    assert found.same_origin((chain((7, 1)),)) == SameOrigin((3,), "expression")
    assert found.same_origin((chain((2, 4), (5, 9)),)) == SameOrigin((5,), "expression")
    # Not that expression, but its line; SASS without PTX knows no columns at all.
    assert found.same_origin((chain((5, 1)),)) == SameOrigin((1, 2, 3), "line")
    assert found.same_origin((chain((5, 0)),)) == SameOrigin((1, 2, 3), "line")
    # The same call from elsewhere is no origin of the one here, though what counts for its line is.
    assert found.same_origin((chain((2, 4), (6, 1)),)) == SameOrigin((5,), "line")
    assert found.same_origin((chain((8, 1)),)) == SameOrigin()
    assert found.same_origin(()) == SameOrigin()


def test_what_the_library_inlined_counts_for_the_line_that_called_it() -> None:
    library = Position("/x/triton/language/standard.py", 43, 5)
    found = LineMap([((library, Position("k.py", 5, 9)),), ((Position("k.py", 6, 1),),)])
    assert found.same_origin(((Position("k.py", 5),),)) == SameOrigin((1,), "line")
