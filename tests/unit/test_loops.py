"""Loops of machine code: what LLVM itself wrote beside its labels, and graphs drawn by hand."""

import re

import pytest

from tritonscope import bundled_kernels
from tritonscope.ir.instructions import read_code
from tritonscope.ir.loops import Loop, find_loops
from tritonscope.store import reader

FOLDER = bundled_kernels.reference_dumps()
assert FOLDER is not None
CAPTURES, _ = reader.list_captures(FOLDER)
ASSEMBLY = [(c, s.stage) for c in CAPTURES for s in c.stages if s.stage in ("ptx", "amdgcn")]
_SAID = re.compile(
    r"^(?P<label>\S+): +(?://|;)[^\n]*?(?:\n +(?://|;)[^\n]*?)?=>This (?:Inner )?Loop Header: Depth=(?P<depth>\d+)",
    re.MULTILINE,
)


@pytest.mark.parametrize(("capture", "stage"), ASSEMBLY, ids=lambda value: getattr(value, "target", value))
def test_loops_are_those_that_llvm_names(capture, stage) -> None:
    text = reader.stage_text(capture, stage)
    said = {(m["label"], int(m["depth"])) for m in _SAID.finditer(text)}
    found = {(loop.label, loop.depth) for loop in find_loops(read_code(text, stage)) if "waitLoop" not in loop.label}
    assert said
    assert found == said


def test_the_main_loop_of_the_matmul_holds_all_its_products() -> None:
    (capture,) = [c for c in CAPTURES if c.kernel == "matmul"]
    code = read_code(reader.stage_text(capture, "sass"), "sass")
    products = {at for at, i in enumerate(code.instructions) if i.opcode.startswith("HGMMA")}
    holding = [loop for loop in find_loops(code) if products & set(loop.body)]
    assert len(holding) == 1
    assert products <= set(holding[0].body)


def sass(*lines: str) -> list[Loop]:
    text = "\n".join(line if line.endswith(":") else f"        /*0000*/   {line} ;" for line in lines)
    return find_loops(read_code(text, "sass"))


def test_a_loop_in_a_loop() -> None:
    found = sass(
        "MOV R1, R2",
        ".L_x_1:",
        "MOV R3, R4",
        ".L_x_2:",
        "FFMA R1, R1, R1, R1",
        "@P0 BRA `(.L_x_2)",
        "@P1 BRA `(.L_x_1)",
        "EXIT",
    )
    assert found == [Loop(".L_x_1", (1, 2, 3, 4), 1, 1, False), Loop(".L_x_2", (2, 3), 2, 2, True)]


def test_a_detour_behind_the_end_belongs_to_the_loop_it_returns_to() -> None:
    found = sass(
        ".L_x_1:",
        "FFMA R1, R1, R1, R1",
        "@!P0 BRA `(.L_x_3)",
        ".L_x_2:",
        "@P1 BRA `(.L_x_1)",
        "EXIT",
        ".L_x_3:",
        "MOV R1, R2",
        "BRA `(.L_x_2)",
    )
    assert found == [Loop(".L_x_1", (0, 1, 2, 4, 5), 0, 1, True)]


def test_padding_behind_the_kernel_is_no_loop() -> None:
    assert sass("EXIT", ".L_x_1:", "BRA `(.L_x_1)", "NOP") == []


def test_a_branch_forward_is_no_loop() -> None:
    assert sass("@P0 BRA `(.L_x_1)", "MOV R1, R2", ".L_x_1:", "EXIT") == []


def test_two_branches_back_to_one_label_are_one_loop() -> None:
    found = sass(".L_x_1:", "MOV R1, R2", "@P0 BRA `(.L_x_1)", "MOV R3, R4", "@P1 BRA `(.L_x_1)", "EXIT")
    assert found == [Loop(".L_x_1", (0, 1, 2, 3), 0, 1, True)]


def test_a_cycle_with_two_entries_is_left_out() -> None:
    assert (
        sass("@P0 BRA `(.L_x_2)", ".L_x_1:", "MOV R1, R2", ".L_x_2:", "MOV R3, R4", "@P1 BRA `(.L_x_1)", "EXIT") == []
    )


def test_labels_of_inline_assembly_mean_the_nearest() -> None:
    wait = "{\n\t@!p bra.uni waitLoop;\n\twaitLoop:\n\tmbarrier.try_wait p, [%r1];\n\t@!p bra.uni waitLoop;\n}\n"
    loops = find_loops(read_code("{\n" + wait + "\tmov.b32 %r1, %r2;\n" * 5 + wait + "\tret;\n}", "ptx"))
    assert [loop.body for loop in loops] == [(1, 2), (9, 10)]


def test_nothing_is_no_loop() -> None:
    assert find_loops(read_code("", "sass")) == []
    assert find_loops(read_code("// nothing", "ptx")) == []


def test_more_branches_back_than_a_compiler_writes_are_not_followed() -> None:
    def loops(count: int) -> list[str]:
        return [line for n in range(count) for line in (f".L_x_{n}:", "MOV R1, R2", f"@P0 BRA `(.L_x_{n})")]

    assert len(sass(*loops(1000))) == 1000
    assert sass(*loops(1001)) == []
