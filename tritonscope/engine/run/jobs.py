"""What the parent asks of the child that runs kernels: signatures of sizes, runs on the device, runs interpreted."""

import importlib
import json
import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from tritonscope.engine import kernelfile
from tritonscope.engine.events import Events
from tritonscope.engine.run import ceilings, correctness, timing
from tritonscope.engine.run.call import known_constants, misfit, signature_text, tensor_of
from tritonscope.engine.run.given import GivenCall
from tritonscope.engine.run.launch import Fault, Launchable, constants_of, synchronize
from tritonscope.engine.run.spec import Size, Spec, has_spec
from tritonscope.errors import Missing, UsageError
from tritonscope.model import KernelRef, Target

__all__ = ["arguments", "interpret", "prepare", "profile", "run"]

# A program takes the interpreter about a millisecond: more than this is not worth waiting for.
_MOST_INTERPRETED = 4096


def prepare() -> None:
    """Import PyTorch and wake the device, while it is not known yet what to run."""
    torch = _torch()
    if torch.cuda.is_available():
        torch.cuda.init()


def arguments(message: Mapping[str, Any], events: Events) -> None:
    """For each of `message["sizes"]`, which signature a launch has: "planned" {size, config, calls, has_reference}.

    A call is {size, signature, options}: the size itself first, then those to check. "no_spec" where the kernel has
    none. Raises what the spec raises.
    """
    _torch()
    loaded = kernelfile.load(KernelRef(**message["kernel"]))
    if not has_spec(loaded):
        events.send("no_spec", message=_no_spec(loaded.ref))
        return
    spec = Spec(loaded)
    for given in message["sizes"]:
        size = spec.size(given)
        checked = spec.checked(size) if message["check"] else []
        for number, config in enumerate(_configs(loaded, spec, size, message["config"])):
            # Another size may want another configuration: of each its own, the best or the one of that number.
            others = [_configs(loaded, spec, each, None if message["config"] is None else "all") for each in checked]
            own = [each[min(_index(message["config"], number), len(each) - 1)] for each in others]
            calls = [
                _call(loaded, spec, each, chosen, message)
                for each, chosen in zip([size, *checked], [config, *own], strict=True)
            ]
            events.send("planned", size=size, config=config, calls=calls, has_reference=spec.has_reference)


def _configs(loaded: kernelfile.LoadedKernel, spec: Spec, size: Size, which: int | str | None) -> list[dict[str, Any]]:
    """The spec's own, else the autotuner's."""
    there = spec.configs(size) or [dict(config) for config in loaded.configs]
    if which == "all":
        return there or [{}]
    if which is None:
        return there[:1] or [{}]
    if not 0 <= int(which) < len(there):
        raise UsageError(f"--config {which} is not there; there are {len(there)}, numbered from 0")
    return [there[int(which)]]


def _index(which: int | str | None, number: int) -> int:
    """The number of a configuration among all of them, where it is number `number` of those that were asked for."""
    return number if which in (None, "all") else int(which or 0)


def _call(
    loaded: kernelfile.LoadedKernel, spec: Spec, size: Size, config: Mapping[str, Any], message: Mapping[str, Any]
) -> dict[str, Any]:
    parameters = {param.name for param in loaded.fn.params}
    constants = known_constants(loaded, Target(**message["target"]), config, message["constants"], message["options"])
    found = _decided(loaded, spec.arguments(size, constants, "meta"), constants)
    for name, text in message["constants"].items():
        if name in found and str(found[name]) != str(constants.get(name)):
            raise UsageError(f"--set {name}={text} is not what the sizes say ({found[name]}); use --size instead")
    constexprs = {name: value for name, value in config.items() if name in parameters and name not in found}
    return {
        "size": dict(size),
        "signature": signature_text(loaded.fn, {**found, **constexprs}),
        "options": {name: str(value) for name, value in config.items() if name not in parameters},
    }


def _decided(loaded: kernelfile.LoadedKernel, given: dict[str, Any], constants: Mapping[str, Any]) -> dict[str, Any]:
    """`given` with what the kernel's heuristics make of it, as a launch would."""
    for name, heuristic in loaded.heuristics:
        given = {**given, name: heuristic({**constants, **given})}
    return given


