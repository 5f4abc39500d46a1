"""The text of a spec for a kernel that has none: complete enough to run, every guess marked. Reads the file, runs none.

`docs/specs.md` describes what a spec has.
"""

import ast
from pathlib import Path

from tritonscope.errors import KernelFileError, KernelNotFound
from tritonscope.kernel_uses import Uses, uses_of

__all__ = ["spec_name", "template"]

_ELEMENTS = "1 << 20"
_INTEGER = 256  # small enough that a row of that stride, times that many rows, is within the tensors
_BLOCK = 64
_SIZED = ("BLOCK", "SIZE", "DIM", "TILE", "ROW", "COL")


def spec_name(function: str) -> str:
    """The class's name: `add_kernel` has AddKernelSpec."""
    return "".join(part.capitalize() for part in function.split("_") if part) + "Spec"


def template(path: Path, function: str) -> str:
    """What to append to the file; raises KernelNotFound and KernelFileError (not Python, or it has that class)."""
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError) as error:
        raise KernelFileError(f"{path} is not Python ({error}); mend the file first") from None
    except OSError as error:
        raise KernelNotFound(f"{path} cannot be read ({error.strerror}); name a kernel as FILE.py:FUNCTION") from None
    kernel = next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function), None)
    if kernel is None:
        raise KernelNotFound(f"{path} has no function {function!r} at its top level; name one as {path}:FUNCTION")
    name = spec_name(function)
    if any(isinstance(node, ast.ClassDef) and node.name == name for node in tree.body):
        raise KernelFileError(f"{path} has a class {name} already; edit that")
    declared = any(
        isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "TRITONSCOPE" for t in node.targets)
        for node in tree.body
    )
    return "\n\n\n" + _declaration(kernel, name, declared) + "\n\n\n" + _spec(kernel, name)


def _declaration(kernel: ast.FunctionDef, name: str, declared: bool) -> str:
    """How the file's TRITONSCOPE names the spec, with values for the constexprs that nothing else gives."""
    constexprs = ", ".join(
        f"{arg.arg}={_BLOCK if any(word in arg.arg.upper() for word in _SIZED) else 1}"
        for arg in _without_default(kernel)
        if _is_constexpr(arg)
    )
    entry = (
        f'{{"signature": "{constexprs}", "spec": "{name}"}}'
        if constexprs and not _tuned(kernel)
        else f'{{"spec": "{name}"}}'
    )
    if not declared:
        return f'TRITONSCOPE = {{"{kernel.name}": {entry}}}  # the constexprs are guesses'
    return f'TRITONSCOPE["{kernel.name}"] = {{**{entry}, **TRITONSCOPE.get("{kernel.name}", {{}}), "spec": "{name}"}}'


def _spec(kernel: ast.FunctionDef, name: str) -> str:
    uses = uses_of(kernel)
    parameters = [arg.arg for arg in kernel.args.args if not _is_constexpr(arg)]
    pointers = [each for each in parameters if _is_pointer(each, uses)]
    numbers = [each for each in parameters if each not in pointers and (each in uses.integers or "stride" in each)]
    outputs = [each for each in pointers if each in uses.stored]
    sizes = ", ".join(f'"{each}": {_INTEGER}' for each in numbers)
    fewer = ", ".join(f'"{each}": {_INTEGER - 3}' for each in numbers if "stride" not in each)
    first = outputs[0] if outputs else "y"
    starts = ", ".join(f'"{each}": "updated"' for each in outputs)
    lines = [
        f"class {name}:",
        f'    """How `tritonscope run` calls `{kernel.name}`. What is marked as a guess is yours to put right."""',
        "",
        f"    sizes = {{{sizes}}}  # guess: what --size sets",
        f"    checked = ({{{fewer}}},)" if fewer else "    checked = ()",
        f'    outputs = {{{starts}}}  # or "poisoned", where every element is written',
        "",
        "    def arguments(self, size, constants, device):",
        "        import torch",
        "",
        "        return {",
    ]
    for each in parameters:
        if each in pointers:
            value = f"torch.randn({_ELEMENTS}, dtype=torch.float32, device=device),  # guess: shape and type"
        elif each in numbers:
            value = f'size["{each}"],'
        else:
            value = "1.0,  # guess"
        lines.append(f'            "{each}": {value}')
    lines += [
        "        }",
        "",
        "    def grid(self, size, constants):",
        "        return (1,)  # guess",
        "",
        "    # def reference(self, size, arguments):",
        f'    #     return {{"{first}": ...}}  # float64; without it, the interpreter is the judge',
        "",
    ]
    return "\n".join(lines)


def _without_default(kernel: ast.FunctionDef) -> list[ast.arg]:
    arguments = kernel.args.args
    return arguments[: len(arguments) - len(kernel.args.defaults)]


def _is_constexpr(arg: ast.arg) -> bool:
    return arg.annotation is not None and "constexpr" in ast.unparse(arg.annotation)


def _is_pointer(name: str, uses: Uses) -> bool:
    return name in uses.pointers or name.endswith("ptr")


def _tuned(kernel: ast.FunctionDef) -> bool:
    return any("autotune" in ast.unparse(each) for each in kernel.decorator_list)
