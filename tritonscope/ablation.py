"""What each pass of a kernel's pipeline buys: the kernel is compiled without it, and what comes of that is judged."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tritonscope import api, errors, runs
from tritonscope.ir.instruction_mix import mix
from tritonscope.ir.instructions import read_code
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.locations import strip_debug
from tritonscope.model import Capture, PassRecord, Request, RunResult
from tritonscope.store import reader

__all__ = [
    "OUTCOMES",
    "SECONDS_OF_A_COMPILE",
    "Ablated",
    "Plan",
    "Variant",
    "ablate",
    "compiled",
    "optional_passes",
    "variants_of",
    "whole",
]

#: What leaving a pass out can come to, the most that it can buy first.
OUTCOMES = ("baseline", "right", "required", "wrong", "slower", "differs", "faster", "same")

#: The share by which times have to differ, beside lying apart, for one to count as slower: clocks alone do less.
_NOTICEABLE = 0.02

#: Enough for a large kernel on a busy machine.
SECONDS_OF_A_COMPILE = 300.0

#: What a compile takes of memory, a large kernel's included.
_BYTES_OF_A_CHILD = 1 << 30

_LONGEST_DETAIL = 160

#: Metadata that depends on where Triton lies, and that no launch asks for.
_BY_PLACE = frozenset({"hash", "extern_libs"})

#: Metadata that Triton's launcher does arithmetic with: None there is a TypeError at the first launch.
_OF_A_LAUNCH = ("shared", "global_scratch_size", "profile_scratch_size")

_MACHINE_CODE = ("sass", "amdgcn", "ptx")


@dataclass(frozen=True)
class Variant:
    """Passes to leave out together, as `--skip-pass` takes them, and the steps that they are in the whole compile."""

    passes: tuple[str, ...]
    steps: tuple[str, ...]


@dataclass(frozen=True)
class Ablated:
    """What one compile came to; `pass_` and `step` are None of the whole one, "A, B" of several left out together.

    `outcome` is one of OUTCOMES: "required" where it did not compile, or not to what Triton can launch, "wrong" where
    the result is or where there is none, "right" where it is not and the whole compile's is, "differs" where other
    machine code was not run, "same" where times do not differ or, as `identical` says, the machine code does not.
    `detail` is the first line of why. `ms` is the median of a launch, `ratio` that over the whole compile's in turns
    with it. `registers`, `spills` and `shared` are as in a capture's resources; `instructions` are those of the
    machine code's text, `classes` the same by class, see `ir.instruction_classes`.
    """

    pass_: str | None
    step: str | None
    outcome: str
    ms: float | None = None
    ratio: float | None = None
    tflops: float | None = None
    registers: int | None = None
    spills: int | None = None
    shared: int | None = None
    instructions: int | None = None
    classes: Mapping[str, int] = field(default_factory=dict)
    identical: bool = False
    detail: str | None = None


@dataclass(frozen=True)
class Plan:
    """What holds for all variants: the whole compile, and how it is run, None where nothing is.

    `scratch` takes the captures of variants; `jobs` is how many compile at a time, None for what cores and memory
    allow; `timeout`, in seconds, is of one compile: without some passes a compiler may not come to an end.
    """

    baseline: Capture
    unit: runs.Unit | None
    asked: runs.Asked
    scratch: Path
    jobs: int | None = None
    timeout: float = SECONDS_OF_A_COMPILE


# -- what to leave out


def optional_passes(capture: Capture) -> list[PassRecord]:
    """The passes of `capture` that can be left out, those that changed the IR first, else in order.

    Raises UsageError where none can be: its compiler's passes were not run one by one.
    """
    outer = [record for record in capture.passes if "." not in record.step and _is_pass(record)]
    if not outer:
        raise errors.UsageError(f"the passes of {capture.capture} were not run one by one, so none can be left out")
    return sorted(outer, key=lambda record: not record.changed)


def _is_pass(record: PassRecord) -> bool:
    """Steps that are no passes always count as changing the IR, and leave no MLIR."""
    if record.method != "intercepted":
        return False
    return not record.changed or (record.file is not None and kind_of(record.file) == "mlir")


def variants_of(capture: Capture, records: Sequence[PassRecord]) -> list[Variant]:
    """A variant for each of `records`, without it; NAME#k where the name runs more than once."""
    outer = [record for record in capture.passes if "." not in record.step]
    found = []
    for record in records:
        runs_of_name = [each for each in outer if each.name == record.name]
        number = f"#{runs_of_name.index(record) + 1}" if len(runs_of_name) > 1 else ""
        found.append(Variant((f"{record.name}{number}",), (record.step,)))
    return found


# -- doing it


