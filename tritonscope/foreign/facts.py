"""What IR and metadata tell of a compilation whose request nobody kept: kernel, target, signature, options."""

import re
from collections.abc import Mapping
from typing import Any

from tritonscope.errors import TargetError
from tritonscope.foreign.found import UNKNOWN_TARGET
from tritonscope.model import Target

__all__ = ["components", "kernel_name", "source_file", "target_of", "target_of_metadata"]

_LONGEST_HEADER = 200_000
_LONGEST_NAME = 200

_KERNEL = re.compile(r"^ *tt\.func public @(\"[^\"\n]{1,300}\"|[\w.$-]{1,300})\(", re.MULTILINE)
_LLVM_KERNEL = re.compile(r"^ *(?:llvm\.func|define [^@\n]{0,200}) ?@([\w.$-]{1,300})\(", re.MULTILINE)
_ENTRY = re.compile(r"^\.visible \.entry ([\w.$-]{1,300})\(|^\t?\.globl\t([\w.$-]{1,300})", re.MULTILINE)

_MODULE_TARGET = re.compile(r'(?:ttg|triton_gpu)\.target = "((?:cuda|hip):\w{1,20})"')
_MODULE_WARP = re.compile(r'(?:ttg|triton_gpu)\."?threads-per-warp"? = (32|64)\b')
_PTX_TARGET = re.compile(r"^\.target sm_(\d{2,3})", re.MULTILINE)
_AMD_TARGET = re.compile(r"^\t?\.amdgcn_target \"[\w-]*?--(gfx[0-9a-f]{3,4})", re.MULTILINE)
_AMD_TRIPLE = re.compile(r'^target triple = "amdgpu(\d{1,2})\.(\d)([0-9a-f])-', re.MULTILINE)
_LLVM_CPU = re.compile(r'"target-cpu"="(gfx[0-9a-f]{3,4}|sm_\d{2,3}a?)"')

_ARGUMENT = re.compile(r"%([\w.$-]{1,200}): ")
_POINTER = re.compile(r"!tt\.ptr<(.+?)(?:, \d+)?>")
_TYPES = {"f16": "fp16", "f32": "fp32", "f64": "fp64", "f8E4M3FN": "fp8e4nv", "f8E5M2": "fp8e5", "i1": "i1"}
_DESCRIPTOR = "!tt.tensordesc"
_UNNAMED = re.compile(r"arg\d+")
_LOC_FILE = re.compile(r'^#loc\d* = loc\("([^"\n]{1,4096})":\d+:\d+\)', re.MULTILINE)

#: What metadata holds beside the options that the compiler was given.
_NO_OPTIONS = frozenset(
    {
        "hash",
        "target",
        "name",
        "shared",
        "tmem_size",
        "global_scratch_size",
        "global_scratch_align",
        "profile_scratch_size",
        "profile_scratch_align",
        "triton_version",
        "tensordesc_meta",
        "cluster_dims",
        "ids",
    }
)

#: What no file of Triton's holds of its own cache key.
_NEVER_KEPT = ("functions", "libraries", "stages_hook", "source", "backend.hash", "triton.files")


def kernel_name(text: str) -> str:
    """The kernel that IR or assembly of any stage defines, "" where it does not say."""
    for pattern in (_KERNEL, _LLVM_KERNEL, _ENTRY):
        if found := pattern.search(text):
            name = next(group for group in found.groups() if group).strip('"')
            if name.isprintable():
                return name[:_LONGEST_NAME]
    return ""


def source_file(text: str) -> str:
    """The Python file that the first location of printed MLIR names, "" where there is none."""
    found = _LOC_FILE.search(text)
    return found[1] if found and found[1].isprintable() else ""


def target_of(text: str) -> Target | None:
    """The target that a text of any stage is for, None where it does not say."""
    warp = _MODULE_WARP.search(text)
    suffix = f":{warp[1]}" if warp else ""
    for pattern, prefix in ((_MODULE_TARGET, ""), (_PTX_TARGET, "sm_"), (_AMD_TARGET, ""), (_LLVM_CPU, "")):
        if found := pattern.search(text):
            try:
                name = f"{prefix}{found[1]}"
                if name.startswith("sm_"):
                    return Target.parse(name)
                return Target.parse(name + suffix)
            except TargetError:
                continue
    if triple := _AMD_TRIPLE.search(text):  # newer releases of LLVM name the processor there
        return Target.parse(f"gfx{triple[1]}{triple[2]}{triple[3]}")
    return None


