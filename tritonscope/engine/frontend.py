"""The Python source of a kernel and of every function it calls, with their syntax trees in a shape of our own.

Runs in the child. Python's own `ast.dump` changes between versions; the documents here do not.
"""

import ast
import builtins
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["FORMAT", "FunctionSource", "ast_json", "functions"]

#: Version of the AST document.
FORMAT = 1

# Left out: they differ by Python version, or repeat what another field says.
_SKIPPED = frozenset({"kind", "type_comment", "type_ignores"})
_WITHOUT_PLACE = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


@dataclass(frozen=True)
class FunctionSource:
    """One function as its file has it.

    `line` is the 1-based line of its first decorator or `def`; `source` and `tree` are "" and None where the source
    cannot be read. `library` is true for Triton's own functions.
    """

    name: str
    file: str
    line: int
    source: str
    library: bool
    tree: Mapping[str, Any] | None


def functions(fn: Any, constants: Iterable[Any] = ()) -> list[FunctionSource]:
    """The kernel `fn` first, then every Triton function that it reaches, in the order of first use.

    They are found through globals, closures, attributes of modules and classes, and among `constants`, the values of
    constexpr arguments.
    """
    found: dict[int, Any] = {}
    waiting = [fn, *(value for value in constants if _is_function(value))]
    while waiting:
        current = waiting.pop(0)
        if id(current) in found:
            continue
        found[id(current)] = current
        waiting += _callees(current)
    return [_source_of(function) for function in found.values()]


def ast_json(sources: Iterable[FunctionSource]) -> dict[str, Any]:
    """The AST document: {"format": 1, "functions": [{name, file, line, library, ast}]}.

    A node is {type, line, column, end_line, end_column, fields, children}: lines 1-based in the real file, columns
    0-based in characters, all four absent where Python gives no place; `fields` holds names, operators and constants;
    each child is a node with the "field" of its parent that it stands in. `ast` is null where there is no source.
    """
    return {
        "format": FORMAT,
        "functions": [
            {"name": each.name, "file": each.file, "line": each.line, "library": each.library, "ast": each.tree}
            for each in sources
        ],
    }


def _is_function(value: Any) -> bool:
    """Whether `value` is what Triton compiles or calls at compile time: a JITFunction, a constexpr function."""
    from triton.runtime import jit

    kinds = tuple(
        kind for name in ("JITCallable", "JITFunction", "ConstexprFunction") if (kind := getattr(jit, name, None))
    )
    return isinstance(value, kinds)


def _python_function(function: Any) -> Any:
    """The Python function inside, through bound constexpr functions as well."""
    function = getattr(function, "__func__", function)
    return getattr(function, "fn", function)


def _callees(function: Any) -> Iterator[Any]:
    """The Triton functions that the body names, in the order of the text."""
    python = _python_function(function)
    tree = _definition(python)
    if tree is None:
        return
    scope = dict(getattr(python, "__globals__", {}))
    for name, cell in zip(python.__code__.co_freevars, python.__closure__ or (), strict=False):
        try:
            scope[name] = cell.cell_contents
        except ValueError:  # the function that is being defined is not in its cell yet
            continue
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            yield from _functions_in(_resolve(node, scope))


def _resolve(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return scope.get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute):
        owner = _resolve(node.value, scope)
        # Of other objects an attribute may be anything, and computing it may have effects.
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType | type) else None
    return None


def _functions_in(value: Any) -> Iterator[Any]:
    if _is_function(value):
        yield value
    elif _is_function(getattr(value, "value", None)):  # a global constexpr that holds a function
        yield value.value
    elif isinstance(value, type) and getattr(value, "__triton_aggregate__", False):
        yield from (member for member in vars(value).values() if _is_function(member))


def _source_of(function: Any) -> FunctionSource:
    python = _python_function(function)
    module = getattr(python, "__module__", None) or ""
    name = f"{module}.{getattr(python, '__qualname__', repr(python))}"
    library = module == "triton" or module.startswith("triton.")
    file = getattr(getattr(python, "__code__", None), "co_filename", "")
    try:
        lines, first = inspect.getsourcelines(python)
    except (OSError, TypeError, SyntaxError):
        return FunctionSource(name, file, getattr(python.__code__, "co_firstlineno", 0), "", library, None)
    tree = _definition(python)
    document = None if tree is None else _node(tree, _lines(file))
    return FunctionSource(name, file, first, "".join(lines), library, document)


def _definition(python: Any) -> ast.FunctionDef | None:
    """The function's definition, from the tree of its whole file: there, lines and columns are the real ones."""
    code = getattr(python, "__code__", None)
    if code is None:
        return None
    for node in ast.walk(_file_tree(code.co_filename)):
        if isinstance(node, ast.FunctionDef) and node.name == python.__name__:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


@lru_cache(maxsize=32)
def _lines(file: str) -> tuple[str, ...]:
    try:
        # As Python counts lines: str.splitlines would split at form feeds too.
        return tuple(Path(file).read_text(encoding="utf-8").split("\n"))
    except (OSError, UnicodeDecodeError):
        return ()


@lru_cache(maxsize=32)
def _file_tree(file: str) -> ast.Module:
    try:
        return ast.parse("\n".join(_lines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def _node(node: ast.AST, lines: tuple[str, ...]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    children: list[dict[str, Any]] = []
    for name, value in ast.iter_fields(node):
        if name in _SKIPPED or (value is None and not isinstance(node, ast.Constant)):
            continue
        if isinstance(node, ast.Constant):
            fields.update(_constant(value))
        elif isinstance(value, _WITHOUT_PLACE):
            fields[name] = type(value).__name__
        elif isinstance(value, ast.AST):
            children.append({"field": name, **_node(value, lines)})
        elif isinstance(value, list):
            _add_list(name, value, fields, children, lines)
        else:
            fields[name] = value
    return {"type": type(node).__name__, **_place(node, lines), "fields": fields, "children": children}


def _add_list(
    name: str, values: list[Any], fields: dict[str, Any], children: list[dict[str, Any]], lines: tuple[str, ...]
) -> None:
    """Operators and names go to the fields, nodes to the children; a gap (a `**` in a dictionary) is dropped."""
    plain = [type(value).__name__ if isinstance(value, _WITHOUT_PLACE) else value for value in values]
    if any(isinstance(value, str) for value in plain):
        fields[name] = plain
    else:
        children += ({"field": name, **_node(value, lines)} for value in values if value is not None)


def _constant(value: Any) -> dict[str, Any]:
    """A literal: numbers that JSON has, strings and None as they are, all else by its repr."""
    plain = value is None or isinstance(value, bool | str | int) or (isinstance(value, float) and abs(value) < 1e308)
    return {"value": value if plain else repr(value), "value_type": type(value).__name__}


def _place(node: ast.AST, lines: tuple[str, ...]) -> dict[str, int]:
    if not isinstance(node, ast.stmt | ast.expr | ast.arg | ast.keyword | ast.alias | ast.excepthandler):
        return {}
    end_line = node.end_lineno or node.lineno
    return {
        "line": node.lineno,
        "column": _characters(lines, node.lineno, node.col_offset),
        "end_line": end_line,
        "end_column": _characters(lines, end_line, node.end_col_offset or 0),
    }


def _characters(lines: tuple[str, ...], line: int, offset: int) -> int:
    """Python counts columns in bytes of UTF-8."""
    if not 0 < line <= len(lines) or lines[line - 1].isascii():
        return offset
    return len(lines[line - 1].encode()[:offset].decode(errors="ignore"))
