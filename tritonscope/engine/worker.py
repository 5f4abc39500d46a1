"""The child: one request in, events out. Everything that imports triton is imported from here."""

import hashlib
import importlib
import json
import os
import queue
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from tritonscope import errors
from tritonscope.engine import ending
from tritonscope.engine.events import Events
from tritonscope.engine.protocol import PRIVATE_FOLDER
from tritonscope.model import KernelRef, Request, Target

__all__ = ["main"]

#: What the parent has sent after its request, for the one action that takes more.
_FOLLOWING: "queue.SimpleQueue[str]" = queue.SimpleQueue()


def main(events_descriptor: int, request_descriptor: int, ahead: str) -> int:
    """Read one request, do it, say so. The exit code is 0 whatever the compiler said: the events tell.

    Started `ahead` of a request for that action, it prepares for it while it waits.
    """
    for descriptor in (events_descriptor, request_descriptor):
        os.set_inheritable(descriptor, False)
    events = Events(events_descriptor)
    with suppress(BrokenPipeError):  # the parent is gone
        events.send("hello")
        try:
            with _private_folder():
                _serve(events, os.fdopen(request_descriptor, encoding="utf-8"), ahead)
        except errors.TritonscopeError as error:
            kind = next(each.__name__ for each in type(error).__mro__ if each.__name__ in errors.__all__)
            events.send("error", kind=kind, message=str(error))
        except Exception as error:
            events.send("error", **_unforeseen(error))
    return 0


@contextmanager
def _private_folder() -> Iterator[None]:
    """The folder for Triton's cache and temporary files; where the parent has made it, it is left to the parent."""
    folder, owner = os.environ[PRIVATE_FOLDER], None
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)  # noqa: PTH102
        owner = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == owner:  # a kernel's file may have forked, and that process come here
            shutil.rmtree(folder, ignore_errors=True)


def _serve(events: Events, requests: TextIO, ahead: str) -> None:
    if ahead:
        with suppress(errors.Missing):  # it will be missing, and said to be, when it is asked for
            _AHEAD[ahead]()
    line = requests.readline()
    if line:  # else the parent has no use for us, or is gone
        message = json.loads(line)
        threading.Thread(target=_die_with_parent, args=(requests,), daemon=True).start()
        _ACTIONS[message["action"]](message, events)


def _unforeseen(error: Exception) -> dict[str, str]:
    if full := errors.no_room(error):
        said = f"there is no room left on a disk ({full}); make some, there or where TMPDIR says, and run it again"
        return {"kind": "Missing", "message": said}
    traceback.print_exception(error)
    return {"kind": "ChildDied", "message": f"the compiler process failed: {type(error).__name__}: {error}"}


def _die_with_parent(requests: TextIO) -> None:
    """The parent keeps the request's descriptor open as long as it lives; at its end, so is ours and our tools'."""
    for line in requests:
        _FOLLOWING.put(line)
    ending.end(os.getpgid(0), os.environ[PRIVATE_FOLDER])


# -- actions


def _describe(message: Mapping[str, Any], events: Events) -> None:
    loader = _needs_triton("tritonscope.engine.loader")
    events.send("described", **loader.describe(loader.load(KernelRef(**message["kernel"]))))


def _plain(message: Mapping[str, Any], events: Events) -> None:
    """Compile with nothing of ours in the way, and say what each artefact hashes to."""
    loader = _needs_triton("tritonscope.engine.loader")
    import triton

    from tritonscope.engine.compile_only import compile_only_driver

    request = Request.from_json(message["request"])
    built = loader.build(loader.load(request.kernel), request)
    start = time.perf_counter()
    with compile_only_driver(built.target):
        kernel = triton.compile(built.src, target=built.target, options=built.options)
    seconds = time.perf_counter() - start
    hashes = {stage: [_sha256(_bytes(text))] for stage, text in kernel.asm.items()}
    if "ptx" in kernel.asm and message.get("repeat_ptxas"):
        # Some releases of ptxas give one of several binaries for the same PTX: list what a few runs give.
        hashes["cubin"] += _assemble_again(built, kernel)
    events.send("plain", hashes=hashes, seconds=seconds)


