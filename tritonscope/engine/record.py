"""The parent's part of a capture: turn what the child says into the journal's entries and the snapshots beside it.

The child only writes raw text and goes on compiling; what takes time without the compiler (strip, compare, count,
compress, take the compiler's own dumps apart) happens here, on another core and without its interpreter lock.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tritonscope import errors, reproducer
from tritonscope.engine import llvm_record
from tritonscope.engine.nested import nested_records, short_name
from tritonscope.engine.snapshots import SnapshotFolder
from tritonscope.errors import TritonscopeError
from tritonscope.ir.locations import strip_debug
from tritonscope.ir.mlir_dump import (
    Diagnostic,
    Dump,
    Noise,
    parse_diagnostics,
    parse_reproducer,
    read_dumps,
    why_failed,
)
from tritonscope.ir.stats import count_ops
from tritonscope.ir.timing import without_timing
from tritonscope.model import Failure, PassRecord, Request, to_json
from tritonscope.store.writer import CaptureWriter

__all__ = ["COMPILER_OUTPUT", "Recorder"]

#: The child's descriptor 2 while it compiles, in the capture's folder; taken apart and deleted at the end.
COMPILER_OUTPUT = "compiler.err"

#: The most that is kept of what a compiler printed about one failure, in characters.
MOST_DIAGNOSTICS = 200_000

_EXECUTING = re.compile(r"Pipeline failed while executing \[(?P<passes>.*?)\]: reproducer generated")
_PASS_ON = re.compile(r"`([^`]+)` on ")
_TOOL_ERROR = re.compile(r"^ptxas\S* [^\n]*?, line (?P<line>\d+); (?:error|fatal) *: (?P<message>[^\n]*)", re.MULTILINE)
#: What LLVM says of a text that it cannot read; the first form before it aborts.
_UNREADABLE = re.compile(r"failed to parse (?:LLVM )?IR: (?P<message>.*?) ?(?:lineno:|at line) ?(?P<line>\d+)")

#: What LLVM's assembler calls the text that it is given.
_ASSEMBLED = "triton-amdgpu-assembler"


class Recorder:
    """Takes the child's events one by one and appends what they mean to the journal."""

    def __init__(self, writer: CaptureWriter, request: Request) -> None:
        self._writer = writer
        self._target = to_json(request.target)
        self._snapshots = SnapshotFolder(writer.folder)
        self._output = writer.folder / COMPILER_OUTPUT
        self._log = writer.folder / "log.txt"
        self._function = "kernel"
        self._loaded = False
        self._versions: Mapping[str, str] = {}
        self._logged = 0
        self._restart()
        self.key: str | None = None
        self.finished = False
        self.refused = False
        self.failure: Failure | None = None
        self.error: TritonscopeError | None = None

    def _restart(self) -> None:
        self._text = ""
        self._stripped = ""
        self._kind = "mlir"
        self._ops: int | None = None
        self._running: dict[str, Any] | None = None
        self._waiting: list[PassRecord] = []
        self._stage: str | None = None

    def take(self, event: dict[str, Any]) -> None:
        """Record one event; raises Missing on a full disk, KeyError or ValueError on an event that is none."""
        handle = getattr(self, f"_take_{event['event']}", None)
        if handle is None:
            self._writer.append(event)
        else:
            handle(event)

    # -- one method an event that is more than noted

    def _take_loaded(self, event: dict[str, Any]) -> None:
        self._loaded = True
        self._function = event["function"]
        self._versions = event["versions"]
        self._writer.append(event)

    def _take_key(self, event: dict[str, Any]) -> None:
        self.key = event["hash"]
        self._writer.append(event)

    def _take_error(self, event: dict[str, Any]) -> None:
        self.error = getattr(errors, event["kind"], errors.TritonscopeError)(event["message"])
        self._writer.append(event)

    def _take_restart(self, event: dict[str, Any]) -> None:
        self._restart()
        self._writer.append(event)

    def _take_begin(self, event: dict[str, Any]) -> None:
        self._stage = event["stage"]
        self._writer.append(event)

    def _take_stage(self, event: dict[str, Any]) -> None:
        stage, file = event["stage"], event["file"]
        if stage == "source":
            self._now(self._snapshots.read(file), "mlir")
        elif self._waiting:
            # The last step of a stage left just what the stage did.
            *earlier, last = self._waiting
            self._ops = count_ops(self._snapshots.read(file), "llir") if stage == "llir" else None
            method = "edited" if event.get("edited") else last.method
            self._waiting = [*earlier, replace(last, file=file, ops_after=self._ops, method=method)]
        self._flush()
        self._writer.append(event)

    def _take_pass_begin(self, event: dict[str, Any]) -> None:
        self._running = event
        self._writer.append(event)

    def _take_pass(self, event: dict[str, Any]) -> None:
        self._running = None
        step, name = event["step"], event["name"]
        printed = self._printed(event["printed"])
        before_text, before_ops = self._text, self._ops
        suffix = "ll" if event["kind"] == "step" else "mlir"
        file, changed = self._snapshot(event["raw"], step, name, suffix)
        record = PassRecord(
            step=step,
            stage=event["stage"],
            name=name,
            options=event["options"],
            ms=event["ms"],
            changed=changed or event["kind"] == "step",
            ops_before=before_ops,
            ops_after=self._ops,
            file=file,
            method="edited" if event["kind"] == "edited" else "intercepted",
        )
        if event["kind"] == "step" and file is None:
            self._waiting.append(replace(record, ops_after=None))
        else:
            self._append(record)
        if event.get("llvm_dump"):
            start, end = event["printed"]
            for child in llvm_record.records(self._output, start, end, record, before_text, self._snapshots):
                self._append(child)
            return
        items = list(read_dumps(printed.splitlines(keepends=True)))
        for child in nested_records(items, record, before_text, self._text, self._snapshots):
            self._append(child)
        self._log_noise(items)

    def _take_skipped(self, event: dict[str, Any]) -> None:
        self._append(
            PassRecord(
                step=event["step"],
                stage=event["stage"],
                name=event["name"],
                options=event["options"],
                ms=None,
                changed=False,
                ops_before=self._ops,
                ops_after=self._ops,
                file=None,
                method="skipped",
            )
        )

    def _take_dumped(self, event: dict[str, Any]) -> None:
        """The passes of a stage as the compiler printed them: the module before each, so the next says what it left.

        Passes inside a pass cannot be told from the others here, and are listed like them.
        """
        items = list(read_dumps(self._printed(event["printed"]).splitlines(keepends=True)))
        dumps = [item for item in items if isinstance(item, Dump) and item.when == "Before"]
        last = self._snapshots.take(event["raw"]) if event["raw"] else (dumps[-1].text if dumps else "")
        for step, (dump, after) in enumerate(
            zip(dumps, [*(later.text for later in dumps[1:]), last], strict=True), event["first"]
        ):
            before_text, before_stripped, before_ops = self._text, self._stripped, self._ops
            file = None
            if after != before_text:
                self._now(after, "mlir")
                file = self._snapshots.add(str(step), short_name(dump), "mlir", after.encode())
            self._append(
                PassRecord(
                    step=str(step),
                    stage=event["stage"],
                    name=short_name(dump),
                    options=" ".join((dump.options or "").split()),
                    ms=None,
                    changed=before_stripped != self._stripped,
                    ops_before=before_ops,
                    ops_after=self._ops,
                    file=file,
                    method="dumped",
                )
            )
        self._log_noise(items)

    def _take_failure(self, event: dict[str, Any]) -> None:
        self.refused = True
        if "printed" in event:
            failure = self._refused(event)
        else:
            fields = {k: v for k, v in event.items() if k not in ("event", "error")}
            failure = Failure(pass_=None, inner=None, **fields)
        self._fail(failure)

    def _take_done(self, event: dict[str, Any]) -> None:
        self.finished = True
        self._writer.append(event)

    # -- the end

    def abandon(self, message: str) -> None:
        """The child is gone: say in which pass, on which IR, and keep what the compiler printed last."""
        self._flush()
        running = self._running or {}
        start = running.get("printed", self._logged)
        items = list(read_dumps(self._printed([start, None]).splitlines(keepends=True)))
        dumps = [item for item in items if isinstance(item, Dump) and item.when == "Before"]
        noise = _noise(items)
        inner = short_name(dumps[-1]) if len(dumps) > 1 else None
        if self.key is None:
            doing = "Triton's cache key was being made" if self._loaded else "the kernel's file was being loaded"
            message = f"{message}, while {doing}"
        self._append_failed(running, items)
        self._log_noise(items)
        if unreadable := _UNREADABLE.search(noise):
            self._fail(self._refused_by_llvm(running, unreadable, noise))
            return
        self._fail(
            Failure(
                stage=running.get("stage", self._stage),
                pass_=running.get("name"),
                inner=inner,
                step=running.get("step"),
                message=message,
                diagnostics=noise[-MOST_DIAGNOSTICS:],
                reproducer=self._reproducer(running, "", None),
            )
        )

    def close(self) -> None:
        """Move what is left of the compiler's output to the log."""
        self._flush()
        if self._output.exists():
            self._log_noise(list(read_dumps(self._printed([self._logged, None]).splitlines(keepends=True))))
            self._output.unlink()

    # -- parts

    def _fail(self, failure: Failure) -> None:
        self._flush()
        self.failure = failure
        self._writer.append({"event": "failure", **to_json(failure)})

    def _refused(self, event: dict[str, Any]) -> Failure:
        """A pass or step that failed, from what the compiler printed and what Triton raised."""
        running = self._running or {}
        if event["error"] == "ToolFailed":
            return self._refused_by_tool(running, event)
        printed = self._printed(event["printed"])
        items = list(read_dumps(printed.splitlines(keepends=True)))
        noise = _noise(items)
        if unreadable := _UNREADABLE.search(event["message"]):
            self._append_failed(running, items)
            self._running = None
            return self._refused_by_llvm(running, unreadable, noise)
        printed_reproducer = parse_reproducer(noise)
        diagnostics = parse_diagnostics(noise)
        errors = [d for d in diagnostics if d.severity == "error"]
        first = errors[0] if errors else None
        named = _EXECUTING.search(noise)
        passes = _PASS_ON.findall(named["passes"]) if named else []
        inner = next((short_name(d) for d in items if isinstance(d, Dump) and d.name in passes[1:][-1:]), None)
        message = why_failed(noise, event["message"] or event["error"])
        resources = printed_reproducer.text[len(printed_reproducer.ir) :] if printed_reproducer else ""
        place = _place(first, diagnostics)
        if place is not None and place.file == _ASSEMBLED:
            place = replace(place, file=f"{self._function}.amdgcn")
        self._append_failed(running, items)
        self._log_noise(items)
        self._running = None
        return Failure(
            stage=event["stage"],
            pass_=running.get("name"),
            inner=inner,
            step=event["step"],
            message=message,
            file=place.file if place else None,
            line=place.line if place else None,
            column=place.column if place else None,
            source_line=_source_line(place, self._writer.folder),
            diagnostics=(noise.replace(printed_reproducer.text, "") if printed_reproducer else noise)[
                :MOST_DIAGNOSTICS
            ],
            reproducer=self._reproducer(running, resources, message),
        )

    def _refused_by_tool(self, running: Mapping[str, Any], event: dict[str, Any]) -> Failure:
        """ptxas says which line of the PTX it does not take; that line is in the capture."""
        log = event["message"]
        found = _TOOL_ERROR.search(log)
        ptx = f"{self._function}.ptx"
        line = int(found["line"]) if found else None
        self._append_failed(running, [])
        self._running = None
        return Failure(
            stage=event["stage"],
            pass_=running.get("name"),
            inner=None,
            step=event["step"],
            message=f"{running.get('name')} refuses the PTX: {found['message'] if found else log.strip()[:500]}",
            file=ptx if found else None,
            line=line,
            source_line=self._line(ptx, line),
            diagnostics=log[:MOST_DIAGNOSTICS],
        )

    def _refused_by_llvm(self, running: Mapping[str, Any], said: "re.Match[str]", noise: str) -> Failure:
        """LLVM says which line of an edited text it cannot read, and ends the process."""
        self.refused = True
        file, line = f"{self._function}.llir", int(said["line"])
        return Failure(
            stage=running.get("stage", self._stage),
            pass_=running.get("name"),
            inner=None,
            step=running.get("step"),
            message=f"LLVM cannot read the text: {said['message']}",
            file=file,
            line=line,
            source_line=self._line(file, line),
            diagnostics=noise[-MOST_DIAGNOSTICS:],
        )

    def _line(self, file: str, line: int | None) -> str | None:
        """A line, from 1, of a file of the capture; None where there is no such."""
        lines = self._snapshots.read(file).splitlines() if (self._writer.folder / file).exists() else []
        return lines[line - 1] if line is not None and line <= len(lines) else None

    def _append_failed(self, running: Mapping[str, Any], items: list[Dump | Noise]) -> None:
        """The pass that did not end, and the passes inside it up to there, belong in the list."""
        if not running:
            return
        record = PassRecord(
            step=running["step"],
            stage=running["stage"],
            name=running["name"],
            options=running["options"],
            ms=None,
            changed=False,
            ops_before=self._ops,
            ops_after=None,
            file=None,
            method="intercepted",
        )
        self._append(record)
        for child in nested_records(items, record, self._text, self._text, self._snapshots):
            self._append(child)

    def _reproducer(self, running: Mapping[str, Any], resources: str, message: str | None) -> str | None:
        """Write the IR that went into the running pass, headed by what runs that pass again."""
        call = running.get("call")
        if not call or call["args"] is None or not self._text:
            return None
        header = reproducer.format_header(
            {
                "stage": running["stage"],
                "pass_name": running["name"],
                "options": running["options"],
                "call": call,
                "target": self._target,
                "versions": dict(self._versions),
                "outcome": "crashed" if message is None else "failed",
                "message": message,
            }
        )
        return self._snapshots.write("reproducer.mlir", f"{header}{self._text.rstrip()}\n{resources.lstrip()}")

    def _snapshot(self, raw: str | None, step: str, name: str, suffix: str) -> tuple[str | None, bool]:
        """File the raw text that a step left; (its file, whether more than locations changed)."""
        if raw is None:
            return None, False
        text = self._snapshots.read(raw)
        before = self._stripped
        self._now(text, "llir" if suffix == "ll" else "mlir")
        return self._snapshots.file(raw, text, step, name, suffix), before != self._stripped

    def _now(self, text: str, kind: str) -> None:
        self._text = text
        self._kind = kind
        self._stripped = strip_debug(text, kind)
        self._ops = count_ops(text, kind)

    def _append(self, record: PassRecord) -> None:
        self._writer.append({"event": "pass", **to_json(record)})

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for record in waiting:
            self._append(record)

    def _printed(self, span: list[int | None]) -> bytes:
        start, end = span
        if not self._output.exists():
            return b""
        with self._output.open("rb") as file:
            file.seek(start or 0)
            data = file.read() if end is None else file.read(end - (start or 0))
        self._logged = max(self._logged, (start or 0) + len(data))
        return data

    def _log_noise(self, items: list[Dump | Noise]) -> None:
        noise = _noise(items)
        if noise.strip():
            with self._log.open("a", encoding="utf-8") as log:
                log.write(noise if noise.endswith("\n") else noise + "\n")


def _noise(items: list[Dump | Noise]) -> str:
    return without_timing("".join(item.text for item in items if isinstance(item, Noise)))


def _place(first: Diagnostic | None, diagnostics: list[Diagnostic]) -> Diagnostic | None:
    """The first message that names a place: the error itself, or a note to it."""
    return next((d for d in [first, *diagnostics] if d is not None and d.line is not None), None)


def _source_line(place: Diagnostic | None, folder: Path) -> str | None:
    if place is None or place.file is None or place.line is None:
        return None
    try:
        lines = (folder / place.file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return lines[place.line - 1] if place.line <= len(lines) else None
