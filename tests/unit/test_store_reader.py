"""Reading captures back: which one, which IR, and nothing hostile."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.unit.synthetic import CUBIN, INNER, LLVM_AFTER, LLVM_BEFORE, LLVM_INNER, SOURCE, TTGIR, TTIR
from tritonscope.errors import CaptureNotFound, CaptureUnreadable, UsageError
from tritonscope.model import PassRecord
from tritonscope.store import files, reader

MakeCapture = Callable[..., Path]


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "capture.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def step(folder: Path, name: str) -> PassRecord:
    return reader.find_step(reader.open_capture(folder), name)


def test_a_capture_comes_back_whole(capture: MakeCapture) -> None:
    folder = capture()
    found = reader.open_capture(folder)
    assert found.capture == "matmul/sm_90-0123456789"
    assert found.path == str(folder)
    assert (found.kernel, found.target, found.key, found.status) == ("matmul", "sm_90", "f00d" * 16, "ok")
    assert found.command == ("tritonscope", "compile", "matmul")
    assert found.versions == {"tritonscope": "0.1.0", "python": "3.11.9", "triton": "3.9.0"}
    assert [stage.stage for stage in found.stages] == ["source", "ttir", "ttgir", "llir", "ptx", "cubin"]
    assert [record.step for record in found.passes] == ["0", "0.1", "1", "2", "3", "4", "4.0", "4.1", "4.2", "5"]
    assert found.resources == {"registers": 64, "spills": 0, "shared": 1024, "stack": None}
    assert found.request["kernel"]["name"] == "matmul"
    assert found.request["used"] == {"signature": "*fp16", "options": {"num_warps": 4}}
    assert found.notes == ("a note",)
    assert found.failure is None


def test_a_moved_capture_is_where_it_is_found(capture: MakeCapture, tmp_path: Path) -> None:
    moved = capture().rename(tmp_path / "elsewhere")
    assert reader.open_capture(moved).path == str(moved)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("0", SOURCE, TTIR),
        ("0.1", SOURCE, INNER),
        ("1", TTIR, TTIR),
        ("2", TTIR, TTGIR),
        ("3", TTGIR, LLVM_BEFORE),
        ("4", LLVM_BEFORE, LLVM_AFTER),
        ("4.0", LLVM_BEFORE, LLVM_BEFORE),
        ("4.1", LLVM_BEFORE, LLVM_INNER),
        ("4.2", LLVM_INNER, LLVM_INNER),
        ("5", LLVM_AFTER, LLVM_AFTER),
    ],
)
def test_the_ir_around_a_step(capture: MakeCapture, name: str, before: str, after: str) -> None:
    found = reader.open_capture(capture())
    assert reader.before(found, reader.find_step(found, name)) == before
    assert reader.after(found, reader.find_step(found, name)) == after


def test_ir_that_was_not_kept_is_said_to_be(capture: MakeCapture) -> None:
    folder = capture()
    edit(folder, lambda data: data["stages"].pop(0))
    found = reader.open_capture(folder)
    with pytest.raises(UsageError, match="before step 0"):
        reader.before(found, reader.find_step(found, "0"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2", "2"),
        ("0.1", "0.1"),
        ("tritongpu-coalesce", "2"),
        ("TritonGPU_Coalesce", "2"),
        ("TritonGPUCoalesce", "2"),
        ("canonicalizer", "0.1"),
        ("canonicalizer#2", "1"),
        ("canonicalizer#3", "5"),
        ("sroa#2", "4.2"),
    ],
)
def test_steps_are_found_by_number_name_and_run(capture: MakeCapture, text: str, expected: str) -> None:
    assert step(capture(), text).step == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("coalesc", "coalesce"),
        ("tritongpu-colesce", "tritongpu-coalesce"),
        ("canonicalizer#4", "3 times"),
        ("canonicalizer#0", "3 times"),
        ("canonicalizer#x", "3 times"),
        ("99", "tritonscope passes"),
    ],
)
def test_steps_that_are_not_there(capture: MakeCapture, text: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        step(capture(), text)


def test_stages(capture: MakeCapture) -> None:
    found = reader.open_capture(capture())
    assert reader.stage_text(found, "ttgir") == TTGIR
    assert reader.stage_bytes(found, "cubin") == CUBIN
    with pytest.raises(UsageError, match="-o FILE"):
        reader.stage_text(found, "cubin")
    with pytest.raises(UsageError, match=r"it has source, ttir, ttgir, llir, ptx, cubin"):
        reader.stage_text(found, "hsaco")


def test_resolving(capture: MakeCapture, dumps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = capture("aaaa")
    new = capture("aabb", target="gfx942")
    edit(old, lambda data: data.update(created="2020-01-01T00:00:00.000Z"))
    only = capture("cccc", kernel="attention")

    def found(text: str) -> str:
        return reader.resolve(dumps, text).capture.path

    assert found("matmul/sm") == found("matmul/sm_90-aaaa") == found(str(old)) == str(old)
    newest = reader.resolve(dumps, "matmul")
    assert newest.capture.path == str(new)
    assert newest.note is not None
    assert "taking matmul/gfx942-aabb, the newest" in newest.note
    edit(new, lambda data: data["request"].update(skip=["cse"]))
    assert "taking matmul/gfx942-aabb (without cse), the newest" in str(reader.resolve(dumps, "matmul").note)
    assert reader.resolve(dumps, "attention") == reader.Resolution(reader.open_capture(only))
    assert found("att") == str(only)
    monkeypatch.chdir(dumps / "matmul")
    assert found("sm_90-aaaa") == str(old)
    with pytest.raises(CaptureNotFound, match=r"matmul/gfx942-aabb, matmul/sm_90-aaaa"):
        reader.resolve(dumps, "matm")
    with pytest.raises(CaptureNotFound, match=r"did you mean attention"):
        reader.resolve(dumps, "atention")
    with pytest.raises(CaptureNotFound, match=r"neither capture\.json nor events\.jsonl"):
        reader.resolve(dumps, str(dumps / "matmul"))
    with pytest.raises(CaptureNotFound, match="tritonscope ls"):
        reader.resolve(dumps, "")


def test_a_whole_name_is_no_prefix_of_another(capture: MakeCapture, dumps: Path) -> None:
    whole = capture("aaaa")
    beside = capture("aaaa", status="crashed")
    assert reader.resolve(dumps, "matmul/sm_90-aaaa").capture.path == str(whole)
    assert reader.resolve(dumps, "matmul/sm_90-aaaa.c").capture.path == str(beside)


def test_reference_captures_are_a_last_resort(capture: MakeCapture, dumps: Path, tmp_path: Path) -> None:
    capture("aaaa")
    empty = tmp_path / "empty"
    found = reader.resolve(empty, "matmul", dumps)
    assert found.capture.path == str(dumps / "matmul" / "sm_90-aaaa")
    assert found.note is not None
    assert "travels with tritonscope" in found.note
    assert reader.resolve(dumps, "matmul", dumps).note is None
    with pytest.raises(CaptureNotFound, match=r"in .*empty; make one"):
        reader.resolve(empty, "matmul")


@pytest.mark.parametrize("cut", [0, 1, 100, -2])
def test_a_summary_that_was_cut_off_is_made_good_from_the_journal(capture: MakeCapture, cut: int) -> None:
    folder = capture()
    whole = reader.open_capture(folder)
    path = folder / "capture.json"
    path.write_bytes(path.read_bytes()[:cut])
    assert reader.open_capture(folder) == whole


def test_every_cut_of_the_journal_is_readable_or_refused(capture: MakeCapture) -> None:
    folder = capture()
    (folder / "capture.json").unlink()
    path = folder / "events.jsonl"
    whole = path.read_bytes()
    first_line = whole.index(b"\n")
    for cut in range(0, len(whole), 37):
        path.write_bytes(whole[:cut])
        if cut <= first_line:
            with pytest.raises(CaptureUnreadable, match="compile again"):
                reader.open_capture(folder)
        else:
            assert reader.open_capture(folder).status == "interrupted"


def test_a_corrupt_line_in_the_middle_is_named(capture: MakeCapture) -> None:
    folder = capture()
    (folder / "capture.json").unlink()
    path = folder / "events.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[4] = lines[4][:-5]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(CaptureUnreadable, match=r"line 5 of .*events\.jsonl"):
        reader.open_capture(folder)


def _first(items: str, **change: Any) -> Callable[[dict[str, Any]], object]:
    return lambda data: data[items][0].update(change)


HOSTILE: dict[str, Callable[[dict[str, Any]], object]] = {
    "newer format": lambda data: data.update(format=2),
    "no format": lambda data: data.pop("format"),
    "boolean format": lambda data: data.update(format=True),
    "status": lambda data: data.update(status="splendid"),
    "no kernel": lambda data: data.pop("kernel"),
    "kernel": lambda data: data.update(kernel=["matmul"]),
    "seconds": lambda data: data.update(seconds="1"),
    "request": lambda data: data.update(request=[]),
    "versions": lambda data: data.update(versions={"triton": 3}),
    "command": lambda data: data.update(command=[1]),
    "notes": lambda data: data.update(notes="x"),
    "verified": lambda data: data.update(verified={"ptx": 1}),
    "stages": lambda data: data.update(stages={}),
    "stage": lambda data: data.update(stages=[3]),
    "lines": _first("stages", lines="3"),
    "absolute": _first("stages", file="/etc/passwd"),
    "parent": _first("stages", file="../../secret"),
    "parent inside": _first("passes", file="passes/../../x"),
    "before": _first("passes", before="../x"),
    "nul": _first("passes", file="a\0b"),
    "escape": _first("passes", file="a\x1b[2Jb"),
    "empty": _first("passes", file=""),
    "step": _first("passes", step="1; rm"),
    "changed": _first("passes", changed=1),
    "ms": _first("passes", ms=True),
    "failure": lambda data: data.update(failure={"message": 3}),
    "reproducer": lambda data: data.update(failure={"message": "x", "reproducer": "../x"}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_summary_is_refused_and_the_rest_is_listed(capture: MakeCapture, dumps: Path, name: str) -> None:
    good, bad = capture("aaaa"), capture("bbbb")
    edit(bad, HOSTILE[name])
    captures, unreadable = reader.list_captures(dumps)
    assert [found.path for found in captures] == [str(good)]
    assert [str(bad) in str(problem) for problem in unreadable] == [True]
    assert "\n" not in str(unreadable[0])


@pytest.mark.parametrize(
    "text",
    [b"[" * 100_000, b"9" * 10_000, b'{"format": NaN}', b"\xff\xfe", b"[]", b'"x"', b""],
    ids=["deep", "huge number", "nan", "not utf-8", "array", "text", "empty"],
)
def test_bytes_that_are_no_summary_are_refused(capture: MakeCapture, text: bytes) -> None:
    folder = capture()
    (folder / "events.jsonl").unlink()
    (folder / "capture.json").write_bytes(text)
    with pytest.raises(CaptureUnreadable, match=r"capture\.json"):
        reader.open_capture(folder)


def test_a_fifo_or_an_endless_file_does_not_hang_the_reader(capture: MakeCapture, dumps: Path) -> None:
    fifo = capture("aaaa")
    (fifo / "events.jsonl").unlink()
    os.mkfifo(fifo / "events.jsonl")
    (fifo / "capture.json").write_text("{")
    huge = capture("bbbb")
    os.truncate(huge / "capture.json", 1 << 40)
    captures, unreadable = reader.list_captures(dumps)
    assert captures == []
    assert len(unreadable) == 2


def test_links_that_lead_out_are_refused(capture: MakeCapture, tmp_path: Path) -> None:
    folder = capture()
    (tmp_path / "secret").write_text("secret")
    found = reader.open_capture(folder)
    for name in ("matmul.ttir", "passes/000-inline.mlir"):
        (folder / name).unlink()
        (folder / name).symlink_to(tmp_path / "secret")
    with pytest.raises(CaptureUnreadable, match="leads out"):
        reader.stage_text(found, "ttir")
    with pytest.raises(CaptureUnreadable, match="leads out"):
        reader.after(found, reader.find_step(found, "0"))
    (folder / "capture.json").rename(tmp_path / "capture.json")
    (folder / "capture.json").symlink_to(tmp_path / "capture.json")
    with pytest.raises(CaptureUnreadable, match="is a link"):
        reader.open_capture(folder)


def test_an_absent_artefact_is_refused_by_name(capture: MakeCapture) -> None:
    folder = capture()
    (folder / "matmul.ttir").unlink()
    with pytest.raises(CaptureUnreadable, match=r"matmul\.ttir cannot be read"):
        reader.stage_text(reader.open_capture(folder), "ttir")


def test_compressed_files_are_read_by_either_name(tmp_path: Path) -> None:
    (tmp_path / "a.ll.zst").write_bytes(zstandard.compress(b"define"))
    assert files.read_bytes(tmp_path, "a.ll") == files.read_bytes(tmp_path, "a.ll.zst") == b"define"


def test_compressed_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "big.zst").write_bytes(zstandard.compress(b"a" * 1000))
    assert len(files.read_bytes(tmp_path, "big", 1024)) == 1000
    with pytest.raises(CaptureUnreadable, match="far more"):
        files.read_bytes(tmp_path, "big.zst", 999)
    monkeypatch.setattr(files, "_RATIO_MATTERS_FROM", 1 << 20)
    (tmp_path / "bomb.zst").write_bytes(zstandard.compress(bytes(8 << 20)))
    with pytest.raises(CaptureUnreadable, match="far more"):
        files.read_bytes(tmp_path, "bomb")


@pytest.mark.parametrize("data", [b"not zstd", zstandard.compress(b"cut off" * 100)[:-9], b""])
def test_compressed_files_that_are_damaged(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.ll.zst").write_bytes(data)
    with pytest.raises(CaptureUnreadable, match="does not unpack"):
        files.read_bytes(tmp_path, "a.ll")


def test_what_is_no_capture_is_left_alone(capture: MakeCapture, dumps: Path) -> None:
    capture("aaaa")
    (dumps / "notes.txt").write_text("mine")
    (dumps / "reference" / "matmul" / "sm_90-x").mkdir(parents=True)
    captures, unreadable = reader.list_captures(dumps)
    assert (len(captures), unreadable) == (1, [])
    assert reader.list_captures(dumps / "nowhere") == ([], [])