def _capture(message: Mapping[str, Any], events: Events) -> None:
    started = time.perf_counter()
    _redirect(1, message["log"])
    _redirect(2, message["output"])
    loader, capture = _prepare()
    from triton.compiler.compiler import make_backend

    from tritonscope.engine import cachekey

    request = Request.from_json(message["request"])
    loaded = loader.load(request.kernel)
    built = loader.build(loaded, request)
    session = capture.Session(message["folder"], events, request, loaded, built)
    events.send("loaded", **session.describe())
    session.read_sources()
    components = cachekey.components(built.src, make_backend(built.target), built.options)
    if request.parent_key not in (None, components["hash"]):
        raise errors.UsageError(_another_key(request.parent))
    events.send("key", hash=components["hash"], components=components)
    session.write_sources()
    session.compile()
    events.send("done", seconds=round(time.perf_counter() - started, 4))


def _another_key(parent: str | None) -> str:
    return (
        f"the kernel does not compile to the key of {parent} any more: its file, or Triton (here it is "
        f"{sys.modules['triton'].__version__}), is another one; compile it again and edit that, "
        "or name the Triton that made it with --python PATH"
    )


def _prepare() -> tuple[Any, Any]:
    """What a capture needs whatever is captured: our modules, and Triton's hash, which goes on in a thread."""
    _import_triton()
    from tritonscope.engine import triton_hash

    triton_hash.ahead()
    return _needs_triton("tritonscope.engine.loader"), importlib.import_module("tritonscope.engine.capture")


def _redirect(descriptor: int, path: str) -> None:
    file = os.open(path, os.O_RDWR | os.O_APPEND)
    os.dup2(file, descriptor)
    os.close(file)


def _replay(message: Mapping[str, Any], events: Events) -> None:
    _needs_triton("tritonscope.engine.loader")
    from tritonscope.engine import replay

    replay.run(message, events)


def _attempts(message: Mapping[str, Any], events: Events) -> None:
    _needs_triton("tritonscope.engine.attempts").run(message, events, lambda: json.loads(_FOLLOWING.get()))


def _specialize(message: Mapping[str, Any], events: Events) -> None:
    _needs_triton("tritonscope.engine.specialize").run(message, events)


def _inspect(message: Mapping[str, Any], events: Events) -> None:
    """Look into machine code that another compiler process left; triton is wanted for its tools alone."""
    from tritonscope.engine import binary

    files = {stage: Path(name).read_bytes() for stage, name in message["files"].items()}
    asm = {stage: data if stage == "cubin" else data.decode("utf-8", "replace") for stage, data in files.items()}
    for event, fields in binary.inspect(asm, "", Target(**message["target"]), message["metadata"]):
        events.send(event, **fields)


def _launches(action: str) -> Callable[[Mapping[str, Any], Events], None]:
    """One of the actions of `engine.run.jobs`, which import PyTorch."""

    def start(message: Mapping[str, Any], events: Events) -> None:
        getattr(_needs_triton("tritonscope.engine.run.jobs"), action)(message, events)

    return start


_ACTIONS = {
    "arguments": _launches("arguments"),
    "attempts": _attempts,
    "capture": _capture,
    "describe": _describe,
    "inspect": _inspect,
    "interpret": _launches("interpret"),
    "plain": _plain,
    "profile": _launches("profile"),
    "replay": _replay,
    "run": _launches("run"),
    "specialize": _specialize,
}


def _prepare_run() -> None:
    _needs_triton("tritonscope.engine.run.jobs").prepare()


_AHEAD = {"capture": _prepare, "run": _prepare_run}


def _needs_triton(module: str) -> Any:
    """Import one of our modules that imports triton; raises Missing in a sentence where that is not to be had."""
    from tritonscope.engine import native

    _import_triton()
    native.assume_verified()
    return importlib.import_module(module)


def _import_triton() -> None:
    try:
        importlib.import_module("triton")
    except ImportError as error:
        raise errors.Missing(
            f"{sys.executable} cannot import triton ({error}); install it there with 'pip install triton', "
            "or name an environment that has it with --python PATH"
        ) from error


def _bytes(text: Any) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _assemble_again(built: Any, kernel: Any, times: int = 12) -> list[str]:
    from triton.compiler.compiler import make_backend

    backend = make_backend(built.target)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, backend.parse_options(dict(built.options)), built.src.language)
    return sorted({_sha256(stages["cubin"](kernel.asm["ptx"], {})) for _ in range(times)})
