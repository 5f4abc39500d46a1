"""What every exported script ends with: `export.script` copies this file into it and never runs it here.

`kernel` is the dict that the script begins with, `files` the kernel's sources by name. Standard library, triton, and
torch for a run.
"""

import argparse
import importlib
import os
import re
import sys
from pathlib import Path
from typing import Any


def main(kernel: dict[str, Any], files: dict[str, str]) -> int:
    """Compile; with --run, run and check instead. The exit code is 1 where a result is wrong."""
    parser = argparse.ArgumentParser(description=f"Compile {kernel['function']}, or run it.")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).resolve().with_suffix(""), help="the folder for what comes out"
    )
    parser.add_argument("--run", action="store_true", help="run it on the GPU that is here, and check the result")
    args = parser.parse_args()
    os.environ.update(kernel["environment"])
    fn, module = load(kernel, files, args.out / "source")
    if args.run:
        return run(kernel, fn, module)
    compiled = compile_alone(kernel, fn)
    for stage, content in compiled.asm.items():
        path = args.out / f"{kernel['function']}.{stage}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        print(path)
    print("the key is", "the captured one" if compiled.hash == kernel["key"] else f"another: {compiled.hash}")
    return 0


def load(kernel: dict[str, Any], files: dict[str, str], folder: Path) -> tuple[Any, Any]:
    """Write the sources, import them, and give Triton's function without its wrappers, and its module."""
    from triton.runtime.jit import JITFunction

    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    sys.path.insert(0, str(folder))
    module = importlib.import_module(kernel["module"])
    fn = getattr(module, kernel["function"])
    while not isinstance(fn, JITFunction):  # autotune, heuristics
        fn = fn.fn
    return fn, module


def compile_alone(kernel: dict[str, Any], fn: Any) -> Any:
    """Compile for the captured target, whatever GPU is here, or none."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase
    from triton.compiler import ASTSource
    from triton.runtime.driver import driver

    target = GPUTarget(*kernel["target"])

    class OnlyTarget(DriverBase):  # type: ignore[misc]
        def __init__(self) -> None:
            pass

        def get_current_target(self) -> Any:
            return target

    OnlyTarget.__abstractmethods__ = frozenset()
    driver.set_active(OnlyTarget())
    attributes = {path_of(name, fn): value for name, value in kernel["attributes"].items()}
    ingredients = (fn, kernel["signature"], constants(kernel, fn), attributes)
    if getattr(fn, "is_gluon", lambda: False)():
        from triton.experimental.gluon._runtime import GluonASTSource

        src = GluonASTSource(*ingredients)
    else:
        src = ASTSource(*ingredients)
    return triton.compile(src, target=target, options=options(kernel, target))


def path_of(name: str, fn: Any) -> tuple[int, ...]:
    """Where Triton has a parameter, or an item of a tuple: "pair[1]" is the second item of pair."""
    parameter, *items = re.split(r"[\[\]]+", name.rstrip("]"))
    return (fn.arg_names.index(parameter), *map(int, items))


def constants(kernel: dict[str, Any], fn: Any) -> dict[tuple[int, ...], Any]:
    """The constants, which are written as the kernel's file would write them."""
    import triton.language as tl

    scope = {**vars(tl), "tl": tl, "inf": float("inf"), "nan": float("nan"), **fn.fn.__globals__}
    return {path_of(name, fn): eval(text, dict(scope)) for name, text in kernel["constants"].items()}  # noqa: S307


def options(kernel: dict[str, Any], target: Any) -> dict[str, Any]:
    """The options, as far as this Triton has them."""
    from triton.compiler.compiler import make_backend

    known = vars(make_backend(target).parse_options({}))
    return {name: value for name, value in kernel["options"].items() if name in known}


