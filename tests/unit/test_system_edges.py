"""Where the commands meet the system: pipes, disks, folders, names, locales. Never a traceback, always a sentence."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonscope import cli, interpreter, kernel_reference
from tritonscope.cli import failure_text, terminal
from tritonscope.errors import CaptureUnreadable, KernelFileError, UsageError
from tritonscope.store import layout, reader

MakeCapture = Callable[..., Path]
Run = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).resolve().parents[2]
LONG = "a" * 300


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], dumps: Path) -> Run:
    def run(*argv: str) -> tuple[int, str, str]:
        code = cli.main(list(argv))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def shell(line: str, cwd: Path = ROOT, **env: str) -> "subprocess.CompletedProcess[str]":
    """Run `line` in bash, where `$T` is the command."""
    return subprocess.run(
        ["bash", "-c", line],
        cwd=cwd,
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, "PYTHONPATH": str(ROOT), "T": f"{sys.executable} -m tritonscope", **env},
    )


# -- pipes, disks, closed descriptors


@pytest.mark.parametrize("command", ["kernels", "ls", "show matmul", "passes matmul", "diff matmul", "kernels --help"])
def test_a_closed_pipe_is_no_error(command: str, capture: MakeCapture) -> None:
    capture()
    done = shell(f"$T {command} | true; exit ${{PIPESTATUS[0]}}")
    assert (done.returncode, done.stderr.replace("\n", "")) == (0, "")


@pytest.mark.parametrize("command", ["kernels", "show matmul", "dump matmul ttgir", "grep tt matmul", "ls --json"])
def test_a_full_disk_behind_standard_output_is_exit_code_5(command: str, capture: MakeCapture) -> None:
    capture()
    done = shell(f"$T {command} > /dev/full")
    assert done.returncode == 5
    assert done.stderr.splitlines()[-1].startswith("tritonscope: error: there is no room")
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("$T show matmul >&-", 0),
        ("$T dump matmul ttgir >&-", 0),
        ("$T show matmul 2>&- >/dev/null", 0),
        ("$T show nope 2>&-", 2),
        ("$T show nope 2>/dev/full", 2),
        ("$T show matmul <&- >&- 2>&-", 0),
    ],
)
def test_closed_descriptors_are_nowhere(line: str, code: int, capture: MakeCapture) -> None:
    capture()
    done = shell(line)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_grep_prints_what_the_locale_cannot(capture: MakeCapture) -> None:
    folder = capture()
    (folder / "matmul.ttgir").write_text("naïve — été\n")
    done = shell("$T grep na matmul --stage ttgir", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert r"ttgir:1:na\xefve \u2014 \xe9t\xe9" in done.stdout


# -- folders


@pytest.mark.parametrize("command", ["ls", "show matmul", "dump matmul ttir", "diff matmul", "compile matmul -t sm_90"])
def test_a_current_folder_that_is_gone(command: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = shell(f"rmdir {gone}; unset TRITONSCOPE_DUMPS; $T {command}", cwd=gone)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("tritonscope: error: the folder that this was started in is gone;")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("argv", [["show", "~nosuchuser/x"], ["ls", "-o", "~nosuchuser"]])
def test_nobodys_home(run: Run, argv: list[str]) -> None:
    code, _, err = run(*argv)
    assert code == 2
    assert "~nosuchuser" in err
    with pytest.raises(UsageError, match="~nosuchuser"):
        interpreter.choose("~nosuchuser/bin/python")


@pytest.mark.parametrize(
    "argv",
    [
        ["show", LONG],
        ["diff", LONG, LONG],
        ["ls", "-o", LONG],
        ["compile", f"{LONG}.py", "-t", "sm_90"],
        ["compile", "matmul", "-t", "sm_90", "--python", LONG],
        ["dump", "matmul", "ttir", "-o", LONG],
        ["replay", LONG],
    ],
)
def test_names_that_are_too_long(run: Run, capture: MakeCapture, argv: list[str]) -> None:
    capture()
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert err.startswith("tritonscope: error: ")
    assert len(err) < 900


def test_a_capture_that_names_a_file_of_100_000_characters(run: Run, capture: MakeCapture) -> None:
    folder = capture()
    text = (folder / "capture.json").read_text()
    (folder / "capture.json").write_text(text.replace("matmul.ttgir", "x" * 100_000))
    code, out, err = run("grep", "convert_layout", "matmul")
    assert code == 0
    assert out.startswith("2-tritongpu-coalesce:3:")
    assert "left out: ttgir:" in err
    assert len(err) < 1000


@pytest.fixture
def without_rights(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Take the right to look into a folder away, from root as well."""
    if sys.version_info < (3, 11):
        pytest.skip("pathlib calls functions of os that it took when it was imported")
    forbidden: list[Path] = []
    real = {name: getattr(os, name) for name in ("stat", "lstat", "scandir", "open")}

    def guard(name: str) -> Callable[..., object]:
        def guarded(path: object = ".", *rest: object, **more: object) -> object:
            if isinstance(path, (str, Path)):
                for folder in forbidden:
                    inside = Path(path).is_relative_to(folder) and Path(path) != folder
                    if inside or (name == "scandir" and Path(path) == folder):
                        raise PermissionError(13, "Permission denied", str(path))
            return real[name](path, *rest, **more)

        return guarded

    for name in real:
        monkeypatch.setattr(os, name, guard(name))
    return forbidden.append


