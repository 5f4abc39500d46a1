"""Running compiled kernels: what is compiled for it, which children do it, and what they say put together."""

import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from tritonscope import api, bundled_kernels, ceilings, device_state, errors, recipe
from tritonscope.calls import CallArgument, Tensor, recorded_argument
from tritonscope.engine.client import Cancel, Child
from tritonscope.model import Capture, Check, KernelRef, Request, RunResult, Target, to_json
from tritonscope.store import layout, reader

__all__ = [
    "Asked",
    "Case",
    "Unit",
    "binary_files",
    "called_with",
    "interpret",
    "kernel_of",
    "plan",
    "plan_capture",
    "requests",
    "run",
]

# Starting Python, PyTorch and the driver takes this long at worst; nobody hears from the child meanwhile.
_START_SECONDS = 180.0

_GUESSED = (
    "there is no spec: the arguments are made up from the signature, and the grid is one program; "
    "--call and --grid, or a spec, give real ones"
)
# Small enough that this many rows of this many elements are within the tensors.
_GUESSED_NUMBER, _GUESSED_ELEMENTS = 256, 1 << 20


class _NoSpecError(errors.UsageError):
    """The kernel's file has no spec for it."""


@dataclass(frozen=True)
class Asked:
    """What holds for every run of a command.

    `sizes` as `--size` gives them; `seeds` that correctness is tried with, () to time alone; `timing` whether to time,
    with that many `repetitions` (None: as many as are worth it), and whether beside the spec's `baselines`;
    `constants`, `options` as typed; `config` the number of one of the spec's configurations, "all", or None for the
    best; `timeout` seconds without a sign of life; `against` another capture whose results are right; `beside` one that
    is timed in turn with it; `call` and `grid` in place of a spec; `cancel` ends it all.
    """

    python: str
    target: Target
    command: tuple[str, ...]
    sizes: Sequence[Mapping[str, Any]] = ({},)
    seeds: tuple[int, ...] = (0, 1)
    timing: bool = True
    repetitions: int | None = None
    baselines: bool = True
    constants: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    config: int | str | None = None
    timeout: float = 60.0
    against: Capture | None = None
    beside: Capture | None = None
    call: tuple[CallArgument, ...] | None = None
    grid: tuple[int, ...] = (1,)
    cancel: Cancel = field(default_factory=Cancel)


@dataclass(frozen=True)
class Case:
    """One size, and the capture to run at it."""

    size: Mapping[str, Any]
    capture: Capture


@dataclass(frozen=True)
class Unit:
    """One line of results: the size that is timed, the sizes that are checked, and how the kernel is called.

    `call` and `grid` stand in for a spec; `interpretable` is whether the kernel's file may be run to interpret it,
    where nothing else says what is right; `notes` are what a reader of the result should know.
    One that is not `timed` is only checked.
    """

    kernel: KernelRef
    main: Case
    checked: tuple[Case, ...]
    config: Mapping[str, Any] = field(default_factory=dict)
    has_reference: bool = True
    call: tuple[CallArgument, ...] | None = None
    grid: tuple[int, ...] = (1,)
    interpretable: bool = True
    notes: tuple[str, ...] = ()
    timed: bool = True


# -- what to run


def plan(kernel: KernelRef, asked: Asked, dumps: Path, scratch: Path) -> list[Unit]:
    """Compile what `asked` takes: for each size and configuration one capture in `dumps`.

    The captures that only check further sizes go to `scratch`. Raises UsageError where the kernel, its spec or a size
    is at fault, CompileFailed and ChildDied where a compile ends badly, Missing without triton or torch.
    """
    planned = list(_planned(kernel, asked))
    mains = [_request(kernel, asked, each["calls"][0]) for each in planned]
    others = [_request(kernel, asked, call) for each in planned for call in each["calls"][1:]]
    wanted = {
        **{_identity(request): (request, scratch) for request in others},
        **{_identity(r): (r, dumps) for r in mains},
    }

    def compiled(job: tuple[Request, Path]) -> Capture:
        request, folder = job
        return _compiled(request, folder, asked)

    with ThreadPoolExecutor(max_workers=_workers(len(wanted))) as pool:
        captures = dict(zip(wanted, pool.map(compiled, wanted.values()), strict=True))
    units = []
    for each in planned:
        main, *checked = (
            Case(call["size"], captures[_identity(_request(kernel, asked, call))]) for call in each["calls"]
        )
        units.append(Unit(kernel, main, (main, *checked), each["config"], each["has_reference"]))
    return units


