"""Which GPU is in this machine, found out without torch, triton or a driver call in this process."""

import re
import shutil
import subprocess
from pathlib import Path

from tritonscope.model import Target

__all__ = ["present"]

KFD_NODES = Path("/sys/class/kfd/kfd/topology/nodes")

_GFX_VERSION = re.compile(r"^gfx_target_version (\d+)$", re.MULTILINE)


def present() -> Target | None:
    """The target of the first GPU, NVIDIA's before AMD's; None where there is none."""
    return _nvidia() or _amd(KFD_NODES)


def _nvidia() -> Target | None:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    try:
        answer = subprocess.run(
            [tool, "--query-gpu=compute_cap", "--format=csv,noheader"], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    capability = re.match(r"(\d+)\.(\d)", answer.stdout)
    return Target("cuda", capability[1] + capability[2], 32) if capability else None


def _amd(nodes: Path) -> Target | None:
    """From the kernel driver's topology: the version 90402 is gfx942, the last two parts in hexadecimal."""
    for properties in sorted(nodes.glob("*/properties")):
        try:
            version = _GFX_VERSION.search(properties.read_text())
        except OSError:
            continue
        if version and int(version[1]):
            number = int(version[1])
            return Target.parse(f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}")
    return None
