"""Whether what a kernel computes is right, and what else it does to memory."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tritonscope.engine.run.buffers import PATTERNS, Guarded, guard, unwritten, with_tensor
from tritonscope.engine.run.call import tensor_of
from tritonscope.errors import KernelFileError

__all__ = ["Check", "Error", "Outcome", "Reference", "Rules", "UnjudgedError", "check", "compare", "copied"]

Launch = Callable[[Mapping[str, Any]], None]
Reference = Callable[[Mapping[str, Any]], Mapping[str, Any]]

_AT_A_TIME = 1 << 26  # elements that are compared in float64 at once


@dataclass(frozen=True)
class Check:
    """One question and its answer, for one set of inputs."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Error:
    """How far one output is from its reference.

    `relative` is the Frobenius norm of the difference over that of the reference; `max_abs` the largest difference of
    one element, at `worst_index`; `max_relative` the largest difference over |reference| + its root mean square: what
    rounding does to an element is in proportion to it, and an element near 0 is off by what the others in its sum are.
    """

    output: str
    relative: float
    max_abs: float
    max_relative: float
    worst_index: tuple[int, ...]

    def as_json(self) -> dict[str, Any]:
        """The fields as plain data."""
        return {**asdict(self), "worst_index": list(self.worst_index)}


class UnjudgedError(Exception):
    """What should say what is right cannot; the message is a clause about why."""


@dataclass(frozen=True)
class Outcome:
    """What came of one set of inputs; `unjudged` tells why nothing said what is right, where something should have."""

    checks: tuple[Check, ...]
    errors: tuple[Error, ...]
    unjudged: str | None = None


@dataclass(frozen=True)
class Rules:
    """How each output starts, whether the kernel is deterministic, and an output's `(tolerance, why, max error)`.

    `padding_is_free`: the kernel may write what lies between the rows of an output.
    """

    outputs: Mapping[str, str]
    deterministic: bool
    padding_is_free: bool
    tolerance: Callable[[str], tuple[float, str, float]]


def check(launch: Launch, arguments: Mapping[str, Any], rules: Rules, reference: Reference | None) -> Outcome:
    """Launch twice with `arguments` and judge what comes out; `launch` returns when the kernel has ended.

    Outputs lie between guards, poisoned with one pattern the first time and another the second. `reference` gets the
    arguments as they were, and gives the outputs that it knows. What `launch` raises passes through.
    """
    before = {name: copied(argument) for name, argument in arguments.items()}
    outputs = {name: guard(tensor_of(arguments[name]), rules.padding_is_free) for name in rules.outputs}
    called = {**arguments, **{name: with_tensor(arguments[name], each.tensor) for name, each in outputs.items()}}

    def run(pattern: int) -> dict[str, Any]:
        for name, output in outputs.items():
            output.fill(pattern, _start(rules.outputs[name], before[name]))
        launch(called)
        return {name: output.bits().clone() for name, output in outputs.items()}

    checks: list[Check] = []
    first = run(PATTERNS[0])
    checks += _damage(outputs, PATTERNS[0])
    values = {name: output.tensor.clone() for name, output in outputs.items()}
    second = run(PATTERNS[1])
    if all(each.passed for each in checks):
        checks = list(_damage(outputs, PATTERNS[1]))
    poisoned = [name for name, start in rules.outputs.items() if start == "poisoned"]
    checks += _written(first, second, poisoned)
    if rules.deterministic:
        checks += _same(first, second, lambda: run(PATTERNS[0]), poisoned)
    checks += _untouched(arguments, before, rules.outputs)
    wanted: Mapping[str, Any] = {}
    unjudged = None
    if reference is not None:
        try:
            wanted = reference(before)
        except UnjudgedError as error:
            unjudged = str(error)
    errors = [compare(name, values[name], wanted[name]) for name in rules.outputs if name in wanted]
    checks += [_close(error, rules) for error in errors]
    checks += _finite(values, wanted)
    return Outcome(tuple(checks), tuple(errors), unjudged)


def copied(argument: Any) -> Any:
    tensor = tensor_of(argument)
    return argument if tensor is None else with_tensor(argument, _clone(tensor))


def _clone(tensor: Any) -> Any:
    """A copy with the same strides."""
    import torch

    copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return copy.copy_(tensor)


def _start(start: str, before: Any) -> Any:
    return {"poisoned": None, "zeroed": 0}[start] if start != "updated" else tensor_of(before)


# -- checks


def _damage(outputs: Mapping[str, Guarded], pattern: int) -> Iterator[Check]:
    found = [f"{name}: {where}" for name, output in outputs.items() if (where := output.damage(pattern))]
    yield Check("bounds", not found, "; ".join(found) or "nothing was written beside the outputs")


def _written(first: Mapping[str, Any], second: Mapping[str, Any], poisoned: list[str]) -> Iterator[Check]:
    found = []
    for name in poisoned:
        missed = unwritten(first[name], second[name])
        if count := int(missed.sum()):
            index = tuple(int(each) for each in missed.nonzero()[0])
            found.append(f"{name}: {count} of {missed.numel()} elements were not written, the first at {index}")
    if poisoned:
        yield Check("written", not found, "; ".join(found) or "every element of the outputs was written")


