"""Where a reader is in a capture, where they were, and what place a name means. No textual here."""

from collections.abc import Iterator
from dataclasses import dataclass

from tritonscope.errors import TritonscopeError
from tritonscope.ir.kinds import kind_of
from tritonscope.model import Capture, PassRecord, Stage
from tritonscope.store import reader
from tritonscope.tui.document import Document
from tritonscope.tui.session import Session

__all__ = ["Jumps", "Place", "first_place", "named", "record_of", "stages_of", "texts_of"]

_BINARY = frozenset({"cubin", "hsaco"})


@dataclass(frozen=True)
class Place:
    """A stage, or a step, as text or as a diff, and the row."""

    stage: str = ""
    step: str = ""
    diff: bool = False
    row: int = 0


class Jumps:
    """Where the reader was before, and where they went back from."""

    def __init__(self) -> None:
        self._before: list[Place] = []
        self._after: list[Place] = []

    def leave(self, place: Place) -> None:
        """The reader goes on from `place`."""
        self._before.append(place)
        self._after.clear()

    def back(self, place: Place) -> Place | None:
        """Where to go back to from `place`; None for nowhere."""
        if not self._before:
            return None
        self._after.append(place)
        return self._before.pop()

    def forward(self, place: Place) -> Place | None:
        """Where the reader went back from to `place`; None for nowhere."""
        if not self._after:
            return None
        self._before.append(place)
        return self._after.pop()


def stages_of(capture: Capture) -> list[Stage]:
    """The stages that have a text, in the order of the pipeline: those that 1 to 9 choose."""
    return [stage for stage in capture.stages if stage.stage not in _BINARY]


def record_of(capture: Capture, step: str) -> PassRecord:
    """The pass of a step that there is."""
    return next(record for record in capture.passes if record.step == step)


def first_place(capture: Capture) -> Place:
    """Where to begin: before a failure, else at the last stage of MLIR."""
    if capture.failure is not None and capture.failure.step is not None:
        records = [record for record in capture.passes if record.changed and record.file]
        if records:
            return Place(step=records[-1].step)
    names = [stage.stage for stage in stages_of(capture)]
    return Place(
        stage=next((name for name in ("ttgir", "ttir", "source") if name in names), names[-1] if names else "")
    )


def named(capture: Capture, text: str) -> Place:
    """The stage, step or pass that a reader means by `text`, or by a part of a pass's name; raises UsageError."""
    if any(stage.stage == text for stage in capture.stages):
        return Place(stage=text)
    try:
        return Place(step=reader.find_step(capture, text.removeprefix("#")).step)
    except TritonscopeError:
        near = next((each for each in capture.passes if text.lower() in each.name.lower()), None)
        if near is None:
            raise
        return Place(step=near.step)


def texts_of(session: Session) -> Iterator[tuple[Place, Document]]:
    """Every text of a capture once, in the order of the pipeline."""
    for stage in stages_of(session.capture):
        if stage.stage in ("python", "source"):
            yield Place(stage=stage.stage), session.stage(stage.stage)
    for record in session.capture.passes:
        if record.file is None or kind_of(record.file) == "binary":
            continue
        try:
            yield Place(step=record.step), session.after(record)
        except TritonscopeError:
            continue
    if any(stage.stage == "sass" for stage in session.capture.stages):
        yield Place(stage="sass"), session.stage("sass")
