"""Compilers and machines that misbehave: what is said, the exit code, and that nothing captured is lost."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.compile.conftest import ROOT
from tritonscope.store import reader

pytestmark = pytest.mark.any_triton

KERNEL = f"{ROOT / 'tests' / 'kernels' / 'misbehaving.py'}:kernel"


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "tritonscope", *map(str, arguments)]


def compile_misbehaving(misdeed: str, cwd: Path, *more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("compile", KERNEL, "-t", "sm_90", "--json", *more),
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "TRITONSCOPE_TEST_MISDEED": misdeed},
    )


@pytest.mark.parametrize(
    ("misdeed", "says"),
    [
        ("abort", "SIGABRT"),
        ("segfault", "SIGSEGV (segmentation fault)"),
        ("killed", "SIGKILL"),
        ("exit", "exited with code 7"),
    ],
)
def test_a_child_that_dies(misdeed, says, tmp_path):
    done = compile_misbehaving(misdeed, tmp_path)
    assert done.returncode == 4
    result = json.loads(done.stdout)
    assert result["status"] == "crashed"
    assert says in result["failure"]["message"]
    assert result["failure"]["stage"] == "ptx"
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    capture = reader.open_capture(Path(result["path"]))
    assert [s.stage for s in capture.stages] == ["python", "ast", "source", "ttir", "ttgir", "llir"]
    last = [p for p in capture.passes if p.stage == "ttgir"][-1]
    assert reader.after(capture, last) == reader.stage_text(capture, "ttgir")


def test_a_child_that_hangs_past_its_time(tmp_path):
    done = compile_misbehaving("hang", tmp_path, "--timeout", "8")
    assert done.returncode == 4
    result = json.loads(done.stdout)
    assert result["status"] == "timeout"
    assert "did not end within 8 s" in done.stderr
    assert "llir" in [s.stage for s in reader.open_capture(Path(result["path"])).stages]


@pytest.mark.parametrize(("misdeed", "code"), [("exit at import", 2), ("hang at import", 4)])
def test_a_kernel_file_that_ends_or_holds_the_child_at_import(misdeed, code, tmp_path):
    done = compile_misbehaving(misdeed, tmp_path, "--timeout", "5")
    assert done.returncode == code, done.stderr
    assert done.stderr.splitlines()[-1].startswith("tritonscope: error: ")
    assert "Traceback" not in done.stderr
    assert code == 2 or "while the kernel's file was being loaded" in done.stderr


def test_a_good_capture_is_not_replaced_by_an_attempt_that_died(tmp_path):
    good = compile_misbehaving("", tmp_path)
    assert good.returncode == 0, good.stderr
    died = compile_misbehaving("abort", tmp_path)
    assert died.returncode == 4
    assert json.loads(died.stdout)["path"] == json.loads(good.stdout)["path"] + ".crashed"
    assert reader.open_capture(Path(json.loads(good.stdout)["path"])).status == "ok"


def start_hanging(tmp_path: Path, **options: object) -> tuple["subprocess.Popen[str]", int]:
    """The command, once its child hangs in the compiler, and that child's process id."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        command("compile", KERNEL, "-t", "sm_90", "--json"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TRITONSCOPE_TEST_MISDEED": "hang", "TRITONSCOPE_TEST_FIFO": str(fifo)},
        **options,  # type: ignore[call-overload]
    )
    child = int(fifo.read_text())
    heard = '{"event": "stage", "stage": "llir", '
    while not any(heard in events.read_text() for events in tmp_path.glob("dumps/*/*.running-*/events.jsonl")):
        assert process.poll() is None
        time.sleep(0.01)  # the child was there first; what was heard of it is what is to be kept
    return process, child