def run(message: Mapping[str, Any], events: Events) -> None:
    """Run each of `message["jobs"]` on the device.

    Sends "device" once, "ceilings" where the parent does not know them, and for each job "job", then "checked" and
    "timed" as they come, or "fault", then "finished". A fatal fault ends the child.
    """
    torch = _torch_on_device("'tritonscope run --interpret' checks small sizes without one")
    device = _device()
    events.send("device", **device)
    if message["timing"]:
        found = message["ceilings"].get(device["key"]) or ceilings.measure_ceilings(lambda: events.send("alive"))
        events.send("ceilings", **found)
    for job in message["jobs"]:
        events.send("job", number=job["number"])
        try:
            _one(job, events)
        except Fault as fault:
            events.send("fault", number=job["number"], message=str(fault))
            if fault.fatal:
                return
        except (UsageError, Missing) as error:
            events.send("refused", number=job["number"], kind=type(error).__name__, message=str(error))
        torch.cuda.empty_cache()
        events.send("finished", number=job["number"])


def profile(message: Mapping[str, Any], events: Events) -> None:
    """Launch the one job of the file `message["job"]` as often as `message["launches"]` says, for a profiler to watch.

    Sends "device", then "launched" or "fault".
    """
    _torch_on_device("profile where there is one")
    events.send("device", **_device())
    job = json.loads(Path(message["job"]).read_text(encoding="utf-8"))
    try:
        launchable = Launchable(job["binary"], job["metadata"], job["components"], job["triton_version"])
        spec, constants = _spec(job), constants_of(job["components"])
        size = spec.size(job["size"])
        given = _given(job, spec, size, constants)
        for _ in range(message["launches"]):
            launchable.launch(spec.grid(size, constants), given)
            synchronize()
    except Fault as fault:
        events.send("fault", message=str(fault))
        return
    events.send("launched", size=size)


def _one(job: Mapping[str, Any], events: Events) -> None:
    launchable = Launchable(job["binary"], job["metadata"], job["components"], job["triton_version"])
    spec = _spec(job)
    constants = constants_of(job["components"])
    if job["task"] == "check":
        _check(job, launchable, spec, constants, events)
    else:
        _time(job, launchable, spec, constants, events)


def _spec(job: Mapping[str, Any]) -> Spec | GivenCall:
    if job["call"] is not None:
        return GivenCall(job["call"], job["grid"], job["components"])
    loaded = kernelfile.load_for_spec(KernelRef(**job["kernel"]))
    if not has_spec(loaded):
        raise UsageError(_no_spec(loaded.ref))
    return Spec(loaded)


# -- checking


def _check(
    job: Mapping[str, Any], launchable: Launchable, spec: Spec | GivenCall, constants: Mapping[str, Any], events: Events
) -> None:
    torch = _torch()
    size = spec.size(job["size"])
    grid = spec.grid(size, constants)
    other = _against(job)
    for seed in job["seeds"]:
        torch.manual_seed(seed)
        given = spec.arguments(size, constants, "cuda")
        if clause := misfit(job["components"], given):
            events.send("skipped", number=job["number"], size=size, message=clause)
            return
        reference, by = _reference(spec, size, grid, constants, other, job)

        def launch(called: Mapping[str, Any]) -> None:
            launchable.launch(grid, called)
            synchronize()
            events.send("alive")

        outcome = correctness.check(launch, given, _rules(spec, size, given), reference)
        _send_checked(size, seed, by, outcome, events, number=job["number"])


def _rules(spec: Spec | GivenCall, size: Size, given: Mapping[str, Any]) -> correctness.Rules:
    outputs = spec.outputs(size)
    if outputs is None:
        outputs = {name: "updated" for name, argument in given.items() if tensor_of(argument) is not None}
    for name in outputs:
        if tensor_of(given.get(name)) is None:
            raise UsageError(f"the spec calls {name} an output, and gives no tensor for it")
    return correctness.Rules(
        outputs,
        spec.deterministic,
        spec.padding_is_free,
        lambda name: (*spec.tolerance(size, name), spec.max_error(size, name)),
    )


def _against(job: Mapping[str, Any]) -> Launchable | None:
    against = job.get("against")
    if against is None:
        return None
    return Launchable(against["binary"], against["metadata"], against["components"], against["triton_version"])


