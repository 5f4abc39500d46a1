"""`tritonscope diff` on real captures."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compile.conftest import ROOT
from tritonscope.ir.locations import strip_debug
from tritonscope.store import reader

pytestmark = pytest.mark.any_triton


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three captures of the matmul: two variants, and another target."""
    folder = tmp_path_factory.mktemp("dumps")
    for more in (["-t", "sm_90", "--num-warps", "4,8"], ["-t", "gfx942"]):
        done = subprocess.run(
            [sys.executable, "-m", "tritonscope", "compile", "matmul", "-o", str(folder), *more],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def run(dumps: Path):
    def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "tritonscope", "diff", *map(str, arguments), "--dumps", str(dumps)],
            capture_output=True,
            text=True,
        )

    return run


def named(dumps: Path, warps: int):
    captures, _ = reader.list_captures(dumps)
    return next(c for c in captures if c.target == "sm_90" and c.metadata["num_warps"] == warps)


def test_a_pass_shows_what_it_changed_and_nothing_else(run, dumps):
    capture = named(dumps, 8)
    done = run(capture.capture, "--pass", "tritongpu-coalesce")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    step = reader.find_step(capture, "tritongpu-coalesce").step
    assert lines[:2] == [
        f"--- {capture.capture} before {step} tritongpu-coalesce",
        f"+++ {capture.capture} after {step} tritongpu-coalesce",
    ]
    shown = [line for line in lines[2:-1] if line[:2] in ("- ", "+ ", "!-", "!+", "~-", "~+", "<-", "->")]
    assert any(line.startswith("+ ") and "ttg.convert_layout" in line for line in shown)
    record = reader.find_step(capture, "tritongpu-coalesce")
    before, after = (strip_debug(text(capture, record), "mlir") for text in (reader.before, reader.after))
    plain = subprocess.run(
        ["git", "diff", "--no-index", "-U0", "--", *written(dumps, before, after)], capture_output=True, text=True
    )
    git = [line for line in plain.stdout.splitlines()[4:] if line[:1] in "+-"]
    assert 0 < len(shown) < len(git)


