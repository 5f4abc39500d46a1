"""A capture that did not come to its end, in one sentence."""

import shlex

from tritonscope.cli import terminal
from tritonscope.model import Capture, Failure

__all__ = ["sentence"]

_DID = {
    "failed": "did not compile",
    "crashed": "crashed the compiler",
    "timeout": "ran out of time",
    "interrupted": "was interrupted",
}


def sentence(capture: Capture) -> str:
    """What went wrong, where in the compiler and on which of the user's lines, and what to do next."""
    said = f"{capture.kernel} for {capture.target} {_DID.get(capture.status, capture.status)}"
    failure = capture.failure
    if failure is None:
        return f"{said}; {_rest(capture)}."
    line = f", line {failure.line} of {failure.file}" if failure.line is not None else ""
    return f"{said}{_where(failure)}{line}: {failure.message.rstrip('.')}; {_next(capture, failure)}."


def _where(failure: Failure) -> str:
    if failure.pass_ is not None:
        inner = f" (in {failure.inner}, which runs inside it)" if failure.inner else ""
        return f" in {failure.pass_}{inner}, step {failure.step} of stage {failure.stage}"
    return f" in stage {failure.stage}" if failure.stage else ""


def _next(capture: Capture, failure: Failure) -> str:
    if failure.reproducer is not None:
        file = shlex.quote(f"{capture.path}/{failure.reproducer}")
        return f"`tritonscope replay {file}` runs that pass again"
    return _rest(capture)


def _rest(capture: Capture) -> str:
    return f"`tritonscope show {terminal.called(capture)}` has the rest"
