"""Edited texts, compiled on from: against the plain compile, and against Triton's own compile of an IR file."""

import json
import os
import re
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.compile.conftest import artefact, request_for
from tritonscope import api, editing
from tritonscope.cli import main
from tritonscope.errors import UsageError
from tritonscope.ir.diff import diff
from tritonscope.ir.locations import strip_debug, strip_locations
from tritonscope.model import Capture
from tritonscope.store import reader
from tritonscope.tui import texts

KERNEL, TARGET = "scale", "sm_90"
FILE = Path(__file__).parents[1] / "kernels" / "scale.py"

#: What triton.compile makes of a file of TTGIR.
OF_FILE = """
import sys, triton
from triton.backends.compiler import GPUTarget
sys.stdout.write(triton.compile(sys.argv[1], target=GPUTarget("cuda", 90, 32)).asm["ptx"])
"""


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    dumps = tmp_path_factory.mktemp("dumps")
    return api.capture(request_for(KERNEL, TARGET, FILE), dumps, python=sys.executable, command=["test"], timeout=300)


@pytest.fixture(scope="module")
def edited(parent: Capture):
    """edited(place, text) -> the capture that goes on from there."""

    def compiled(place: editing.Place, text: str) -> Capture:
        request, given = editing.request(place, text)
        dumps = Path(parent.path).parents[1]
        return api.capture(request, dumps, python=sys.executable, command=["test"], timeout=300, texts=given)

    return compiled


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("stage", ["source", "ttgir", "llir"])
def test_a_text_put_back_as_it_was_changes_nothing(parent: Capture, edited, stage: str) -> None:
    """Down to the line numbers in PTX: the locations that were hidden are back. Names in the IR may be others."""
    place = editing.of_stage(parent, stage)
    child = edited(place, place.shown())
    assert child.status == "ok"
    assert child.path != parent.path
    assert b".loc" in artefact(parent, "ptx")
    for after in ("ptx", "cubin"):
        assert artefact(child, after) == artefact(parent, after), after
    assert not differs(reader.stage_text(child, "ttgir"), reader.stage_text(parent, "ttgir"))
    assert child.metadata == parent.metadata


def test_an_edited_stage_gives_what_triton_makes_of_that_file(parent: Capture, edited, tmp_path: Path) -> None:
    place = editing.of_stage(parent, "ttgir")
    before, after = "arith.mulf", "arith.addf"
    assert before in place.shown()
    text = place.shown().replace(before, after, 1)
    child = edited(place, text)
    file = tmp_path / f"{KERNEL}.ttgir"
    file.write_text(text)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    plain = subprocess.run([sys.executable, "-c", OF_FILE, str(file)], capture_output=True, text=True, env=environment)
    assert without_places(artefact(child, "ptx").decode()) == without_places(plain.stdout), plain.stderr
    assert artefact(child, "ptx") != artefact(parent, "ptx")
    assert strip_locations(reader.stage_text(child, "ttgir")).count(after) == place.shown().count(after) + 1


def differs(left: str, right: str) -> bool:
    return diff(strip_debug(left, "mlir"), strip_debug(right, "mlir"), "mlir").stat.differs


def without_places(ptx: str) -> str:
    return strip_debug(ptx, "ptx")


def test_after_a_pass_the_rest_of_the_passes_go_on(parent: Capture, edited, capsys: pytest.CaptureFixture[str]) -> None:
    place = editing.after_pass(parent, "tritongpu-coalesce")
    text = place.shown().replace("arith.mulf", "arith.addf", 1)
    child = edited(place, text)
    there = [(p.step, p.name) for p in parent.passes if "." not in p.step]
    assert [(p.step, p.name) for p in child.passes if "." not in p.step] == there
    changed = reader.find_step(child, "tritongpu-coalesce")
    assert changed.method == "edited"
    assert not differs(reader.after(child, changed), text)
    assert "loc(" in reader.after(child, changed)
    assert artefact(child, "ttgir") != artefact(parent, "ttgir")
    for command in ("show", "ls"):
        arguments = [child.path] if command == "show" else ["--dumps", Path(child.path).parents[1]]
        code, out, _ = run(capsys, command, *arguments)
        assert code == 0
        assert f"edited IR after tritongpu-coalesce, step {changed.step}, of {parent.capture}" in out
    assert f"edited IR after tritongpu-coalesce, step {changed.step}, of {parent.capture}" in texts.header(child).plain
    # An edit of the edit stays one of both.
    again = editing.of_stage(child, "ptx")
    grandchild = edited(again, again.shown().replace("add.f32", "sub.f32", 1))
    assert reader.find_step(grandchild, "tritongpu-coalesce").method == "edited"
    assert artefact(grandchild, "ttgir") == artefact(child, "ttgir")
    assert artefact(grandchild, "ptx") != artefact(child, "ptx")