def written(folder: Path, *texts: str) -> list[str]:
    paths = [folder / f"text{number}.txt" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


def test_json_numbers_are_the_hunks(run, dumps):
    done = run(named(dumps, 8).capture, "--pass", "triton-licm", "--json", "--context", "0")
    found = json.loads(done.stdout)
    kinds = [line["kind"] for hunk in found["hunks"] for line in hunk["lines"]]
    stat = found["stat"]
    assert kinds.count("moved") == 2 * stat["moved"]
    for kind in ("changed", "layout", "added", "removed"):
        assert kinds.count(kind) == stat[kind]
    assert "unchanged" not in kinds
    assert "renamed" not in kinds


def test_where_only_names_changed_nothing_is_shown(run, dumps, tmp_path):
    capture = named(dumps, 8)
    text = strip_debug(reader.stage_text(capture, "ttgir"), "mlir")
    renamed = re.sub(r"%([A-Za-z_]\w*)", r"%renamed_\1", text)
    left, right = tmp_path / "left.ttgir", tmp_path / "right.ttgir"
    left.write_text(text)
    right.write_text(renamed)
    done = run(left, right, "--exit-code")
    assert done.returncode == 0, done.stdout
    assert "nothing to show" in done.stdout
    right.write_text(renamed.replace('num-warps" = 8', 'num-warps" = 4'))
    assert run(left, right, "--exit-code").returncode == 1


def test_raw_is_what_git_shows(run, dumps):
    capture = named(dumps, 8)
    record = reader.find_step(capture, "cse")
    before, after = (strip_debug(text(capture, record), "mlir") for text in (reader.before, reader.after))
    plain = subprocess.run(
        ["git", "diff", "--no-index", "--histogram", "--", *written(dumps, before, after)],
        capture_output=True,
        text=True,
    )
    done = run(capture.capture, "--pass", "cse", "--raw")
    assert done.stdout.splitlines()[2:] == plain.stdout.splitlines()[4:]


def test_two_captures_say_where_they_part(run, dumps):
    left, right = named(dumps, 8), named(dumps, 4)
    done = run(left.capture, right.capture, "--json", "--exit-code")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    verdicts = {row["stage"]: row["verdict"] for row in found["steps"] if row["pass"] is None}
    assert verdicts["ttir"] == "identical"
    assert verdicts["ttgir"] == verdicts["ptx"] == "differs"
    assert found["first"] == {"stage": "ttgir", "pass": "convert-triton-to-tritongpu"}
    paired = [row for row in found["steps"] if row["pass"]]
    assert all(row["left_step"] == row["right_step"] for row in paired)
    table = run(left.capture, right.capture)
    assert "They part at convert-triton-to-tritongpu" in table.stdout
    assert run(left.capture, left.capture, "--exit-code").returncode == 0


def test_pipelines_of_two_targets_are_paired_by_name_and_order(run, dumps):
    captures, _ = reader.list_captures(dumps)
    amd = next(c for c in captures if c.target == "gfx942")
    done = run(named(dumps, 8).capture, amd.capture, "--json")
    rows = [row for row in json.loads(done.stdout)["steps"] if row["pass"]]
    assert {row["verdict"] for row in rows} >= {"only_left", "only_right"}
    both = [(row["left_step"], row["right_step"]) for row in rows if row["left_step"] and row["right_step"]]
    assert len(both) > 20
    assert both == sorted(both, key=lambda pair: int(pair[0])) == sorted(both, key=lambda pair: int(pair[1]))


def test_a_pass_of_two_captures_is_found_by_name_and_order_not_by_number(run, dumps):
    captures, _ = reader.list_captures(dumps)
    left, right = named(dumps, 8), next(c for c in captures if c.target == "gfx942")
    step = [p for p in left.passes if p.name == "tritongpu-remove-layout-conversions"][-1].step
    done = run(left.capture, right.capture, "--pass", step, "--json")
    found = json.loads(done.stdout)
    assert found["left"].endswith(f"after {step} tritongpu-remove-layout-conversions")
    theirs = re.search(r"after (\d+) tritongpu-remove-layout-conversions$", found["right"])
    assert theirs is not None
    assert theirs[1] != step
    absent = run(left.capture, right.capture, "--pass", "triton-nvidia-gpu-fence-insertion")
    assert absent.returncode == 2
    assert "has no pass that stands where" in absent.stderr


def test_a_capture_alone_gives_a_line_a_changed_pass(run, dumps):
    capture = named(dumps, 8)
    done = run(capture.capture, "--json")
    steps = [row["step"] for row in json.loads(done.stdout)["passes"]]
    changed = [p.step for p in capture.passes if p.changed and "." not in p.step]
    assert steps == [step for step in changed if step in steps]
    assert {p.step for p in capture.passes if p.changed and p.stage in ("ttir", "ttgir") and "." not in p.step} <= set(
        steps
    )


def test_a_conversion_is_shown_by_line_of_python(run, dumps):
    capture = named(dumps, 8)
    done = run(capture.capture, "--pass", "convert-triton-gpu-to-llvm", "--json")
    lines = json.loads(done.stdout)["lines"]
    source = reader.stage_text(capture, "python").splitlines()
    (dot,) = [line for line in lines if line["line"] and "tl.dot(" in source[line["line"] - 1]]
    assert "ttng.warp_group_dot" in dot["left"]
    assert "ttng.warp_group_dot" not in dot["right"]
    assert any(name.startswith("nvg.wgmma") for name in dot["right"])
    # Every operation of either side is there once.
    record = reader.find_step(capture, "convert-triton-gpu-to-llvm")
    for side, operations in (("left", record.ops_before), ("right", record.ops_after)):
        assert sum(sum(line[side].values()) for line in lines) == operations
    shown = run(capture.capture, "--stage", "llir").stdout
    assert "acc = tl.dot(first, second, acc)" in shown
    assert run(capture.capture, "--stage", "ptx").returncode == 2


@pytest.mark.parametrize("columns", [60, 100, 200])
def test_side_by_side_keeps_its_columns_whatever_the_length_of_lines(columns, dumps):
    import os

    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tritonscope",
            "diff",
            named(dumps, 8).capture,
            "--pass",
            "tritongpu-coalesce",
            "--side-by-side",
            "--dumps",
            str(dumps),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": str(columns)},
    )
    rows = [line for line in done.stdout.splitlines() if "│" in line]
    assert len(rows) > 20
    assert {row.index("│") for row in rows} == {(columns - 1) // 2}
    assert max(map(len, rows)) <= columns


@pytest.mark.parametrize(
    "arguments",
    [
        ["--pass", "no-such-pass"],
        ["--stage", "no-such-stage"],
        ["--stage", "cubin"],
        ["--stage", "source"],
        ["--from", "3"],
        ["--pass", "3", "--stage", "ttgir"],
        ["--context", "-1"],
        ["no/such/capture"],
        [str(ROOT / "README.md")],
    ],
)
def test_wrong_usage_is_a_sentence(arguments, run, dumps):
    done = run(named(dumps, 8).capture, *arguments)
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr
