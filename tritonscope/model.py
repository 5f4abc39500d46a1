"""The data of tritonscope: frozen, plain, and the same in the child, on disk and in both front ends.

Each class has the fields of its JSON object under the same names (`pass_` is "pass" there). Standard library only.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from tritonscope.errors import TargetError

__all__ = [
    "FORMAT",
    "Capture",
    "Check",
    "Edit",
    "Failure",
    "KernelRef",
    "Launch",
    "PassRecord",
    "Profile",
    "Request",
    "RunResult",
    "Sampled",
    "Stage",
    "Target",
    "Tuning",
    "to_json",
]

#: Version of the capture format; a reader refuses a newer one.
FORMAT = 1

_CUDA = re.compile(r"(?:sm_|cuda:)(\d{2,3})a?(?::(\d+))?")
_HIP = re.compile(r"(?:hip:)?(gfx[0-9a-f]{3,4}(?:-strict)?)(?::(\d+))?")


@dataclass(frozen=True)
class Target:
    """A GPU architecture: `backend` "cuda" or "hip", `arch` "90" or "gfx942", `warp_size` in threads."""

    backend: str
    arch: str
    warp_size: int

    @property
    def name(self) -> str:
        """The short name that folders carry: "sm_90" or "gfx942"."""
        return f"sm_{self.arch}" if self.backend == "cuda" else self.arch

    @classmethod
    def parse(cls, text: str) -> "Target":
        """Read "sm_90", "cuda:90", "cuda:90:32", "gfx942" or "hip:gfx942:64"; raises TargetError."""
        if match := _CUDA.fullmatch(text):
            return cls("cuda", match[1], _warp_size(text, match[2], (32,)) or 32)
        if match := _HIP.fullmatch(text):
            # CDNA and GCN (gfx9) run waves of 64, RDNA (gfx10 and later) of 32.
            usual = 64 if match[1].startswith("gfx9") else 32
            return cls("hip", match[1], _warp_size(text, match[2], (32, 64)) or usual)
        raise TargetError(f"target {text!r} is not understood; write sm_90, cuda:90:32, gfx942 or hip:gfx942:64")


def _warp_size(target: str, text: str | None, possible: tuple[int, ...]) -> int | None:
    if text is None or text in map(str, possible):
        return int(text) if text else None
    raise TargetError(f"target {target!r} has warps of {text} threads; write {' or '.join(map(str, possible))}")


@dataclass(frozen=True)
class KernelRef:
    """A kernel function in a file.

    `name` is what folders and prefixes call it; the file of a `bundled` one travels with the tool.
    """

    name: str
    path: str
    function: str
    bundled: bool = False


@dataclass(frozen=True)
class Edit:
    """A text that took the place of what the compiler made of a stage.

    It stands for what `step` left, or, where that is None, for all that the stage gives. `name` is that step's pass
    where the text was meant as the IR after it, and not as the stage's. `file`, relative to the capture, holds the
    text, and `sha256` is the hash of it.
    """

    stage: str
    step: str | None
    name: str | None
    file: str
    sha256: str


@dataclass(frozen=True)
class Request:
    """One compilation that was asked for, complete: the same request gives the same capture.

    `signature` is the text of --signature or None (then the kernel's spec, then what can be inferred);
    `constants` are --set values and `options` backend options, both as the text that was typed;
    `config` is the index of an autotune configuration; `env` what --env sets in the child. `skip` names the passes that
    are left out, `stop_after` the last step that is run; see `pass_reference` for both. `imported_from` is {tool, path}
    where another tool asked for it, and only its files are known. `edits` are texts that take the place of the
    compiler's own, in the order of the pipeline; then `parent` is the capture that was edited, and `parent_key` its
    key, which this compile must have as well.
    """

    kernel: KernelRef
    target: Target
    signature: str | None = None
    constants: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    config: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    llvm_passes: bool = False
    verify: bool = False
    skip: tuple[str, ...] = ()
    stop_after: str | None = None
    imported_from: Mapping[str, str] | None = None
    edits: tuple[Edit, ...] = ()
    parent: str | None = None
    parent_key: str | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Request":
        """The request that `to_json` wrote; what it does not know is left out, and what is absent is as by default."""
        known = {each.name: data[each.name] for each in fields(cls) if each.name in data}
        kernel, target = KernelRef(**data["kernel"]), Target(**data["target"])
        skip, edits = tuple(known.get("skip", ())), tuple(Edit(**each) for each in known.get("edits", ()))
        return cls(**{**known, "kernel": kernel, "target": target, "skip": skip, "edits": edits})


@dataclass(frozen=True)
class Stage:
    """One level of IR: "source", "ttir", "ttgir", "llir", "ptx", "cubin", "sass"; "glir"; "amdgcn", "hsaco".

    `seconds` is what reaching it took (None where nothing was timed), `lines` None for binaries, `file` relative to
    the capture.
    """

    stage: str
    seconds: float | None
    lines: int | None
    bytes: int
    file: str


@dataclass(frozen=True)
class PassRecord:
    """One step of the pipeline: an MLIR pass, a nested pass, an LLVM pass, or a step that is no pass.

    `step` is "17" at the top, "43.1" nested. `name` is the compiler's own mnemonic where it gives one, `options` its
    options as the compiler spells them. `ms` is None where the compiler gives no time (dumped passes). `file` holds
    the IR after the step and is None where the step changed nothing or what it left was not seen. `before` holds the
    IR before it, for nested passes alone: elsewhere it is what the step before left. `scope` names the operation that
    a nested pass ran on, "" for the whole module. `ops_before` and `ops_after` count operations. `method` is
    "intercepted" or "dumped", "skipped" of a pass that was left out, or "edited" where the IR after it is a text that
    was given.
    """

    step: str
    stage: str
    name: str
    options: str
    ms: float | None
    changed: bool
    ops_before: int | None
    ops_after: int | None
    file: str | None
    method: str
    before: str | None = None
    scope: str = ""


@dataclass(frozen=True)
class Failure:
    """Why a compilation ended: `pass_` and `step` where it was in a pass, `inner` the nested pass that failed.

    `file` and `line` (1-based) name the user's line, `column` is 0-based; `source_line` is its text. `diagnostics` is
    what the compiler said in full; `reproducer` the file, relative to the capture, that `tritonscope replay` takes.
    """

    stage: str | None
    pass_: str | None
    inner: str | None
    step: str | None
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    source_line: str | None = None
    diagnostics: str = ""
    reproducer: str | None = None


@dataclass(frozen=True)
class Launch:
    """A call of the kernel that a traced program made, and how often.

    `arguments` are those that are no constants of the kernel, in order: {name} and one of "tensor" {dtype, shape,
    strides, aligned}, "descriptor" {.. of the tensor, block, layout}, "items" (of a tuple, the same without names), or
    "value", a text. Calls of the same grid and numbers are one; its tensors are those of the first.
    """

    grid: tuple[int, ...]
    arguments: tuple[Mapping[str, Any], ...]
    count: int


@dataclass(frozen=True)
class Tuning:
    """A configuration that an autotuner of a traced program tried on this kernel.

    `ms` is its median time, None where it did not run; `best` whether it won, None where nothing was timed.
    """

    config: Mapping[str, Any]
    ms: float | None
    best: bool | None


@dataclass(frozen=True)
class Capture:
    """One compilation on disk, read from capture.json or folded from the journal.

    `capture` is "kernel/target-id"; `path` the absolute folder; `key` Triton's own hash; `status` one of "ok",
    "failed", "crashed", "timeout", "interrupted", "running"; `created` an ISO 8601 UTC time; `seconds` the wall time
    of the whole compilation. `request` is the request as JSON; `components` the parts of the cache key; `metadata`
    Triton's final metadata as it is; `resources` registers, spills, shared, stack and so on, each None where not
    known; `versions` of python, triton, tritonscope and tools; `notes` what a reader should know (a fallback taken, a
    tool missing); `launches` and `tuning` what a traced program did with the kernel.
    """

    capture: str
    path: str
    kernel: str
    target: str
    key: str
    status: str
    created: str
    seconds: float | None
    command: tuple[str, ...]
    request: Mapping[str, Any]
    versions: Mapping[str, str]
    components: Mapping[str, Any]
    stages: tuple[Stage, ...]
    passes: tuple[PassRecord, ...]
    metadata: Mapping[str, Any]
    resources: Mapping[str, Any]
    failure: Failure | None
    notes: tuple[str, ...] = ()
    verified: Mapping[str, bool] | None = None
    launches: tuple[Launch, ...] = ()
    tuning: tuple[Tuning, ...] = ()


@dataclass(frozen=True)
class Check:
    """One question of a run's correctness: `cases` sets of inputs were tried, and `detail` tells of the worst.

    `name` is "reference", "bounds", "written", "repeats", "inputs" or "finite".
    """

    name: str
    passed: bool
    detail: str
    cases: int = 1


@dataclass(frozen=True)
class RunResult:
    """A compiled kernel run at one size.

    `capture` is "" for the interpreter. `correct` is None where nothing said what is right, or nothing was checked;
    `checked_by` says who did. `error` is the worst case's {output, size, relative, max_abs, max_relative, worst_index}.
    `ms` is {median, q1, q3, n} of a launch, by device events; `tflops` and `gbps` are by the spec's formulas;
    `of_ceiling` is {tflops, gbps}, shares (1 is all) of `ceilings`, what was measured on the device; `baselines` maps
    names to {ms, ratio}, the ratio being the baseline's time over the kernel's. `occupancy` is {blocks, warps, of}, on
    one multiprocessor; `clocks` {before, after}, each {sm_mhz, memory_mhz, power_w, temperature_c}. `fault` is a
    sentence where the kernel could not be launched or brought the device to a halt. `notes` say what was not checked
    and why: a size that the captured binary does not take, an interpreter that fails.
    """

    capture: str
    kernel: str
    target: str
    size: Mapping[str, Any]
    config: Mapping[str, Any]
    device: Mapping[str, Any]
    created: str
    command: tuple[str, ...]
    correct: bool | None = None
    checked_by: str | None = None
    checks: tuple[Check, ...] = ()
    error: Mapping[str, Any] | None = None
    ms: Mapping[str, Any] | None = None
    tflops: float | None = None
    gbps: float | None = None
    ceilings: Mapping[str, Any] = field(default_factory=dict)
    of_ceiling: Mapping[str, Any] = field(default_factory=dict)
    baselines: Mapping[str, Any] = field(default_factory=dict)
    grid: tuple[int, ...] = ()
    occupancy: Mapping[str, Any] | None = None
    clocks: Mapping[str, Any] = field(default_factory=dict)
    fault: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sampled:
    """An instruction of a profiled kernel: its place in bytes from the function's beginning, and what was seen of it.

    `samples` is how often a warp's next instruction was this one when a profiler looked; `not_issued` how many of them
    when that scheduler issued nothing; `stalls` why, the profiler's own names to samples; `executed` how often warps
    executed it.
    """

    offset: int
    text: str
    samples: int
    not_issued: int
    executed: int
    stalls: Mapping[str, int]


@dataclass(frozen=True)
class Profile:
    """What a profiler saw of one launch of a captured kernel.

    `metrics` maps the profiler's own names to numbers, `units` to their units; `instructions` are all of the
    kernel's function, in order. `tool` is the profiler's version.
    """

    kernel: str
    size: Mapping[str, Any]
    config: Mapping[str, Any]
    device: str
    created: str
    command: tuple[str, ...]
    tool: str
    metrics: Mapping[str, float]
    units: Mapping[str, str]
    instructions: tuple[Sampled, ...]
    notes: tuple[str, ...] = ()


def to_json(value: Any) -> Any:
    """`value`, a dataclass of this module or any nesting of them, as plain JSON data."""
    if hasattr(value, "__dataclass_fields__"):
        return {f.name.rstrip("_"): to_json(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(v) for v in value]
    return value
