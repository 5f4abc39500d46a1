"""Reading captures: which there are, which one is meant, and the IR in it. Nothing on disk is ever changed."""

import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tritonscope import recipe
from tritonscope.errors import CaptureNotFound, CaptureUnreadable, UsageError
from tritonscope.ir.kinds import kind_of
from tritonscope.model import Capture, PassRecord, Stage
from tritonscope.pass_reference import near, plain
from tritonscope.store import decode, files, journal, layout

__all__ = [
    "Resolution",
    "after",
    "before",
    "file_after",
    "file_before",
    "find_stage",
    "find_step",
    "list_captures",
    "open_capture",
    "read_data",
    "read_text",
    "resolve",
    "runs_of",
    "stage_bytes",
    "stage_text",
]

_LARGEST_CAPTURE = 64 << 20
_MOST_NAMED = 8
_LONGEST_NAME = 300


@dataclass(frozen=True)
class Resolution:
    """The capture that was meant, and the sentence to tell the user where that took a choice, else None."""

    capture: Capture
    note: str | None = None


def open_capture(folder: Path) -> Capture:
    """The capture in `folder`, from capture.json, or from the journal where that is absent or cut off.

    Raises CaptureUnreadable.
    """
    name = f"{folder.absolute().parent.name}/{folder.absolute().name}"
    _look_into(folder)
    try:
        return _from_summary(folder.absolute(), name)
    except (FileNotFoundError, _DamagedError) as problem:
        if not (folder / layout.JOURNAL).exists():
            raise CaptureUnreadable(
                str(problem) if isinstance(problem, _DamagedError) else _no_capture(folder)
            ) from None
    # The lock is looked at first: a run that ends in between is then read whole.
    held = layout.is_running(folder) and journal.is_held(folder)
    capture = journal.fold(journal.read(folder), folder.absolute())
    if held and capture.status == "interrupted":
        return replace(capture, status="running", failure=None)
    return capture


def list_captures(dumps: Path) -> tuple[list[Capture], list[CaptureUnreadable]]:
    """The captures below `dumps`, by kernel and the newest first, and why the others could not be read.

    Raises CaptureUnreadable where `dumps` itself cannot be.
    """
    captures: list[Capture] = []
    unreadable: dict[Path, CaptureUnreadable] = {}
    for folder in _folders(dumps, unreadable):
        try:
            captures.append(open_capture(folder))
        except CaptureUnreadable as error:
            if folder.exists():  # else it was published, under another name, in this moment
                unreadable[folder] = error
    captures.sort(key=lambda capture: capture.created, reverse=True)
    captures.sort(key=lambda capture: capture.kernel)
    return captures, list(unreadable.values())


def resolve(dumps: Path, text: str, reference: Path | None = None) -> Resolution:
    """The capture that `text` means: a path, a kernel's name for its newest, or a prefix of "kernel/target-id".

    What `dumps` does not have is looked up in `reference`, the captures that travel with the tool. Raises
    CaptureNotFound where there is none or there are several, CaptureUnreadable where it is damaged.
    """
    path = layout.expand(text)
    if _is_folder(path):
        _look_into(path)
        if layout.is_capture(path):
            return Resolution(open_capture(path))
    # A bundled kernel is called FAMILY/RUNG, and its function and folder FAMILY_RUNG.
    if found := _resolve_in(dumps, text) or _resolve_in(dumps, text.replace("/", "_", 1)):
        return found
    if reference and (found := _resolve_in(reference, text)):
        return Resolution(found.capture, f"taking {found.capture.capture}, which travels with tritonscope")
    raise CaptureNotFound(_not_found(dumps, text, reference))


def find_stage(capture: Capture, name: str) -> Stage:
    """The stage called `name`; raises UsageError where the capture has none of it."""
    for stage in capture.stages:
        if stage.stage == name.lower():
            return stage
    there = ", ".join(stage.stage for stage in capture.stages) or "none"
    raise UsageError(f"{capture.capture} has no stage {name!r}; it has {there}")


def stage_text(capture: Capture, stage: str) -> str:
    """The text of `stage`; raises UsageError for one that is absent or binary, CaptureUnreadable for a damaged one."""
    found = find_stage(capture, stage)
    if kind_of(found.file) == "binary":
        raise UsageError(
            f"{stage} is binary; write it to a file with `tritonscope dump {_called(capture)} {stage} -o FILE`"
        )
    return read_text(capture, found.file)


