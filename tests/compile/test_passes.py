"""The passes of a capture, and the IR between them, are those that the compiler itself prints."""

import re

import pytest

from tritonscope.store import reader

# A reader of the dump that shares nothing with ours: split at the headers, take the pass's name from each.
HEADER = re.compile(
    rb"^// -----// IR Dump Before (.+?) \('([\w.]+)' operation(?:: @[^\n]*)?\) //----- //\n", re.MULTILINE
)
STEP_HEADER = re.compile(rb"^// -----// \w+ internal IR Dump After: .*\n", re.MULTILINE)

CASES = [
    ("matmul", "sm_90"),
    ("attention", "sm_100"),
    ("matmul", "gfx942"),
]


def dumps_in(printed: bytes) -> list[tuple[str, str]]:
    """(name of the pass, text before it), in the order printed."""
    parts = HEADER.split(printed)
    found = []
    for described, operation, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        text = STEP_HEADER.split(text)[0]
        # A pass over functions is printed for each; it is one pass of the pipeline all the same.
        if operation == b"llvm.func" and found and found[-1][0] == described.decode():
            continue
        found.append((described.decode(), text.decode().rstrip("\n")))
    return found


def same_pass(described: str, name: str) -> bool:
    """ "CSE (cse)", "CSEPass: cse" and "Canonicalizer" name the passes cse, cse and canonicalize(r)."""
    words = re.split(r"[ :{(){}]+", described)
    plain = lambda text: text.replace("-", "").replace("_", "").lower()  # noqa: E731
    return plain(name) in {plain(word) for word in words} or plain(described).startswith(plain(name))


def check_against_dump(captured, printed: bytes) -> None:
    expected = dumps_in(printed)
    ours = [p for p in captured.passes if not is_step(p)]
    assert [
        (described, record.name)
        for (described, _), record in zip(expected, ours, strict=False)
        if not same_pass(described, record.name)
    ] == []
    assert len(ours) == len(expected)
    differing = [
        f"{record.step} {record.name}"
        for (_, text), record in zip(expected, ours, strict=True)
        if reader.before(captured, record).rstrip("\n") != text
    ]
    assert differing == []


def is_step(record) -> bool:
    """Steps that are no passes, and the inner steps of the pipeliner, which it prints after them and in its own way."""
    return "llvm." in record.name or record.stage not in ("ttir", "ttgir", "llir") or record.scope in INNER_STEPS


INNER_STEPS = ("SoftwarePipeliner", "WarpSpec")


@pytest.mark.parametrize(("name", "target"), CASES)
def test_every_pass_and_the_ir_before_it_are_the_compilers_own(name, target, capture, printed):
    check_against_dump(capture(name, target), printed(name, target))


def test_a_dozen_passes_inside_one_are_its_children(capture, printed):
    """Automatic warp specialization runs a pipeline of its own; Triton 3.6 fails in it, and prints up to there."""
    captured = capture("warp_specialized", "sm_100")
    outer = reader.find_step(captured, "tritongpu-automatic-warp-specialization")
    children = [p for p in captured.passes if p.step.startswith(f"{outer.step}.")]
    assert [p.step for p in children] == [f"{outer.step}.{n}" for n in range(1, len(children) + 1)]
    if captured.status == "ok":
        assert len(children) >= 12
        check_against_dump(captured, printed("warp_specialized", "sm_100"))
    else:
        assert captured.failure.inner == children[-1].name


@pytest.mark.parametrize(("name", "target"), CASES)
def test_the_last_pass_of_a_stage_left_what_the_stage_gave(name, target, capture):
    captured = capture(name, target)
    for stage in ("ttir", "ttgir"):
        last = [p for p in captured.passes if p.stage == stage and "." not in p.step][-1]
        assert reader.after(captured, last) == reader.stage_text(captured, stage)


