"""Synthetic captures, written the way the engine writes them: through store.writer, without triton."""

from pathlib import Path
from typing import Any

import zstandard

from tritonscope.model import KernelRef, Request, Target
from tritonscope.store import layout
from tritonscope.store.writer import CaptureWriter

VERSIONS = {"tritonscope": "0.1.0", "python": "3.11.9"}


def module(body: str, note: str) -> str:
    """A printed MLIR module with locations; `note` makes its text another without making its operations others."""
    return (
        '#loc = loc("matmul.py":32:1)\n'
        "module {\n"
        f'  tt.func public @matmul(%a: !tt.ptr<f16> loc("a"(#loc))) attributes {{note = "{note}"}} {{\n'
        f"    {body} loc(#loc1)\n"
        "    tt.return loc(#loc1)\n"
        "  } loc(#loc)\n"
        "} loc(#loc)\n"
        '#loc1 = loc("matmul.py":33:5)\n'
    )


SOURCE = module("%0 = arith.constant 1 : i32", "source")
TTIR = module("%0 = arith.constant 2 : i32", "ttir")
INNER = module("%0 = arith.constant 3 : i32", "inner")
TTGIR = module("%0 = ttg.convert_layout %a : tensor<4xf16>", "ttgir")
LLVM_BEFORE = "define void @matmul() {\n  %1 = add i32 1, 2, !dbg !3\n  ret void\n}\n\n!3 = !DILocation(line: 4)\n"
LLVM_AFTER = "define void @matmul() {\n  ret void\n}\n"
LLVM_INNER = "define void @matmul() {\n  %1 = add i32 1, 3\n  ret void\n}\n"
PTX = ".version 8.0\n\t.loc\t1 32 0\n\tret;\n"
CUBIN = b"\x7fELF\x00\xff\x1b"


def request(kernel: str = "matmul", target: str = "sm_90") -> Request:
    return Request(KernelRef(kernel, f"/kernels/{kernel}.py", kernel), Target.parse(target))


def record(step: str, stage: str, name: str, file: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "event": "pass",
        "step": step,
        "stage": stage,
        "name": name,
        "options": "",
        "ms": 1.0,
        "changed": file is not None,
        "ops_before": 4,
        "ops_after": 4,
        "file": file,
        "method": "intercepted",
        **more,
    }


def put(folder: Path, name: str, text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    path = folder / name
    path.write_bytes(zstandard.compress(data) if name.endswith(".zst") else data)
    return name


def stage(folder: Path, name: str, text: str | bytes, suffix: str | None = None) -> dict[str, Any]:
    file = put(folder, f"matmul.{suffix or name}", text)
    lines = None if isinstance(text, bytes) else text.count("\n")
    return {"event": "stage", "stage": name, "seconds": 0.25, "lines": lines, "bytes": len(text), "file": file}


def write_events(writer: CaptureWriter, id_: str) -> None:
    """Everything a compilation tells, up to its end: ten steps over four stages."""
    folder = writer.folder
    snapshot = layout.snapshot_name
    put(folder, f"{snapshot('4.1', 'sroa', 'll')}.zst", LLVM_INNER)
    versions = {"python": "3.11.9", "triton": "3.9.0", "ptxas": None}
    for event in (
        {
            "event": "loaded",
            "versions": versions,
            "signature": "*fp16",
            "options": {"num_warps": 4},
            "notes": ["a note"],
        },
        {"event": "key", "hash": "f00d" * 16, "id": id_, "components": {"source": "abc"}},
        {"event": "begin", "stage": "ttir"},
        stage(folder, "source", SOURCE),
        record("0", "ttir", "inline", put(folder, snapshot("0", "inline", "mlir"), TTIR), ms=2.5),
        record(
            "0.1",
            "ttir",
            "canonicalizer",
            put(folder, snapshot("0.1", "canonicalizer", "mlir"), INNER),
            before=put(folder, "passes/000.1-before.mlir", SOURCE),
            ms=None,
            method="dumped",
        ),
        record("1", "ttir", "canonicalizer", ms=0.5),
        stage(folder, "ttir", TTIR),
        record(
            "2", "ttgir", "tritongpu-coalesce", put(folder, snapshot("2", "tritongpu-coalesce", "mlir"), TTGIR), ms=9
        ),
        stage(folder, "ttgir", TTGIR),
        record("3", "llir", "llvm.to_module", put(folder, snapshot("3", "llvm.to_module", "ll"), LLVM_BEFORE)),
        record("4", "llir", "llvm.optimize_module", put(folder, "matmul.llir", LLVM_AFTER)),
        record("4.0", "llir", "annotation2metadata"),
        record("4.1", "llir", "sroa", snapshot("4.1", "sroa", "ll")),
        record("4.2", "llir", "sroa"),
        stage(folder, "llir", LLVM_AFTER),
        record("5", "ptx", "Canonicalizer", ms=0.25),
        stage(folder, "ptx", PTX),
        stage(folder, "cubin", CUBIN),
        {"event": "metadata", "metadata": {"shared": 1024, "name": "matmul"}},
        {"event": "resources", "resources": {"registers": 64, "spills": 0, "shared": 1024, "stack": None}},
        {"event": "done", "seconds": 1.5},
    ):
        writer.append(event)
