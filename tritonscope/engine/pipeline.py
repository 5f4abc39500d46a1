"""Compile with Triton's own pipeline, one pass at a time, and say what each pass did.

A backend's `compiler` module reaches the native compiler through its globals `ir`, `passes`, `llvm` and its own name.
For the time of one compilation these are stand-ins: adding a pass to our pass manager only notes the call, and running
the manager runs each noted pass in a native manager of its own. The artefacts are bit-identical to a plain compile's,
and the pass that is slow, wrong or fails is known by name. No pass is listed here by hand.

The compiler's own timing report shows which passes run others inside themselves. Their IR is only to be had from the
compiler's own dump, which is switched on for those passes alone; a pass that turns out to need it without having been
expected to starts the compilation over (`Restart`).
"""

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from tritonscope.engine import native, printed
from tritonscope.engine.edits import Edits, Refused, native_of
from tritonscope.engine.events import Events
from tritonscope.engine.selection import Selection
from tritonscope.engine.unchanged import Watch
from tritonscope.errors import no_room
from tritonscope.ir.timing import Timing, parse_timing

__all__ = ["NESTING", "PassFailed", "Pipeline", "Restart", "Stopped"]

#: Passes known to run others inside themselves. A hint that saves a second compile, not a list to keep complete.
NESTING = frozenset(
    {
        "inline",
        "gluon-inline",
        "convert-warp-specialize-to-llvm",
        "tritongpu-automatic-warp-specialization",
        "tritongpu-optimize-dot-operands",
    }
)

#: Calls that are no passes and yet turn one form into another; those that a Triton does not have are simply never seen.
STEPS = frozenset(
    {"to_module", "link_extern_libs", "optimize_module", "translate_to_asm", "assemble_amdgcn", "link_hsaco"}
)

#: Those of them whose result is worth a snapshot: the module as LLVM first saw it, and with the device library in it.
SNAPSHOT_AFTER = frozenset({"to_module", "link_extern_libs"})

#: Those that run LLVM's passes.
LLVM_PASSES_IN = frozenset({"optimize_module", "translate_to_asm", "compile_amdgpu"})

_ANCHOR = re.compile(r"\A[\w.]+\((.*)\)\Z", re.DOTALL)
_PASS = re.compile(r"\A(?P<name>[^{]+)(?:\{(?P<options>.*)\})?\Z", re.DOTALL)


#: Triton 3.4 cannot print the locations that this pass makes: it crashes, or does not end.
DEBUG_INFO_PASS = "enable-line-info"  # noqa: S105 - a pass, not a password


class PassFailed(Exception):
    """The compiler refused the IR in a pass or step; the cause is what it raised, and the event has been sent."""


class ToolFailed(Exception):
    """An assembler refused its input; the message is what it printed."""


class Restart(Exception):
    """A pass ran others inside itself and was not listened to: compile again, listening to `pass_name` too."""

    def __init__(self, pass_name: str) -> None:
        super().__init__(pass_name)
        self.pass_name = pass_name


class Stopped(Exception):
    """The last step that was asked for has run."""

    def __init__(self, step: int, name: str) -> None:
        super().__init__(f"step {step}, {name}")


