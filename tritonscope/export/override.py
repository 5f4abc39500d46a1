"""A folder for TRITON_KERNEL_OVERRIDE: Triton compiles the kernel with the file in it in place of its own.

Triton looks for TRITON_OVERRIDE_DIR/<hash of the source, base32>/<function>.<stage> after every stage
(triton/compiler/compiler.py, triton/runtime/cache.py). A later stage's file would hide an edit of an earlier one, so
there is one in the folder.
"""

import base64
from dataclasses import dataclass

from tritonscope import cachekey
from tritonscope.errors import UsageError
from tritonscope.model import Capture
from tritonscope.store import reader

__all__ = ["Override", "override"]

_LONGEST_NAME = 150  # characters of the function's name that Triton takes
_STAGES = ("ttir", "glir", "ttgir", "llir", "ptx", "cubin", "amdgcn", "hsaco")


@dataclass(frozen=True)
class Override:
    """The one file: its name below TRITON_OVERRIDE_DIR, what is in it, and which files must not be beside it."""

    file: str
    data: bytes
    hidden_by: tuple[str, ...]


def override(capture: Capture, stage: str) -> Override:
    """The file with which Triton takes `stage` of `capture` for its own.

    Raises UsageError where there is no such stage, Triton replaces none of that name, or the key is not known.
    """
    if stage not in _STAGES:
        raise UsageError(f"Triton replaces no stage {stage!r}; it may be {', '.join(_STAGES)}")
    data = reader.stage_bytes(capture, stage)
    try:
        source = bytes.fromhex(cachekey.source_hash(capture.components))
        function = str(capture.components.get("kernel") or capture.kernel).rpartition(".")[2]
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise UsageError(
            f"{capture.capture} does not hold the whole cache key, which names the folder (it was imported, or ended "
            "early); compile the kernel with tritonscope, and export that"
        ) from None
    folder = base64.b32encode(source).decode().rstrip("=")
    names = {each: f"{folder}/{function[:_LONGEST_NAME]}.{each}" for each in _STAGES}
    return Override(names.pop(stage), data, tuple(names.values()))