def ablate(
    plan: Plan, variants: Sequence[Variant], on_progress: Callable[[str], None] = lambda text: None
) -> Iterator[Ablated]:
    """What each variant comes to, each as soon as it is known, after the whole compile itself.

    Variants whose machine code and metadata are those of another are run once. Where the whole compile's result is
    wrong, its row says so, and "right" are those that mend it. Raises UsageError for a pass that is not there, and what
    `runs.run` raises; KeyboardInterrupt is passed on once the children are gone.
    """
    if plan.unit is None:
        yield whole(plan.baseline)
    whole_codes = _codes(plan.baseline)
    groups: list[_Equals] = []
    for number, (variant, capture) in enumerate(compiled(plan, variants), 1):
        on_progress(f"compiling: {number} of {len(variants)}")
        judged = _judged_unrun(variant, capture, plan.baseline, whole_codes)
        if judged.outcome == "differs" and plan.unit is not None and not _joined(groups, variant, capture):
            groups.append(_Equals(_codes(capture), capture, [variant]))
            continue
        shutil.rmtree(capture.path, ignore_errors=True)
        if judged.outcome != "differs" or plan.unit is None:
            yield judged
    if plan.unit is not None:
        yield from _run(plan, plan.unit, groups, on_progress)


@dataclass(frozen=True)
class _Equals:
    """Variants that are one kernel to whoever launches it, and the capture of the first."""

    codes: frozenset[bytes]
    capture: Capture
    variants: list[Variant]


def _joined(groups: Sequence[_Equals], variant: Variant, capture: Capture) -> bool:
    """Whether there was a group that `variant` belongs to, which it is in now."""
    codes = _codes(capture)
    group = next((each for each in groups if each.codes & codes), None)
    if group is not None:
        group.variants.append(variant)
    return group is not None


def whole(baseline: Capture, result: RunResult | None = None) -> Ablated:
    """The row of the whole compile, with what running it gave; `detail` says what is wrong with that."""
    ms = result.ms["median"] if result and result.ms else None
    tflops = result.tflops if result else None
    detail = _first_line(_flaw(result) or "") or None if result else None
    return Ablated(None, None, "baseline", ms, 1.0 if ms else None, tflops, detail=detail, **_static(baseline))


def compiled(plan: Plan, variants: Sequence[Variant]) -> Iterator[tuple[Variant, Capture]]:
    """The capture of each variant, whatever its status, as it comes; the captures are the caller's to remove.

    Raises UsageError where the whole compile is by another Triton, or its kernel's file is lost.
    """
    request = replace(Request.from_json(plan.baseline.request), kernel=runs.kernel_of(plan.baseline))
    command = list(plan.asked.command)

    def compile_one(variant: Variant) -> Capture:
        return api.capture(
            replace(request, skip=(*request.skip, *variant.passes), llvm_passes=False, verify=False),
            plan.scratch,
            python=plan.asked.python,
            command=command,
            timeout=plan.timeout,
            cancel=plan.asked.cancel,
        )

    with ThreadPoolExecutor(plan.jobs or _workers(len(variants))) as pool:
        futures = {pool.submit(compile_one, variant): variant for variant in variants}
        try:
            for future in as_completed(futures):
                capture = future.result()
                if capture.status == "interrupted":
                    raise KeyboardInterrupt
                _check_same_triton(capture, plan.baseline)
                yield futures[future], capture
        except BaseException:
            plan.asked.cancel.cancel()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _check_same_triton(capture: Capture, baseline: Capture) -> None:
    here, there = (each.versions.get("triton") for each in (capture, baseline))
    if here != there:
        raise errors.UsageError(f"{baseline.capture} is by Triton {there}, and here is {here}; compile it again")