@dataclass(frozen=True)
class Folder:
    """The capture's folder, by descriptor: it stays the same folder however it is renamed."""

    descriptor: int

    def write(self, name: str, data: bytes) -> None:
        """Write `name` whole; raises OSError, on a full disk for example."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o666, dir_fd=self.descriptor)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)


class Pipeline:
    """The steps of one compilation: numbers them, times them, writes what they leave, and tells the parent."""

    def __init__(
        self,
        folder: Folder,
        events: Events,
        listen: frozenset[str],
        selection: Selection,
        edits: Edits,
        *,
        llvm_passes: bool,
        dumping: bool,
    ) -> None:
        self.folder = folder
        self.events = events
        self.listen = listen
        self.selection = selection
        self.edits = edits
        self.llvm_passes = llvm_passes
        self.dumping = dumping
        self.passes = 0
        self.dump_from: int | None = None
        self.stage = "source"
        self.steps = 0
        self.text = ""
        self.ptxas_log = ""
        self.in_step = False
        self.without_locations = False
        self.watch = Watch()

    def begin(self, stage: str) -> None:
        """Enter a stage."""
        self.stage = stage
        self.events.send("begin", stage=stage)

    def snapshot(self, step: int, text: str, suffix: str) -> str | None:
        """Write the IR after a step unless it is to the letter what it was; what counts as change is the parent's."""
        if text == self.text:
            return None
        self.text = text
        name = f"passes/{step:03d}.raw.{suffix}"
        self.folder.write(name, text.encode())
        return name

    def text_of(self, module: Any) -> str:
        """The module as text, with locations, unless printing those would crash."""
        if self.without_locations and hasattr(module, "str_nodebug"):
            return str(module.str_nodebug())
        return str(module)

    @contextmanager
    def step(self, name: str, options: str = "", call: Mapping[str, Any] | None = None) -> Iterator[dict[str, Any]]:
        """Announce a step, time it, and report it; the caller adds "raw" to what this yields."""
        number, self.steps = self.steps, self.steps + 1
        if call is None:
            self.selection.leaves_out(number, name, is_pass=False)
        start_of_output = printed.size()
        self.events.send(
            "pass_begin",
            step=str(number),
            stage=self.stage,
            name=name,
            options=options,
            call=call,
            printed=start_of_output,
        )
        report: dict[str, Any] = {"number": number, "raw": None, "kind": "step" if call is None else "pass"}
        self.in_step = True
        start = time.perf_counter()
        try:
            yield report
        except (Restart, PassFailed, Refused, Stopped):
            raise
        except Exception as error:
            self.in_step = False
            if full := no_room(error):
                raise full from None  # no verdict on the kernel
            self.events.send(
                "failure",
                stage=self.stage,
                step=str(number),
                error=type(error).__name__,
                message=str(error),
                printed=[start_of_output, printed.size()],
            )
            raise PassFailed(name) from error
        self.in_step = False
        seconds = report.pop("seconds", None) or time.perf_counter() - start
        self.events.send(
            "pass",
            step=str(report.pop("number")),
            stage=self.stage,
            name=name,
            options=options,
            ms=round(seconds * 1000, 4),
            printed=[start_of_output, printed.size()],
            **report,
        )
        self.stop_where_asked(number, name)

    def stop_where_asked(self, number: int, name: str) -> None:
        """Raise Stopped where this step was to be the last."""
        if self.selection.ends_after(number, name):
            raise Stopped(number, name)

    # -- MLIR passes

    def run_passes(self, manager: "RecordingPassManager", module: Any, arguments: tuple[Any, ...]) -> None:
        """Run each noted pass over `module` in a native manager of its own."""
        self.passes += len(manager.calls)
        for call in manager.calls:
            with _environment(MLIR_ENABLE_TIMING="1"):
                self.run_pass(manager, call, module, arguments)

    def run_pass(
        self,
        manager: "RecordingPassManager",
        call: "Call",
        module: Any,
        arguments: tuple[Any, ...],
    ) -> None:
        single = manager.native(manager.context)
        call.function(single, *call.args, **call.kwargs)
        name, options, depth = pass_name(single.get_pipeline_str(), call.name)
        if self.selection.leaves_out(self.steps, name, is_pass=True):
            self.skip(name, options)
            return
        listening = name in self.listen
        if listening:
            with _environment(MLIR_ENABLE_DUMP="1"):
                single.enable_debug()
        with self.step(name, options, call.as_json()) as report:
            output = printed.size()
            start = time.perf_counter()
            with _buffered_dumps(listening):
                single.run(native_of(module), *arguments)
            report["seconds"] = time.perf_counter() - start
            del single  # prints the timing report
            if not listening and runs_others(parse_timing(printed.since(output)), depth):
                raise Restart(name)
            if name == DEBUG_INFO_PASS and _triton_version() < (3, 5):
                self.without_locations = True
            edited = self.edits.module(self.stage, report["number"], module)
            if edited is not None:
                module.exchange(edited)
                report["kind"] = "edited"
            if not self.watch.unchanged(native_of(module)):
                report["raw"] = self.snapshot(report["number"], self.text_of(module), "mlir")

    def skip(self, name: str, options: str) -> None:
        """Say that a pass was left out; it keeps its number."""
        number, self.steps = self.steps, self.steps + 1
        self.events.send("skipped", step=str(number), stage=self.stage, name=name, options=options)
        self.stop_where_asked(number, name)

    # -- steps that are no passes

    def run_step(self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run `llvm.to_module` and its like as a step."""
        short = name.rpartition(".")[2]
        if short == "to_module":
            self.end_of_passes(args[0])
        args = tuple(map(native_of, args))
        dumping = self.llvm_passes and short in LLVM_PASSES_IN
        with self.step(name) as report:
            start = time.perf_counter()
            with ExitStack() as stack:
                if dumping:
                    stack.enter_context(_environment(LLVM_IR_ENABLE_DUMP="1"))
                    stack.enter_context(_buffered_errors())
                    report["llvm_dump"] = True
                result = function(*args, **kwargs)
            report["seconds"] = time.perf_counter() - start
            if short in SNAPSHOT_AFTER:
                report["raw"] = self.snapshot(report["number"], str(result if short == "to_module" else args[0]), "ll")
        return result

    # -- without stand-ins

    @contextmanager
    def printing_passes(self) -> Iterator[None]:
        """Let the compiler itself print the module before each pass of the stage that runs now."""
        self.dump_from = printed.size()
        with _environment(MLIR_ENABLE_DUMP="1"), _buffered_dumps(True):
            yield

    def end_of_passes(self, module: Any) -> None:
        """Report the passes that the compiler has printed in this stage; `module` is what the last of them left."""
        if self.dump_from is None:
            return
        native.flush_dbgs()
        start, self.dump_from = self.dump_from, None
        count = printed.since(start).count("// -----// IR Dump Before ")
        raw = self.snapshot(self.steps + count, self.text_of(module), "mlir")
        self.events.send("dumped", stage=self.stage, first=self.steps, printed=[start, printed.size()], raw=raw)
        self.steps += count

    # -- stand-ins

    @contextmanager
    def intercepting(self, compiler: ModuleType, backend: str) -> Iterator[None]:
        """Put the stand-ins into a backend's compiler module, and take them out again.

        `backend` is the global through which that module reaches its own native part: "nvidia" or "amd".
        """
        stand_ins: dict[str, Any] = {}
        if hasattr(compiler, "ir") and not self.dumping:
            stand_ins["ir"] = _IrNamespace(compiler.ir, self)
        for name in ("passes", "llvm", backend):
            if hasattr(compiler, name):
                stand_ins[name] = _Namespace(getattr(compiler, name), (name,), self)
        if hasattr(compiler, "subprocess"):
            stand_ins["subprocess"] = _Subprocess(self)
        for name in ("compile_amdgpu", "assemble_amdgcn"):
            if hasattr(compiler, name):
                stand_ins[name] = self._as_step(name, getattr(compiler, name))
        before = {name: getattr(compiler, name) for name in stand_ins}
        for name, value in stand_ins.items():
            setattr(compiler, name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                setattr(compiler, name, value)

    def _as_step(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            if self.llvm_passes and "dump_ir" in kwargs:
                kwargs["dump_ir"] = True
            return self.run_step(name, function, args, kwargs)

        return step


@dataclass(frozen=True)
class Call:
    """A pass that a backend added: the native function that adds it, and with what."""

    path: tuple[str, ...]
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def name(self) -> str:
        return self.path[-1]

    def as_json(self) -> dict[str, Any]:
        """What adds the pass again in another process; "args" is None where they cannot be written down."""
        plain = all(isinstance(a, (int, float, str, bool, type(None))) for a in (*self.args, *self.kwargs.values()))
        return {
            "path": list(self.path),
            "args": list(self.args) if plain else None,
            "kwargs": self.kwargs if plain else None,
        }


class RecordingPassManager:
    """Stands in for `ir.pass_manager`: notes what is added, and runs it pass by pass."""

    def __init__(self, native_class: Any, pipeline: Pipeline, context: Any) -> None:
        self.native = native_class
        self.pipeline = pipeline
        self.context = context
        self.calls: list[Call] = []

    def enable_debug(self) -> bool:
        """True: the passes that print their inner steps when asked to shall print them."""
        return True

    def run(self, module: Any, *arguments: Any) -> None:
        """`run(module)` up to Triton 3.5, `run(module, stage)` later."""
        self.pipeline.run_passes(self, module, arguments)


class _IrNamespace:
    """`ir`, but for the pass manager."""

    def __init__(self, real: Any, pipeline: Pipeline) -> None:
        self._real = real
        self._pipeline = pipeline

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def pass_manager(self, context: Any) -> RecordingPassManager:
        return RecordingPassManager(self._real.pass_manager, self._pipeline, context)


class _Namespace:
    """A native module, at any depth: what gets our pass manager is noted, a step is timed, the rest passes through."""

    def __init__(self, real: Any, path: tuple[str, ...], pipeline: Pipeline) -> None:
        self._real = real
        self._path = path
        self._pipeline = pipeline

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        path = (*self._path, name)
        if isinstance(value, ModuleType):
            return _Namespace(value, path, self._pipeline)
        if not callable(value) or isinstance(value, type):
            return value
        pipeline = self._pipeline

        def call(*args: Any, **kwargs: Any) -> Any:
            if args and isinstance(args[0], RecordingPassManager):
                args[0].calls.append(Call(path, value, args[1:], kwargs))
                return None
            if name in STEPS:
                return pipeline.run_step(".".join(path), value, args, kwargs)
            return value(*map(native_of, args), **kwargs)

        return call


class _Subprocess:
    """`subprocess` as the backend sees it: running an assembler is a step, and its log is kept."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def run(self, command: Any, *args: Any, **kwargs: Any) -> Any:
        tool = os.path.basename(str(command[0] if isinstance(command, (list, tuple)) else command))  # noqa: PTH119
        pipeline = self._pipeline
        if pipeline.in_step:
            return subprocess.run(command, *args, **kwargs)
        with pipeline.step("ptxas" if tool.startswith("ptxas") else tool):
            try:
                return subprocess.run(command, *args, **kwargs)
            except subprocess.CalledProcessError as error:
                raise ToolFailed(_log_of(kwargs) or str(error)) from error
            finally:
                pipeline.ptxas_log = _log_of(kwargs)


def _log_of(run_arguments: Mapping[str, Any]) -> str:
    """What a tool printed into the file that it was given as its standard error, "" where there is none."""
    name = getattr(run_arguments.get("stderr"), "name", None)
    if not isinstance(name, str):
        return ""
    with suppress(OSError):
        return Path(name).read_text(encoding="utf-8", errors="replace")
    return ""


def pass_name(pipeline: str, added_by: str) -> tuple[str, str, int]:
    """(name, options, depth) from a one-pass pipeline as the compiler spells it.

    `depth` is the number of operations within the module that the pass is anchored on: 0, or 1 for a pass over
    functions. The adding function's name serves where the compiler gives none.
    """
    depth = -1
    while anchored := _ANCHOR.match(pipeline):
        pipeline, depth = anchored[1], depth + 1
    match = _PASS.match(pipeline)
    if match is None:
        return added_by.removeprefix("add_"), "", max(depth, 0)
    return match["name"], " ".join((match["options"] or "").split()), max(depth, 0)


def _triton_version() -> tuple[int, ...]:
    import triton

    return tuple(int(part) for part in re.findall(r"\d+", triton.__version__)[:2])


def runs_others(report: list[Timing], depth: int) -> bool:
    """Whether the timing report of one pass, anchored `depth` operations deep, shows passes within it."""
    return any(line.depth > depth and not line.name.startswith("(A)") for line in report)


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set variables that the native side reads, for a moment: at any other time they would enter the cache key."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _buffered_dumps(wanted: bool) -> Iterator[None]:
    """Let MLIR gather the dumps that it prints on descriptor 2, where it can be told to, and not its diagnostics."""
    buffered = wanted and native.buffer_dbgs()
    try:
        yield
    finally:
        if buffered:
            native.unbuffer_dbgs()


@contextmanager
def _buffered_errors() -> Iterator[None]:
    """Let LLVM gather what it prints on descriptor 2, where it can be told to: it prints in pieces of a few bytes."""
    buffered = native.buffer_errs()
    try:
        yield
    finally:
        if buffered:
            native.unbuffer_errs()
