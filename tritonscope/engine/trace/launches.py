"""Counting the launches of compiled kernels, for next to nothing each.

Triton, torch.compile and a compiled kernel called by itself all launch through the kernel's `_run`. In its place stands
a function with a dictionary of its own. Calls are told apart by the grid and the numbers passed; asking tensors for
their shapes would cost several times as much, so those are the first such call's.
"""

import itertools
import weakref
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from tritonscope.engine.trace.arguments import described, scalar_positions

__all__ = ["Launches"]

#: The arguments of a launch ahead of the kernel's own: grid, stream, function, metadata twice, two hooks.
_AHEAD = 9

#: So many different calls of a kernel are told apart; what comes after is counted as one.
_MOST_CALLS = 1000


def _made() -> None:
    """In the place of what makes a kernel's handles, which are there."""


class Launches:
    """The launches of the kernels that were compiled since this was made."""

    def __init__(self) -> None:
        #: Of each kernel, by what tells its calls apart: what adds one and returns how often it had been called.
        self.calls: dict[str, dict[Any, Callable[[], int]]] = {}
        self.details: dict[str, dict[Any, list[dict[str, Any]]]] = {}
        #: While the autotuner measures: the kernels that it has launched. Its launches are not the program's.
        self.tuning: set[str] | None = None
        self._counted: list[tuple[weakref.ref[Any], Callable[..., Any]]] = []

    def count(self, kernel: Any) -> None:
        """Count what is launched of `kernel`, whose handles have just been made."""
        if getattr(kernel._run, "counts_for_tritonscope", False) or not hasattr(kernel.src, "fn"):
            return
        self._counted.append((weakref.ref(kernel), kernel._run))
        kernel._run = self._counting(kernel._run, kernel.hash, kernel.src)
        kernel._init_handles = _made  # Triton calls it at every launch

    def stop(self) -> None:
        """Put back what is launched."""
        for reference, run in self._counted:
            kernel = reference()
            if kernel is not None:
                kernel._run = run
                vars(kernel).pop("_init_handles", None)
        self._counted.clear()

    def report(self) -> list[dict[str, Any]]:
        """For each kernel and call {key, grid, arguments, count}, in the order in which they were first seen; once."""
        return [
            {"key": key, "grid": list(call[:3]), "arguments": self.details[key][call], "count": launched()}
            for key, calls in self.calls.items()
            for call, launched in list(calls.items())
        ]

    def _counting(self, run: Any, key: str, src: Any) -> Callable[..., Any]:
        calls = self.calls.setdefault(key, {})
        details = self.details.setdefault(key, {})
        call_of = itemgetter(0, 1, 2, *(_AHEAD + place for place in scalar_positions(src)))
        launch = run.__call__  # what a call of an object comes to, sooner
        state = self

        def counted(*args: Any) -> Any:
            if state.tuning is not None:
                state.tuning.add(key)
            else:
                try:
                    calls[call_of(args)]()
                except (KeyError, IndexError):
                    _first(args)
            return launch(*args)

        def _first(args: tuple[Any, ...]) -> None:
            try:
                call = call_of(args)
            except IndexError:  # a launcher that leaves arguments out
                call = args[:3]
            if call not in calls and len(calls) >= _MOST_CALLS:
                call = next(reversed(calls))
            if call not in calls:
                details[call] = described(src, args[_AHEAD:])
                calls[call] = itertools.count().__next__
            calls[call]()

        counted.counts_for_tritonscope = True  # type: ignore[attr-defined]
        return counted
