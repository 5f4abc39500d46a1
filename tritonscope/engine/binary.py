"""What is in the machine code: SASS, ELF sections, and the registers, spills and memory that a kernel needs.

Runs in the child, but imports triton only to find the tools in its wheel.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tritonscope.engine.elf import read_sections
from tritonscope.errors import Missing
from tritonscope.ir.resource_usage import parse_amdgcn_usage, parse_ptxas_log, parse_res_usage

__all__ = ["RESOURCES", "disassemble", "find_tool", "inspect", "ptxas_log", "resources", "sections"]

#: The keys of `resources`, for every backend.
RESOURCES = (
    "registers",
    "spills",
    "spill_unit",
    "spill_stores",
    "spill_loads",
    "shared",
    "static_shared",
    "stack",
    "local",
    "constant",
    "tmem",
    "threads",
    "barriers",
    "code_bytes",
    "vgprs",
    "agprs",
    "sgprs",
    "vgpr_spills",
    "sgpr_spills",
    "occupancy",
)

_INDIRECT_BRANCH = re.compile(r"\b(?:BRX|JMX)")

_TIMEOUT = 120  # seconds; nvdisasm takes one for 50,000 instructions


def inspect(
    asm: Mapping[str, Any], ptxas_text: str, target: Any, metadata: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events about a compiled kernel's machine code, as (name, fields).

    `asm` is Triton's mapping of stage to text or bytes, `ptxas_text` the log of `ptxas -v` ("" where there is none),
    `target` has `backend` and `warp_size`, `metadata` is Triton's. Gives ("sass", {text, seconds}) for a cubin, then
    ("resources", {resources}); a tool that is missing or fails becomes ("note", {text}) and never an error.
    """
    cubin = asm.get("cubin") if target.backend == "cuda" else None
    usage = ""
    if isinstance(cubin, bytes):
        start = time.perf_counter()
        try:
            text = disassemble(cubin)
            yield "sass", {"text": text, "seconds": time.perf_counter() - start}
        except Missing as error:
            yield "note", {"text": str(error)}
        try:
            usage = _run_on(cubin, "cuobjdump", find_tool("cuobjdump"), ("-res-usage",))
        except Missing as error:
            yield "note", {"text": str(error)}
    yield "resources", {"resources": resources(asm, ptxas_text, usage, target, metadata or {})}


def disassemble(cubin: bytes, tool: str | None = None) -> str:
    """The SASS of a cubin as nvdisasm prints it, the same text for the same cubin and nvdisasm.

    Where the cubin carries its PTX, each instruction follows a line that names its line there. `tool` is the path of
    nvdisasm, by default Triton's. Raises Missing, in one sentence, where nvdisasm is not there or refuses.
    """
    tool = tool or find_tool("nvdisasm")
    # The analysis of the data flow, a third of the time, does no more than name the targets of indirect branches.
    text = _disassembled(cubin, tool, ("-ndf",))
    return _disassembled(cubin, tool, ()) if _INDIRECT_BRANCH.search(text) else text


def _disassembled(cubin: bytes, tool: str, options: tuple[str, ...]) -> str:
    try:
        return _run_on(cubin, "nvdisasm", tool, ("-c", "-gp", *options))
    except Missing:  # an nvdisasm that does not know these options, or cannot follow the cubin's line tables
        return _run_on(cubin, "nvdisasm", tool, ("-c",))


