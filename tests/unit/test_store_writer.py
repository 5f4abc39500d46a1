"""Writing captures: what ends up where, whoever dies or runs out of room."""

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonscope.errors import Missing, UsageError
from tritonscope.model import KernelRef, Request, Target
from tritonscope.store import journal, layout, reader
from tritonscope.store.writer import CaptureWriter

Start = Callable[..., CaptureWriter]
MakeCapture = Callable[..., Path]
KEY = {"event": "key", "hash": "f00d", "id": "0123456789", "components": {}}


def visible(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def test_a_published_capture_lies_under_its_id(capture: MakeCapture, dumps: Path) -> None:
    folder = capture("0123456789")
    assert folder == dumps / "matmul" / "sm_90-0123456789"
    assert visible(dumps / "matmul") == {"sm_90-0123456789"}
    summary = json.loads((folder / "capture.json").read_text())
    assert summary["format"] == 1
    assert summary["status"] == "ok"
    assert summary["seconds"] == 1.75
    lines = (folder / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines][:: len(lines) - 1] == ["request", "end"]
    assert all(json.loads(line)["time"] > 1e9 for line in lines)


def test_the_summary_says_what_the_journal_says(capture: MakeCapture) -> None:
    folder = capture()
    from_summary = reader.open_capture(folder)
    assert journal.fold(journal.read(folder), folder) == from_summary
    (folder / "capture.json").unlink()
    assert reader.open_capture(folder) == from_summary


def test_a_capture_at_work_reads_as_running_and_one_whose_owner_died_as_interrupted(start: Start) -> None:
    writer = start()
    writer.append({"event": "begin", "stage": "ttgir"})
    writer.append({"event": "pass_begin", "step": "3", "stage": "ttgir", "name": "tritongpu-pipeline", "options": ""})
    running = reader.open_capture(writer.folder)
    assert (running.status, running.failure) == ("running", None)

    # Another process takes the same lock over and dies without a word.
    copy = writer.folder.with_name("sm_90.running-c0c0c0c0")
    shutil.copytree(writer.folder, copy)
    die = "import fcntl, os, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", die, str(copy / "events.jsonl")], check=False)
    interrupted = reader.open_capture(copy)
    assert interrupted.status == "interrupted"
    assert interrupted.failure is not None
    assert (interrupted.failure.pass_, interrupted.failure.step) == ("tritongpu-pipeline", "3")
    assert "tritongpu-pipeline" in interrupted.failure.message