def _reference(
    spec: Spec | GivenCall,
    size: Size,
    grid: tuple[int, int, int],
    constants: Mapping[str, Any],
    other: Launchable | None,
    job: Mapping[str, Any],
) -> tuple[correctness.Reference | None, str | None]:
    """What is right, and who says so."""
    if other is not None:
        own = constants_of(job["against"]["components"])
        return _outcome(lambda called: other.launch(spec.grid(size, own), called), spec, size), job["against"]["name"]
    if spec.has_reference:
        return (lambda before: spec.reference(size, before)), "the spec's reference"
    if job["interpretable"] and grid[0] * grid[1] * grid[2] <= _MOST_INTERPRETED:
        return _outcome(_interpreter(job["kernel"], grid, constants), spec, size), "Triton's interpreter"
    return None, None


def _outcome(launch: Callable[[Mapping[str, Any]], None], spec: Spec | GivenCall, size: Size) -> correctness.Reference:
    """What another implementation leaves in the outputs."""

    def reference(before: Mapping[str, Any]) -> dict[str, Any]:
        called = {name: correctness.copied(argument) for name, argument in before.items()}
        outputs = _rules(spec, size, called).outputs
        for name, start in outputs.items():
            if start == "zeroed":
                tensor_of(called[name]).zero_()
        launch(called)
        return {name: tensor_of(called[name]) for name in outputs}

    return reference


def _interpreter(
    kernel: Mapping[str, Any], grid: tuple[int, int, int], constants: Mapping[str, Any]
) -> Callable[[Mapping[str, Any]], None]:
    def launch(called: Mapping[str, Any]) -> None:
        try:
            loaded, interpreted = kernelfile.load_interpreted(KernelRef(**kernel))
        except UsageError as error:  # Gluon, say
            raise correctness.UnjudgedError(str(error)) from error
        _interpreted(loaded, interpreted, grid, constants)(called)

    return launch


def _interpreted(
    loaded: kernelfile.LoadedKernel, interpreted: Any, grid: tuple[int, int, int], constants: Mapping[str, Any]
) -> Callable[[Mapping[str, Any]], None]:
    """A launch by Triton's interpreter, which takes constexprs as it takes arguments, and no options."""
    constexprs = {
        param.name: constants[param.name]
        for param in loaded.fn.params
        if param.is_constexpr and param.name in constants
    }

    def launch(called: Mapping[str, Any]) -> None:
        try:
            interpreted[grid](**{**constexprs, **called})
        except Exception as error:
            said = str(error) or type(error).__name__
            raise correctness.UnjudgedError(f"Triton's interpreter cannot run it: {said.splitlines()[0]}") from error

    return launch


def interpret(message: Mapping[str, Any], events: Events) -> None:
    """Check `message["kernel"]` at each of the sizes on the CPU: "job", then "checked" for each seed, then "finished".

    TRITON_INTERPRET must be set. Sizes are those given, or those that the spec has for the interpreter.
    """
    _torch()
    loaded, interpreted = kernelfile.load_interpreted(KernelRef(**message["kernel"]))
    if not has_spec(loaded):
        raise UsageError(_no_spec(loaded.ref))
    spec = Spec(loaded)
    sizes = [spec.size(each) for each in message["sizes"]]
    if message["own_sizes"]:
        sizes = spec.interpreted(sizes[0]) or sizes
    for number, size in enumerate(sizes):
        events.send("job", number=number)
        config = _configs(loaded, spec, size, message["config"])[0]
        constants = known_constants(
            loaded, Target(**message["target"]), config, message["constants"], message["options"]
        )
        for seed in message["seeds"]:
            try:
                _interpret_one(loaded, interpreted, spec, size, constants, seed, events)
            except correctness.UnjudgedError as error:
                raise UsageError(f"{loaded.ref.name} at {dict(size)}: {error}") from error
        events.send("finished", number=number)


def _interpret_one(
    loaded: kernelfile.LoadedKernel,
    interpreted: Any,
    spec: Spec,
    size: Size,
    constants: Mapping[str, Any],
    seed: int,
    events: Events,
) -> None:
    _torch().manual_seed(seed)
    given = _decided(loaded, spec.arguments(size, constants, "cpu"), constants)
    launch = _interpreted(loaded, interpreted, spec.grid(size, {**constants, **given}), constants)
    reference = (lambda before: spec.reference(size, before)) if spec.has_reference else None
    by = "the spec's reference" if reference else None
    _send_checked(size, seed, by, correctness.check(launch, given, _rules(spec, size, given), reference), events)


def _send_checked(
    size: Size,
    seed: int,
    by: str | None,
    outcome: correctness.Outcome,
    events: Events,
    **fields: Any,
) -> None:
    events.send(
        "checked",
        size=size,
        seed=seed,
        by=None if outcome.unjudged else by,
        unjudged=outcome.unjudged,
        checks=[asdict(each) for each in outcome.checks],
        errors=[each.as_json() for each in outcome.errors],
        **fields,
    )