def requests(kernel: KernelRef, asked: Asked) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], Request]]:
    """Each size and configuration of `asked`, and the compile that a launch of it takes; compiles nothing.

    Raises UsageError where the kernel, its spec or a size is at fault, Missing without triton or torch.
    """
    for each in _planned(kernel, replace(asked, seeds=())):
        yield each["size"], each["config"], _request(kernel, asked, each["calls"][0])


def plan_capture(capture: Capture, asked: Asked) -> list[Unit]:
    """Run `capture` itself, at each size of `asked`; its own binary is what further sizes are checked with, too.

    One that was traced is called as it was then, unless there are sizes: its file is a program that need not be run.

    Raises UsageError where it has no binary, or neither spec nor call.
    """
    if "cubin" not in (stages := {stage.stage for stage in capture.stages}) and "hsaco" not in stages:
        raise errors.UsageError(f"{capture.capture} has no binary to run ({_why_none(capture)}); compile it again")
    kernel = kernel_of(capture)
    alone = Case({}, capture)
    if asked.call is not None:
        return [Unit(kernel, alone, (alone,), call=asked.call, grid=asked.grid, has_reference=False)]
    if capture.launches and not any(asked.sizes):
        return [_recorded_unit(kernel, alone, capture)]
    units = []
    try:
        for each in _planned(kernel, replace(asked, config=None)):
            main, *checked = (Case(call["size"], capture) for call in each["calls"])
            units.append(Unit(kernel, main, (main, *checked), {}, each["has_reference"]))
    except _NoSpecError:
        if any(asked.sizes):
            raise
        call = _guessed_call(capture)
        return [Unit(kernel, alone, (alone,), call=call, has_reference=False, notes=(_GUESSED,))]
    return units


def _why_none(capture: Capture) -> str:
    return recipe.words(capture.request) or f"it {capture.status}"


def _recorded_unit(kernel: KernelRef, alone: Case, capture: Capture) -> Unit:
    """The call that the traced program made most often, with random data."""
    launch = max(capture.launches, key=lambda each: each.count)
    call = tuple(recorded_argument(argument) for argument in launch.arguments)
    grid = ",".join(map(str, launch.grid))
    others = f", the most frequent of {len(capture.launches)}" if len(capture.launches) > 1 else ""
    note = f"called as the traced program did{others}: grid {grid}, random data of the recorded shapes"
    return Unit(
        kernel, alone, (alone,), call=call, grid=launch.grid, has_reference=False, interpretable=False, notes=(note,)
    )


def _guessed_call(capture: Capture) -> tuple[CallArgument, ...]:
    """Arguments of the types that the signature has; raises UsageError for one that cannot be made up."""
    found = []
    components = capture.components
    for name in components.get("parameters", []):
        kind = components["signature"][name]
        if kind == "constexpr":
            continue
        if isinstance(kind, str) and kind.startswith("*"):
            aligned = "'tt.divisibility', 16" in components["attributes"].get(name, "")
            found.append(CallArgument(name, Tensor(kind.lstrip("*k"), (_GUESSED_ELEMENTS,), (1,), aligned)))
        elif isinstance(kind, str) and kind[:1] in "iu":
            found.append(CallArgument(name, str(_GUESSED_NUMBER)))
        elif isinstance(kind, str) and kind.startswith(("fp", "bf")):
            found.append(CallArgument(name, "1.0"))
        else:
            raise errors.UsageError(
                f"{capture.capture} has no spec, and nothing can be made up for its argument {name}, a {kind}; "
                f"'tritonscope new-spec {kernel_of(capture).path}:{kernel_of(capture).function}' writes a spec"
            )
    return tuple(found)


