"""Runs Nsight Compute on one launch of one captured kernel, and has it print what it saw.

`ncu` starts the child that launches the kernel, so the two do not talk over inherited descriptors: the child reads its
request from a FIFO, which is held open as long as we live, and leaves its events in a file.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from tritonscope import api
from tritonscope.engine.client import BOOT, child_environment
from tritonscope.errors import ChildDied, Missing, UsageError
from tritonscope.model import Profile
from tritonscope.ncu_report import read_metrics, read_samples
from tritonscope.runs import Asked, Unit, binary_files, called_with
from tritonscope.store import files

__all__ = ["find", "profile"]

#: Where its installers put it.
PLACES = ("/opt/nvidia/nsight-compute/*/ncu", "/usr/local/cuda*/bin/ncu", "/usr/local/NVIDIA-Nsight-Compute*/ncu")

_SECTIONS = (
    "SpeedOfLight",
    "LaunchStats",
    "Occupancy",
    "WarpStateStats",
    "ComputeWorkloadAnalysis",
    "MemoryWorkloadAnalysis",
    "SourceCounters",
)
_WARM_UP = 3
_EXPORT_SECONDS = 120.0
_LARGEST_PAGE = 256 << 20
_LARGEST_LOG = 4 << 20
_LONGEST_WORD = 300
_NO_PERMISSION = "ERR_NVGPUCTRPERM"
_ERROR = re.compile(r"^==ERROR==\s*(.+)$", re.MULTILINE)


def find(given: str | None) -> str:
    """The `ncu` to run: `given`, else the one on the path, else the newest that is installed; raises Missing."""
    if given is not None:
        found = shutil.which(given)
        if found is None:
            raise Missing(f"{given} is no program that can be run; name Nsight Compute's ncu with --ncu PATH")
        return found
    if on_path := shutil.which("ncu"):
        return on_path
    installed = [path for place in PLACES for path in Path("/").glob(place[1:]) if os.access(path, os.X_OK)]
    if not installed:
        raise Missing(
            "Nsight Compute is not installed, or its ncu is not on the path; install it (it comes with the CUDA "
            "toolkit, and from developer.nvidia.com/nsight-compute), or name it with --ncu PATH"
        )
    return str(max(installed, key=lambda path: [int(number) for number in re.findall(r"\d+", str(path))]))


def profile(
    tool: str,
    unit: Unit,
    asked: Asked,
    report: Path | None = None,
    on_progress: Callable[[str], None] = lambda text: None,
) -> Profile:
    """Profile one launch of `unit` at its own size with `tool`, after a few to warm up; clocks are left as they are.

    Its own report goes to `report` as well. `asked.timeout` is for all of it. Raises Missing where the GPU, PyTorch or
    the permission to read its counters is missing, UsageError where the binary does not take the arguments, ChildDied
    where the launch or ncu fails.
    """
    with tempfile.TemporaryDirectory(prefix="tritonscope-profile-") as text:
        folder = Path(text)
        on_progress(f"profiling {unit.kernel.name}")
        files_of_it = binary_files(unit.main.capture, folder)
        (folder / "job.json").write_text(
            json.dumps({**called_with(unit), **files_of_it, "size": dict(unit.main.size)}), encoding="utf-8"
        )
        said = _record(tool, str(files_of_it["name"]), asked, folder)
        events = _events(folder / "events")
        recorded = folder / "report.ncu-rep"
        _complain(said, events, recorded)
        if report is not None:
            _copy(recorded, report)
        on_progress("reading the report")
        found = _read(tool, recorded, str(files_of_it["name"]), folder)
    device = next((event for event in events if event["event"] == "device"), {})
    launched = next((event for event in events if event["event"] == "launched"), {})
    return Profile(
        kernel=unit.kernel.name,
        size=dict(launched.get("size", unit.main.size)),
        config=dict(unit.config),
        device=str(device.get("name", "")),
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        command=asked.command,
        notes=unit.notes,
        **found,
    )


def _record(tool: str, name: str, asked: Asked, folder: Path) -> str:
    """Run ncu around the child; gives what both printed."""
    command = [
        tool,
        *("--target-processes", "all"),
        *("--clock-control", "none"),
        *("--kernel-name", f"regex:^{re.escape(name)}$"),
        *("--launch-skip", str(_WARM_UP)),
        *("--launch-count", "1"),
        *(word for section in _SECTIONS for word in ("--section", section)),
        *("--import-source", "no"),
        *("--force-overwrite", "--export", str(folder / "report.ncu-rep")),
        *(asked.python, str(BOOT), str(folder / "events"), str(folder / "request")),
    ]
    (folder / "events").touch()
    message = {"action": "profile", "job": str(folder / "job.json"), "launches": _WARM_UP + 1}
    with _request(folder / "request", message), (folder / "log").open("wb") as log:
        try:
            _run(command, log.fileno(), child_environment(os.environ, {}, str(folder)), asked.timeout)
        except subprocess.TimeoutExpired:
            raise ChildDied(
                f"Nsight Compute did not end within {asked.timeout:g} s; give it longer with --timeout, or a smaller "
                "--size: it launches the kernel some twenty times"
            ) from None
        except OSError as error:
            raise Missing(f"{tool} cannot be started ({error.strerror}); name ncu with --ncu PATH") from None
    return _text(folder / "log", _LARGEST_LOG)


@contextmanager
def _request(path: Path, message: Mapping[str, Any]) -> Iterator[None]:
    """A FIFO with the request in it that comes to its end when we do."""
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)  # with a reader of our own, nothing here waits for one
    try:
        os.write(descriptor, (json.dumps(message) + "\n").encode())
        yield
    finally:
        os.close(descriptor)


def _run(command: Sequence[str], log: int, environment: Mapping[str, str], timeout: float) -> None:
    """Run it to its end, or end it and all that it started."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
    )
    try:
        process.wait(timeout)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _complain(said: str, events: Sequence[Mapping[str, Any]], recorded: Path) -> None:
    """Raise what there is to say where there is no report of a launch."""
    if _NO_PERMISSION in said:
        raise Missing(
            f"this user may not read the GPU's performance counters ({_NO_PERMISSION}); run it as root, have the "
            "driver loaded with NVreg_RestrictProfilingToAdminUsers=0, or start the container with "
            "--cap-add=SYS_ADMIN (developer.nvidia.com/ERR_NVGPUCTRPERM)"
        )
    for event in events:
        if event["event"] == "error":
            raise api.error_from(event)
        if event["event"] == "fault":
            raise ChildDied(f"the kernel could not be launched: {event['message']}")
    if not recorded.is_file():
        lines = [line for line in said.splitlines() if line.strip()]
        errors = _ERROR.findall(said)
        why = (errors or lines[-1:] or ["it printed nothing"])[0].strip()[:_LONGEST_WORD]
        raise ChildDied(f"Nsight Compute recorded nothing: {why}")


