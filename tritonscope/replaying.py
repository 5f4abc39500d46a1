"""A pass of a capture, as what runs it again: the IR that went in, headed by which pass it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonscope import reproducer
from tritonscope.errors import UsageError
from tritonscope.model import Capture, PassRecord
from tritonscope.store import journal, reader

__all__ = ["Step", "find", "reproducer_of"]


@dataclass(frozen=True)
class Step:
    """A pass of `capture`; `call` is what adds it again, `after` the IR that it left, None where it left none."""

    capture: Capture
    record: PassRecord
    call: Mapping[str, Any]
    after: str | None

    @property
    def failed(self) -> bool:
        """Whether it is the pass that the capture ended with."""
        return self.capture.failure is not None and self.capture.failure.step == self.record.step

    @property
    def name(self) -> str:
        """What it is called in headings."""
        return f"{self.capture.capture} after {self.record.step} {self.record.name}"


def find(capture: Capture, text: str | None) -> Step:
    """The pass that `text` names, without it the one that failed.

    Raises UsageError where there is none such, or it cannot be run by itself; CaptureUnreadable for a damaged journal.
    """
    if text is None:
        if capture.failure is None or capture.failure.step is None:
            raise UsageError(f"no pass of {capture.capture} failed; say with --pass which one is to be run again")
        text = capture.failure.step
    record = reader.find_step(capture, text)
    step = f"step {record.step}, {record.name},"
    if "." in record.step:
        outer = record.step.partition(".")[0]
        raise UsageError(f"{step} runs inside step {outer}, which is run as a whole; replay that one")
    if record.method != "dumped" and (call := _call(capture, record.step)) is not None:
        if call.get("args") is None:
            raise UsageError(f"{step} was given what cannot be written down, so it cannot be run again; take another")
        failed = capture.failure is not None and capture.failure.step == record.step
        return Step(capture, record, call, None if failed else reader.after(capture, record))
    if record.method in ("dumped", "skipped"):
        why = "was left out" if record.method == "skipped" else "is known from the compiler's dump alone"
        raise UsageError(f"{step} {why}, so it is not known how to run it; take another")
    raise UsageError(
        f"{step} is no pass over MLIR, so it does not run by itself; "
        "`tritonscope edit` compiles on from the text that goes into it"
    )


def _call(capture: Capture, step: str) -> Mapping[str, Any] | None:
    """What adds the pass again, by the journal: of several, the last, since a compile may begin anew."""
    found = None
    for event in journal.read(Path(capture.path)):
        if event["event"] == "pass_begin" and event.get("step") == step:
            found = event.get("call")
    return found if isinstance(found, dict) else None


def reproducer_of(step: Step) -> str:
    """The text of a reproducer file; raises UsageError where the IR that went in was not kept."""
    failure = step.capture.failure if step.failed else None
    outcome = "passed" if failure is None else ("failed" if step.capture.status == "failed" else "crashed")
    header = reproducer.format_header(
        {
            "stage": step.record.stage,
            "pass_name": step.record.name,
            "options": step.record.options,
            "call": step.call,
            "target": step.capture.request.get("target"),
            "versions": dict(step.capture.versions),
            "outcome": outcome,
            "message": failure.message if failure is not None and outcome == "failed" else None,
        }
    )
    return header + reader.before(step.capture, step.record)