# -- timing


def _time(
    job: Mapping[str, Any], launchable: Launchable, spec: Spec | GivenCall, constants: Mapping[str, Any], events: Events
) -> None:
    size = spec.size(job["size"])
    grid = spec.grid(size, constants)
    given = _given(job, spec, size, constants)
    sets = [given]
    for _ in range(timing.copies_worth_rotating(_bytes(given)) - 1):
        sets.append(spec.arguments(size, constants, "cuda"))
    contenders: dict[str, list[Callable[[], object]]] = {
        "kernel": [partial(launchable.launch, grid, each) for each in sets]
    }
    if (beside := job.get("beside")) is not None:
        other = Launchable(beside["binary"], beside["metadata"], beside["components"], beside["triton_version"])
        if clause := misfit(beside["components"], given):
            raise UsageError(f"{beside['name']} does not take what this one does: {clause}; leave --beside out")
        other_grid = spec.grid(size, constants_of(beside["components"]))
        contenders[beside["name"]] = [partial(other.launch, other_grid, each) for each in sets]
    for each in sets if job["baselines"] else ():
        for name, call in spec.baselines(size, each).items():
            contenders.setdefault(name, []).append(call)
    times = timing.measure(contenders, job["repetitions"], lambda: events.send("alive"))
    events.send(
        "timed",
        number=job["number"],
        size=size,
        ms={name: _summary(each) for name, each in times.items()},
        flops=spec.flops(size),
        bytes=spec.bytes(size),
        dtype=_dtype(given),
        occupancy=launchable.occupancy(),
        grid=list(grid),
    )


def _given(job: Mapping[str, Any], spec: Spec | GivenCall, size: Size, constants: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that the binary takes; raises UsageError where those of `size` are others."""
    _torch().manual_seed(0)
    given = spec.arguments(size, constants, "cuda")
    if clause := misfit(job["components"], given):
        raise UsageError(f"{clause}; name the kernel instead of the capture, and --size compiles what it takes")
    return given


def _bytes(given: Mapping[str, Any]) -> int:
    tensors = [tensor for argument in given.values() if (tensor := tensor_of(argument)) is not None]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _dtype(given: Mapping[str, Any]) -> str | None:
    """The type of the first input of floats, as the ceilings call it."""
    for argument in given.values():
        tensor = tensor_of(argument)
        if tensor is not None and tensor.dtype.is_floating_point:
            names = {
                "float16": "fp16",
                "bfloat16": "bf16",
                "float32": "tf32",
                "float8_e4m3fn": "fp8",
                "float8_e5m2": "fp8",
            }
            return names.get(str(tensor.dtype).rpartition(".")[2])
    return None


def _summary(times: list[float]) -> dict[str, float | int]:
    quartiles = statistics.quantiles(times, n=4) if len(times) > 1 else [times[0]] * 3
    return {"median": quartiles[1], "q1": quartiles[0], "q3": quartiles[2], "n": len(times)}


# -- the machine


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise Missing(
            f"{sys.executable} cannot import torch ({error}), which running kernels takes; install it there with "
            "'pip install torch', or name an environment that has it with --python PATH"
        ) from error


def _torch_on_device(instead: str) -> Any:
    """PyTorch with a device that it can use, and Triton's scratch memory from it; `instead` is what to do without."""
    torch = _torch()
    if not torch.cuda.is_available():
        raise Missing(f"there is no GPU here that PyTorch can use; {instead}")
    import triton

    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    return torch


def _device() -> dict[str, Any]:
    import torch
    import triton

    properties = torch.cuda.get_device_properties(0)
    uuid = str(getattr(properties, "uuid", ""))
    return {
        "key": f"{properties.name} {uuid} torch {torch.__version__}",
        "name": properties.name,
        "uuid": uuid,
        "capability": f"{properties.major}.{properties.minor}",
        "multiprocessors": properties.multi_processor_count,
        "memory": properties.total_memory,
        "torch": torch.__version__,
        "triton": triton.__version__,
        "python": sys.version.partition(" ")[0],
    }


def _no_spec(ref: KernelRef) -> str:
    return (
        f"{ref.path} has no spec for {ref.function}, so it is not known what to call it with; "
        f"'tritonscope new-spec {ref.path}:{ref.function}' writes one, or give --call and --grid with a capture"
    )
