"""Whoever is killed, and at whichever moment: the child's private folder goes. Each moment is made to happen.

Each test runs a parent of its own, and waits until all that it started has let go of its standard error.
"""

import os
import subprocess
import sys

import pytest

#: Asks a child for what a kernel's file holds; its second argument is what happens meanwhile.
PARENT = """
import os, signal, subprocess, sys
from tritonscope.engine import client

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def write_late(path, **options):
    if "tritonscope-" in str(path) and os.path.isdir(path):
        os.rmdir = rmdir
        open(os.path.join(path, "late"), "x").close()
    rmdir(path, **options)

file, moment = sys.argv[1:]
reader, writer = os.pipe()
message = {"action": "describe", "kernel": {"name": "k", "path": file, "function": "k"}}
if moment == "parent killed before the child starts":
    subprocess.Popen = die
with client.Child(message, stdout=writer, stderr=2) as child:
    if moment in ("parent killed", "child killed", "child killed, a write ends late"):
        os.read(reader, 1)
    if moment == "parent killed":
        die()
    if moment.startswith("child killed"):
        os.kill(child.pid, signal.SIGKILL)
    said = list(child)
    if moment == "parent killed when the child has ended":
        die()
    if moment == "child killed, a write ends late":
        rmdir, os.rmdir = os.rmdir, write_late
print([event["event"] for event in said], child.ended.how)
"""

KERNEL = """
import triton

@triton.jit
def k(x):
    pass
"""

#: Never stops making files and folders where the child is to put them.
WRITES_ON = """
import itertools, os
from contextlib import suppress
from pathlib import Path

folder = Path(os.environ["TRITON_CACHE_DIR"])
for number in itertools.count():
    with suppress(OSError):
        (folder / str(number % 50)).mkdir(parents=True, exist_ok=True)
        (folder / str(number % 50) / str(number)).touch()
    if number == 50:
        os.write(1, b"begun")
"""

#: A tool does so, and would go on when the child is no more.
A_TOOL_WRITES_ON = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", {WRITES_ON!r}]).wait()
"""

#: Leaves so much behind that its removal takes a while, and ends as soon as that has begun.
ENDS_DURING_REMOVAL = """
import os
from pathlib import Path

folder = Path(os.environ["TRITON_CACHE_DIR"])
for number in range(3000):
    (folder / str(number)).touch()
changed = folder.stat().st_mtime_ns
os.write(1, b"begun")
while folder.exists() and folder.stat().st_mtime_ns == changed:
    pass
"""

WAITS = """
import os, signal
os.write(1, b"begun")
signal.pause()
"""


@pytest.mark.parametrize(
    ("text", "moment", "said"),
    [
        pytest.param(KERNEL, "nobody is killed", "['described'] exited", id="nobody"),
        pytest.param(KERNEL, "parent killed before the child starts", "", id="parent-first"),
        pytest.param(WAITS, "parent killed", "", id="parent"),
        pytest.param(WRITES_ON, "parent killed", "", id="parent-child-writes"),
        pytest.param(A_TOOL_WRITES_ON, "parent killed", "", id="parent-tool-writes"),
        pytest.param(ENDS_DURING_REMOVAL, "parent killed", "", id="parent-child-ends"),
        pytest.param(KERNEL, "parent killed when the child has ended", "", id="parent-last"),
        pytest.param(WRITES_ON, "child killed", "[] crashed", id="child-writes"),
        pytest.param(A_TOOL_WRITES_ON, "child killed", "[] crashed", id="child-tool-writes"),
        pytest.param(WAITS, "child killed, a write ends late", "[] crashed", id="child-late-write"),
    ],
)
def test_nothing_is_left(text, moment, said, tmp_path):
    (tmp_path / "kernel.py").write_text(text)
    (tmp_path / "tmp").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", PARENT, str(tmp_path / "kernel.py"), moment],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
    )
    assert (done.stdout.strip(), list((tmp_path / "tmp").iterdir())) == (said, []), done.stderr
