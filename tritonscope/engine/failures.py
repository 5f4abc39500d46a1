"""What the front end refused, as the fields of a "failure" event. Runs in the child."""

import re
import textwrap
import traceback
from collections.abc import Iterator
from typing import Any

from tritonscope.engine.frontend import FunctionSource

__all__ = ["front_end_failure"]

_PYTHON_ERROR = re.compile(r"(?P<type>\w+)\((?P<quote>['\"])(?P<text>.*)(?P=quote)\)", re.DOTALL)


def front_end_failure(error: BaseException, functions: list[FunctionSource], stage: str) -> dict[str, Any]:
    """The user's line, and the sentence that Triton has for it.

    Triton nests its errors, from the call in the kernel down to the mistake: the innermost that names a node of a
    syntax tree is the nearest to it. `functions` are the kernel and what it calls, where that node's function is found.
    """
    chain = list(_causes(error))
    located = [each for each in chain if hasattr(getattr(each, "node", None), "lineno")]
    innermost: Any = located[-1] if located else None
    fields: dict[str, Any] = {
        "stage": stage,
        "step": None,
        "message": _sentence(chain, innermost),
        "diagnostics": "".join(traceback.format_exception(error)),
    }
    if innermost is None:
        return fields
    source = getattr(innermost, "src", None) or ""
    lines = source.splitlines()
    node = innermost.node
    line = lines[node.lineno - 1] if node.lineno <= len(lines) else None
    for function in functions:
        at = textwrap.dedent(function.source).find(source)
        if source and at >= 0:
            first = function.line + textwrap.dedent(function.source)[:at].count("\n")
            return {
                **fields,
                "file": function.file,
                "line": first + node.lineno - 1,
                "column": node.col_offset,
                "source_line": line,
            }
    return {**fields, "column": node.col_offset, "source_line": line}


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _sentence(chain: list[BaseException], innermost: BaseException | None) -> str:
    """Triton's own message; an error that Python raised beneath one of Triton's has the better words."""
    for error in (innermost, *reversed(chain)):
        text = getattr(error, "error_message", None)
        if text:
            # Triton quotes an error of Python's by its repr.
            quoted = _PYTHON_ERROR.fullmatch(str(text))
            return f"{quoted['type']}: {quoted['text']}" if quoted else str(text)
    last = chain[-1]
    return f"{type(last).__name__}: {last}" if str(last) else type(last).__name__
