"""Triton without a GPU: a driver that only knows its target, and what a call of a kernel would compile.

Runs in the child. Everything of Triton's that is replaced here is put back on the way out.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

__all__ = ["Recorded", "TargetDriver", "compile_only_driver", "record"]

_ABSENT = object()
_INT32_MAX = 2**31 - 1


@dataclass(frozen=True)
class Recorded:
    """What Triton was about to compile: an ASTSource (or Gluon's), its GPUTarget, the complete options."""

    src: Any
    target: GPUTarget
    options: dict[str, Any]


class TargetDriver(DriverBase):  # type: ignore[misc]
    """Knows its target, and no device."""

    def __init__(self, target: GPUTarget) -> None:
        self.target = target

    @classmethod
    def is_active(cls) -> bool:
        return True

    def get_current_target(self) -> GPUTarget:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


# What a launch would need stays abstract in every release, under changing names; there is no launch here.
TargetDriver.__abstractmethods__ = frozenset()


@contextmanager
def compile_only_driver(target: GPUTarget) -> Iterator[None]:
    """Make a driver active that has no device, only `target`; the one before is active again afterwards."""
    from triton.runtime.driver import driver

    before = dict(vars(driver))
    driver.set_active(TargetDriver(target))
    try:
        yield
    finally:
        vars(driver).clear()
        vars(driver).update(before)


def record(kernel: Any, target: GPUTarget, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Recorded:
    """What `kernel[grid](*args, **kwargs)` would compile on `target`, from Triton's own specialization of them."""
    import triton.compiler
    from triton import knobs

    with ExitStack() as stack:
        stack.enter_context(compile_only_driver(target))
        stack.enter_context(_torch_not_imported())
        stack.enter_context(_replaced(triton.compiler, compile=_stop))
        # create_binder sets the first three on the kernel; the binder it keeps is for the target of its first call.
        kept = {name: vars(kernel).get(name, _ABSENT) for name in ("CompiledKernel", "ASTSource", "compile")}
        caches: dict[int, Any] = defaultdict(kernel.create_binder)
        stack.enter_context(_replaced(kernel, **kept, device_caches=caches, pre_run_hooks=[]))
        stack.enter_context(_replaced(knobs.runtime, jit_cache_hook=None))
        for backend in _backends_that_import_torch():
            stack.enter_context(_replaced(backend, is_within_2gb=staticmethod(_is_within_2gb)))
        try:
            kernel.warmup(*args, grid=(1,), **kwargs)
        except _Stopped as stopped:
            return stopped.recorded
    raise RuntimeError("this Triton did not compile the kernel through triton.compiler.compile")


class _Stopped(Exception):
    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded


def _stop(src: Any, target: Any = None, options: Any = None, **_: Any) -> None:
    raise _Stopped(Recorded(src, target, dict(options)))


def _is_within_2gb(argument: Any) -> bool:
    return bool(argument.ptr_range() <= _INT32_MAX)


def _backends_that_import_torch() -> list[Any]:
    """AMD's backend imports torch to ask a pointer for its range, in some releases without a way round."""
    from triton.backends import backends

    return [backend.compiler for backend in backends.values() if hasattr(backend.compiler, "is_within_2gb")]


class _NoTorch:
    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name == "torch":
            raise ModuleNotFoundError("torch is not needed to compile", name=name)


@contextmanager
def _torch_not_imported() -> Iterator[None]:
    """Keep Triton from importing torch, seconds for nothing, where the kernel file has not done so itself."""
    sys.meta_path.insert(0, _NoTorch)
    try:
        yield
    finally:
        sys.meta_path.remove(_NoTorch)


@contextmanager
def _replaced(owner: Any, **values: Any) -> Iterator[None]:
    """Set attributes of `owner` for a while; _ABSENT leaves one as it is, to be taken away again if it appears."""
    before = {name: vars(owner).get(name, _ABSENT) for name in values}
    for name, value in values.items():
        if value is not _ABSENT:
            setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is not _ABSENT:
                setattr(owner, name, value)
            elif name in vars(owner):
                delattr(owner, name)
