"""`tritonscope stats`: what it prints, compares and refuses."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tritonscope import kernel_stats
from tritonscope.cli import main
from tritonscope.store import reader

MATMUL = "matmul/sm_90-5f19578c9d"
BLACKWELL = "attention/sm_100-7e65bfc5fd"
AMD = "attention/gfx942-e7ea589484"


def stats(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["stats", *arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_one_capture_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = stats(capsys, MATMUL)
    assert code == 0
    assert "1 block on a multiprocessor, 8 of 64 warps, limited by registers and shared memory" in out
    assert "4 HGMMA.64x256x16.F32" in out
    assert "32 of 16" in out
    assert "1 loop does nothing but wait" in out


def test_json_of_one_and_of_two(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = stats(capsys, MATMUL, "--json")
    one = json.loads(out)
    assert one["resources"]["registers"] == 154
    assert one["code"]["sass"]["classes"]["tensor_core"] == 4
    assert one["code"]["sass"]["widths"]["shared_store"] == {"16": 32}
    assert one["occupancy"]["limited_by"] == ["registers", "shared_memory"]
    assert one["failed"] == []
    _, out, _ = stats(capsys, MATMUL, AMD, "--json")
    two = json.loads(out)
    assert two["left"] | {"failed": []} == one
    assert two["right"]["occupancy"] is None
    assert set(two["right"]["code"]) == {"amdgcn"}


def test_lines_of_a_loop_are_those_of_dump(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = stats(capsys, MATMUL, "--json")
    loops = json.loads(out)["code"]["sass"]["loops"]
    main(["dump", MATMUL, "sass"])
    lines = capsys.readouterr().out.split("\n")
    for loop in loops:
        assert f"{loop['label']}:" in lines[loop["first_line"] - 2]


def test_a_loop_that_asks_for_registers_only_waits(capture: Callable[..., Path]) -> None:
    """As ptxas writes setmaxnreg; the same with any work in it is a loop like others."""
    waiting = [".L_x_1:", "USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0x100", "PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0"]
    working = [".L_x_2:", *waiting[1:], "IADD3 R1, R1, 0x1, RZ"]
    lines = [*waiting, "@!P0 BRA `(.L_x_1)", *working, "@!P0 BRA `(.L_x_2)", "EXIT"]
    text = "\n".join(line if line.endswith(":") else f"        /*0000*/   {line} ;" for line in lines)
    folder = capture()
    made = reader.open_capture(folder)
    (folder / "matmul.sass").write_text(text)
    stage = replace(made.stages[-1], stage="sass", file="matmul.sass")
    (code, *_) = kernel_stats.stats_of(replace(made, stages=(*made.stages, stage))).codes
    assert [(loop.label, loop.waits) for loop in code.loops] == [(".L_x_1", True), (".L_x_2", False)]


def test_scalar_spills_are_told_from_those_to_memory(
    capture: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    def said(vector: int, stack: int) -> str:
        spilled = {"spills": 7, "spill_unit": "registers", "vgpr_spills": vector, "sgpr_spills": 7 - vector}
        folder = capture(target="gfx942", events=[{"event": "resources", "resources": {"stack": stack, **spilled}}])
        (folder / "matmul.amdgcn").write_text("")
        return stats(capsys, str(folder))[1]

    assert "none in memory" in said(vector=0, stack=0)
    assert "none in memory" not in said(vector=2, stack=8)


def test_two_captures_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = stats(capsys, MATMUL, BLACKWELL)
    assert code == 0
    rows = {line.rsplit(maxsplit=3)[0].strip(): line.split()[-3:] for line in out.split("\n") if line.count("  ") > 2}
    assert rows["registers"] == ["154", "132", "-22"]
    assert rows["spills"] == ["0", "0", "="]
    assert rows["tensor core"] == ["4", "64", "+60"]


def test_spills_in_bytes_and_in_registers_are_not_subtracted(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = stats(capsys, MATMUL, AMD)
    assert [line.split()[-2:] for line in out.split("\n") if line.startswith("spills")] == [["0", "?"]] * 2
    assert stats(capsys, MATMUL, AMD, "--fail-if", "spills_change>0")[0] == 2


@pytest.mark.parametrize(
    ("condition", "fails"),
    [
        ("spills>0", False),
        ("registers>150", True),
        ("registers>200 or tensor_core<5", True),
        ("shared_store_16 == 32 and shared_store_4 == 0", True),
        ("HGMMA==4", True),
        ("global_load_4>0", False),
        ("occupancy<13", True),
        ("/UTMALDG/ and not contains(HMMA.16816)", True),
    ],
)
def test_conditions(capsys: pytest.CaptureFixture[str], condition: str, fails: bool) -> None:
    code, out, err = stats(capsys, MATMUL, "--fail-if", condition, "--json")
    assert code == int(fails)
    assert json.loads(out)["failed"] == [condition] * fails
    assert ("fails" in err) == fails


def test_a_condition_on_a_change(capsys: pytest.CaptureFixture[str]) -> None:
    assert stats(capsys, MATMUL, BLACKWELL, "--fail-if", "registers_change>0")[0] == 0
    code, _, err = stats(capsys, BLACKWELL, MATMUL, "--fail-if", "registers_change>0")
    assert code == 1
    assert "registers_change is 22" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((MATMUL, "--fail-if", "spill>0"), "did you mean spills"),
        ((MATMUL, "--fail-if", "registers_change>0"), "name the one to compare with first"),
        ((AMD, "--fail-if", "occupancy<50"), "does not say its occupancy"),
        ((MATMUL, "--fail-if", "registers>"), "is not understood"),
    ],
)
def test_what_a_condition_cannot_be_is_an_error(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = stats(capsys, *arguments)
    assert (code, out) == (2, "")
    assert said in err
