"""One compilation that was found in a file of another tool: all that goes into its capture."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tritonscope.engine.snapshots import SnapshotFolder
from tritonscope.model import Failure, Launch, PassRecord, Target

__all__ = ["STAGES", "UNKNOWN_TARGET", "Artefact", "Found"]

#: The stages that Triton's backends have, in the order in which one comes from another.
STAGES = ("python", "source", "glir", "ttir", "ttgir", "llir", "ptx", "amdgcn", "cubin", "hsaco", "sass")

UNKNOWN_TARGET = Target("unknown", "unknown", 0)


@dataclass(frozen=True)
class Artefact:
    """What a stage left; `seconds` is None where nothing says how long it took."""

    stage: str
    data: bytes
    seconds: float | None = None


def _no_passes(snapshots: SnapshotFolder) -> Iterable[PassRecord]:
    del snapshots
    return ()


@dataclass(frozen=True)
class Found:
    """One compilation of `kernel`, found by `tool` at `place`.

    `identity` is the same for the same contents; `key` Triton's own hash, "" where the files do not tell; `source` the
    path of the kernel's Python file, "" likewise. `components` are as far as they are known, with "unknown" naming
    the rest. `passes` writes the snapshots of the passes and gives their records, one after the other.
    """

    kernel: str
    target: Target
    tool: str
    place: str
    identity: str
    artefacts: tuple[Artefact, ...]
    key: str = ""
    source: str = ""
    status: str = "ok"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    components: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    passes: Callable[[SnapshotFolder], Iterable[PassRecord]] = _no_passes
    failure: Failure | None = None
    log: str = ""
    launches: tuple[Launch, ...] = ()
