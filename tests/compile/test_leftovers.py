"""Whoever is killed, and at whichever moment: the child's private folder goes. Each moment is made to happen.

Each test runs a parent of its own, and waits until all that it started has let go of its standard error.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_triton

#: Asks a child for what a kernel's file holds; its second argument is what happens meanwhile.
PARENT = """
import os, signal, subprocess, sys
from tritonscope.engine import client

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

file, moment = sys.argv[1:]
reader, writer = os.pipe()
message = {"action": "describe", "kernel": {"name": "k", "path": file, "function": "k"}}
if moment == "parent killed before the child starts":
    subprocess.Popen = die
with client.Child(message, stdout=writer, stderr=2) as child:
    if moment in ("parent killed", "child killed", "parent killed when it has ended the child"):
        os.read(reader, 1)
    if moment == "parent killed":
        die()
    if moment == "child killed":
        os.kill(child.pid, signal.SIGKILL)
    if moment == "parent killed when it has ended the child":
        child.kill()
        die()
    said = list(child)
    if moment == "parent killed when the child has ended":
        die()
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
        pytest.param(WAITS, "parent killed when it has ended the child", "", id="parent-between"),
        pytest.param(KERNEL, "parent killed when the child has ended", "", id="parent-last"),
        pytest.param(WRITES_ON, "child killed", "[] crashed", id="child-writes"),
        pytest.param(A_TOOL_WRITES_ON, "child killed", "[] crashed", id="child-tool-writes"),
    ],
)
def test_nothing_is_left(text, moment, said, tmp_path):
    assert run_parent(text, moment, tmp_path) == (said, [])


def test_nothing_is_left_where_a_write_ends_late(tmp_path):
    """The first removal says what it does where a file comes up behind it."""
    failing = tmp_path / "bin" / "rm"
    failing.parent.mkdir()
    failing.write_text(f"""#!/bin/sh\nmv "$0" {tmp_path}/called\nexit 1\n""")
    failing.chmod(0o700)
    path = f"{failing.parent}{os.pathsep}{os.environ['PATH']}"
    assert run_parent(WAITS, "child killed", tmp_path, PATH=path) == ("[] crashed", [])
    assert (tmp_path / "called").exists()


def test_nothing_is_left_where_the_path_leads_to_no_tools(tmp_path):
    assert run_parent(WAITS, "child killed", tmp_path, PATH="/nowhere") == ("[] crashed", [])


def run_parent(text: str, moment: str, tmp_path: Path, **env: str) -> tuple[str, list[Path]]:
    """What it says, and what is in the temporary folder afterwards."""
    (tmp_path / "kernel.py").write_text(text)
    (tmp_path / "tmp").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", PARENT, str(tmp_path / "kernel.py"), moment],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp"), **env},
    )
    return done.stdout.strip(), list((tmp_path / "tmp").iterdir())