def _events(path: Path) -> list[dict[str, Any]]:
    """What the child said, as far as it came."""
    found = []
    for line in _text(path, _LARGEST_LOG).splitlines():
        with suppress(ValueError):
            event = json.loads(line)
            if isinstance(event, dict) and "event" in event:
                found.append(event)
    return found


def _read(tool: str, recorded: Path, name: str, folder: Path) -> dict[str, Any]:
    """The fields of a Profile that are in the report."""
    try:
        metrics = read_metrics(_page(tool, recorded, folder, "raw", "--print-units", "base"), name)
        instructions = read_samples(_page(tool, recorded, folder, "source", "--print-source", "sass"), name)
    except ValueError as error:
        raise ChildDied(
            f"Nsight Compute's report cannot be read: {error}; keep it with --report FILE and look at it in ncu-ui"
        ) from None
    return {
        "metrics": metrics.values,
        "units": metrics.units,
        "instructions": instructions,
        "tool": _version(tool),
    }


def _page(tool: str, recorded: Path, folder: Path, page: str, *options: str) -> str:
    path = folder / f"{page}.csv"
    command = [tool, "--import", str(recorded), "--page", page, "--csv", *options]
    with path.open("wb") as file:
        try:
            _run(command, file.fileno(), {**os.environ, "LC_ALL": "C"}, _EXPORT_SECONDS)
        except subprocess.TimeoutExpired:
            raise ValueError(f"its {page} page was not printed within {_EXPORT_SECONDS:g} s") from None
    return _text(path, _LARGEST_PAGE)


def _version(tool: str) -> str:
    try:
        done = subprocess.run([tool, "--version"], capture_output=True, text=True, timeout=20, errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r"Version (\S{1,40})", done.stdout)
    return match[1] if match else ""


def _text(path: Path, largest: int) -> str:
    return files.read_bounded(path, largest).decode("utf-8", "replace")


def _copy(recorded: Path, report: Path) -> None:
    try:
        shutil.copyfile(recorded, report)
    except OSError as error:
        raise UsageError(f"{report} cannot be written ({error.strerror}); name another file with --report") from None
