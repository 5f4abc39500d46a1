"""How a pass is named by whoever asks for one: "tritongpu-coalesce", "NAME#2" for its second run, or its step, "17".

Names are compared without case, "-" and "_".
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from tritonscope.errors import UsageError

__all__ = ["PassReference", "near", "plain"]

_MOST_NAMED = 8


@dataclass(frozen=True)
class PassReference:
    """A pass that was asked for: by `step`, or by `name`, in its plain form, and the `run` (from 1), None for every."""

    step: str | None
    name: str | None
    run: int | None

    @classmethod
    def parse(cls, text: str) -> "PassReference":
        """Read "NAME", "NAME#2" or "17"; raises UsageError."""
        text = text.strip()
        if text.isascii() and text.isdecimal():
            return cls(str(int(text)), None, None)
        name, mark, run = text.partition("#")
        if not plain(name) or (mark and not (run.isascii() and run.isdecimal() and int(run) > 0)):
            raise UsageError(f"the pass {text!r} is not understood; write NAME, NAME#2 for its second run, or its step")
        return cls(None, plain(name), int(run) if run else None)

    def means(self, step: str, name: str, run: int) -> bool:
        """Whether it is the pass at `step` called `name`, in the `run`th run of that name."""
        if self.step is not None:
            return self.step == step
        return self.name == plain(name) and self.run in (None, run)

    def __str__(self) -> str:
        return self.step or f"{self.name}{'' if self.run is None else f'#{self.run}'}"


def plain(name: str) -> str:
    """The form of a pass's name in which names are compared."""
    return name.strip().replace("-", "").replace("_", "").lower()


def near(name: str, names: Iterable[str]) -> list[str]:
    """Those of `names` that whoever wrote `name` may have meant: it is part of them, or like the end of one."""
    wanted = plain(name)
    known = list(dict.fromkeys(names))
    found = [each for each in known if wanted and wanted in plain(each)]
    if not found:
        ends: dict[str, str] = {}
        for each in known:
            words = each.split("-")
            for first in range(len(words)):
                ends.setdefault(plain("-".join(words[first:])), each)
        found = list(dict.fromkeys(ends[end] for end in difflib.get_close_matches(wanted, ends)))
    return found[:_MOST_NAMED]
