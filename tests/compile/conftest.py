"""Captures and plain compiles, each made once for all tests of a process."""

import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from tritonscope import api
from tritonscope.model import Capture, KernelRef, Request, Target
from tritonscope.store import reader

ROOT = Path(__file__).resolve().parents[2]
KERNELS = {
    "matmul": ROOT / "kernels" / "matmul.py",
    "matmul_grouped": ROOT / "kernels" / "matmul_grouped.py",
    "attention": ROOT / "kernels" / "flash_attention.py",
    "warp_specialized": ROOT / "tests" / "kernels" / "warp_specialized.py",
}


def request_for(name: str, target: str, file: Path | None = None, **fields: object) -> Request:
    """The request that `tritonscope compile` makes of a kernel of ours, or of `file`."""
    path = file or KERNELS[name]
    return Request(KernelRef(name, str(path), name), Target.parse(target), **fields)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def capture(tmp_path_factory: pytest.TempPathFactory):
    """capture(name, target) -> Capture, compiled once."""
    dumps = tmp_path_factory.mktemp("dumps")

    @lru_cache
    def compiled(name: str, target: str) -> Capture:
        return api.capture(request_for(name, target), dumps, python=sys.executable, command=["test"], timeout=300)

    return compiled


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory):
    """plain(name, target) -> a folder of artefacts that a plain compile made; see oracle.py."""

    @lru_cache
    def compiled(name: str, target: str) -> Path:
        out = tmp_path_factory.mktemp(f"plain-{name}-{target}")
        run_oracle(name, target, out, subprocess.DEVNULL)
        return out

    return compiled


@pytest.fixture(scope="session")
def printed(tmp_path_factory: pytest.TempPathFactory):
    """printed(name, target) -> what a plain compile prints under MLIR_ENABLE_DUMP, as bytes."""

    @lru_cache
    def compiled(name: str, target: str) -> bytes:
        out = tmp_path_factory.mktemp(f"printed-{name}-{target}")
        with (out / "stderr").open("w+b") as stderr:
            run_oracle(name, target, out, stderr, MLIR_ENABLE_DUMP="1")
        return (out / "stderr").read_bytes()

    return compiled


def run_oracle(name: str, target: str, out: Path, stderr: object, **env: str) -> None:
    script = Path(__file__).with_name("oracle.py")
    subprocess.run(
        [sys.executable, str(script), str(KERNELS[name]), name, target, str(out)],
        check=True,
        stderr=stderr,  # type: ignore[call-overload]
        env={**os.environ, "TRITON_CACHE_DIR": str(out / "cache"), **env},
    )


def artefact(capture: Capture, stage: str) -> bytes:
    return reader.stage_bytes(capture, stage)
