"""A kernel's spec, as docs/specs.md describes it: what it leaves out filled in, its mistakes put in a sentence."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tritonscope.engine.kernelfile import LoadedKernel
from tritonscope.errors import KernelFileError, UsageError

__all__ = ["DEFAULT_TOLERANCE", "OUTPUTS", "Size", "Spec", "has_spec"]

Size = Mapping[str, int | float | str]

#: What a spec may say of an output.
OUTPUTS = ("poisoned", "zeroed", "updated")

DEFAULT_TOLERANCE = (1e-2, "a guess: the spec has no tolerance")

# A norm hides one wrong element among millions: it may be this much farther off than the norm.
_MAX_OVER_TOLERANCE = 16.0


def has_spec(loaded: LoadedKernel) -> bool:
    """Whether the kernel's file names a spec."""
    return "spec" in loaded.spec


class Spec:
    """The spec of a kernel.

    Every method raises KernelFileError, naming the line of the user's file, where the spec itself fails.
    """

    def __init__(self, loaded: LoadedKernel) -> None:
        """Make the spec that TRITONSCOPE names; raises KernelFileError where there is none of that name."""
        self.path = loaded.ref.path
        name = loaded.spec["spec"]
        found = getattr(loaded.module, name, None) if isinstance(name, str) else None
        if found is None:
            raise KernelFileError(
                f"{Path(self.path).name} has no class {name!r}, which its TRITONSCOPE names as the spec of "
                f"{loaded.ref.function}; define it there ('tritonscope new-spec' writes one)"
            )
        self._spec = self._call("made", found) if isinstance(found, type) else found
        for method in ("arguments", "grid"):
            if not callable(getattr(self._spec, method, None)):
                raise KernelFileError(f"{self._place()} has no method {method!r}; see docs/specs.md")

    # -- sizes

    @property
    def sizes(self) -> dict[str, int | float | str]:
        """The names that --size takes, with their defaults."""
        return dict(getattr(self._spec, "sizes", {}))

    def size(self, given: Mapping[str, Any]) -> dict[str, int | float | str]:
        """`given` with defaults filled in; raises UsageError for a name that is none, or another kind of value."""
        sizes = self.sizes
        for name, value in given.items():
            if name not in sizes:
                there = ", ".join(sizes) or "none"
                raise UsageError(f"--size names {name}, which this kernel's spec does not have; it has {there}")
            if isinstance(sizes[name], str) != isinstance(value, str):
                raise UsageError(f"--size {name} takes values such as {sizes[name]!r}, not {value!r}")
        return {**sizes, **given}

    def checked(self, size: Size) -> list[dict[str, int | float | str]]:
        """The further sizes to check; a word that `size` chose, such as a dtype, holds for them too."""
        return self._sizes("checked", size)

    def interpreted(self, size: Size) -> list[dict[str, int | float | str]]:
        """The sizes for the interpreter."""
        return self._sizes("interpreted", size) or self.checked(size)

    def _sizes(self, name: str, size: Size) -> list[dict[str, int | float | str]]:
        chosen = {key: value for key, value in size.items() if value != self.sizes[key] and isinstance(value, str)}
        return [self.size({**each, **chosen}) for each in getattr(self._spec, name, ())]

    # -- calls

    def configs(self, size: Size) -> list[dict[str, Any]]:
        """Constexprs and options worth trying at `size`, best first."""
        configs = getattr(self._spec, "configs", ())
        return [dict(each) for each in (self._call("configs", configs, size) if callable(configs) else configs)]

    def arguments(self, size: Size, constants: Mapping[str, Any], device: str) -> dict[str, Any]:
        """Parameter name to tensor, number, descriptor or None; fresh at every call."""
        return dict(self._call("arguments", self._spec.arguments, dict(size), dict(constants), device))

    def grid(self, size: Size, constants: Mapping[str, Any]) -> tuple[int, int, int]:
        """The grid, filled up to three numbers."""
        grid = self._call("grid", self._spec.grid, dict(size), dict(constants))
        numbers = [int(each) for each in (grid if isinstance(grid, Sequence) else (grid,))]
        if not 1 <= len(numbers) <= 3:
            raise KernelFileError(f"{self._place()}.grid gives {grid!r}; it must be one to three numbers")
        x, y, z = [*numbers, 1, 1][:3]
        return x, y, z

    def outputs(self, size: Size) -> dict[str, str] | None:
        """How each output starts, None where the spec does not say."""
        outputs = getattr(self._spec, "outputs", None)
        found = self._call("outputs", outputs, dict(size)) if callable(outputs) else outputs
        for name, start in (found or {}).items():
            if start not in OUTPUTS:
                raise KernelFileError(f"{self._place()}.outputs calls {name} {start!r}; it is one of {OUTPUTS}")
        return dict(found) if found is not None else None

    # -- what comes out

    @property
    def deterministic(self) -> bool:
        """Whether two runs must agree bit for bit."""
        return bool(getattr(self._spec, "deterministic", True))

    @property
    def padding_is_free(self) -> bool:
        """Whether what lies between the rows of an output may be written."""
        return bool(getattr(self._spec, "padding_is_free", False))

    @property
    def has_reference(self) -> bool:
        """Whether the spec says what is right."""
        return callable(getattr(self._spec, "reference", None))

    def reference(self, size: Size, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Output name to a tensor in float64 or float32."""
        return dict(self._call("reference", self._spec.reference, dict(size), dict(arguments)))

    def tolerance(self, size: Size, output: str) -> tuple[float, str]:
        """The relative Frobenius error that `output` may have, and why."""
        if not callable(getattr(self._spec, "tolerance", None)):
            return DEFAULT_TOLERANCE
        found = self._call("tolerance", self._spec.tolerance, dict(size))
        error, why = found[output] if isinstance(found, Mapping) else found
        return float(error), str(why)

    def max_error(self, size: Size, output: str) -> float:
        """The largest error of one element, over it and the root mean square of the reference."""
        if not callable(getattr(self._spec, "max_error", None)):
            return _MAX_OVER_TOLERANCE * self.tolerance(size, output)[0]
        found = self._call("max_error", self._spec.max_error, dict(size))
        return float(found[output] if isinstance(found, Mapping) else found)

    # -- what it costs

    def flops(self, size: Size) -> float | None:
        """Operations, None where the spec does not say."""
        return self._cost("flops", size)

    def bytes(self, size: Size) -> float | None:
        """Bytes that must move, None where the spec does not say."""
        return self._cost("bytes", size)

    def _cost(self, name: str, size: Size) -> float | None:
        method = getattr(self._spec, name, None)
        return float(self._call(name, method, dict(size))) if callable(method) else None

    def baselines(self, size: Size, arguments: Mapping[str, Any]) -> dict[str, Callable[[], object]]:
        """Other implementations on the same tensors, by name."""
        method = getattr(self._spec, "baselines", None)
        return dict(self._call("baselines", method, dict(size), dict(arguments))) if callable(method) else {}

    # -- mistakes

    def _place(self) -> str:
        return f"{Path(self.path).name}: {type(self._spec).__name__}"

    def _call(self, name: str, function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except UsageError:
            raise
        except Exception as error:
            frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
            where = f", {Path(frames[0].filename).name} line {frames[0].lineno}" if frames else ""
            raise KernelFileError(
                f"the spec of {Path(self.path).name} failed in {name}{where}: {type(error).__name__}: {error}"
            ) from error
