"""What a kernel needs to run, read from what assemblers and disassemblers print. Standard library only."""

import re

__all__ = ["parse_amdgcn_usage", "parse_ptxas_log", "parse_res_usage"]

_COMPILING = re.compile(r"Compiling entry function '([^'\n]*)'")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers([^\n]*)")
_BARRIERS = re.compile(r"used (\d+) barriers")
_CONSTANT = re.compile(r"(\d+) bytes cmem\[0\]")
_STATIC_SHARED = re.compile(r"(\d+) bytes smem")

_FUNCTION = re.compile(r"^ *Function ([^\n]*):\n([^\n]*)", re.MULTILINE)
_FIELD = re.compile(r"([A-Z]+(?:\[\d+\])?):(\d+)")
_FIELDS = {"registers": "REG", "stack": "STACK", "static_shared": "SHARED", "local": "LOCAL", "constant": "CONSTANT[0]"}

_AMDGCN_COMMENT = re.compile(r"^; (\w+) *[:=] *(\d+)", re.MULTILINE)
_AMDGCN_NOTE = re.compile(r"^ *(?:- )?\.(\w+): +(\d+)$", re.MULTILINE)
_AMDGCN_DIRECTIVE = re.compile(r"^\t\.amdhsa_(\w+) (\d+)$", re.MULTILINE)


def parse_ptxas_log(text: str) -> dict[str, int | None]:
    """What `ptxas -v` says of the entry function it compiled.

    `registers` per thread, `barriers` per block; `stack`, the largest frame, `spill_stores` and `spill_loads`, of the
    kernel and the functions that it calls together, `static_shared` and `constant` (bank 0) in bytes. None where the
    log does not say. Of several entry functions the last counts.
    """
    entries = list(_COMPILING.finditer(text))
    if entries:
        text = text[entries[-1].start() :]
    frames = [tuple(map(int, frame.groups())) for frame in _FRAME.finditer(text)]
    used = _USED.search(text)
    rest = used[2] if used else ""
    return {
        "registers": int(used[1]) if used else None,
        "barriers": _number(_BARRIERS, rest),
        "stack": max((frame[0] for frame in frames), default=None),
        "spill_stores": sum(frame[1] for frame in frames) if frames else None,
        "spill_loads": sum(frame[2] for frame in frames) if frames else None,
        "static_shared": _number(_STATIC_SHARED, rest),
        "constant": _number(_CONSTANT, rest),
    }


def parse_res_usage(text: str, function: str | None = None) -> dict[str, int | None]:
    """What `cuobjdump -res-usage` says of `function`, or of the first function where that one is not there.

    `registers` per thread; `stack` and `local` in bytes per thread, `static_shared` in bytes per block, with what the
    hardware keeps for itself, `constant` (bank 0) in bytes. All None where the text has no function.
    """
    functions = {found[1]: dict(_FIELD.findall(found[2])) for found in _FUNCTION.finditer(text)}
    fields = functions.get(function or "") or next(iter(functions.values()), {})
    return {key: int(fields[name]) if name in fields else None for key, name in _FIELDS.items()}


def parse_amdgcn_usage(text: str) -> dict[str, int | None]:
    """What AMDGCN assembly says of its kernel, in directives, in the metadata note and in LLVM's closing comments.

    `registers` is what a wave is given of vector registers, accumulators included; `vgprs`, `agprs` and `sgprs` what
    the kernel uses of each; `vgpr_spills` and `sgpr_spills` count registers; `stack` is scratch in bytes per thread,
    `static_shared` LDS in bytes per block known at compile time, `constant` the arguments in bytes; `occupancy` is
    waves per SIMD as registers and static LDS allow; `threads` per block at most. None where the text does not say.
    """
    comments = _integers(_AMDGCN_COMMENT, text)
    notes = _integers(_AMDGCN_NOTE, text)
    directives = _integers(_AMDGCN_DIRECTIVE, text)
    return {
        "registers": _first(comments.get("TotalNumVgprs"), notes.get("vgpr_count"), directives.get("next_free_vgpr")),
        "vgprs": _first(comments.get("NumVgprs"), notes.get("vgpr_count"), directives.get("next_free_vgpr")),
        "agprs": _first(comments.get("NumAgprs"), notes.get("agpr_count")),
        "sgprs": _first(notes.get("sgpr_count"), comments.get("TotalNumSgprs"), directives.get("next_free_sgpr")),
        "vgpr_spills": notes.get("vgpr_spill_count"),
        "sgpr_spills": notes.get("sgpr_spill_count"),
        "stack": _first(notes.get("private_segment_fixed_size"), directives.get("private_segment_fixed_size")),
        "static_shared": _first(notes.get("group_segment_fixed_size"), directives.get("group_segment_fixed_size")),
        "constant": _first(notes.get("kernarg_segment_size"), directives.get("kernarg_size")),
        "occupancy": comments.get("Occupancy"),
        "code_bytes": comments.get("codeLenInByte"),
        "threads": notes.get("max_flat_workgroup_size"),
    }


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(found[1]) if found else None


def _integers(pattern: re.Pattern[str], text: str) -> dict[str, int]:
    """The numbers by name; the kernel comes first in the text, so that the first of a name counts."""
    found: dict[str, int] = {}
    for match in pattern.finditer(text):
        found.setdefault(match[1], int(match[2]))
    return found


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
