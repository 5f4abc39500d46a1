"""A captured binary, loaded as it is and launched: nothing is compiled but Triton's own few lines that call it."""

import ast
import ctypes
import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tritonscope.errors import Missing, UsageError

__all__ = ["Fault", "Launchable", "constants_of", "synchronize"]


class Fault(Exception):
    """The kernel could not be launched, or the device refused to go on. `fatal`: this process can launch no more."""

    def __init__(self, message: str, fatal: bool) -> None:
        super().__init__(message)
        self.fatal = fatal


class Launchable:
    """A compiled kernel on the device.

    `components` are those of its cache key; `binary` and `metadata` the files that Triton's own cache would hold.
    Raises Missing where this machine cannot run it, and Fault where the device does not take it.
    """

    def __init__(self, binary: str, metadata: str, components: Mapping[str, Any], version: str) -> None:
        import triton
        from triton.compiler.compiler import CompiledKernel

        data = json.loads(Path(metadata).read_text(encoding="utf-8"))
        _check_device(data["target"])
        if version != triton.__version__:
            raise Missing(
                f"it was compiled by Triton {version}, and its arguments are laid out for that, but this is Triton "
                f"{triton.__version__}; name a Python that has {version} with --python, or compile it anew"
            )
        self.names: list[str] = list(components["parameters"])
        self._constants = components["constants"]
        source = SimpleNamespace(
            fn=SimpleNamespace(arg_names=self.names),
            signature={name: _type(components["signature"][name]) for name in self.names},
            constants={},
        )
        self.threads = int(data["num_warps"]) * int(data.get("warp_size", data["target"]["warp_size"]))
        with _faults():
            self.shared = int(data["shared"])
            self._kernel = CompiledKernel(source, {Path(path).name: path for path in (metadata, binary)}, data["hash"])
            self._kernel._init_handles()

    def launch(self, grid: tuple[int, int, int], arguments: Mapping[str, Any]) -> None:
        """Start it with `arguments` by name; returns before it ends. Raises Fault."""
        if 0 in grid:
            return
        with _faults():
            self._kernel[grid](*(arguments.get(name) for name in self.names))

    def occupancy(self) -> dict[str, Any] | None:
        """{blocks, warps, of}: blocks and warps on a multiprocessor at once, of the most warps; None if not known."""
        import torch

        if torch.version.hip is not None:
            return None
        blocks = ctypes.c_int()
        code = ctypes.CDLL("libcuda.so.1").cuOccupancyMaxActiveBlocksPerMultiprocessor(
            ctypes.byref(blocks), ctypes.c_void_p(self._kernel.function), self.threads, ctypes.c_size_t(self.shared)
        )
        most = torch.cuda.get_device_properties(0).max_threads_per_multi_processor // 32
        return None if code else {"blocks": blocks.value, "warps": blocks.value * self.threads // 32, "of": most}


def synchronize() -> None:
    """Wait for the device; raises Fault where a launch before it failed."""
    import torch

    with _faults():
        torch.cuda.synchronize()


class _faults:  # noqa: N801 - reads as a statement
    """Turns what a launch raises into a Fault."""

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        import torch
        from triton.runtime.errors import OutOfResources

        if isinstance(error, OutOfResources):
            raise Fault(f"it could not be launched: {error}", fatal=False) from error
        if isinstance(error, torch.cuda.OutOfMemoryError):
            raise Fault("the device has too little memory for this size", fatal=False) from error
        if isinstance(error, RuntimeError):
            lines = str(error).splitlines() or [""]
            raise Fault(lines[0].removeprefix("Triton Error [CUDA]: "), fatal=True) from error
        if isinstance(error, Exception):  # metadata of a compile that left something out, say
            raise Fault(f"Triton could not launch it: {type(error).__name__}: {error}", fatal=False) from error


def _check_device(target: Mapping[str, Any]) -> None:
    """Say before a launch what the driver would say in three words, or not at all."""
    import torch

    hip = torch.version.hip is not None
    properties = torch.cuda.get_device_properties(0)
    here: Any = properties.gcnArchName.partition(":")[0] if hip else properties.major * 10 + properties.minor
    backend = "hip" if hip else "cuda"
    wanted = target["arch"]
    if (backend, here) == (target["backend"], wanted):
        return
    names = [f"sm_{arch}" if kind == "cuda" else arch for kind, arch in ((target["backend"], wanted), (backend, here))]
    # Without an "a" or "f" in its name, a binary runs on later minor versions; Triton's carry it from sm_90 on.
    if backend == target["backend"] == "cuda" and wanted < 90 and wanted // 10 == here // 10 and wanted <= here:
        return
    raise Missing(
        f"it was compiled for {names[0]}, and the GPU here, {properties.name}, is {names[1]}; "
        f"compile it with --target {names[1]}"
    )


def _type(recorded: Any) -> Any:
    """A parameter's type as Triton had it: text, or a tuple of such."""
    if isinstance(recorded, str):
        return recorded
    try:
        return ast.literal_eval(recorded["repr"])
    except (ValueError, SyntaxError, KeyError, TypeError):
        raise UsageError("the capture's signature holds something that is no type; compile it again") from None


def constants_of(components: Mapping[str, Any]) -> dict[str, Any]:
    """The constexprs and options that a kernel was compiled with, as far as they are plain values."""
    values = {}
    for name, text in {**components["options"], **components["constants"]}.items():
        try:
            values[name] = ast.literal_eval(text) if isinstance(text, str) else text
        except (ValueError, SyntaxError):
            values[name] = text
    return values