def kernel_of(capture: Capture) -> KernelRef:
    """Where the kernel of a capture is: the bundled one, the file that was compiled, else the copy in the capture.

    Raises UsageError where there is none, and for an imported capture: what it was called with nobody knows, and its
    Python is a stranger's.
    """
    if capture.request.get("imported_from"):
        raise errors.UsageError(
            f"{capture.capture} was imported, so it can be looked at but not run; "
            "compile its kernel here (`tritonscope compile FILE.py:FUNCTION`) and run that"
        )
    recorded = capture.request.get("kernel", {})
    function = str(recorded.get("function", capture.kernel))
    if recorded.get("bundled"):
        bundled = next((each for each in bundled_kernels.kernels() if each.function == function), None)
        if bundled is not None:
            return KernelRef(function, bundled.path, function, bundled=True)
    copies = [str(Path(capture.path) / stage.file) for stage in capture.stages if stage.stage == "python"]
    for path in (str(recorded.get("path", "")), *copies):
        if path.endswith(".py") and Path(path).is_file():
            return KernelRef(capture.kernel, path, function)
    raise errors.UsageError(f"{capture.capture} has lost its kernel's file, which says how to run it")


def _planned(kernel: KernelRef, asked: Asked) -> Iterator[dict[str, Any]]:
    message = {
        "action": "arguments",
        "kernel": to_json(kernel),
        "sizes": [dict(size) for size in asked.sizes],
        "config": asked.config,
        "check": bool(asked.seeds),
        "constants": dict(asked.constants),
        "options": dict(asked.options),
        "target": to_json(asked.target),
    }
    with Child(message, python=asked.python, timeout=_START_SECONDS, cancel=asked.cancel) as child:
        found = 0
        for event in child:
            if event["event"] == "error":
                raise api.error_from(event)
            if event["event"] == "no_spec":
                raise _NoSpecError(event["message"])
            if event["event"] == "planned":
                found += 1
                yield event
        if child.ended.how == "interrupted":
            raise KeyboardInterrupt
        if not found:
            raise errors.ChildDied(f"{kernel.path} could not be looked into: {child.ended.message or 'it ended early'}")


def _request(kernel: KernelRef, asked: Asked, call: Mapping[str, Any]) -> Request:
    return Request(
        kernel,
        asked.target,
        signature=call["signature"],
        constants=asked.constants,
        options={**call["options"], **asked.options},
    )


def _identity(request: Request) -> str:
    return json.dumps([request.signature, to_json(request.options)], sort_keys=True)


def _compiled(request: Request, folder: Path, asked: Asked) -> Capture:
    capture = api.capture(
        request, folder, python=asked.python, command=list(asked.command), timeout=None, cancel=asked.cancel
    )
    if capture.status == "interrupted":
        raise KeyboardInterrupt
    if capture.status == "failed":
        message = capture.failure.message if capture.failure else "the compiler refused it"
        raise errors.CompileFailed(f"{request.kernel.name} did not compile for this size: {message} ({capture.path})")
    if capture.status != "ok":
        raise errors.ChildDied(
            f"the compile of {request.kernel.name} {capture.status}; {capture.path} holds what there is"
        )
    return capture


def _workers(jobs: int) -> int:
    return max(1, min(os.cpu_count() or 1, jobs))


# -- running it


@dataclass
class _Tally:
    """What is known of a unit so far."""

    cases: list[dict[str, Any]] = field(default_factory=list)
    timed: dict[str, Any] | None = None
    fault: str | None = None
    notes: list[str] = field(default_factory=list)
    before: Mapping[str, float] | None = None
    after: Mapping[str, float] | None = None


def run(
    units: Sequence[Unit], asked: Asked, on_progress: Callable[[str], None] = lambda text: None
) -> Generator[RunResult, None, None]:
    """Run the units one after the other; a result comes as soon as its unit is through.

    A child that a kernel brought down is replaced, and the unit's result carries the fault. Raises UsageError and
    Missing where nothing can be run at all.
    """
    with tempfile.TemporaryDirectory(prefix="tritonscope-run-") as folder:
        session = _Session(units, asked, Path(folder), on_progress)
        yield from session.results()


