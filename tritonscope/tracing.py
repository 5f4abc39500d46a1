"""`tritonscope.trace()`: a part of a program traced from within it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tritonscope import traces
from tritonscope.engine.trace.hooks import Hooks
from tritonscope.store import layout

__all__ = ["trace"]


@contextmanager
def trace(dumps: str | None, *, kernel: str | None, limit: int | None) -> Iterator[traces.Outcome]:
    """See `tritonscope.trace`."""
    asked = traces.Asked(layout.dumps_folder(dumps), tuple(sys.argv), traces.kernel_pattern(kernel), limit)
    listener = traces.Listener(asked, lambda text: print(f"tritonscope: {text}", file=sys.stderr))
    hooks = Hooks(listener.socket, measures=True)
    hooks.install()
    try:
        yield listener.outcome
    finally:
        hooks.remove()
        listener.finish()