def _workers(jobs: int) -> int:
    """As many compiles at a time as there are cores, and memory for them."""
    return max(1, min(os.cpu_count() or 1, jobs, _free_memory() // _BYTES_OF_A_CHILD))


def _free_memory() -> int:
    """Bytes that can be had without swapping; what is only cached counts."""
    with Path("/proc/meminfo").open(encoding="ascii") as file:
        kilobytes = next(line.split()[1] for line in file if line.startswith("MemAvailable:"))
    return int(kilobytes) << 10


def _run(
    plan: Plan,
    unit: runs.Unit,
    groups: Sequence[_Equals],
    on_progress: Callable[[str], None],
) -> Iterator[Ablated]:
    """Run the whole compile, then one of each group of equals; one child, replaced where a kernel takes it down.

    Each is timed in turns with the whole compile: clocks drift by more than a pass may buy.
    """
    units = [unit, *(_running(unit, group.capture) for group in groups)]

    def say(text: str) -> None:
        on_progress(f"{text}, {len(units)} to run")

    results = runs.run(units, replace(plan.asked, beside=plan.baseline), say)
    baseline = next(results)
    yield whole(plan.baseline, baseline)
    if baseline.fault:  # it would take the others down with it
        results.close()
        results = runs.run(units[1:], plan.asked, say)
    for group, result in zip(groups, results, strict=True):
        usual = _usual(baseline, result.baselines.get(plan.baseline.capture))
        for variant in group.variants:
            yield _judged_run(variant, group.capture, result, usual)


def _usual(baseline: RunResult, beside: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """How long the whole compile took: `beside` another, else by itself; None where its result is wrong."""
    if _flaw(baseline):
        return None
    return {**beside, "median": beside["ms"]} if beside else baseline.ms


def _running(unit: runs.Unit, capture: Capture) -> runs.Unit:
    case = runs.Case(unit.main.size, capture)
    return replace(unit, main=case, checked=tuple(case for _ in unit.checked))


# -- judging it


def _judged_unrun(variant: Variant, capture: Capture, baseline: Capture, whole_codes: frozenset[bytes]) -> Ablated:
    """The verdict that takes no run: "required", "same" or "differs"."""
    if capture.status != "ok":
        failure = capture.failure
        said = failure.message if failure else f"the compile {capture.status}"
        where = f"{failure.pass_}: " if failure and failure.pass_ else ""
        return _row(variant, "required", detail=_first_line(where + said))
    if lost := [name for name in _OF_A_LAUNCH if capture.metadata.get(name, 0) is None]:
        detail = f"it compiles to what Triton cannot launch: nothing says its {', '.join(lost)}"
        return _row(variant, "required", detail=detail, **_static(capture))
    if _codes(capture) & whole_codes:
        return _row(variant, "same", identical=True, **_static(capture))
    return _row(variant, "differs", detail=_metadata_alone(capture, baseline), **_static(capture))


def _metadata_alone(capture: Capture, baseline: Capture) -> str | None:
    """Which metadata differs where the machine code does not; None where that differs, too."""
    if not set(_machine_codes(capture).items()) & set(_machine_codes(baseline).items()):
        return None
    names = {name for name, _ in {*_metadata(capture)} ^ {*_metadata(baseline)}}
    return _first_line(f"the machine code is the same, but its metadata is not: {', '.join(sorted(names))}")


def _judged_run(variant: Variant, capture: Capture, result: RunResult, usual: Mapping[str, Any] | None) -> Ablated:
    if flaw := _flaw(result):
        return _row(variant, "wrong", detail=_first_line(flaw), **_static(capture))
    assert result.ms is not None
    ms = result.ms
    ratio = ms["median"] / usual["median"] if usual else None
    outcome = _pace(ms, usual) if usual else "right"
    return _row(variant, outcome, ms=ms["median"], ratio=ratio, tflops=result.tflops, **_static(capture))


def _flaw(result: RunResult) -> str | None:
    """What is wrong with a run, None where nothing is."""
    if result.fault:
        return result.fault
    failed = next((f"{check.name}: {check.detail}" for check in result.checks if not check.passed), None)
    return failed or (None if result.ms else "it was not timed")


def _pace(ms: Mapping[str, Any], usual: Mapping[str, Any]) -> str:
    """Slower or faster where the medians are apart noticeably and the middle halves of the times do not meet."""
    ratio = ms["median"] / usual["median"]
    if ratio > 1 + _NOTICEABLE and ms["q1"] > usual["q3"]:
        return "slower"
    if ratio < 1 - _NOTICEABLE and ms["q3"] < usual["q1"]:
        return "faster"
    return "same"


def _first_line(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _LONGEST_DETAIL else f"{line[:_LONGEST_DETAIL]} .."


def _row(variant: Variant, outcome: str, **fields: Any) -> Ablated:
    return Ablated(", ".join(variant.passes), ", ".join(variant.steps), outcome, **fields)


def _static(capture: Capture) -> dict[str, Any]:
    numbers = {name: capture.resources.get(name) for name in ("registers", "spills", "shared")}
    stage = next((name for name in _MACHINE_CODE if any(each.stage == name for each in capture.stages)), None)
    if stage is None:
        return numbers
    code = read_code(strip_debug(reader.stage_text(capture, stage), stage), stage)
    found = mix(code.instructions, stage)
    return {**numbers, "instructions": found.total, "classes": dict(found.classes)}


def _codes(capture: Capture) -> frozenset[bytes]:
    """What a launch of `capture` depends on, hashed: each form of its machine code without debug information, with the
    metadata. One in common makes two captures the same: for some targets ptxas makes several binaries of one PTX, and
    PTX without line information has other directives than PTX with.
    """
    metadata, texts = _metadata(capture), _machine_codes(capture)
    return frozenset(hashlib.sha256(f"{stage} {metadata} {text}".encode()).digest() for stage, text in texts.items())


def _metadata(capture: Capture) -> list[tuple[str, str]]:
    return sorted((name, repr(value)) for name, value in capture.metadata.items() if name not in _BY_PLACE)


def _machine_codes(capture: Capture) -> dict[str, str]:
    """Each form of the machine code that there is, without debug information."""
    there = [stage.stage for stage in capture.stages if stage.stage in _MACHINE_CODE]
    return {stage: strip_debug(reader.stage_text(capture, stage), stage) for stage in there}
