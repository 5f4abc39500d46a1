"""What is open: a capture, its texts and diffs, read once and kept for a while. No textual here; safe from threads."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from tritonscope.errors import TritonscopeError
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.locations import strip_debug
from tritonscope.model import Capture, PassRecord
from tritonscope.store import reader
from tritonscope.tui.document import Document

if TYPE_CHECKING:
    from tritonscope.ir.diff import Diff, Stat
    from tritonscope.ir.links import Position
    from tritonscope.line_links import Heat, Links, Listing

__all__ = ["Session"]

_Kept = TypeVar("_Kept")

# What is kept, in characters of texts and lines of diffs: a handful of the largest, or all the small ones.
_MOST_CHARACTERS = 12_000_000
_MOST_DIFF_LINES = 50_000
_LARGEST_DIFF = 12_000_000
_MOST_LINKED_LINES = 600_000


class Session:
    """The texts of one capture, by stage or step, with locations or without."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self._texts: OrderedDict[Hashable, Document] = OrderedDict()
        self._diffs: OrderedDict[Hashable, Diff] = OrderedDict()
        self._listings: OrderedDict[str, Listing] = OrderedDict()
        self._links: Links | None = None
        self._heat: tuple[Heat, Mapping[Position, int]] | None = None
        self._lock = Lock()
        self._links_lock = Lock()  # held while lines are followed, which takes its time

    # -- texts

    def stage(self, stage: str, locations: bool = False) -> Document:
        """The text of a stage; raises UsageError and CaptureUnreadable."""
        file = reader.find_stage(self.capture, stage).file
        return self._document(("stage", stage), file, lambda: reader.stage_text(self.capture, stage), locations, stage)

    def after(self, step: PassRecord, locations: bool = False) -> Document:
        """The IR that a step left; raises UsageError and CaptureUnreadable."""
        file = reader.file_after(self.capture, step) or ""
        title = f"after {step.step} {step.name}"
        return self._document(("file", file), file, lambda: reader.after(self.capture, step), locations, title)

    def before(self, step: PassRecord, locations: bool = False) -> Document:
        """The IR that went into a step; raises UsageError and CaptureUnreadable."""
        file = reader.file_before(self.capture, step) or ""
        title = f"before {step.step} {step.name}"
        return self._document(("file", file), file, lambda: reader.before(self.capture, step), locations, title)

    def _document(self, key: Hashable, file: str, read: Callable[[], str], locations: bool, title: str) -> Document:
        whole = (key, locations)
        with self._lock:
            if whole in self._texts:
                self._texts.move_to_end(whole)
                found = self._texts[whole]
                return found if found.title == title else _retitled(found, title)
        kind = kind_of(file)
        text = read()
        document = Document(text if locations else strip_debug(text, kind), kind, title)
        with self._lock:
            self._texts[whole] = document
            size = sum(document.size for document in self._texts.values())
            while size > _MOST_CHARACTERS and len(self._texts) > 2:
                size -= self._texts.popitem(last=False)[1].size
        return document

    # -- links

    @property
    def links(self) -> "Links":
        """The links of the capture as it is now."""
        from tritonscope.line_links import Links

        if self._links is None or self._links.capture is not self.capture:
            self._links, self._heat = Links(self.capture), None
        return self._links

    def listing(self, text: str | PassRecord) -> "Listing":
        """A stage by its name, or what a pass left, with what its lines came from; raises UsageError where they lead
        nowhere, and CaptureUnreadable."""
        with self._links_lock:
            if isinstance(text, str):
                return self.links.stage(text)  # which keeps them
            file = reader.file_after(self.capture, text) or ""
            if file in self._listings:
                self._listings.move_to_end(file)
                found = self._listings[file]
                return replace(found, stage=text.stage, step=text.step, pass_=text.name)
            found = self._listings[file] = self.links.after(text)
            lines = sum(len(each.lines) for each in self._listings.values())
            while lines > _MOST_LINKED_LINES and len(self._listings) > 1:
                lines -= len(self._listings.popitem(last=False)[1].lines)
            return found

    def heat(self) -> "tuple[Heat, Mapping[Position, int]]":
        """What each line of Python became, and of those the samples of the capture's profile, empty where it has none;
        raises UsageError and CaptureUnreadable."""
        from tritonscope.hot_lines import HotLines
        from tritonscope.store import profiles

        with self._links_lock:
            links = self.links
            if self._heat is None:
                profile = profiles.profile_of(self.capture)
                tallies = HotLines(profile, links).of_python() if profile else {}
                self._heat = links.heat(), {place: tally.samples for place, tally in tallies.items()}
            return self._heat

    # -- diffs

    def stat(self, step: PassRecord) -> "Stat":
        """The numbers of `diff` alone, which is not kept: they are asked for of every pass in turn."""
        from tritonscope.ir.diff import diff

        with self._lock:
            kept = self._diffs.get(("step", step.step))
        if kept is not None:
            return kept.stat
        left, right = self.before(step), self.after(step)
        _check_size(left, right)
        return diff("\n".join(left.lines), "\n".join(right.lines), right.kind).stat

    def diff(self, step: PassRecord) -> "Diff":
        """What a step changed, names aside; raises UsageError, also where the texts are too large to compare."""
        return self.compare(self.before(step), self.after(step), ("step", step.step))

    def raw_diff(self, step: PassRecord) -> "Diff":
        """The same to the letter, renamed lines and all; raises as `diff` does."""
        return self.compare(self.before(step), self.after(step), ("raw step", step.step), raw=True)

    def compare(self, left: Document, right: Document, key: Hashable, raw: bool = False) -> "Diff":
        """Two texts compared, names aside or to the letter, and kept under `key`."""
        from tritonscope.ir.diff import diff
        from tritonscope.ir.raw import raw_diff

        with self._lock:
            if key in self._diffs:
                self._diffs.move_to_end(key)
                return self._diffs[key]
        _check_size(left, right)
        found = (raw_diff if raw else diff)("\n".join(left.lines), "\n".join(right.lines), right.kind)
        with self._lock:
            self._diffs[key] = found
            lines = sum(len(each.lines) for each in self._diffs.values())
            while lines > _MOST_DIFF_LINES and len(self._diffs) > 1:
                lines -= len(self._diffs.popitem(last=False)[1].lines)
        return found


def _check_size(left: Document, right: Document) -> None:
    if left.size + right.size > _LARGEST_DIFF:
        raise TritonscopeError("these texts are too large to compare here; `tritonscope diff` takes its time for it")


def _retitled(document: Document, title: str) -> Document:
    other: Any = Document.__new__(Document)
    other.__dict__.update(document.__dict__, title=title)
    found: Document = other
    return found
