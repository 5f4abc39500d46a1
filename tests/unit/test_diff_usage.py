"""What `tritonscope diff` takes: files of any kind, and flags that mean something for what is compared."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from tests.unit.synthetic import TTGIR, TTIR
from tritonscope import cli
from tritonscope.errors import UsageError
from tritonscope.store import files

Run = Callable[..., tuple[int, str, str]]
MakeCapture = Callable[..., Path]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], dumps: Path) -> Run:
    def run(*argv: object) -> tuple[int, str, str]:
        code = cli.main(["diff", *map(str, argv)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    a, b = tmp_path / "a.ttir", tmp_path / "b.ttir"
    a.write_text(TTIR)
    b.write_text(TTGIR)
    return a, b


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["matmul", "--pass", "2", "--raw", "--json"], "--raw means nothing for --json"),
        (["matmul", "--pass", "2", "--side-by-side", "--json"], "--side-by-side"),
        (["matmul", "--pass", "2", "--raw", "--rename-registers"], "--rename-registers"),
        (["matmul", "--pass", "2", "--stat", "--context", "1"], "--context"),
        (["matmul", "--raw"], "--raw means nothing for a capture without --pass or --stage"),
        (["matmul", "matmul", "--side-by-side"], "two captures without"),
        (["matmul", "--context", "3"], "--context"),
        (["matmul", "--from", "4", "--to", "2"], "swap the two"),
        (["matmul", "--stage", "cubin"], "stage cubin is a binary"),
        (["matmul", "--stage", "source"], "nothing goes before stage source"),
    ],
)
def test_flags_that_mean_nothing_are_refused(run: Run, capture: MakeCapture, argv: list[str], says: str) -> None:
    capture()
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") <= 2


def test_from_a_nested_pass_to_its_outer_one(run: Run, capture: MakeCapture) -> None:
    capture()
    assert run("matmul", "--from", "0.1", "--to", "0", "--stat")[0] == 0


def test_a_capture_without_stages_says_so(run: Run, start: Callable[..., object]) -> None:
    folder = start().publish("crashed", 1.0)
    code, _, err = run(folder, "--stage", "ttir")
    assert (code, "Traceback" in err) == (2, False)


def test_one_missing_file_of_a_pass_leaves_the_others(run: Run, capture: MakeCapture) -> None:
    folder = capture()
    (folder / "passes" / "002-tritongpu-coalesce.mlir").unlink()
    code, out, err = run("matmul")
    assert code == 0
    assert "inline" in out
    assert "left out: step 2, tritongpu-coalesce: " in err


def test_the_file_that_is_missing_is_the_one_that_is_named(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    for argv in ((pair[0], "/nope.ttgir"), ("/nope.ttgir", pair[0])):
        code, _, err = run(*argv)
        assert code == 2
        assert err.startswith("tritonscope: error: /nope.ttgir is no file")
    assert f"{tmp_path} is a folder" in run(pair[0], tmp_path)[2]
    assert "give another file" in run(pair[0])[2]
    assert "--pass means nothing for files" in run(*pair, "--pass", "2")[2]


def test_packed_files_are_unpacked_with_or_without_their_suffix(run: Run, pair: tuple[Path, Path]) -> None:
    plain = run(*pair, "--stat")[1].partition(": ")[2]
    for path in pair:
        Path(f"{path}.zst").write_bytes(zstandard.compress(path.read_bytes()))
        path.unlink()
    assert run(*pair, "--stat")[1].partition(": ")[2] == plain
    assert run(*(f"{path}.zst" for path in pair), "--stat")[1].partition(": ")[2] == plain
    Path(f"{pair[0]}.zst").write_bytes(b"no frame")
    assert run(*pair)[0] == 2


def test_binaries_are_refused_with_what_to_compare_instead(run: Run, tmp_path: Path) -> None:
    for name in ("a.cubin", "no-suffix"):
        (tmp_path / name).write_bytes(b"\x7fELF\0\1\2")
        code, out, err = run(tmp_path / name, tmp_path / name)
        assert (code, out) == (2, "")
        assert "tritonscope dump CAPTURE sass" in err


def test_pipes_are_read_in_the_language_of_the_other_side(pair: tuple[Path, Path]) -> None:
    renamed = TTIR.replace("%0", "%1").replace("%a", "%b")
    pair[1].write_text(renamed)
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m tritonscope diff {pair[0]} <(cat {pair[1]}) --stat"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert "nothing to show" in done.stdout
    assert "but for names" in done.stdout


def test_what_is_read_of_a_loose_file_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    assert files.read_loose(tmp_path / "x", 5) == b"12345"
    with pytest.raises(UsageError, match="over 4 bytes"):
        files.read_loose(tmp_path / "x", 4)
    with pytest.raises(UsageError, match="over"):
        files.read_loose(Path("/dev/zero"), 1000)
    with pytest.raises(UsageError, match="cannot be read"):
        files.read_loose(tmp_path)


def test_a_line_of_megabytes_side_by_side_is_clipped_to_where_it_differs(run: Run, tmp_path: Path) -> None:
    word = "abc, " * 200_000
    (tmp_path / "a.ll").write_text(f"x = {word}{word}\n")
    (tmp_path / "b.ll").write_text(f"x = {word}abd, {word}\n")
    began = time.monotonic()
    code, out, _ = run(tmp_path / "a.ll", tmp_path / "b.ll", "--side-by-side")
    assert time.monotonic() - began < 20
    assert code == 0
    assert "abd" in out.replace("\n", "")
    assert " characters)" in out
    assert len(out) < 20_000