def ends(pid: int, within: float = 30) -> bool:
    """Whether the process ends in time; it need not be our child."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], within)[0])
    finally:
        os.close(descriptor)


def vanishes(path: Path, within: float = 30) -> bool:
    """Whether it is removed in time, by a process that we know nothing of."""
    until = time.monotonic() + within
    while path.exists() and time.monotonic() < until:
        time.sleep(0.01)
    return not path.exists()


def test_ctrl_c_leaves_no_process_and_a_readable_capture(tmp_path):
    process, child = start_hanging(tmp_path)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert ends(child)
    assert "Traceback" not in stderr
    (capture,), skipped = reader.list_captures(tmp_path / "dumps")
    assert skipped == []
    assert capture.status == "interrupted"
    assert reader.stage_text(capture, "ttgir").startswith("#")
    assert json.loads(stdout)["status"] == "interrupted"


def test_several_quick_ctrl_c_are_as_quiet_as_one(tmp_path):
    process, child = start_hanging(tmp_path)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert ends(child)
    assert [line for line in stderr.splitlines() if not line.startswith("tritonscope: ")] == []


@pytest.mark.parametrize("signal_", [signal.SIGTERM, signal.SIGKILL])
def test_a_parent_that_is_killed_takes_its_child_with_it(signal_, tmp_path):
    process, child = start_hanging(tmp_path)
    environment = Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
    (private,) = [
        Path(v.decode().partition("=")[2]) for v in environment if v.startswith(b"TRITONSCOPE_PRIVATE_FOLDER=")
    ]
    assert private.is_dir()
    process.send_signal(signal_)
    process.communicate(timeout=60)
    assert ends(child)
    assert vanishes(private)
    (capture,), _ = reader.list_captures(tmp_path / "dumps")
    assert capture.status == "interrupted"
    assert "llir" in [s.stage for s in capture.stages]


def test_a_command_that_is_asked_to_end_removes_its_temporary_folders(tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    process = subprocess.Popen(
        command("ablate", KERNEL, "-t", "sm_90", "--static", "-j", "1"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    while not list(temporary.glob("tritonscope-ablate-*")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert list(temporary.iterdir()) == []


def test_two_compiles_into_the_same_folder_do_not_harm_each_other(tmp_path):
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: compile_misbehaving("", tmp_path), range(2)))
    assert [done.returncode for done in both] == [0, 0]
    captures, skipped = reader.list_captures(tmp_path / "dumps")
    assert [c.status for c in captures] == ["ok"]
    assert skipped == []
    for stage in captures[0].stages:
        assert reader.stage_bytes(captures[0], stage.stage)
    for record in captures[0].passes:
        if record.file and record.stage != "cubin":
            assert reader.after(captures[0], record)


def test_a_full_disk_is_said_and_what_was_captured_is_readable(tmp_path):
    """On a file system of 500 kB, mounted for the test: needs root."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=500k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        done = subprocess.run(
            command("compile", "matmul", "-t", "sm_90", "-o", disk), capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 5, done.stderr
        assert "room" in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr
        (capture,), skipped = reader.list_captures(disk)
        assert skipped == []
        assert capture.status != "ok"
        assert reader.stage_text(capture, "source").startswith("#loc")
        assert all(reader.stage_bytes(capture, stage.stage) for stage in capture.stages)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_temporary_folder_is_no_verdict_on_the_kernel(tmp_path):
    """On a file system of 100 kB, mounted for the test: needs root."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        done = subprocess.run(
            command("compile", "matmul", "-t", "sm_90"),
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(disk)},
        )
        assert done.returncode == 5, done.stderr
        assert "TMPDIR" in done.stderr.splitlines()[-1]
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_cut_off_summary_is_rebuilt_from_the_journal(tmp_path):
    done = compile_misbehaving("", tmp_path)
    folder = Path(json.loads(done.stdout)["path"])
    whole = reader.open_capture(folder)
    summary = (folder / "capture.json").read_bytes()
    (folder / "capture.json").write_bytes(summary[: len(summary) // 2])
    assert reader.open_capture(folder) == whole
    (folder / "capture.json").unlink()
    assert reader.open_capture(folder) == whole


def test_no_triton_says_so(tmp_path):
    """In an environment of its own, with nothing installed."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    done = subprocess.run(
        command("compile", "matmul", "-t", "sm_90", "--python", tmp_path / "bare"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 5
    assert "cannot import triton" in done.stderr
    assert "pip install triton" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list((tmp_path / "dumps").rglob("events.jsonl"))