def resources(
    asm: Mapping[str, Any], ptxas_text: str, usage: str, target: Any, metadata: Mapping[str, Any]
) -> dict[str, Any]:
    """What the kernel needs to run, a value for every key of RESOURCES, None where it is not known.

    `registers` per thread (AMD: vector registers per lane, accumulators included); `spills` in `spill_unit`: on
    NVIDIA "bytes" stored plus loaded per thread, on AMD "registers"; `shared` is all that is launched with, in bytes
    per block, of which `static_shared` is known to the binary; `stack` and `local` bytes per thread; `constant` bytes;
    `tmem` columns of tensor memory; `threads` per block; `code_bytes` of instructions; `occupancy` waves per SIMD.
    `usage` is the text of `cuobjdump -res-usage`, "" where there is none.
    """
    found: dict[str, Any] = dict.fromkeys(RESOURCES)
    if target.backend == "cuda":
        _known(found, parse_ptxas_log(ptxas_text))
        _known(found, parse_res_usage(usage, metadata.get("name")))
        if found["spill_stores"] is not None:
            found |= {"spills": found["spill_stores"] + found["spill_loads"], "spill_unit": "bytes"}
        found["code_bytes"] = _code_bytes(asm.get("cubin"))
        found["tmem"] = metadata.get("tmem_size")
    else:
        text = asm.get("amdgcn")
        amdgcn = parse_amdgcn_usage(text if isinstance(text, str) else "")
        _known(found, amdgcn)
        spills = [n for n in (amdgcn["vgpr_spills"], amdgcn["sgpr_spills"]) if n is not None]
        if spills:
            found |= {"spills": sum(spills), "spill_unit": "registers"}
    found["shared"] = metadata.get("shared")
    if metadata.get("num_warps"):
        found["threads"] = metadata["num_warps"] * target.warp_size
    return found


def sections(binary: bytes) -> list[tuple[str, int]]:
    """Name and size in bytes of each section of a cubin or HSA code object; raises ValueError on anything else."""
    return [(section.name, section.size) for section in read_sections(binary) if section.type]


def ptxas_log(ptx: str, command: Sequence[str]) -> str:
    """The log of running `command`, a ptxas command line, again over `ptx`; its own input and output are replaced.

    Raises Missing, in one sentence, where ptxas is not there or refuses.
    """
    options = [word for word in command[1:] if not word.endswith(".ptx")]
    if "-o" in options:
        at = options.index("-o")
        del options[at : at + 2]
    with _folder("ptxas") as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx, encoding="utf-8")
        line = [command[0], *options, "-v", str(source), "-o", str(Path(folder, "kernel.cubin"))]
        return _run(line, "ptxas", folder).stderr


def find_tool(name: str) -> str:
    """The path of an NVIDIA tool: TRITON_<NAME>_PATH, then Triton's wheel, then PATH; raises Missing."""
    named = os.environ.get(f"TRITON_{name.upper()}_PATH")
    if named:
        return named
    try:
        import triton

        packaged = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / name
        if packaged.is_file():
            return str(packaged)
    except ImportError:
        pass
    on_path = shutil.which(name)
    if not on_path:
        raise Missing(f"{name} is not in Triton's wheel or on PATH, so what it would have said is left out")
    return on_path


def _run_on(cubin: bytes, name: str, tool: str, options: Sequence[str]) -> str:
    """What `tool` prints about a cubin; raises Missing."""
    with _folder(name) as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        return _run([tool, *options, str(file)], name, folder).stdout.replace(f"{folder}{os.sep}", "")


@contextmanager
def _folder(name: str) -> Iterator[str]:
    """A temporary folder; a disk that does not take it, or what is written there, is Missing."""
    try:
        with tempfile.TemporaryDirectory(prefix="tritonscope-") as folder:
            yield folder
    except OSError as error:
        raise Missing(f"{name} could not be run: {error.strerror or error}") from error


def _run(line: Sequence[str], name: str, folder: str) -> "subprocess.CompletedProcess[str]":
    try:
        done = subprocess.run(
            line, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", timeout=_TIMEOUT
        )
    except subprocess.TimeoutExpired as error:
        raise Missing(f"{name} did not finish within {_TIMEOUT} s") from error
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).replace(f"{folder}{os.sep}", "").split())
        raise Missing(f"{name} failed with exit code {done.returncode}: {said[:300] or 'it said nothing'}")
    return done


def _known(found: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Take over the values that are known, of the keys that `found` has."""
    found.update({key: value for key, value in values.items() if value is not None and key in found})


def _code_bytes(cubin: Any) -> int | None:
    try:
        return sum(size for name, size in sections(cubin) if name.startswith(".text")) if cubin else None
    except ValueError:
        return None