def called_with(unit: Unit) -> dict[str, Any]:
    """How a child is told which kernel of which file it launches, and with what in a spec's place."""
    return {
        "kernel": to_json(unit.kernel),
        "call": None if unit.call is None else [api.argument_as_json(each) for each in unit.call],
        "grid": list(unit.grid),
    }


def binary_files(capture: Capture, folder: Path) -> dict[str, Any]:
    """What a child takes to launch `capture`: its binary and metadata, put into `folder` as files that Triton reads."""
    extension = next(stage.stage for stage in capture.stages if stage.stage in ("cubin", "hsaco"))
    own = folder / Path(capture.path).name
    name = str(capture.metadata.get("name", capture.kernel))
    if not own.exists():
        own.mkdir()
        (own / f"kernel.{extension}").write_bytes(reader.stage_bytes(capture, extension))
        (own / "kernel.json").write_text(json.dumps(dict(capture.metadata)))
    return {
        "name": name,
        "binary": str(own / f"kernel.{extension}"),
        "metadata": str(own / "kernel.json"),
        "components": dict(capture.components),
        "triton_version": str(capture.versions.get("triton", "")),
    }


class _Session:
    def __init__(self, units: Sequence[Unit], asked: Asked, folder: Path, on_progress: Callable[[str], None]) -> None:
        self.units, self.asked, self.folder, self.on_progress = units, asked, folder, on_progress
        self.tallies = [_Tally() for _ in units]
        self.device: dict[str, Any] = {}
        self.ceilings: dict[str, Any] = {}
        self.jobs = [job for number, unit in enumerate(units) for job in self._jobs(number, unit)]
        self.current: dict[str, Any] | None = None

    def results(self) -> Iterator[RunResult]:
        done = 0
        pending = self.jobs
        while pending:
            for _ in self._child(pending):
                pending = self._pending(pending)
                while done < len(self.units) and not any(job["unit"] == done for job in pending):
                    yield self._result(done)
                    done += 1
            pending = self._pending(pending)
        while done < len(self.units):
            yield self._result(done)
            done += 1

    def _pending(self, jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [job for job in jobs if not job.get("ended") and self.tallies[job["unit"]].fault is None]

    def _jobs(self, number: int, unit: Unit) -> Iterator[dict[str, Any]]:
        interpretable = unit.interpretable and not unit.has_reference
        common = {"unit": number, **called_with(unit), "interpretable": interpretable}
        for case in unit.checked if self.asked.seeds else ():
            against = {"against": binary_files(self.asked.against, self.folder)} if self.asked.against else {}
            binary = binary_files(case.capture, self.folder)
            yield {**common, **binary, **against, "task": "check", "size": dict(case.size), "seeds": self.asked.seeds}
        if self.asked.timing and unit.timed:
            binary = binary_files(unit.main.capture, self.folder)
            beside = self.asked.beside
            if beside is not None and beside.path != unit.main.capture.path:
                binary["beside"] = {**binary_files(beside, self.folder), "name": beside.capture}
            how = {"repetitions": self.asked.repetitions, "baselines": self.asked.baselines}
            yield {**common, **binary, **how, "task": "time", "size": dict(unit.main.size)}

    def _child(self, jobs: list[dict[str, Any]]) -> Iterator[None]:
        """One child, with what is still to do; yields after each event that may have ended a unit."""
        numbered = [{**job, "number": number} for number, job in enumerate(jobs)]
        message = {
            "action": "run",
            "jobs": numbered,
            "timing": self.asked.timing,
            "ceilings": ceilings.known(),
        }
        needs_interpreter = any(job["interpretable"] for job in jobs) and self.asked.against is None
        env = {"TRITON_INTERPRET": "1"} if needs_interpreter else {}
        self.current = None
        with Child(
            message, python=self.asked.python, env=env, timeout=_START_SECONDS, cancel=self.asked.cancel
        ) as child:
            for event in child:
                if event["event"] == "error":
                    raise api.error_from(event)
                child.wait_anew(self.asked.timeout)
                self._take(event, jobs)
                if event["event"] in ("finished", "fault"):
                    yield
            ended = child.ended
        if ended.how == "interrupted":
            raise KeyboardInterrupt
        if self.current is not None and not self.current.get("ended"):
            self._blame(ended.how, ended.message)
            yield
        elif self._pending(jobs) == jobs:
            raise errors.ChildDied(
                f"the process that runs kernels came to nothing: {ended.message or 'it ended early'}"
            )

    def _blame(self, how: str, message: str) -> None:
        """The child ended in the middle of a job: that kernel did it."""
        assert self.current is not None
        tally = self.tallies[self.current["unit"]]
        if tally.fault is None:
            hung = f"it gave no sign of life for {self.asked.timeout:g} s; it hangs, or --timeout is too short"
            tally.fault = hung if how == "timeout" else f"it took its process down: {message or 'it ended early'}"

    def _take(self, event: Mapping[str, Any], jobs: list[dict[str, Any]]) -> None:
        kind = event["event"]
        if kind == "device":
            self.device = {name: value for name, value in event.items() if name != "event"}
        elif kind == "ceilings":
            self.ceilings = {name: value for name, value in event.items() if name != "event"}
            ceilings.remember(self.device["key"], self.ceilings)
        if "number" not in event:
            return
        job = jobs[event["number"]]
        tally = self.tallies[job["unit"]]
        if kind == "job":
            self.current = job
            self.on_progress(_doing(self.units[job["unit"]], job))
            if job["task"] == "time":
                tally.before = device_state.read(self.device.get("uuid", ""))
        elif kind == "checked":
            tally.cases.append(dict(event))
            if event["unjudged"] and event["unjudged"] not in tally.notes:
                tally.notes.append(event["unjudged"])
        elif kind == "skipped":
            tally.notes.append(f"not checked at {_size_text(event['size'])}: {event['message']}")
        elif kind == "timed":
            tally.timed = dict(event)
            tally.after = device_state.read(self.device.get("uuid", ""))
        elif kind == "fault":
            where = f" (at {_size_text(job['size'])})" if job["size"] else ""
            tally.fault = tally.fault or f"{event['message']}{where}"
        elif kind == "refused":
            message = f"{self.units[job['unit']].kernel.name}: {event['message']}"
            if len(self.units) == 1:
                raise api.error_from({"kind": event["kind"], "message": message})
            tally.fault = tally.fault or event["message"]  # the others can still run
        elif kind == "finished":
            job["ended"] = True

    def _result(self, number: int) -> RunResult:
        unit, tally = self.units[number], self.tallies[number]
        result = RunResult(
            capture=unit.main.capture.capture,
            kernel=unit.kernel.name,
            target=unit.main.capture.target,
            size=dict(unit.main.size),
            config=dict(unit.config),
            device=self.device,
            created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            command=self.asked.command,
            **_correctness(tally.cases),
            **(_timing(tally.timed, self.ceilings) if tally.timed else {}),
            clocks={"before": tally.before, "after": tally.after} if tally.timed else {},
            fault=tally.fault,
            notes=(*unit.notes, *tally.notes),
        )
        _keep(result, Path(unit.main.capture.path))
        return result


def interpret(kernel: KernelRef, asked: Asked, own_sizes: bool) -> Iterator[RunResult]:
    """Check `kernel` on the CPU with Triton's interpreter, a result for each size; raises as `run` does.

    `own_sizes`: at the sizes that the spec has for this, instead of those of `asked`.
    """
    message = {
        "action": "interpret",
        "kernel": to_json(kernel),
        "sizes": [dict(size) for size in asked.sizes],
        "own_sizes": own_sizes,
        "seeds": asked.seeds,
        "config": asked.config,
        "constants": dict(asked.constants),
        "options": dict(asked.options),
        "target": to_json(asked.target),
    }
    env = {"TRITON_INTERPRET": "1"}
    with Child(message, python=asked.python, env=env, timeout=_START_SECONDS, cancel=asked.cancel) as child:
        cases: list[dict[str, Any]] = []
        for event in child:
            child.wait_anew(max(asked.timeout, _START_SECONDS))
            if event["event"] == "error":
                raise api.error_from(event)
            if event["event"] == "checked":
                cases.append(event)
            if event["event"] == "finished":
                yield _interpreted(kernel, asked, cases)
                cases = []
        ended = child.ended
    if ended.how == "interrupted":
        raise KeyboardInterrupt
    if ended.how != "exited":
        raise errors.ChildDied(f"the interpreter's process ended badly with {kernel.name}: {ended.message}")


def _interpreted(kernel: KernelRef, asked: Asked, cases: list[dict[str, Any]]) -> RunResult:
    return RunResult(
        capture="",
        kernel=kernel.name,
        target="interpreter",
        size=dict(cases[0]["size"]),
        config={},
        device={},
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        command=asked.command,
        **_correctness(cases),
    )


# -- putting it together


def _correctness(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if not cases:
        return {}
    by_name: dict[str, list[Check]] = {}
    for case in cases:
        where = f" (at {_size_text(case['size'])}, seed {case['seed']})" if case["size"] else f" (seed {case['seed']})"
        for each in case["checks"]:
            detail = each["detail"] if each["passed"] else each["detail"] + where
            by_name.setdefault(each["name"], []).append(Check(each["name"], each["passed"], detail))
    checks = tuple(
        replace(next((each for each in found if not each.passed), found[0]), cases=len(found))
        for found in by_name.values()
    )
    errors_found = [{**error, "size": case["size"]} for case in cases for error in case["errors"]]
    worst = max(errors_found, key=lambda error: error["relative"], default=None)
    passed = all(each.passed for each in checks)
    judged = any(each.name == "reference" for each in checks)
    return {
        "checks": checks,
        "error": worst and {name: _finite(value) for name, value in worst.items()},
        "checked_by": cases[0]["by"],
        "correct": False if not passed else (True if judged else None),
    }


def _finite(value: Any) -> Any:
    """JSON has no infinity; an error that is one stands as null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _timing(timed: Mapping[str, Any], measured: Mapping[str, Any]) -> dict[str, Any]:
    kernel = timed["ms"].get("kernel")
    if kernel is None:
        return {}
    milliseconds = kernel["median"]
    tflops = timed["flops"] / milliseconds / 1e9 if timed["flops"] else None
    gbps = timed["bytes"] / milliseconds / 1e6 if timed["bytes"] else None
    most = measured.get("tflops", {}).get(timed["dtype"])
    return {
        "ms": kernel,
        "tflops": tflops,
        "gbps": gbps,
        "ceilings": {"tflops": most, "gbps": measured.get("gbps"), "dtype": timed["dtype"]},
        "of_ceiling": {
            "tflops": tflops / most if tflops and most else None,
            "gbps": gbps / measured["gbps"] if gbps and measured.get("gbps") else None,
        },
        "baselines": {
            name: {"ms": each["median"], "ratio": each["median"] / milliseconds, "q1": each["q1"], "q3": each["q3"]}
            for name, each in timed["ms"].items()
            if name != "kernel"
        },
        "grid": tuple(timed["grid"]),
        "occupancy": timed["occupancy"],
    }


def _keep(result: RunResult, folder: Path) -> None:
    """Add the result to the capture's runs; a folder that cannot be written to keeps none."""
    line = json.dumps({**to_json(result), "time": time.time()}, ensure_ascii=True, allow_nan=False) + "\n"
    try:
        with (folder / layout.RUNS).open("a", encoding="ascii") as file:
            file.write(line)
    except OSError:
        return


def _doing(unit: Unit, job: Mapping[str, Any]) -> str:
    verb = "checking" if job["task"] == "check" else "timing"
    return f"{verb} {unit.kernel.name} {_size_text(job['size'])}".rstrip()


def _size_text(size: Mapping[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in size.items())