def run(kernel: dict[str, Any], fn: Any, module: Any) -> int:
    """Launch it as its spec says, and compare what comes out with the spec's reference."""
    import torch
    import triton
    from triton.runtime.driver import driver

    if not kernel["spec"] and not kernel["call"]:
        sys.exit("the kernel's file has no spec, which says what to call it with: there is nothing to run")
    if not torch.cuda.is_available():
        sys.exit("there is no GPU here that PyTorch can use; leave --run out to compile alone")
    torch.manual_seed(0)
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    spec = Call(kernel) if kernel["call"] else getattr(module, kernel["spec"])()
    size = {**getattr(spec, "sizes", {}), **kernel["size"]}
    constexprs = {fn.arg_names[path[0]]: value for path, value in constants(kernel, fn).items() if len(path) == 1}
    chosen = options(kernel, driver.active.get_current_target())
    given = spec.arguments(size, {**chosen, **constexprs}, "cuda")
    before = {name: clone(value) for name, value in given.items()}
    outputs = getattr(spec, "outputs", {})
    outputs = outputs(size) if callable(outputs) else outputs
    for name, start in outputs.items():
        if start != "updated":
            fill(tensor_of(given[name]), start)
    arguments = {**constexprs, **given}
    launched = fn[spec.grid(size, {**chosen, **constexprs})](**arguments, **chosen)
    torch.cuda.synchronize()
    same = "the captured kernel" if launched.hash == kernel["key"] else "another kernel than the captured one"
    print(f"ran {same} on {torch.cuda.get_device_name()}, size {size}")
    if not hasattr(spec, "reference"):
        print("nothing says what is right: there is no reference")
        return 0
    wanted = spec.reference(size, before)
    verdicts = [judge(spec, size, name, tensor_of(given[name]), each) for name, each in wanted.items()]
    return 0 if all(verdicts) else 1


class Call:
    """A call that was written out for the captured run, in place of a spec: random tensors, numbers as given."""

    def __init__(self, kernel: dict[str, Any]) -> None:
        self._arguments, self._grid = kernel["call"], tuple(kernel["grid"])

    def arguments(self, size: object, constants: object, device: str) -> dict[str, Any]:
        """Fresh tensors and the numbers."""
        import torch

        given = {}
        for name, value in self._arguments.items():
            if isinstance(value, dict):
                span = sum((n - 1) * step for n, step in zip(value["shape"], value["strides"], strict=True)) + 1
                # One element in, an address is no multiple of 16 any more.
                offset = 0 if value["aligned"] else 1
                memory = torch.randn(span + offset, device=device) if "float" in value["dtype"] else None
                if memory is None:
                    memory = torch.randint(0, 2, (span + offset,), device=device)
                memory = memory.to(getattr(torch, value["dtype"]))
                value = memory[offset:].as_strided(value["shape"], value["strides"])
            given[name] = value
        return given

    def grid(self, size: object, constants: object) -> tuple[int, ...]:
        """What --grid said."""
        return self._grid


def judge(spec: Any, size: dict[str, Any], name: str, found: Any, wanted: Any) -> bool:
    """Whether an output is within its tolerance (relative Frobenius error) and every element within its own."""
    tolerance = spec.tolerance(size) if hasattr(spec, "tolerance") else (1e-2, "a guess")
    allowed, why = tolerance[name] if isinstance(tolerance, dict) else tolerance
    most = spec.max_error(size) if hasattr(spec, "max_error") else 16 * allowed
    most = most[name] if isinstance(most, dict) else most
    wanted = wanted.double()
    apart = (found.double() - wanted).abs()
    norm = wanted.norm()
    root_mean_square = norm / max(wanted.numel(), 1) ** 0.5
    error = float(apart.norm() / norm) if norm else float(apart.norm())
    worst = float((apart / (wanted.abs() + root_mean_square)).nan_to_num(0.0 if not norm else float("inf")).max())
    right = error <= allowed and worst <= most
    verdict = "right" if right else "WRONG"
    print(f"{name}: {verdict}: error {error:.3g} of {allowed:.3g} ({why}), worst element {worst:.3g} of {most:.3g}")
    return right


def tensor_of(argument: Any) -> Any:
    """The tensor in an argument, under a descriptor too; None where there is none."""
    if hasattr(argument, "block_shape"):
        return argument.base
    return argument if hasattr(argument, "data_ptr") else None


def clone(argument: Any) -> Any:
    """A copy of an argument that the kernel does not write to, its strides kept."""
    import copy

    import torch

    tensor = tensor_of(argument)
    if tensor is None:
        return argument
    kept = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device).copy_(tensor)
    if tensor is argument:
        return kept
    descriptor = copy.copy(argument)
    descriptor.base = kept
    return descriptor


def fill(tensor: Any, start: str) -> None:
    """Zeros, or a pattern that no result has: not a number, or every bit set."""
    if start == "zeroed":
        tensor.zero_()
    elif tensor.dtype.is_floating_point:
        tensor.fill_(float("nan"))
    else:
        tensor.fill_(True if str(tensor.dtype) == "torch.bool" else -1 if tensor.dtype.is_signed else 255)