def test_a_capture_that_may_not_be_read_is_skipped(
    run: Run, capture: MakeCapture, without_rights: Callable[[Path], None]
) -> None:
    capture("aaaa")
    without_rights(capture("bbbb"))
    code, out, err = run("ls", "--json")
    assert (code, [row["capture"] for row in json.loads(out)]) == (0, ["matmul/sm_90-aaaa"])
    assert "skipped: " in err
    assert "sm_90-bbbb cannot be read (Permission denied)" in err
    assert run("show", "matmul")[0] == 0
    code, _, err = run("show", "matmul/sm_90-bbbb")
    assert (code, "sm_90-bbbb cannot be read (Permission denied)" in err) == (2, True)


def test_folders_that_may_not_be_read_are_said(
    run: Run, capture: MakeCapture, dumps: Path, without_rights: Callable[[Path], None]
) -> None:
    capture()
    capture(kernel="attention")
    without_rights(dumps / "attention")
    code, out, err = run("ls", "--json")
    assert (code, len(json.loads(out))) == (0, 1)
    assert "attention cannot be read (Permission denied)" in err
    without_rights(dumps)
    for argv in (["ls"], ["show", "matmul"]):
        code, out, err = run(*argv)
        assert (code, out) == (2, "")
        assert f"error: {dumps} cannot be read (Permission denied)" in err


# -- kernels


def test_kernel_files_that_cannot_be_read_or_written_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KernelFileError, match="is not UTF-8"):
        kernel_reference.find(os.fsdecode(b"/tmp/k\xff.py:k"))
    file = tmp_path / "k.py"
    file.write_text("")

    def refused(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(KernelFileError, match=r"k\.py cannot be read \(Permission denied\)"):
        kernel_reference.find(str(file))


def test_a_kernel_file_is_the_same_however_it_is_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "k.py").write_text("@triton.jit\ndef k(x): ...\n")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert kernel_reference.find("../sub/../k.py:k") == kernel_reference.find(f"{tmp_path / 'k.py'}:k")


# -- which capture, and what it is called


def test_hints_name_a_capture_so_that_the_command_works(
    run: Run, capture: MakeCapture, dumps: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    failure = {"event": "failure", "message": "no", "stage": "ttgir", "reproducer": "reproducer.mlir"}
    name = capture(status="failed", events=[failure]).relative_to(dumps)
    there = dumps.rename(tmp_path / "else where")
    dumps.mkdir()
    folder = there / name
    monkeypatch.setenv("TRITONSCOPE_DUMPS", str(there))
    assert terminal.called(reader.open_capture(folder)) == str(name)
    monkeypatch.setenv("TRITONSCOPE_DUMPS", str(dumps))
    opened = reader.open_capture(folder)
    assert shlex.split(terminal.called(opened)) == [str(folder)]
    lines = [line.partition("#")[0] for line in run("show", str(folder))[1].splitlines() if "  tritonscope" in line]
    assert len(lines) == 3
    for line in lines:
        assert run(*shlex.split(line)[1:])[0] == 0
    assert f"`tritonscope replay '{folder}/reproducer.mlir'`" in failure_text.sentence(opened)
    err = run("dump", str(folder), "--pass", "no-such-pass")[2]
    assert f"`tritonscope passes '{folder}'` lists them" in err
    err = run("show", "nope", "--dumps", str(there))[2]
    assert f"`tritonscope ls --dumps '{there}'` lists those there are" in err


def test_of_a_kernel_alone_one_that_finished_is_taken(run: Run, capture: MakeCapture, dumps: Path) -> None:
    capture("aaaa")
    later = capture("bbbb", status="crashed")
    code, out, err = run("show", "matmul", "--json")
    assert (code, json.loads(out)["capture"]) == (0, "matmul/sm_90-aaaa")
    assert "the newest that finished of 2 captures of matmul" in err
    failed = capture("cccc", status="failed")
    assert json.loads(run("show", "matmul", "--json")[1])["path"] == str(failed)
    for id_ in ("aaaa", "cccc"):
        (dumps / "matmul" / f"sm_90-{id_}").rename(dumps / f".{id_}")
    assert json.loads(run("show", "matmul", "--json")[1])["path"] == str(later)


def test_a_suggestion_stands_once(run: Run, capture: MakeCapture, dumps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture()
    monkeypatch.setattr("tritonscope.bundled_kernels.reference_dumps", lambda: dumps)
    err = run("show", "matmul/sm_90-012345678x")[2]
    assert err.count("matmul/sm_90-0123456789") == 1


def test_an_attempt_that_ended_before_its_key_says_what_was_going_on(
    run: Run, start: Callable[..., object], dumps: Path
) -> None:
    writer = start()
    folder = writer.publish("interrupted", 1.0)
    shown = run("show", str(folder))[1]
    assert "the kernel's file was being loaded when the compilation ended" in shown
    assert "next:" not in shown
    (folder / layout.LOG).write_text("Aborted\n")
    assert f"cat {folder}/log.txt  # what was printed" in run("show", str(folder))[1]


def test_links_that_go_round_are_a_damaged_capture(capture: MakeCapture) -> None:
    folder = capture()
    (folder / "matmul.ttgir").unlink()
    (folder / "matmul.ttgir").symlink_to("matmul.ttgir")
    with pytest.raises(CaptureUnreadable):
        reader.stage_text(reader.open_capture(folder), "ttgir")