def target_of_metadata(metadata: Mapping[str, Any]) -> Target | None:
    """The target in Triton's metadata, None where there is none that is understood."""
    target = metadata.get("target")
    if not isinstance(target, Mapping):
        return None
    backend, arch, warp = (target.get(name) for name in ("backend", "arch", "warp_size"))
    try:
        return Target.parse(f"{backend}:{arch}" + ("" if warp is None else f":{warp}"))
    except TargetError:
        return None


def components(
    kernel: str,
    target: Target,
    metadata: Mapping[str, Any],
    ttir: str,
    version: str | None,
    constants: Mapping[str, str] | None = None,
    names: list[str] | None = None,
) -> dict[str, Any]:
    """The components of Triton's cache key as far as they are known; "unknown" names those that are not.

    `ttir` is TTIR of the kernel or "". `constants` are values by name, and `names` all parameters, where known.
    """
    arguments = _arguments(ttir, kernel)
    unknown = [*_NEVER_KEPT]
    if any(kind.startswith(_DESCRIPTOR) for _, kind, _ in arguments):
        # One argument of the kernel is several of the IR's.
        arguments, names = [], None
        unknown = ["signature", "attributes", *unknown]
    if names is not None and constants is not None and len(names) - len(constants) == len(arguments):
        free = iter(arguments)
        arguments = [(name, "constexpr", False) if name in constants else (name, *next(free)[1:]) for name in names]
    else:
        unknown.insert(0, "constants")
        if not arguments or all(_UNNAMED.fullmatch(name) for name, _, _ in arguments):
            unknown.insert(0, "parameters")
    options = {
        name: None if name == "extern_libs" else str(_tupled(value))
        for name, value in metadata.items()
        if name not in _NO_OPTIONS and not name.isupper()
    }
    if target != UNKNOWN_TARGET:
        options.setdefault("arch", f"sm{target.arch}" if target.backend == "cuda" else target.arch)
    if not metadata:
        unknown += ["options", "environment"]
    if version is None:
        unknown.append("triton.version")
    return {
        "hash": str(metadata.get("hash", "")),
        "triton": {} if version is None else {"version": version},
        "kernel": kernel,
        "functions": {},
        "parameters": [name for name, _, _ in arguments],
        "signature": {name: kind for name, kind, _ in arguments},
        "attributes": {name: "[['tt.divisibility', 16]]" if by16 else "[]" for name, _, by16 in arguments},
        "constants": dict(constants or {}),
        "backend": {"name": target.backend},
        "options": options,
        "libraries": {},
        # Triton adds to its metadata the variables that count.
        "environment": {name: str(value) for name, value in metadata.items() if name.isupper()},
        "stages_hook": "",
        "notes": [],
        "unknown": unknown,
    }


def _arguments(ttir: str, kernel: str) -> list[tuple[str, str, bool]]:
    """Name, type as a signature writes it, and divisibility by 16 of each argument that TTIR has."""
    start = ttir.find(f"tt.func public @{kernel}(")
    if start < 0:
        return []
    end = ttir.find("\n", start)
    header = ttir[start : end if end >= 0 else len(ttir)][:_LONGEST_HEADER]
    header = header.rpartition(") attributes {")[0] or header
    found = list(_ARGUMENT.finditer(header))
    arguments = []
    for number, match in enumerate(found, 1):
        after = found[number].start() if number < len(found) else len(header)
        told = header[match.end() : after]
        kind = re.split(r" \{| loc\(", told, maxsplit=1)[0].rstrip(", ){")
        arguments.append((match[1], _type(kind), "tt.divisibility = 16" in told))
    return arguments


def _type(printed: str) -> str:
    """MLIR's type as a signature writes it: "!tt.ptr<f16>" is "*fp16"."""
    if pointer := _POINTER.fullmatch(printed):
        return "*" + _TYPES.get(pointer[1], pointer[1])
    return _TYPES.get(printed, printed)


def _tupled(value: Any) -> Any:
    """Lists as the tuples that they were in Python."""
    return tuple(_tupled(each) for each in value) if isinstance(value, list) else value