def test_reading_changes_nothing(start: Start, dumps: Path) -> None:
    writer = start()

    def everything() -> list[tuple[str, int, int]]:
        return sorted((str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in dumps.rglob("*"))

    before = everything()
    reader.list_captures(dumps)
    reader.open_capture(writer.folder)
    assert everything() == before


def test_a_recompile_replaces_and_keeps_the_runs(capture: MakeCapture, dumps: Path) -> None:
    first = capture()
    (first / "runs.jsonl").write_text('{"ms": 1}\n')
    (first / "stale").touch()
    second = capture()
    assert second == first
    assert (second / "runs.jsonl").read_text() == '{"ms": 1}\n'
    assert not (second / "stale").exists()
    assert [path.name for path in (dumps / "matmul").iterdir() if path.name != ".lock"] == ["sm_90-0123456789"]


@pytest.mark.parametrize("early", ["crashed", "timeout", "interrupted"])
@pytest.mark.parametrize("finished", ["ok", "failed"])
def test_an_attempt_that_ended_early_never_replaces_a_finished_one(
    capture: MakeCapture, early: str, finished: str, dumps: Path
) -> None:
    capture(status=finished)
    beside = capture(status=early)
    assert beside.name == f"sm_90-0123456789.{early}"
    assert reader.open_capture(dumps / "matmul" / "sm_90-0123456789").status == finished
    assert reader.open_capture(beside).status == early


def test_a_finished_attempt_replaces_one_that_ended_early(capture: MakeCapture, dumps: Path) -> None:
    assert capture(status="crashed").name == "sm_90-0123456789"
    capture(status="failed")
    assert visible(dumps / "matmul") == {"sm_90-0123456789"}
    assert reader.open_capture(dumps / "matmul" / "sm_90-0123456789").status == "failed"


def test_without_a_key_each_attempt_has_a_folder_of_its_own(start: Start) -> None:
    folders = [start().publish("failed", 0.1) for _ in range(2)]
    assert all(folder.name.startswith("sm_90-nokey-") for folder in folders)
    assert folders[0] != folders[1]
    assert reader.open_capture(folders[0]).key == ""


def test_success_removes_what_dead_attempts_at_the_same_left_and_nothing_else(
    start: Start, capture: MakeCapture, dumps: Path
) -> None:
    dead, other, alive, unknown = start(), start(), start(), start()
    dead.append(KEY)
    other.append(KEY | {"id": "another"})
    alive.append(KEY)
    for writer in (dead, other, unknown):
        writer._journal.close()
    capture("0123456789")
    assert visible(dumps / "matmul") == {
        "sm_90-0123456789",
        other.folder.name,
        alive.folder.name,
        unknown.folder.name,
    }


def test_discarding_leaves_no_trace(start: Start, capture: MakeCapture, dumps: Path) -> None:
    start("lonely").discard()
    assert not (dumps / "lonely").exists()
    capture()
    start().discard()
    assert visible(dumps / "matmul") == {"sm_90-0123456789"}


def test_a_swap_that_was_cut_off_is_taken_back(capture: MakeCapture, dumps: Path) -> None:
    aside = dumps / "matmul" / ".sm_90-aaaa.old-123456"
    shutil.copytree(capture("aaaa"), aside)
    shutil.rmtree(dumps / "matmul" / "sm_90-aaaa")
    capture("bbbb")
    assert visible(dumps / "matmul") == {"sm_90-aaaa", "sm_90-bbbb"}
    assert not aside.exists()


def test_writers_that_publish_at_once_do_not_harm_each_other(dumps: Path) -> None:
    program = """
import sys
from pathlib import Path
from tritonscope.model import KernelRef, Request, Target
from tritonscope.store.writer import CaptureWriter
for _ in range(15):
    request = Request(KernelRef("matmul", "/k.py", "matmul"), Target.parse("sm_90"))
    writer = CaptureWriter.create(Path(sys.argv[1]), request, [], {})
    writer.append({"event": "key", "hash": "f00d", "id": "same", "components": {}})
    writer.publish("ok", 0.1)
"""
    workers = [subprocess.Popen([sys.executable, "-c", program, str(dumps)], env={**os.environ}) for _ in range(3)]
    assert [worker.wait(timeout=60) for worker in workers] == [0, 0, 0]
    assert visible(dumps / "matmul") == {"sm_90-same"}
    assert reader.open_capture(dumps / "matmul" / "sm_90-same").status == "ok"


class FullDisk:
    """os.write that has room for so many bytes and no more."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.write = os.write

    def __call__(self, descriptor: int, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = self.write(descriptor, data[: self.room])
        self.room -= written
        return written


@pytest.mark.parametrize("room", [0, 10])
def test_a_full_disk_loses_nothing_that_was_written(
    start: Start, monkeypatch: pytest.MonkeyPatch, room: int, dumps: Path
) -> None:
    writer = start()
    writer.append(KEY)
    monkeypatch.setattr(os, "write", FullDisk(room))
    with pytest.raises(Missing, match=r"no room left on the disk of .*sm_90\.running"):
        writer.append({"event": "note", "text": "lost"})
    # A file that is deleted elsewhere makes room again: the journal goes on where it was whole.
    monkeypatch.undo()
    writer.append({"event": "note", "text": "kept"})
    assert [event["event"] for event in journal.read(writer.folder)] == ["request", "key", "note"]
    monkeypatch.setattr(os, "write", FullDisk(room))
    folder = writer.publish("crashed", 1.0)
    assert folder == dumps / "matmul" / "sm_90-0123456789"
    assert reader.open_capture(folder).notes == ("kept",)


def test_a_disk_that_fills_up_while_publishing_leaves_a_capture_and_says_so(
    start: Start, monkeypatch: pytest.MonkeyPatch, dumps: Path
) -> None:
    writer = start()
    writer.append(KEY)

    def no_sync(descriptor: int) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "fsync", no_sync)
    with pytest.raises(Missing, match="sm_90-0123456789"):
        writer.publish("ok", 1.0)
    folder = dumps / "matmul" / "sm_90-0123456789"
    assert writer.published == folder
    assert not list(folder.glob("capture.json*"))
    assert reader.open_capture(folder).status == "ok"


def test_a_disk_that_is_full_from_the_start_leaves_nothing(
    start: Start, monkeypatch: pytest.MonkeyPatch, dumps: Path
) -> None:
    monkeypatch.setattr(os, "write", FullDisk(5))
    with pytest.raises(Missing, match="no room left"):
        start()
    assert list(dumps.iterdir()) == []


def test_dumps_that_cannot_be_written_are_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    request = Request(KernelRef("matmul", "/k.py", "matmul"), Target.parse("gfx942"))
    with pytest.raises(UsageError, match="--dumps"):
        CaptureWriter.create(tmp_path / "file", request, [], {})


@pytest.mark.parametrize(
    ("step", "name", "suffix", "expected"),
    [
        ("17", "tritongpu-coalesce", "mlir", "passes/017-tritongpu-coalesce.mlir"),
        ("43.1", "canonicalizer", ".mlir", "passes/043.1-canonicalizer.mlir"),
        ("1234.10", "a b/../c", "ll", "passes/1234.10-a_b_.._c.ll"),
        ("0", "", "mlir", "passes/000-unnamed.mlir"),
    ],
)
def test_snapshot_names(step: str, name: str, suffix: str, expected: str) -> None:
    assert layout.snapshot_name(step, name, suffix) == expected
    assert not layout.escapes(expected)


@pytest.mark.parametrize("kernel", ["../../evil", "a/b", ".hidden", "x" * 300, "<lambda>", ""])
def test_no_kernel_name_leads_out_of_the_dumps_folder(start: Start, dumps: Path, kernel: str) -> None:
    folder = start(kernel).publish("failed", 0.1)
    assert folder.parent.parent == dumps
    assert reader.list_captures(dumps)[0]
