"""What the front end refused, as the fields of a "failure" event. Runs in the child."""

import traceback
from typing import Any

__all__ = ["front_end_failure"]


def front_end_failure(error: BaseException, function: Any, stage: str) -> dict[str, Any]:
    """The user's line, and the sentence that Triton has for it.

    Triton nests its errors: the innermost compilation error that carries a node of the syntax tree is the one nearest
    to the mistake. `function` is the kernel, whose file and first line locate the node.
    """
    chain = list(_causes(error))
    located = [e for e in chain if hasattr(getattr(e, "node", None), "lineno")]
    innermost = located[-1] if located else None
    message = _sentence(chain, innermost)
    fields: dict[str, Any] = {
        "stage": stage,
        "step": None,
        "error": type(error).__name__,
        "message": message,
        "diagnostics": "".join(traceback.format_exception_only(type(error), error)),
    }
    if innermost is None:
        return fields
    node: Any = innermost.node  # type: ignore[attr-defined]
    source = getattr(innermost, "src", None) or ""
    lines = source.splitlines()
    owner = _owner(function, source)
    first = getattr(owner, "def_file_line_number", None) or _first_line(owner)
    return {
        **fields,
        "file": getattr(owner, "file_name", None) or getattr(getattr(owner, "fn", None), "__code__", None).co_filename,
        "line": first + node.lineno - 1,
        "column": node.col_offset,
        "source_line": lines[node.lineno - 1] if node.lineno <= len(lines) else None,
    }


def _causes(error: BaseException | None) -> Any:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _sentence(chain: list[Any], innermost: Any) -> str:
    for error in [innermost, *reversed(chain)]:
        text = getattr(error, "error_message", None) if error is not None else None
        if text:
            return str(text)
    last = chain[-1]
    return f"{type(last).__name__}: {last}" if str(last) else type(last).__name__


def _owner(kernel: Any, source: str) -> Any:
    """The function whose source a compilation error quotes: the kernel, or one that it calls."""
    from tritonscope.engine import frontend

    for function in frontend.reached(kernel):
        if getattr(function, "src", None) == source:
            return function
    return kernel


def _first_line(function: Any) -> int:
    code = function.fn.__code__
    skipped = sum(1 for line in _before_def(function.raw_src))
    return int(code.co_firstlineno) + skipped


def _before_def(lines: list[str]) -> Any:
    for line in lines:
        if line.lstrip().startswith("def "):
            return
        yield line
