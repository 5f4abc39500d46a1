"""A failing pass's IR made smaller, by the pass itself."""

import json
from pathlib import Path

import pytest

from tritonscope import trials
from tritonscope.cli import main
from tritonscope.model import Capture


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(list(map(str, arguments)))
    out, err = capsys.readouterr()
    return code, out, err


def reproducer_of(failed: Capture) -> Path:
    assert failed.failure is not None
    assert failed.failure.reproducer is not None
    return Path(failed.path) / failed.failure.reproducer


@pytest.fixture(scope="module")
def failed(capture) -> Capture:
    return capture("warp_specialized", "sm_90")


def test_it_is_smaller_and_fails_in_the_same_way(
    failed: Capture, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "small.mlir"
    code, out, err = run(capsys, "reduce", failed.path, "-o", file, "--json")
    assert code == 0, err
    told = json.loads(out)
    before = reproducer_of(failed)
    assert told["lines"][1] < told["lines"][0] / 3
    assert len(file.read_text()) < len(before.read_text()) / 3
    assert told["text"] == file.read_text()
    assert "loc(" not in told["text"]
    assert (told["pass"], told["outcome"]) == ("nvgpu-warp-specialization", "failed")
    # In a process of its own, without what tried it.
    code, out, _ = run(capsys, "replay", file, "--json")
    again = json.loads(out)
    assert code == 3
    assert (again["message"], again["same"]) == (told["message"], True)
    assert failed.failure is not None
    recorded = trials.Outcome("failed", failed.failure.message)
    assert trials.Outcome("failed", again["message"]).like(recorded)


def test_what_is_interrupted_keeps_the_smallest_so_far(
    failed: Capture, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, file = trials.Trials.outcome, tmp_path / "small.mlir"

    def interrupted(self: trials.Trials, text: str) -> trials.Outcome:
        if self.count == 12:
            raise KeyboardInterrupt
        return outcome(self, text)

    monkeypatch.setattr(trials.Trials, "outcome", interrupted)
    code, _, err = run(capsys, "reduce", failed.path, "-o", file)
    assert code == 130
    assert "in 12 tries" in err or "in 11 tries" in err
    whole = reproducer_of(failed).read_text()
    assert len(file.read_text()) < len(whole)
    monkeypatch.undo()
    assert run(capsys, "replay", file, "--json")[0] == 3


def test_a_command_decides(failed: Capture, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    check = tmp_path / "check"
    check.write_text("#!/bin/sh\n! grep -q 'warp_group_dot %' \"$1\"\n")
    check.chmod(0o755)
    code, out, err = run(capsys, "reduce", failed.path, "--check", check)
    assert code == 0, err
    head, *lines = out.splitlines()
    assert head.startswith("// tritonscope replay {")
    assert [line for line in lines if "warp_group_dot %" in line]
    assert len(lines) < 10


def test_a_pass_that_passes_leaves_nothing_to_reduce(
    capsys: pytest.CaptureFixture[str], failed: Capture, tmp_path: Path
) -> None:
    file = tmp_path / "passes.mlir"
    head = reproducer_of(failed).read_text().split("\n", 1)[0]
    file.write_text(f'{head}\nmodule attributes {{"ttg.num-warps" = 4 : i32}} {{\n}}\n')
    code, out, err = run(capsys, "reduce", file)
    assert (code, out) == (1, "")
    assert "nvgpu-warp-specialization passes here; there is nothing to reduce" in err
    file.write_text(f"{head}\nmodule {{ nonsense }}\n")
    code, out, err = run(capsys, "reduce", file)
    assert (code, out) == (1, "")
    assert "not read by this Triton" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["/nope.mlir"], "cannot be read"),
        (["{path}", "--check", "/nope"], "names no command"),
        (["{path}", "--json", "-o", "-"], "both take standard output"),
    ],
)
def test_wrong_usage(failed: Capture, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str) -> None:
    code, out, err = run(capsys, "reduce", *(each.format(path=failed.path) for each in arguments))
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1
