"""Leaving passes out, with a compiler and a GPU of paper: what is run, what is judged, kept and printed."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.unit import synthetic
from tritonscope import ablation, ablation_log, runs
from tritonscope.ablation import Ablated, Plan, Variant, ablate, optional_passes, variants_of
from tritonscope.ablation_text import by_worth, print_ablation
from tritonscope.cli import main
from tritonscope.errors import UsageError
from tritonscope.model import Capture, Check, Failure, KernelRef, Request, RunResult, Target
from tritonscope.store import layout, reader
from tritonscope.store.writer import CaptureWriter

PTX = ".version 8.0\n.visible .entry k()\n{\n\tld.global.b32 %r1, [%rd1];\n\tret;\n}\n"
OTHER = PTX.replace("ld.global.b32", "ld.shared.b32")
THIRD = PTX.replace("\tret;", "\tbar.sync 0;\n\tret;")


@pytest.fixture
def captured(tmp_path: Path) -> Callable[..., Capture]:
    """captured(ptx, ..) -> a capture whose machine code is that."""
    numbers = iter(range(100))

    def make(ptx: str = PTX, shared: int = 0, status: str = "ok", failure: Failure | None = None) -> Capture:
        writer = CaptureWriter.create(tmp_path / "dumps", synthetic.request(), ["test"], synthetic.VERSIONS)
        folder = writer.folder
        for event in (
            {"event": "loaded", "versions": {}, "signature": "", "options": {}, "notes": []},
            {"event": "key", "hash": "f00d", "id": f"{next(numbers):04}", "components": {}},
            synthetic.stage(folder, "python", "# the kernel", "py"),
            synthetic.stage(folder, "source", synthetic.SOURCE),
            synthetic.record("0", "ttir", "cse"),
            synthetic.record("1", "ttgir", "coalesce", synthetic.put(folder, "passes/001-c.mlir", synthetic.TTGIR)),
            synthetic.record("1.1", "ttgir", "inner", synthetic.put(folder, "passes/001.1-i.mlir", synthetic.INNER)),
            synthetic.record("2", "ttgir", "cse", synthetic.put(folder, "passes/002-c.mlir", synthetic.TTIR)),
            synthetic.record("3", "llir", "llvm.to_module", synthetic.put(folder, "passes/003-t.ll", "")),
            synthetic.record("4", "ptx", "llvm.translate_to_asm", None, changed=True),
            synthetic.stage(folder, "ptx", ptx),
            {"event": "metadata", "metadata": {"shared": shared}},
            {"event": "resources", "resources": {"registers": 64, "spills": 0, "shared": shared}},
            {"event": "done", "seconds": 1.0},
        ):
            writer.append(event)
        return replace(reader.open_capture(writer.publish(status, 1.0)), failure=failure)

    return make


def plan_for(baseline: Capture, tmp_path: Path, run: bool = True) -> Plan:
    asked = runs.Asked("python", Target.parse("sm_90"), ("test",))
    case = runs.Case({"M": 4}, baseline)
    unit = runs.Unit(KernelRef("matmul", "/k.py", "matmul"), case, (case,)) if run else None
    return Plan(baseline, unit, asked, tmp_path / "scratch", jobs=1)


def compiles_to(monkeypatch: pytest.MonkeyPatch, outcomes: dict[tuple[str, ...], Capture]) -> None:
    def capture(request: Request, *_: Any, **__: Any) -> Capture:
        return outcomes[request.skip]

    monkeypatch.setattr(ablation.api, "capture", capture)


def runs_as(monkeypatch: pytest.MonkeyPatch, results: Sequence[RunResult]) -> list[str]:
    ran: list[str] = []

    left = iter(results)

    def run(units: Sequence[runs.Unit], asked: runs.Asked, *_: Any) -> Iterator[RunResult]:
        usual = {"ms": 1.0, "ratio": 1.0, "q1": 0.99, "q3": 1.01}
        for unit in units:
            ran.append(unit.main.capture.capture)
            assert [case.capture for case in unit.checked] == [unit.main.capture]
            yield replace(next(left), baselines={asked.beside.capture: usual} if asked.beside else {})

    monkeypatch.setattr(ablation.runs, "run", run)
    return ran


def result(median: float | None, **fields: Any) -> RunResult:
    ms = None if median is None else {"median": median, "q1": median * 0.99, "q3": median * 1.01, "n": 20}
    return RunResult("c", "matmul", "sm_90", {}, {}, {}, "now", ("test",), correct=True, ms=ms, **fields)


def test_passes_that_changed_the_ir_come_first_and_steps_never(captured: Callable[..., Capture]) -> None:
    capture = captured()
    found = variants_of(capture, optional_passes(capture))
    assert found == [Variant(("coalesce",), ("1",)), Variant(("cse#2",), ("2",)), Variant(("cse#1",), ("0",))]


def test_what_was_left_out_already_stays_out(
    captured: Callable[..., Capture], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = captured()
    compiles_to(monkeypatch, {("cse#1", "coalesce"): captured(OTHER)})
    partial = replace(whole, request={**whole.request, "skip": ["cse#1"]})
    (_, row) = ablate(plan_for(partial, tmp_path, run=False), [Variant(("coalesce",), ("1",))])
    assert (row.pass_, row.outcome) == ("coalesce", "differs")


def test_passes_that_were_only_printed_cannot_be_left_out(captured: Callable[..., Capture]) -> None:
    whole = captured()
    printed = replace(whole, passes=tuple(replace(record, method="dumped") for record in whole.passes))
    with pytest.raises(UsageError, match="one by one"):
        optional_passes(printed)


def test_each_outcome(captured: Callable[..., Capture], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = ["fails", "idle", "slow", "slow too", "wrong", "fast", "equal", "shared", "unsaid"]
    refused = Failure("ttgir", "convert", None, "3", "not legal\nsecond line")
    codes = [OTHER, OTHER, THIRD, THIRD + "//", PTX + "x", PTX + "y"]
    captures = [captured(status="failed", failure=refused), captured(PTX + "\t.loc 1 2 3\n")]
    captures += [captured(code) for code in codes[:2]] + [captured(code) for code in codes[2:5]] + [captured(shared=8)]
    captures.append(replace(captured(), metadata={"shared": None}))
    compiles_to(monkeypatch, {(name,): capture for name, capture in zip(names, captures, strict=True)})
    fault = "an illegal memory access\nmore"
    ran = runs_as(
        monkeypatch,
        [result(1.0, tflops=8.0), result(2.0), result(None, fault=fault), result(0.5), result(1.01), result(1.5)],
    )
    baseline = captured()
    rows = list(ablate(plan_for(baseline, tmp_path), [Variant((name,), ("1",)) for name in names]))
    found = {row.pass_: row for row in rows}
    assert {name: row.outcome for name, row in found.items()} == {
        "fails": "required",
        "idle": "same",
        None: "baseline",
        "slow": "slower",
        "slow too": "slower",
        "wrong": "wrong",
        "fast": "faster",
        "equal": "same",
        "shared": "slower",
        "unsaid": "required",
    }
    assert found["fails"].detail == "convert: not legal"
    assert found["unsaid"].detail == "it compiles to what Triton cannot launch: nothing says its shared"
    assert found["wrong"].detail == "an illegal memory access"
    assert [name for name, row in found.items() if row.identical] == ["idle"]
    assert (found["slow"].ratio, found["slow too"].ratio, found["fast"].ratio) == (2.0, 2.0, 0.5)
    assert (found[None].ms, found[None].ratio, found[None].tflops) == (1.0, 1.0, 8.0)
    assert found["slow"].classes == {"shared_load": 1, "control": 1}
    # The whole compile, then one of each that differ: neither what failed nor what is the same.
    assert ran == [each.capture for each in (baseline, captures[2], *captures[4:-1])]


def test_a_result_that_is_wrong(
    captured: Callable[..., Capture], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiles_to(monkeypatch, {("p",): captured(OTHER)})
    off = replace(result(1.0, checks=(Check("reference", False, "off by 3"),)), correct=False)
    runs_as(monkeypatch, [result(1.0), off])
    *_, row = ablate(plan_for(captured(), tmp_path), [Variant(("p",), ("1",))])
    assert (row.outcome, row.detail, row.ms) == ("wrong", "reference: off by 3", None)


def test_a_whole_compile_that_was_not_timed_beside_another_was_timed_by_itself(
    captured: Callable[..., Capture], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiles_to(monkeypatch, {("p",): captured(OTHER)})
    monkeypatch.setattr(ablation.runs, "run", lambda *_: iter([result(1.0), result(2.0)]))
    *_, row = ablate(plan_for(captured(), tmp_path), [Variant(("p",), ("1",))])
    assert (row.outcome, row.ratio) == ("slower", 2.0)


def test_a_pass_that_spoils_the_result_is_found(
    captured: Callable[..., Capture], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiles_to(monkeypatch, {("p",): captured(OTHER), ("q",): captured(THIRD)})
    runs_as(monkeypatch, [result(None, fault="it hangs"), result(1.0), result(None, fault="it hangs")])
    whole, *rows = ablate(plan_for(captured(), tmp_path), [Variant((name,), ("1",)) for name in "pq"])
    assert (whole.outcome, whole.detail, whole.ms) == ("baseline", "it hangs", None)
    assert [(row.pass_, row.outcome, row.ratio) for row in rows] == [("p", "right", None), ("q", "wrong", None)]


def test_without_a_gpu_the_machine_code_is_compared(
    captured: Callable[..., Capture], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiles_to(monkeypatch, {("p",): captured(OTHER), ("q",): captured(), ("r",): captured(shared=8)})
    runs_as(monkeypatch, [])
    rows = list(ablate(plan_for(captured(), tmp_path, run=False), [Variant((name,), ("1",)) for name in "pqr"]))
    assert [(row.pass_, row.outcome, row.ms, row.detail) for row in rows] == [
        (None, "baseline", None, None),
        ("p", "differs", None, None),
        ("q", "same", None, None),
        ("r", "differs", None, "the machine code is the same, but its metadata is not: shared"),
    ]


def test_the_table_has_the_worst_first_and_the_useless_in_a_line() -> None:
    rows = [
        Ablated("idle", "1", "same", identical=True),
        Ablated("fast", "2", "faster", 0.5, 0.5, registers=64),
        Ablated("slow", "3", "slower", 1.5, 1.5, registers=255, classes={"global_load": 9}),
        Ablated("slowest", "4", "slower", 9.0, 9.0, registers=64),
        Ablated("needed", "5", "required", detail="pass: \x1b[31mno"),
        Ablated(None, None, "baseline", 1.0, 1.0, registers=64, classes={"global_load": 1}),
    ]
    assert [row.pass_ for row in by_worth(rows)] == [None, "needed", "slowest", "slow", "fast", "idle"]
    console = Console(width=140, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    print_ablation(rows, console)
    text = console.export_text()
    assert "255" in text
    assert "+8 global load" in text
    assert "\x1b" not in text
    assert "1.50 x" in text
    assert text.rstrip().endswith("idle")
    assert "1 pass bought nothing" in text


def test_a_narrow_table_keeps_names_and_verdicts_whole() -> None:
    name = "triton-nvidia-gpu-global-scratch-memory-allocation"
    rows = [Ablated(name, "60", "slower", 1.5, 1.5, 300.0, 255, 972, 147456, 2616)]
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    print_ablation(rows, console)
    line = console.export_text().splitlines()[1]
    assert len(line) <= 80
    assert line.split()[:2] == [name, "slower"]
    assert "1.50 x" in line


def test_what_is_kept_is_read_back_and_what_is_damaged_passed_over(tmp_path: Path) -> None:
    variant = Variant(("a", "b#2"), ("1", "2"))
    row = Ablated("a, b#2", "1, 2", "slower", 2.0, 1.5, None, 255, 24, 1024, 900, {"barrier": 2}, False, "x")
    ablation_log.keep(tmp_path, "sm_90 M=1", replace(row, ms=9.0))
    ablation_log.keep(tmp_path, "sm_90 M=1", row)
    ablation_log.keep(tmp_path, "static", replace(row, outcome="differs"))
    with (tmp_path / layout.ABLATIONS).open("a") as file:
        file.write('{"how": "sm_90 M=1", "pass": "a, b#2", "outcome": "splendid"}\nnonsense\n[1]\n')
        file.write('{"how": "sm_90 M=1", "pass": "a, b#2", "step": 7, "outcome": "same"}\n{"how": "sm_90 M=1", "pa')
    assert ablation_log.kept(tmp_path, "sm_90 M=1", variant) == row
    assert ablation_log.kept(tmp_path, "sm_90 M=2", variant) is None
    assert ablation_log.kept(tmp_path, "static", Variant(("a",), ("1",))) is None


def test_bisect_names_those_without_which_a_result_is_another(
    captured: Callable[..., Capture],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole = captured(THIRD)
    outcomes: dict[tuple[str, ...], Capture] = {
        ("coalesce",): captured(PTX),
        ("cse#2",): captured(status="failed"),
        ("cse#1",): captured(THIRD),
    }
    compiles_to(monkeypatch, outcomes)
    command = ["bisect", whole.path, "--all", "--fail-if", "barrier>0", "-j", "1"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["holds"], found["values"], found["required"]) == (True, {"barrier": 1}, ["cse#2"])
    assert found["without"] == [{"pass": "coalesce", "step": "1", "values": {"barrier": 0}}]
    compiles_to(monkeypatch, {skip: captured(THIRD) for skip in outcomes})
    assert main(command) == 1
    assert "whichever pass that can be left out is left out" in capsys.readouterr().out
