"""How far each compilation has come, on a terminal's standard error while it runs."""

from collections.abc import Mapping
from threading import Lock
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

__all__ = ["Progress"]

#: About as many steps as a compilation has; a bar that has come to the end early only waits.
USUAL_STEPS = 90


class Progress:
    """One bar a compilation, shown once it starts and gone when it ends; safe to call from several threads."""

    def __init__(self, labels: list[str]) -> None:
        self._labels = labels
        self._tasks: dict[int, TaskID] = {}
        self._lock = Lock()
        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[doing]}", markup=False),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._all = (
            self._bars.add_task(f"{len(labels)} compilations", total=len(labels), doing="") if len(labels) > 1 else None
        )
        self._bars.start()

    def show(self, index: int, event: Mapping[str, Any]) -> None:
        """Take one event of compilation number `index`."""
        with self._lock:
            if index not in self._tasks:
                self._tasks[index] = self._bars.add_task(self._labels[index], total=USUAL_STEPS, doing="starting")
            if event["event"] == "pass_begin":
                self._bars.update(self._tasks[index], advance=1, doing=f"{event['stage']}: {event['name']}")
            elif event["event"] == "restart":
                self._bars.reset(self._tasks[index])

    def done(self, index: int) -> None:
        """Compilation number `index` has ended."""
        with self._lock:
            if index in self._tasks:
                self._bars.remove_task(self._tasks[index])
            if self._all is not None:
                self._bars.update(self._all, advance=1)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._bars.stop()