def stage_bytes(capture: Capture, stage: str) -> bytes:
    """The contents of `stage`; raises UsageError for one that is absent, CaptureUnreadable for a damaged one."""
    return read_data(capture, find_stage(capture, stage).file)


def before(capture: Capture, step: PassRecord) -> str:
    """The IR that went into `step`; raises UsageError where it was not kept, CaptureUnreadable where it is damaged."""
    return _read_kept(capture, step, file_before(capture, step), "before")


def after(capture: Capture, step: PassRecord) -> str:
    """The IR that `step` left; raises UsageError where it was not kept, CaptureUnreadable where it is damaged."""
    return _read_kept(capture, step, file_after(capture, step), "after")


def file_after(capture: Capture, step: PassRecord) -> str | None:
    """The file with the IR that `step` left: its own, or, where it changed nothing, the one before it."""
    return step.file or file_before(capture, step)


def file_before(capture: Capture, step: PassRecord) -> str | None:
    """The file with the IR that went into `step`, None where it was not kept.

    Its own where it has one; else what the step before it on the same level left; for the first of the nested ones,
    what went into the outer step; for the first of all, the "source" stage.
    """
    if step.before:
        return step.before
    outer, _, _ = step.step.rpartition(".")
    at = next(index for index, record in enumerate(capture.passes) if record.step == step.step)
    for record in reversed(capture.passes[:at]):
        if record.file and record.step.rpartition(".")[0] == outer:
            return record.file
    if outer:
        parent = next((record for record in capture.passes if record.step == outer), None)
        return file_before(capture, parent) if parent else None
    return next((stage.file for stage in capture.stages if stage.stage == "source"), None)


def find_step(capture: Capture, text: str) -> PassRecord:
    """The step that `text` means: "17", "43.1", a pass's name, or "NAME#2" for its second run.

    Names are compared without case, "-" and "_". Raises UsageError, with the names that come near, for none of these.
    """
    for record in capture.passes:
        if record.step == text:
            return record
    name, _, run = text.partition("#")
    runs = runs_of(capture, name)
    if runs and not run:
        return runs[0]
    if runs and run.isdecimal() and 0 < int(run) <= len(runs):
        return runs[int(run) - 1]
    if runs:
        raise UsageError(f"{runs[0].name} ran {len(runs)} times in {capture.capture}, so there is no {text!r}")
    names = near(name, (record.name for record in capture.passes))
    hint = f"did you mean {' or '.join(names)}?" if names else f"`tritonscope passes {_called(capture)}` lists them"
    raise UsageError(f"{capture.capture} has no pass {text!r}; {hint}")


def runs_of(capture: Capture, name: str) -> list[PassRecord]:
    """Every run of the pass called `name`, in the order in which they ran."""
    return [record for record in capture.passes if plain(record.name) == plain(name)]


def read_text(capture: Capture, file: str) -> str:
    """The text of a file of the capture; raises CaptureUnreadable."""
    return read_data(capture, file).decode("utf-8", "replace")


def read_data(capture: Capture, file: str) -> bytes:
    """The contents of a file of the capture, unpacked; raises CaptureUnreadable."""
    return files.read_bytes(Path(capture.path), file)


class _DamagedError(Exception):
    """The capture.json is cut off, which its journal makes good."""


def _from_summary(folder: Path, name: str) -> Capture:
    path = folder / layout.CAPTURE
    if not os.path.lexists(path):
        raise FileNotFoundError
    if path.is_symlink():
        raise CaptureUnreadable(f"{path} is a link, which no capture has there; do not trust this folder")
    text = files.read_bounded(path, _LARGEST_CAPTURE)
    try:
        value = decode.parse_object(text, str(path))
    except CaptureUnreadable as error:
        raise _DamagedError(str(error)) from None
    return decode.decode_capture(value, name, str(folder), str(path))


def _no_capture(folder: Path) -> str:
    files_of_one = f"{layout.CAPTURE} nor {layout.JOURNAL}"
    return f"{folder} is no capture: it has neither {files_of_one}; `tritonscope ls` lists those there are"


