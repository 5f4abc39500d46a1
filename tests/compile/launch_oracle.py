"""A kernel compiled from the call that a program makes, by Triton alone. Run with triton and nothing of ours.

    python launch_oracle.py OUT

warms tests/kernels/scale.py's kernel up for sm_90 as a launch would, and writes each artefact to OUT/<stage>.
"""

import sys
from pathlib import Path

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime.driver import driver

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "kernels"))
import scale  # type: ignore[import-not-found]


class Driver(DriverBase):  # type: ignore[misc]
    def __init__(self):
        pass

    @classmethod
    def is_active(cls):
        return True

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0


Driver.__abstractmethods__ = frozenset()


class Tensor:
    dtype = "fp32"

    def data_ptr(self):
        return 4096


def main(out):
    driver.set_active(Driver())
    kernel = scale.scale.warmup(Tensor(), Tensor(), 1000, FACTOR=3.0, BLOCK=256, grid=(4,), num_warps=2)
    for stage, content in kernel.asm.items():
        (Path(out) / stage).write_bytes(content if isinstance(content, bytes) else content.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