def test_the_command_says_what_it_did(parent: Capture, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "edited.ptx"
    file.write_text(reader.stage_text(parent, "ptx").replace("mul.f32", "add.f32", 1))
    code, out, _ = run(capsys, "edit", parent.path, "ptx", file, "--dumps", tmp_path / "dumps")
    assert code == 0
    assert "{+add.f32+}" in out
    assert f"edited ptx of {parent.capture}" in out
    assert f"registers {parent.resources['registers']}" in out
    code, out, _ = run(capsys, "edit", parent.path, "ptx", file, "--dumps", tmp_path / "dumps", "--json")
    told = json.loads(out)
    assert (told["status"], told["stat"]["changed"]) == ("ok", 1)
    assert told["bytes"]["ptx"][0] == told["bytes"]["ptx"][1]
    assert Path(told["path"]).is_dir()


def test_an_editor_changes_the_text(
    parent: Capture, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ngrep -q \'loc(\' "$2" && exit 7\nsed -i "s/$1/" "$2"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{editor} 'nothing/nothing'")
    code, out, err = run(capsys, "edit", parent.path, "ttgir", "--dumps", tmp_path / "dumps")
    assert (code, out) == (0, "")
    assert "unchanged; nothing was compiled" in err
    monkeypatch.setenv("EDITOR", f"{editor} 'tt.return/tt.retrn'")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code, out, err = run(capsys, "edit", parent.path, "ttgir", "--dumps", tmp_path / "dumps")
    assert code == 3
    kept = next(tmp_path.glob("tritonscope-edit-*/*.ttgir"))
    line = next(n for n, each in enumerate(kept.read_text().splitlines(), 1) if "tt.retrn" in each)
    assert f"{kept}, line {line}, column 5: the edited text is not taken: custom op 'tt.retrn' is unknown" in err
    shown = out.splitlines()
    at = next(n for n, each in enumerate(shown) if each.strip() == "^")
    assert shown[at - 1][shown[at].index("^") :].startswith("tt.retrn")
    assert f"kept in {kept}" in err


@pytest.mark.parametrize(
    ("stage", "old", "new", "says"),
    [
        ("llir", "fmul float", "fmal float", "expected instruction opcode"),
        ("ptx", "mul.f32", "bad.f32", "Not a name of any known instruction"),
    ],
)
def test_a_text_that_does_not_parse_names_the_line(
    parent: Capture, capsys: pytest.CaptureFixture[str], tmp_path: Path, stage: str, old: str, new: str, says: str
) -> None:
    file = tmp_path / "edited"
    file.write_text(reader.stage_text(parent, stage).replace(old, new, 1))
    line = next(n for n, each in enumerate(file.read_text().splitlines(), 1) if new in each)
    code, out, err = run(capsys, "edit", parent.path, stage, file, "--dumps", tmp_path / "dumps")
    assert code == 3
    assert says in err
    assert f"line {line} of {KERNEL}.{stage}" in err
    assert new in out
    assert "Traceback" not in err


def test_what_an_edit_cannot_change(parent: Capture, edited) -> None:
    place = editing.after_pass(parent, "tritongpu-coalesce")
    # On functions alone no layout contradicts it.
    without_body = re.sub(r"(?s)(tt\.func public [^\n]*\n).*?(?= *tt\.return)", r"\1", place.shown())
    warps = int(parent.components["options"]["num_warps"])
    child = edited(place, without_body.replace(f'"ttg.num-warps" = {warps}', f'"ttg.num-warps" = {2 * warps}'))
    assert child.failure is not None
    assert f"it has ttg.num-warps = {2 * warps}, and the kernel is compiled for {warps}" in child.failure.message
    place = editing.of_stage(parent, "ttir")
    child = edited(place, place.shown().replace("%x: ", "%extra: i32, %x: ", 1))
    assert child.failure is not None
    assert "other arguments than the kernel" in child.failure.message


def test_an_imported_capture_is_refused(parent: Capture) -> None:
    imported = replace(parent, request={**parent.request, "imported_from": {"tool": "x", "path": "y"}})
    with pytest.raises(UsageError, match="was imported"):
        editing.request(editing.of_stage(imported, "ttgir"), "module {}")


@pytest.mark.parametrize("file", ["../../x.mlir", "edits/../x", "/etc/x"])
def test_a_hostile_capture_leads_nowhere_else(parent: Capture, file: str) -> None:
    edit = {"stage": "ttir", "step": "1", "name": None, "file": file, "sha256": ""}
    hostile = replace(parent, request={**parent.request, "edits": [edit]})
    with pytest.raises(UsageError, match="does not say how it was compiled"):
        editing.request(editing.of_stage(hostile, "ttgir"), "module {}")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["sass"], "nothing is compiled on from an edited sass"),
        (["ttgir", "/nope"], "cannot be read"),
        (["ttgir", "/dev/null"], "is empty"),
        ([], "say what to edit"),
        (["--pass", "ptxas"], "is no pass over MLIR"),
        (["--pass", "0.1"], "runs inside step 0"),
    ],
)
def test_wrong_usage(parent: Capture, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str) -> None:
    code, out, err = run(capsys, "edit", parent.path, *arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1


def test_a_kernel_that_has_changed_since_is_taken_from_the_capture(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(FILE.read_text())
    request = request_for(KERNEL, TARGET, file)
    capture = api.capture(request, tmp_path / "dumps", python=sys.executable, command=["test"], timeout=300)
    file.write_text("raise SystemExit('another file')\n")
    place = editing.of_stage(capture, "ttir")
    request, given = editing.request(place, place.shown().replace("mulf", "addf"))
    child = api.capture(request, tmp_path / "dumps", python=sys.executable, command=["test"], texts=given)
    assert child.status == "ok"
    assert "add.f32" in reader.stage_text(child, "ptx")
    assert "add.f32" not in reader.stage_text(capture, "ptx")


def test_amd(tmp_path: Path) -> None:
    request = request_for(KERNEL, "gfx942", FILE)
    capture = api.capture(request, tmp_path, python=sys.executable, command=["test"], timeout=300)
    for place in (editing.after_pass(capture, "tritongpu-coalesce"), editing.of_stage(capture, "llir")):
        old, new = ("arith.mulf", "arith.addf") if place.kind == "mlir" else ("fmul", "fadd")
        request, given = editing.request(place, place.shown().replace(old, new))
        child = api.capture(request, tmp_path, python=sys.executable, command=["test"], texts=given)
        assert child.status == "ok", child.failure
        assert reader.stage_text(child, "amdgcn").count("_add_f32") > reader.stage_text(capture, "amdgcn").count(
            "_add_f32"
        )
