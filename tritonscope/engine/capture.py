"""The child's part of a capture: compile under interception, and leave each artefact in the capture's folder."""

import importlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tritonscope.engine import binary, frontend, triton_hash
from tritonscope.engine.compile_only import compile_only_driver
from tritonscope.engine.edits import Edits, Exchangeable, Refused, native_of
from tritonscope.engine.events import Events
from tritonscope.engine.failures import front_end_failure
from tritonscope.engine.pipeline import NESTING, Folder, PassFailed, Pipeline, Restart, Stopped
from tritonscope.engine.selection import Selection
from tritonscope.errors import UsageError, no_room
from tritonscope.model import Request

__all__ = ["Session"]

#: Artefacts that are machine code; everything else is text.
BINARY = frozenset({"cubin", "hsaco"})

#: Stages that give an MLIR module.
MLIR_STAGES = frozenset({"ttir", "glir", "ttgir"})

#: The global through which a backend's compiler module reaches its own native part, by target backend.
NATIVE_PART = {"cuda": "nvidia", "hip": "amd"}


class Session:
    """One capture from the child's side."""

    def __init__(self, folder: str, events: Events, request: Request, loaded: Any, built: Any) -> None:
        self.place = Path(folder)
        self.folder = Folder(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        self.events = events
        self.request = request
        self.loaded = loaded
        self.built = built
        self.name: str = built.src.name
        self.functions: list[frontend.FunctionSource] = []
        self.sources: dict[str, bytes] = {}

    def describe(self) -> dict[str, Any]:
        """The "loaded" event: what will be compiled, with what."""
        from tritonscope.engine import cachekey

        return {
            "versions": cachekey.environment(),
            "function": self.name,
            "signature": self.built.signature,
            "options": {k: v for k, v in self.built.options.items() if v is not None},
            "notes": list(self.built.notes),
        }

    def read_sources(self) -> None:
        """Read the kernel's file, and the AST and source of it and of every function that it calls."""
        self.functions = frontend.functions(self.loaded.fn, self.built.src.constants.values())
        document = json.dumps(frontend.ast_json(self.functions), ensure_ascii=False, separators=(",", ":"))
        try:
            source = Path(self.request.kernel.path).read_bytes()
        except OSError:  # a traced program may have made the function from text, or removed the file
            source = self.functions[0].source.encode()
        self.sources = {"py": source, "ast.json": document.encode()}

    def write_sources(self) -> None:
        """Write what `read_sources` has read."""
        for stage, suffix in (("python", "py"), ("ast", "ast.json")):
            self.artefact(stage, f"{self.name}.{suffix}", self.sources[suffix], None)

    def artefact(self, stage: str, file: str, data: bytes, seconds: float | None, edited: bool = False) -> None:
        """Write one artefact and announce it."""
        self.folder.write(file, data)
        self.events.send(
            "stage",
            stage=stage,
            seconds=None if seconds is None else round(seconds, 6),
            lines=None if stage in BINARY else data.count(b"\n") + (not data.endswith(b"\n")),
            bytes=len(data),
            file=file,
            **({"edited": True} if edited else {}),
        )

    def compile(self) -> None:
        """Compile; a failure of the compiler has been told as an event when this returns."""
        listen = NESTING
        dumping = os.environ.get("TRITONSCOPE_INTERCEPT") == "0"
        while True:
            selection = Selection(self.request.skip, self.request.stop_after)
            edits = Edits(self.request.edits, self.place)
            if dumping and not (selection.is_all and not self.request.edits):
                raise UsageError(
                    "the passes of this backend cannot be run one by one here, so none can be left out or edited; "
                    "compile without --skip-pass, --stop-after and edits"
                )
            pipeline = Pipeline(
                self.folder,
                self.events,
                listen,
                selection,
                edits,
                llvm_passes=self.request.llvm_passes,
                dumping=dumping,
            )
            try:
                kernel = self.compile_with(pipeline)
                edits.check()
            except Restart as restart:
                listen |= {restart.pass_name}
                self.events.send("restart", reason=f"{restart.pass_name} runs passes inside itself")
                continue
            except PassFailed:
                return
            except Refused as refused:
                self.events.send("failure", **refused.fields)
                return
            except Stopped as stopped:
                selection.check()
                self.events.send("note", text=f"Stopped after {stopped}, as was asked; nothing after it was run.")
                return
            except UsageError:
                raise
            except Exception as error:
                if full := no_room(error):
                    raise full from None  # no verdict on the kernel
                self.events.send("failure", **front_end_failure(error, self.functions, pipeline.stage))
                return
            if pipeline.passes or dumping:
                break
            dumping = True
            self.events.send("restart", reason="this backend's passes cannot be run one by one")
        selection.check()
        if dumping:
            self.events.send("note", text="The passes are the compiler's own dump: no times, and none left out.")
        self.finish(kernel, pipeline)

    def compile_with(self, pipeline: Pipeline) -> Any:
        """`triton.compile`, with the stages and the passes in them watched."""
        import triton
        from triton.backends import backends
        from triton.compiler import compiler

        target = self.built.target
        backend = compiler.make_backend(target)
        module = importlib.import_module(type(backend).__module__)
        assert backends  # the import above is what registers them
        with (
            _replaced(compiler, "make_backend", self.watching_backend(compiler.make_backend, pipeline)),
            _replaced(self.built.src, "make_ir", self.watching_source(self.built.src.make_ir, pipeline)),
            triton_hash.in_use(),
            pipeline.intercepting(module, NATIVE_PART.get(target.backend, target.backend)),
            compile_only_driver(target),
        ):
            return triton.compile(self.built.src, target=target, options=self.built.options)

    def watching_source(self, make_ir: Callable[..., Any], pipeline: Pipeline) -> Callable[..., Any]:
        """Python to the first IR is a stage of its own, "source"."""

        def watched(*args: Any, **kwargs: Any) -> Any:
            pipeline.begin("source")
            start = time.perf_counter()
            module = make_ir(*args, **kwargs)
            seconds = time.perf_counter() - start
            module = pipeline.edits.module("source", None, module) or module
            pipeline.text = str(module)
            self.artefact("source", f"{self.name}.source", pipeline.text.encode(), seconds)
            return module

        return watched

    def watching_backend(self, make_backend: Callable[..., Any], pipeline: Pipeline) -> Callable[..., Any]:
        """A backend whose stages announce themselves and leave their result in the capture."""

        def watched(*args: Any, **kwargs: Any) -> Any:
            backend = make_backend(*args, **kwargs)
            add_stages = backend.add_stages

            def watching_add_stages(stages: dict[str, Any], *rest: Any, **options: Any) -> None:
                add_stages(stages, *rest, **options)
                for name, run in list(stages.items()):
                    stages[name] = self.watching_stage(name, run, pipeline)

            backend.add_stages = watching_add_stages
            return backend

        return watched

    def watching_stage(self, name: str, run: Callable[..., Any], pipeline: Pipeline) -> Callable[..., Any]:
        def watched(module: Any, metadata: dict[str, Any]) -> Any:
            pipeline.begin(name)
            start = time.perf_counter()
            with pipeline.printing_passes() if pipeline.dumping else nullcontext():
                result = native_of(run(Exchangeable(module) if pipeline.edits.inside(name) else module, metadata))
                if name in MLIR_STAGES:
                    pipeline.end_of_passes(result)
            seconds = time.perf_counter() - start
            edited = pipeline.edits.text(name, str(metadata.get("name", self.name)))
            result = result if edited is None else edited
            data = result if isinstance(result, bytes) else pipeline.text_of(result).encode()
            self.artefact(name, f"{self.name}.{name}", data, seconds, edited=edited is not None)
            return result

        return watched

    def finish(self, kernel: Any, pipeline: Pipeline) -> None:
        """What is known once the machine code is there: Triton's metadata, SASS, and what the kernel needs to run."""
        group = getattr(kernel, "metadata_group", None) or {}
        metadata_file = next((Path(p) for n, p in group.items() if n.endswith(".json")), None)
        metadata = {}
        if metadata_file is not None:
            text = metadata_file.read_bytes()
            self.folder.write(f"{self.name}.json", text)
            metadata = json.loads(text)
            self.events.send("metadata", metadata=metadata)
        for event, fields in binary.inspect(kernel.asm, pipeline.ptxas_log, self.built.target, metadata):
            if event == "sass":
                self.artefact("sass", f"{self.name}.sass", fields["text"].encode(), fields["seconds"])
            else:
                self.events.send(event, **fields)


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Set an attribute for a time; what was there before, an inherited method included, is there again after."""
    missing = object()
    before = vars(owner).get(name, missing)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if before is missing:
            delattr(owner, name)
        else:
            setattr(owner, name, before)