@pytest.mark.parametrize(("name", "target"), CASES)
def test_changed_means_that_more_than_locations_changed(name, target, capture):
    captured = capture(name, target)
    without = lambda text: re.sub(r"^#(?:loc|di_).*\n|(?: loc\([^\n]*\))+$| loc\((?:#loc\d*)\)", "", text, flags=re.M)  # noqa: E731
    for record in captured.passes:
        if record.stage not in ("ttir", "ttgir") or record.scope:
            continue
        same = without(reader.before(captured, record)) == without(reader.after(captured, record))
        assert record.changed is not same, record


def test_times_and_options_are_the_compilers(capture):
    captured = capture("matmul", "sm_90")
    tops = [p for p in captured.passes if "." not in p.step]
    assert [p.step for p in tops] == [str(n) for n in range(len(tops))]
    assert all(p.ms is not None and p.ms >= 0 for p in tops)
    pipeline = reader.find_step(captured, "tritongpu-pipeline")
    assert "num-stages=3" in pipeline.options
    # The passes ran within their stage, so together they took no longer.
    for stage in captured.stages:
        if stage.stage in ("ttir", "ttgir"):
            assert sum(p.ms for p in tops if p.stage == stage.stage) / 1000 <= stage.seconds


def test_the_steps_that_are_no_passes_are_in_the_list(capture):
    names = [p.name for p in capture("matmul", "sm_90").passes if "." not in p.step][-4:]
    assert names == ["llvm.to_module", "llvm.optimize_module", "llvm.translate_to_asm", "ptxas"]
    before_optimising = reader.find_step(capture("matmul", "sm_90"), "llvm.to_module")
    assert reader.after(capture("matmul", "sm_90"), before_optimising).startswith("; ModuleID")
    optimised = reader.find_step(capture("matmul", "sm_90"), "llvm.optimize_module")
    assert reader.after(capture("matmul", "sm_90"), optimised) == reader.stage_text(capture("matmul", "sm_90"), "llir")


def test_without_interception_the_compilers_own_dump_serves(tmp_path, monkeypatch, capture):
    import sys

    from tests.compile.conftest import request_for
    from tritonscope import api

    monkeypatch.setenv("TRITONSCOPE_INTERCEPT", "0")
    dumped = api.capture(request_for("matmul", "sm_90"), tmp_path, python=sys.executable, command=[])
    whole = capture("matmul", "sm_90")
    assert dumped.status == "ok"
    assert any("own dump" in note for note in dumped.notes)
    assert {p.method for p in dumped.passes if p.stage == "ttir"} == {"dumped"}
    assert [p.name for p in dumped.passes if "." not in p.name] == [
        p.name for p in whole.passes if "." not in p.name and p.scope not in INNER_STEPS
    ]
    for stage in ("ttir", "ttgir", "llir", "ptx"):
        assert reader.stage_text(dumped, stage) == reader.stage_text(whole, stage)
    last = [p for p in dumped.passes if p.stage == "ttgir"][-1]
    assert reader.after(dumped, last) == reader.stage_text(dumped, "ttgir")


def test_a_pass_not_known_to_run_others_is_found_out(tmp_path, monkeypatch, capture):
    """The list of passes that nest saves a second compile and nothing else."""
    import sys
    from pathlib import Path

    import tritonscope
    from tests.compile.conftest import request_for
    from tritonscope import api

    package = tmp_path / "tritonscope"
    import shutil

    shutil.copytree(Path(tritonscope.__file__).parent, package)
    pipeline = package / "engine" / "pipeline.py"
    text = pipeline.read_text()
    start = text.index("NESTING = frozenset(")
    end = text.index("\n)\n", start)
    pipeline.write_text(text[:start] + "NESTING: frozenset[str] = frozenset(" + text[end + 1 :])
    monkeypatch.setattr("tritonscope.engine.client.BOOT", package / "engine" / "boot.py")
    found = api.capture(request_for("matmul", "sm_90"), tmp_path / "dumps", python=sys.executable, command=[])
    whole = capture("matmul", "sm_90")
    assert [(p.step, p.name, p.changed) for p in found.passes] == [(p.step, p.name, p.changed) for p in whole.passes]
