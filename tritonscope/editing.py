"""What of a capture can be edited, and the compile that goes on from an edited text."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tritonscope import runs
from tritonscope.errors import UsageError
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.locations import strip_debug
from tritonscope.ir.relocation import relocated
from tritonscope.model import Capture, Edit, KernelRef, PassRecord, Request, Target
from tritonscope.store import reader

__all__ = ["Place", "after_pass", "of_stage", "request", "request_of"]

#: The stages that can be edited, in the order of the pipeline, and Gluon's, which has no passes of its own.
_STAGES = ("source", "ttir", "ttgir", "llir", "ptx", "amdgcn")
_ORDER = ("source", "ttir", "glir", "ttgir", "llir", "ptx", "amdgcn")


@dataclass(frozen=True)
class Place:
    """One text of a capture that may be edited: a stage's, or the IR that `step` left.

    `text` is the text in full, `kind` what `ir.kinds.kind_of` calls it, `name` what a user does.
    """

    capture: Capture
    stage: str
    step: str | None
    pass_name: str | None
    kind: str
    text: str

    @property
    def name(self) -> str:
        """ "ttgir", or "the IR after tritongpu-coalesce, step 8"."""
        return self.stage if self.pass_name is None else f"the IR after {self.pass_name}, step {self.step}"

    @property
    def file_name(self) -> str:
        """A name for a file with this text."""
        return f"{self.capture.kernel}.{self.stage}" if self.pass_name is None else f"{self.pass_name}.mlir"

    def shown(self) -> str:
        """The text as it is edited: MLIR without its locations, the rest as it is."""
        return strip_debug(self.text, "mlir") if self.kind == "mlir" else self.text

    def is_unchanged(self, edited: str) -> bool:
        """Whether `edited` says nothing but what is there, debug information and the end of the last line aside."""
        return strip_debug(edited, self.kind).rstrip() == strip_debug(self.text, self.kind).rstrip()


def of_stage(capture: Capture, stage: str) -> Place:
    """The text of `stage`; raises UsageError where there is none that could be edited."""
    found = reader.find_stage(capture, stage)
    if found.stage not in _STAGES:
        there = [each.stage for each in capture.stages if each.stage in _STAGES]
        raise UsageError(f"nothing is compiled on from an edited {found.stage}; edit one of {', '.join(there)}")
    text = reader.stage_text(capture, found.stage)
    kind = kind_of(found.file)
    step = None
    if kind == "mlir" and found.stage != "source":
        # Where a stage ends is where its last pass does: what Triton reads off the module then, it reads off the edit.
        ran = [each for each in _outer(capture) if each.stage == found.stage and each.method != "skipped"]
        if not ran:
            raise UsageError(f"no pass of {capture.capture} leaves {found.stage}; edit its stage source")
        step = ran[-1].step
    return Place(capture, found.stage, step, None, kind, text)


def after_pass(capture: Capture, text: str) -> Place:
    """The IR after the pass that `text` names; raises UsageError where that cannot be edited."""
    record = reader.find_step(capture, text)
    if "." in record.step:
        outer = record.step.partition(".")[0]
        raise UsageError(f"{record.name} runs inside step {outer}, which is run as a whole; edit the IR after that one")
    if record.method == "skipped":
        raise UsageError(f"{record.name} was left out of {capture.capture}; edit the IR after the pass before it")
    file = reader.file_after(capture, record)
    if file is None or kind_of(file) != "mlir":
        raise UsageError(
            f"step {record.step}, {record.name}, is no pass over MLIR; edit a whole stage, such as llir or ptx"
        )
    return Place(capture, record.stage, record.step, record.name, "mlir", reader.after(capture, record))


def _outer(capture: Capture) -> list[PassRecord]:
    return [each for each in capture.passes if "." not in each.step]


def request(place: Place, edited: str) -> tuple[Request, dict[str, bytes]]:
    """What compiles on from `edited` in that place, and the texts of all its edits, by their file in the capture.

    Edits that the capture came about by stay where they are before this one in the pipeline. Raises UsageError where
    the capture does not say how it was compiled, or its kernel's file is lost, CaptureUnreadable where it is damaged.
    """
    capture = place.capture
    recorded = request_of(capture)
    text = relocated(edited, place.text) if place.kind == "mlir" else edited
    data = text.encode("utf-8", "replace")
    file = _file(place.stage, place.step)
    edit = Edit(place.stage, place.step, place.pass_name, file, hashlib.sha256(data).hexdigest())
    before = [each for each in recorded.edits if _position(each) < _position(edit)]
    texts = {each.file: reader.read_data(capture, each.file) for each in before}
    changed = replace(recorded, edits=(*before, edit), parent=capture.capture, parent_key=capture.key)
    return changed, {**texts, file: data}


def _position(edit: Edit) -> tuple[int, float]:
    return _ORDER.index(edit.stage), float("inf") if edit.step is None else int(edit.step)


def _file(stage: str, step: str | None) -> str:
    """Where a capture keeps the text of an edit."""
    return f"edits/{stage}.{stage}" if step is None else f"edits/{int(step):03d}.mlir"


def request_of(capture: Capture) -> Request:
    """What compiles `capture` again; raises UsageError where it does not say, or its kernel's file is lost."""
    recorded = capture.request
    if recorded.get("imported_from"):
        raise UsageError(
            f"{capture.capture} was imported, and its kernel is not known; compile the kernel and edit that"
        )
    try:
        target = recorded["target"]
        return Request(
            _kernel(capture),
            Target(_text(target["backend"]), _text(target["arch"]), int(target["warp_size"])),
            signature=None if recorded.get("signature") is None else _text(recorded["signature"]),
            constants=_texts(recorded.get("constants", {})),
            options=_texts(recorded.get("options", {})),
            config=None if recorded.get("config") is None else int(recorded["config"]),
            env=_texts(recorded.get("env", {})),
            llvm_passes=bool(recorded.get("llvm_passes")),
            skip=tuple(_text(each) for each in recorded.get("skip", ())),
            stop_after=None if recorded.get("stop_after") is None else _text(recorded["stop_after"]),
            edits=tuple(_edit(each) for each in recorded.get("edits", ())),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{capture.capture} does not say how it was compiled ({error}); compile it again") from None


def _kernel(capture: Capture) -> KernelRef:
    """The kernel's file where it is still what was compiled, else the copy that the capture has."""
    kernel = runs.kernel_of(capture)
    copy = next((stage.file for stage in capture.stages if stage.stage == "python"), None)
    if copy is None or Path(kernel.path).read_bytes() == reader.read_data(capture, copy):
        return kernel
    return KernelRef(kernel.name, str(Path(capture.path) / copy), kernel.function)


def _edit(value: Mapping[str, Any]) -> Edit:
    edit = Edit(**value)
    if edit.stage not in _ORDER or edit.file != _file(edit.stage, edit.step):
        raise ValueError(f"{edit.stage!r} and {edit.file!r} are no edit")
    return edit


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _texts(value: Mapping[str, Any]) -> dict[str, str]:
    return {_text(name): _text(each) for name, each in value.items()}
