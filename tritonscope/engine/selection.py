"""Which passes of a pipeline are run: all, all but some, or those up to one. Runs in the child."""

from collections import Counter
from collections.abc import Sequence

from tritonscope.errors import UsageError
from tritonscope.pass_reference import PassReference, near

__all__ = ["Selection"]


class Selection:
    """Asked of each pass and step once, in order; knows in the end what was asked for and never came."""

    def __init__(self, skip: Sequence[str], stop_after: str | None) -> None:
        self._skip = [PassReference.parse(text) for text in skip]
        self._stop_after = None if stop_after is None else PassReference.parse(stop_after)
        self._asked = [*zip(skip, self._skip, strict=True)]
        if stop_after is not None and self._stop_after is not None:
            self._asked.append((stop_after, self._stop_after))
        self._came: set[PassReference] = set()
        self._runs: Counter[str] = Counter()
        self._passes: list[str] = []

    @property
    def is_all(self) -> bool:
        """Whether every pass is run."""
        return not self._asked

    def leaves_out(self, step: int, name: str, is_pass: bool) -> bool:
        """Count the pass or step that comes now; whether it is to be left out.

        Raises UsageError for a step that is no pass: what comes after it could not be made without it.
        """
        self._runs[name] += 1
        self._passes.append(name)
        found = [each for each in self._skip if each.means(str(step), name, self._runs[name])]
        self._came.update(found)
        if found and not is_pass:
            raise UsageError(f"{name} is no pass but a step that makes one form out of another; it cannot be left out")
        return bool(found)

    def ends_after(self, step: int, name: str) -> bool:
        """Whether the step that `leaves_out` was asked about last was the last to run."""
        ends = self._stop_after is not None and self._stop_after.means(str(step), name, self._runs[name])
        if ends and self._stop_after is not None:
            self._came.add(self._stop_after)
        return ends

    def check(self) -> None:
        """At the end: raise UsageError where what was asked for never came."""
        for text, reference in self._asked:
            if reference not in self._came:
                raise UsageError(self._not_there(text, reference))

    def _not_there(self, text: str, reference: PassReference) -> str:
        if reference.step is not None:
            return f"there is no step {text}; this compile has 0 to {len(self._passes) - 1}"
        name = text.partition("#")[0]
        runs = next((n for each, n in self._runs.items() if PassReference.parse(each).name == reference.name), 0)
        if runs:
            times = "once" if runs == 1 else f"{runs} times"
            return f"{name} ran {times}, so there is no {text}; passes inside another pass do not count"
        if self._stop_after in self._came:
            return f"no pass {text!r} came up to step {len(self._passes) - 1}, after which it was to stop"
        names = near(name, self._runs)
        hint = f"did you mean {' or '.join(names)}?" if names else "'tritonscope passes' lists those of a capture"
        return f"this compile runs no pass {text!r}; {hint}"
