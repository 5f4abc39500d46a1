"""Whoever is killed, and at whichever moment: the child's private folder goes, each moment made to happen.

Each test runs a parent of its own, and waits until all that it started has let go of its standard error.
"""

import os
import subprocess
import sys

import pytest

#: Asks a child for what a kernel's file holds; `MOMENT` is what happens to the parent.
PARENT = """
import os, signal, subprocess, sys
from tritonscope.engine import client

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[2] == "before the child starts":
    subprocess.Popen = die
reader, writer = os.pipe()
message = {"action": "describe", "kernel": {"name": "k", "path": sys.argv[1], "function": "k"}}
with client.Child(message, stdout=writer, stderr=2) as child:
    if sys.argv[2] == "while the file runs":
        os.read(reader, 1)
        die()
    if sys.argv[2] == "after its child was killed":
        os.read(reader, 1)
        os.kill(child.pid, signal.SIGKILL)
    said = list(child)
    if sys.argv[2] == "when the child has ended":
        die()
print([event["event"] for event in said], child.ended.how)
"""

KERNEL = """
import triton

@triton.jit
def k(x):
    pass
"""

#: Never stops making files and folders where the child is to put them, and has begun.
WRITES_ON = """
import itertools, os
from pathlib import Path

folder = Path(os.environ["TRITON_CACHE_DIR"])

def write(number):
    (folder / str(number % 50)).mkdir(parents=True, exist_ok=True)
    (folder / str(number % 50) / str(number)).touch()

for number in itertools.count():
    try:
        write(number)
    except OSError:
        pass
    if number == 50:
        print("begun", flush=True)
"""

#: Has left much behind, and ends as soon as its parent is gone.
ENDS_WITH_ITS_PARENT = """
import os, select
from pathlib import Path

folder = Path(os.environ["TRITON_CACHE_DIR"])
for number in range(5000):
    (folder / str(number)).touch()
parent = os.pidfd_open(os.getppid())
print("begun", flush=True)
select.select([parent], [], [])
while (folder / "4999").exists() and len(os.listdir(folder)) == 5000:  # until its removal has begun
    pass
"""

#: A tool that goes on writing when the child is no more.
A_TOOL_WRITES_ON = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", {WRITES_ON!r}]).wait()
"""


@pytest.fixture
def left_by(tmp_path):
    """left_by(kernel's file, moment) -> what the parent said, and the temporary folder's content afterwards."""

    def run(text: str, moment: str) -> tuple[str, list[str]]:
        (tmp_path / "kernel.py").write_text(text)
        (tmp_path / "tmp").mkdir()
        done = subprocess.run(
            [sys.executable, "-c", PARENT, str(tmp_path / "kernel.py"), moment],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        )
        return done.stdout.strip(), [path.name for path in (tmp_path / "tmp").iterdir()]

    return run


def test_nobody_is_killed(left_by):
    assert left_by(KERNEL, "never") == ("['described'] exited", [])


@pytest.mark.parametrize("moment", ["before the child starts", "when the child has ended"])
def test_the_parent_is_killed_beside_a_child_that_does_nothing_wrong(moment, left_by):
    assert left_by(KERNEL, moment) == ("", [])


@pytest.mark.parametrize("text", [WRITES_ON, A_TOOL_WRITES_ON, ENDS_WITH_ITS_PARENT])
def test_the_parent_is_killed_while_the_child_works(text, left_by):
    assert left_by(text, "while the file runs") == ("", [])


@pytest.mark.parametrize("text", [WRITES_ON, A_TOOL_WRITES_ON])
def test_the_child_is_killed_while_it_works(text, left_by):
    assert left_by(text, "after its child was killed") == ("[] crashed", [])
