"""What the GPU is doing: clocks, power and temperature, as the driver's own tool reads them by NVML."""

import shutil
import subprocess

__all__ = ["read"]

_FIELDS = {
    "sm_mhz": "clocks.sm",
    "memory_mhz": "clocks.mem",
    "power_w": "power.draw",
    "temperature_c": "temperature.gpu",
}


def read(uuid: str) -> dict[str, float] | None:
    """{sm_mhz, memory_mhz, power_w, temperature_c} of the GPU `uuid` (the first where that is ""), None without it."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    which = [f"--id={uuid if uuid.startswith('GPU-') else f'GPU-{uuid}'}"] if uuid else ["--id=0"]
    query = [f"--query-gpu={','.join(_FIELDS.values())}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run([tool, *which, *query], capture_output=True, text=True, timeout=20)
        return dict(zip(_FIELDS, map(float, done.stdout.split(",")), strict=True))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
