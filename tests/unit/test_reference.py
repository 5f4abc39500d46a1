"""The reference captures that travel with the tool: whole, small, and silent about who made them."""

from pathlib import Path

import pytest

from tritonscope import bundled_kernels
from tritonscope.ir.kinds import kind_of
from tritonscope.model import Capture
from tritonscope.store import reader

FOLDER = bundled_kernels.reference_dumps()
assert FOLDER is not None
CAPTURES, SKIPPED = reader.list_captures(FOLDER)


def test_there_are_three_under_3_mb() -> None:
    assert SKIPPED == []
    assert {(c.kernel, c.target, c.status) for c in CAPTURES} == {
        ("matmul", "sm_90", "ok"),
        ("attention", "sm_100", "ok"),
        ("attention", "gfx942", "ok"),
    }
    assert FOLDER is not None
    assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) < 3_000_000


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda c: f"{c.kernel}-{c.target}")
def test_each_is_whole(capture: Capture) -> None:
    for stage in capture.stages:
        assert len(reader.stage_bytes(capture, stage.stage)) == stage.bytes
    for record in capture.passes:
        if record.file is not None and kind_of(record.file) != "binary":
            assert reader.after(capture, record)
    last = [p for p in capture.passes if p.stage == "ttgir" and "." not in p.step][-1]
    assert reader.after(capture, last) == reader.stage_text(capture, "ttgir")
    assert capture.verified is not None
    assert all(capture.verified.values())
    assert capture.resources["registers"]


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda c: f"{c.kernel}-{c.target}")
def test_the_journal_folds_to_the_summary(capture: Capture, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / Path(capture.path).parent.name / Path(capture.path).name
    shutil.copytree(capture.path, copy)
    whole = reader.open_capture(copy)
    (copy / "capture.json").unlink()
    assert reader.open_capture(copy) == whole