def _same(
    first: Mapping[str, Any], second: Mapping[str, Any], again: Callable[[], Mapping[str, Any]], poisoned: list[str]
) -> Iterator[Check]:
    moved = [name for name in first if bool((first[name] != second[name]).any())]
    # What was not written differs by its poison; that is told already.
    moved = [name for name in moved if name not in poisoned or _differs(first[name], second[name])]
    if not moved:
        yield Check("repeats", True, "two runs agree bit for bit")
        return
    third = again()
    if all(bool((first[name] == third[name]).all()) for name in moved):
        yield Check("repeats", False, f"{', '.join(moved)} depends on what the output held before; it must not be read")
        return
    counts = ", ".join(
        f"{int((first[name] != third[name]).sum())} of {first[name].numel()} in {name}" for name in moved
    )
    yield Check("repeats", False, f"runs on the same inputs differ ({counts} elements): possibly a race")


def _differs(first: Any, second: Any) -> bool:
    return bool(((first != second) & ~unwritten(first, second)).any())


def _untouched(arguments: Mapping[str, Any], before: Mapping[str, Any], outputs: Mapping[str, str]) -> Iterator[Check]:
    """An input that the kernel wrote to is an output that the spec does not name, or a wild store."""
    import torch

    changed = []
    for name, argument in arguments.items():
        tensor = tensor_of(argument)
        if tensor is None or name in outputs:
            continue
        if not torch.equal(_bytes(tensor), _bytes(tensor_of(before[name]))):
            changed.append(name)
    yield Check("inputs", not changed, f"{', '.join(changed)} changed" if changed else "the inputs are as they were")


def _bytes(tensor: Any) -> Any:
    import torch

    return tensor.contiguous().view(torch.uint8) if tensor.dim() else tensor.reshape(1).view(torch.uint8)


def _finite(values: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[Check]:
    """NaN and Inf are wrong unless the reference has them in the same place."""
    import torch

    found = []
    for name, value in values.items():
        if not value.dtype.is_floating_point:
            continue
        bad = ~torch.isfinite(value.float())
        if name in wanted:
            bad &= torch.isfinite(wanted[name])
        if count := int(bad.sum()):
            index = tuple(int(each) for each in bad.nonzero()[0])
            found.append(f"{name}: {count} elements are NaN or infinite, the first at {index}")
    yield Check("finite", not found, "; ".join(found) or "no NaN and no infinity that the reference does not have")


def _close(error: Error, rules: Rules) -> Check:
    tolerance, why, max_error = rules.tolerance(error.output)
    passed = error.relative <= tolerance and error.max_relative <= max_error  # false for NaN
    detail = (
        f"{error.output}: relative error {error.relative:.2e} (at most {tolerance:.1e}: {why}), largest "
        f"{error.max_abs:.2e} at {error.worst_index}, and {error.max_relative:.2e} of an element and the root mean "
        f"square (at most {max_error:.1e})"
    )
    return Check("reference", passed, detail)


def compare(output: str, value: Any, wanted: Any) -> Error:
    """The error of `value` against `wanted`: ||value - wanted|| / ||wanted||, and the largest of all.

    NaN, and an infinity that is not in both, is an infinite error. Raises KernelFileError where the shapes differ.
    """
    import torch

    if tuple(value.shape) != tuple(wanted.shape):
        shapes = f"{tuple(value.shape)}, and the spec's reference for it is {tuple(wanted.shape)}"
        raise KernelFileError(f"{output} is {shapes}; mend the spec")
    wanted = wanted.to(value.device)
    flat, flat_wanted = value.reshape(-1), wanted.reshape(-1)
    squares, wanted_squares, worst, worst_at = 0.0, 0.0, 0.0, 0
    for start, difference, right in _differences(flat, flat_wanted):
        squares += float((difference * difference).sum())
        wanted_squares += float((right * right).sum())
        largest, at = difference.max(0)
        if float(largest) > worst:
            worst, worst_at = float(largest), start + int(at)
    norm = wanted_squares**0.5
    mean = norm / max(flat.numel(), 1) ** 0.5
    max_relative = 0.0
    for _, difference, right in _differences(flat, flat_wanted) if worst else ():
        max_relative = max(max_relative, float((difference / (right.abs() + mean)).max()))
    index = tuple(int(each) for each in torch.unravel_index(torch.tensor(worst_at), wanted.shape)) if worst else ()
    return Error(output, squares**0.5 / norm if norm else squares**0.5, worst, max_relative, index)


def _differences(value: Any, wanted: Any) -> Iterator[tuple[int, Any, Any]]:
    """(first index, |value - wanted|, wanted) in float64, a part at a time; 0 for what in wanted is not finite."""
    import torch

    for start in range(0, value.numel(), _AT_A_TIME):
        mine, right = value[start : start + _AT_A_TIME].double(), wanted[start : start + _AT_A_TIME].double()
        # Both infinite: their difference would be NaN.
        difference = torch.where(mine == right, 0.0, (mine - right).abs())
        difference = torch.where(torch.isfinite(difference), difference, torch.inf)
        yield start, difference, torch.where(torch.isfinite(right), right, 0.0)
