"""Occupancy against NVIDIA's own arithmetic: cuda_occupancy.h, which Triton's wheel carries, compiled as it is."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tritonscope.occupancy import LIMITS, occupancy

PROGRAM = """
#include <limits.h>
#include <stdio.h>
#include "cuda_occupancy.h"

int main(void) {
  int major, minor, warps, shared, reserved, registers, threads, dynamic, barriers;
  while (scanf("%d %d %d %d %d %d %d %d %d", &major, &minor, &warps, &shared, &reserved, &registers, &threads,
               &dynamic, &barriers) == 9) {
    cudaOccDeviceProp device = {0};
    cudaOccFuncAttributes kernel = {0};
    cudaOccDeviceState state = {0};
    cudaOccResult result = {0};
    device.computeMajor = major;
    device.computeMinor = minor;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = warps * 32;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.numSms = 1;
    device.sharedMemPerBlock = 49152;
    device.sharedMemPerMultiprocessor = shared;
    device.sharedMemPerBlockOptin = shared - reserved;
    device.reservedSharedMemPerBlock = reserved;
    kernel.maxThreadsPerBlock = 1024;
    kernel.numRegs = registers;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = shared - reserved;
    kernel.numBlockBarriers = barriers;
    state.carveoutConfig = 100;
    int error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, dynamic);
    printf("%d\\n", error ? -1 : result.activeBlocksPerMultiprocessor);
  }
}
"""


def test_it_is_what_nvidias_header_computes(tmp_path: Path):
    import triton

    compiler = shutil.which("cc")
    headers = Path(triton.__file__).parent / "backends" / "nvidia" / "include"
    if compiler is None or not (headers / "cuda_occupancy.h").exists():
        pytest.skip("no C compiler, or a Triton without the header")
    source = tmp_path / "occupancy.c"
    source.write_text(PROGRAM)
    program = tmp_path / "occupancy"
    subprocess.run([compiler, f"-I{headers}", str(source), "-o", str(program)], check=True)

    chance = random.Random(8)
    cases = [
        (
            arch,
            chance.randint(1, 255),
            chance.choice([32, 64, 96, 128, 256, 384, 512, 1000, 1024]),
            chance.choice([0, chance.randint(0, limits.shared - limits.reserved)]),
            chance.randint(1, 16),
        )
        for arch, limits in LIMITS.items()
        for _ in range(300)
    ]
    lines = [
        f"{arch[:-1]} {arch[-1]} {LIMITS[arch].warps} {LIMITS[arch].shared} {LIMITS[arch].reserved} "
        f"{registers} {threads} {shared} {barriers}"
        for arch, registers, threads, shared, barriers in cases
    ]
    said = subprocess.run([program], input="\n".join(lines), check=True, capture_output=True, text=True).stdout.split()
    if len(said) != len(cases):
        pytest.fail(f"{len(said)} answers to {len(cases)} questions")
    for case, blocks in zip(cases, said, strict=True):
        arch = case[0]
        if int(blocks) < 0:  # a header that is older than the architecture
            continue
        found = occupancy(*case)
        assert found is not None
        assert found.blocks == int(blocks), case
        assert arch in LIMITS
