"""The child of `benchmarks/capture.py`'s warm part: one kernel, compiled over and over, plainly or captured.

Run as `python warm_child.py KERNEL TARGET EVENTS`, the last a descriptor number. Each line on standard input is one
compilation: "plain", or "capture FOLDER", whose events go to EVENTS as in a real capture. After each one EVENTS gets a
{"event": "timed", ..} line. Imports triton.
"""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tritonscope import kernel_reference
from tritonscope.engine.events import Events
from tritonscope.engine.record import COMPILER_OUTPUT
from tritonscope.model import Request, Target


def main(kernel: str, target: str, events: Events) -> None:
    """Load the kernel, say what it compiles as, and do what standard input asks for."""
    import triton

    from tritonscope.engine import loader, native
    from tritonscope.engine.capture import Session
    from tritonscope.engine.compile_only import compile_only_driver
    from tritonscope.engine.pipeline import NESTING, Pipeline

    native.assume_verified()
    request = Request(kernel=kernel_reference.find(kernel), target=Target.parse(target))
    loaded = loader.load(request.kernel)
    built = loader.build(loaded, request)
    events.send("built", **described(built, request, triton.__version__))

    def plain() -> float:
        with compile_only_driver(built.target):
            start = time.perf_counter()
            triton.compile(built.src, target=built.target, options=built.options)
            return time.perf_counter() - start

    def captured(folder: str) -> float:
        redirect(Path(folder, COMPILER_OUTPUT))
        session = Session(folder, events, request, loaded, built)
        start = time.perf_counter()
        session.compile_with(Pipeline(session.folder, events, NESTING, llvm_passes=False, dumping=False))
        seconds = time.perf_counter() - start
        os.close(session.folder.descriptor)
        return seconds

    for line in sys.stdin:
        word, _, folder = line.strip().partition(" ")
        cache = tempfile.mkdtemp(prefix="tritonscope-benchmark-")
        os.environ["TRITON_CACHE_DIR"] = cache
        seconds = plain() if word == "plain" else captured(folder)
        shutil.rmtree(cache)
        events.send("timed", seconds=seconds)


def described(built: Any, request: Request, version: str) -> dict[str, Any]:
    """What a plain script needs to compile the very same."""
    return {
        "path": request.kernel.path,
        "function": request.kernel.function,
        "triton": version,
        "target": repr((built.target.backend, built.target.arch, built.target.warp_size)),
        "signature": repr(dict(built.src.signature)),
        "constants": repr(dict(built.src.constants)),
        "attributes": repr(dict(built.src.attrs)),
        "options": repr({name: value for name, value in built.options.items() if value is not None}),
    }


def redirect(path: Path) -> None:
    """Let descriptor 2 be the capture's own file, as the parent makes it."""
    with path.open("w+b") as file:
        os.dup2(file.fileno(), 2)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Events(int(sys.argv[3])))
