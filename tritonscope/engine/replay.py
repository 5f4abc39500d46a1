"""Run one pass over a stored IR again. Runs in the child."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tritonscope.engine.events import Events
from tritonscope.errors import Missing, UsageError

__all__ = ["Prepared", "adds", "prepared", "run"]


@dataclass(frozen=True)
class Prepared:
    """A module, and a pass manager with the one pass in it."""

    module: Any
    manager: Any

    def run(self) -> None:
        """Run the pass; raises what Triton raises where that fails."""
        try:
            self.manager.run(self.module, "replay")
        except TypeError:  # up to Triton 3.5
            self.manager.run(self.module)


def run(message: Mapping[str, Any], events: Events) -> None:
    """Run the pass that `prepared` reads about, and send "replayed" or "failure"; raises as that does."""
    ready = prepared(message)
    start = time.perf_counter()
    try:
        ready.run()
    except Exception as error:
        events.send("failure", error=type(error).__name__, message=str(error))
        return
    events.send("replayed", ms=(time.perf_counter() - start) * 1000, text=str(ready.module))


def prepared(message: Mapping[str, Any]) -> Prepared:
    """The IR at `message["path"]`, and the pass that `message["call"]` adds, for `message["target"]`.

    Raises UsageError where the IR does not parse, and Missing where this Triton has no such pass.
    """
    import triton
    from triton._C import libtriton
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    target = message["target"]
    arch = int(target["arch"]) if target["backend"] == "cuda" else target["arch"]
    ir = libtriton.ir
    context = ir.context()
    ir.load_dialects(context)
    make_backend(GPUTarget(target["backend"], arch, target["warp_size"])).load_dialects(context)
    try:
        module = ir.parse_mlir_module(message["path"], context)
    except Exception as error:
        raise UsageError(
            f"{message['path']} does not parse as IR of Triton {triton.__version__} ({error}); "
            "replay it with the Triton that made it, --python PATH"
        ) from error
    module.context = context
    manager = ir.pass_manager(context)
    if message.get("listen"):
        manager.enable_debug()  # what MLIR's own variables ask it to print
    adds(message["call"])(manager, *message["call"]["args"], **message["call"]["kwargs"])
    return Prepared(module, manager)


def adds(call: Mapping[str, Any]) -> Any:
    """The native function that adds the pass; only such functions can be reached, whatever a file says.

    Raises UsageError where `call` is none of one, and Missing where this Triton has no such pass.
    """
    import triton
    from triton._C import libtriton

    path: list[str] = call["path"]
    value: Any = libtriton
    if path[0] not in ("passes", "nvidia", "amd") or "passes" not in path or any(p.startswith("_") for p in path):
        raise UsageError(f"{'.'.join(path)} adds no pass; replay a reproducer that a capture wrote.")
    for name in path:
        value = getattr(value, name, None)
        if value is None:
            raise Missing(
                f"Triton {triton.__version__} has no pass {'.'.join(path)}; "
                "replay it with the Triton that made it, --python PATH"
            )
    return value
