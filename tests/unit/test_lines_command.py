"""`tritonscope lines`: the heat map, one line, one line of Python."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonscope.cli import main

MATMUL = "matmul/sm_90-5f19578c9d"
AMD = "attention/gfx942-e7ea589484"


def lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["lines", *arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_the_heat_map(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = lines(capsys, MATMUL)
    assert code == 0
    (dot,) = [line for line in out.split("\n") if "acc = tl.dot(first, second, acc)" in line]
    assert dot.split()[:3] == ["128", "48", "28"]
    assert "matmul_grouped.py" in out
    assert "instructions of sass came from no line" in out


def test_every_instruction_is_counted_once(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = lines(capsys, AMD, "--json")
    heat = json.loads(out)
    main(["stats", AMD, "--json"])
    code = json.loads(capsys.readouterr().out)["code"]["amdgcn"]
    found = [line for file in heat["files"] for line in file["lines"]]
    assert heat["stages"] == ["amdgcn"]
    assert sum(line["instructions"]["amdgcn"] for line in found) + heat["nowhere"]["amdgcn"] == code["instructions"]
    widths = code["widths"]
    assert sum(line["loaded_bytes"] for line in found) == sum(int(w) * n for w, n in widths["global_load"].items())
    assert sum(line["stored_bytes"] for line in found) == sum(int(w) * n for w, n in widths["global_store"].items())


def test_code_without_line_information_says_why(
    capture: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = capture()
    (folder / "matmul.ptx").write_text("\tret;\n")
    assert "TRITON_DISABLE_LINE_INFO=1" in lines(capsys, str(folder))[1]
    assert "TRITON_DISABLE_LINE_INFO=1" not in lines(capsys, MATMUL)[1]


def test_what_a_line_of_python_became(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = lines(capsys, MATMUL, "--python", "matmul.py:128", "--json")
    assert code == 0
    value = json.loads(out)
    assert value["text"].strip() == "acc = tl.dot(first, second, acc)"
    stages = {stage["stage"]: stage["lines"] for stage in value["stages"]}
    assert [line["text"].split()[2] for line in stages["ttir"]] == ["tt.dot"]
    assert sum("HGMMA" in line["text"] for line in stages["sass"]) == 4
    assert lines(capsys, MATMUL, "--python", "128")[1].startswith(value["file"])


def test_a_line_of_another_file_is_found_in_every_call(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = lines(capsys, MATMUL, "--python", "matmul_grouped.py:42", "--json")
    value = json.loads(out)
    assert value["text"].strip() == "within = pid % tiles_in_group"
    (ttir,) = [stage for stage in value["stages"] if stage["stage"] == "ttir"]
    assert [frame["line"] for frame in ttir["lines"][0]["chains"][0]] == [42, 119]


def test_one_line_of_ptx_and_of_sass(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = lines(capsys, MATMUL, "--python", "128", "--json")
    (sass,) = [stage for stage in json.loads(out)["stages"] if stage["stage"] == "sass"]
    hgmma = next(line for line in sass["lines"] if "HGMMA" in line["text"] and not line["inferred"])
    code, out, _ = lines(capsys, MATMUL, "--stage", "ptx", "--line", str(hgmma["ptx_line"]), "--json")
    assert code == 0
    (line,) = json.loads(out)["lines"]
    assert "wgmma.mma_async" in line["text"]
    assert hgmma["line"] in line["sass_lines"]
    assert line["node"] == {"type": "Call", "text": "tl.dot(first, second, acc)"}
    assert line["elsewhere"]["ttir"] == [33]
    code, out, _ = lines(capsys, MATMUL, "--stage", "sass", "--line", str(hgmma["line"]))
    assert f"from PTX line {hgmma['ptx_line']}" in out
    assert "the binary says so" in out


def test_lines_are_those_of_dump(capsys: pytest.CaptureFixture[str]) -> None:
    for stage in ("ttgir", "llir", "sass"):
        _, out, _ = lines(capsys, MATMUL, "--stage", stage, "--json")
        main(["dump", MATMUL, stage])
        dumped = capsys.readouterr().out.removesuffix("\n").split("\n")
        found = [line["text"] for line in json.loads(out)["lines"]]
        assert found[: len(dumped)] == dumped


def test_after_a_pass(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = lines(capsys, MATMUL, "--pass", "tritongpu-pipeline", "--line", "88")
    assert code == 0
    assert "matmul_grouped.py:41:21" in out
    assert "called at" in out
    assert "matmul.py:119:26" in out
    code, out, err = lines(capsys, MATMUL, "--pass", "29.1")
    assert "without locations" in err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--line", "3"), 2, "--line goes with --stage or --pass"),
        (("--stage", "ptx", "--line", "99999"), 2, "no line 99999"),
        (("--stage", "cubin"), 2, "are not followed"),
        (("--python", "main"), 2, "is no line of Python"),
        (("--python", "nothere.py:3"), 2, "nothing in"),
        (("--python", "97"), 1, "nothing came from line 97"),
    ],
)
def test_what_cannot_be_shown(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, said: str
) -> None:
    found, _, err = lines(capsys, MATMUL, *arguments)
    assert (found, said in err) == (code, True)