def _folders(dumps: Path, unreadable: dict[Path, CaptureUnreadable]) -> Iterator[Path]:
    """The captures' folders below `dumps`; those that cannot be looked into are added to `unreadable`."""
    for kernel in _folders_in(dumps):
        try:
            for folder in _folders_in(kernel):
                try:
                    if layout.is_capture(folder):
                        yield folder
                except OSError as error:
                    unreadable[folder] = _unreadable(folder, error)
        except CaptureUnreadable as problem:
            unreadable[kernel] = problem


def _folders_in(folder: Path) -> list[Path]:
    try:
        return sorted(folder / entry.name for entry in os.scandir(folder) if _is_shown(entry))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unreadable(folder, error) from None


def _look_into(folder: Path) -> None:
    """Raise CaptureUnreadable where `folder` is there and its files cannot be reached."""
    try:
        (folder / layout.CAPTURE).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise _unreadable(folder, error) from None


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long, a folder that cannot be looked into: perhaps a capture is called so
        return False


def _unreadable(folder: Path, error: OSError) -> CaptureUnreadable:
    return CaptureUnreadable(f"{folder} cannot be read ({error.strerror}); make it readable, or name another folder")


def _called(capture: Capture) -> str:
    return layout.called(Path(capture.path))


def _is_shown(entry: "os.DirEntry[str]") -> bool:
    return not entry.name.startswith(".") and entry.is_dir()


def _resolve_in(dumps: Path, text: str) -> Resolution | None:
    unreadable: dict[Path, CaptureUnreadable] = {}
    folders = {f"{folder.parent.name}/{folder.name}": folder for folder in _folders(dumps, unreadable)}
    if text in folders:
        return Resolution(open_capture(folders[text]))
    of_kernel = [folder for folder in folders.values() if folder.parent.name == text]
    if of_kernel:
        return _newest(of_kernel, text)
    matching = [name for name in folders if name.startswith(text)] if text else []
    if len(matching) > 1:
        named = ", ".join(matching[:_MOST_NAMED]) + (", ..." if len(matching) > _MOST_NAMED else "")
        raise CaptureNotFound(f"{text!r} could be any of {named}; write more of the name")
    meant = [problem for folder, problem in unreadable.items() if f"{folder.relative_to(dumps)}".startswith(text)]
    if meant and text and not matching:
        raise meant[0]
    return Resolution(open_capture(folders[matching[0]])) if matching else None


def _newest(folders: list[Path], kernel: str) -> Resolution:
    captures, problems = [], []
    for folder in folders:
        try:
            captures.append(open_capture(folder))
        except CaptureUnreadable as problem:
            problems.append(problem)
    if not captures:
        raise problems[0]
    # An attempt that was cut off or still runs says less than one on which the compiler gave its verdict.
    finished = [capture for capture in captures if capture.status in layout.FINISHED]
    newest = max(finished or captures, key=lambda capture: capture.created)
    if len(captures) == 1:
        return Resolution(newest)
    which = "newest that finished" if 0 < len(finished) < len(captures) else "newest"
    made = recipe.words(newest.request)
    taken = f"{newest.capture} ({made})" if made else newest.capture
    return Resolution(newest, f"taking {taken}, the {which} of {len(captures)} captures of {kernel}")


def _not_found(dumps: Path, text: str, reference: Path | None) -> str:
    if _is_folder(Path(text)) and "/" in text:
        return _no_capture(Path(text))
    places = [place for place in (dumps, reference) if place]
    names = dict.fromkeys(f"{folder.parent.name}/{folder.name}" for place in places for folder in _folders(place, {}))
    kernels = dict.fromkeys(name.partition("/")[0] for name in names)
    near = difflib.get_close_matches(text[:_LONGEST_NAME], [*kernels, *names], n=3)
    option = layout.dumps_option(dumps)
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    elif names:
        hint = f"`tritonscope ls{option}` lists those there are"
    else:
        hint = f"make one with `tritonscope compile matmul{option}`, or name its folder with --dumps"
    shown = repr(text) if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]!r} .."
    return f"no capture is called {shown} in {dumps}; {hint}"


def _read_kept(capture: Capture, step: PassRecord, file: str | None, when: str) -> str:
    if file is None:
        raise UsageError(
            f"the IR {when} step {step.step} ({step.name}) of {capture.capture} was not kept; ask for another"
        )
    if kind_of(file) == "binary":
        raise UsageError(
            f"step {step.step} ({step.name}) leaves a binary; "
            f"`tritonscope show {_called(capture)}` lists the stages, which `tritonscope dump` writes to a file"
        )
    return read_text(capture, file)
