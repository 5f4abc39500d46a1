"""The full-screen interface in a real terminal, tmux's, from the first key to the last."""

import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
pytest.importorskip("triton")

PATIENCE = 90.0


class Terminal:
    """A tmux server of its own, with one window."""

    def __init__(self, command, folder, width=120, height=40):
        self.name = f"tritonscope-{uuid.uuid4().hex[:8]}"
        environment = {**os.environ, "TERM": "xterm-256color", "XDG_STATE_HOME": str(folder / "state")}
        shell = f"cd {folder}; {command}; echo ended with $?; exec sh"
        size = ("-x", str(width), "-y", str(height))
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, "sh", "-c", shell, env=environment)

    def _tmux(self, *words, env=None):
        done = subprocess.run(["tmux", "-L", self.name, *words], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def keys(self, *keys):
        for key in keys:
            self._tmux("send-keys", key)

    def type(self, text):
        self._tmux("send-keys", "-l", text)

    def screen(self):
        return self._tmux("capture-pane", "-p")

    def sees(self, text):
        """Wait until the screen has `text`."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if text in self.screen():
                return
            time.sleep(0.05)
        raise AssertionError(f"{text!r} did not come:\n{self.screen()}")

    def alternate(self):
        """Whether the terminal is still in the full-screen program's hands, and whether the mouse or the cursor is."""
        return self._tmux("display", "-p", "#{alternate_on}#{mouse_any_flag}").strip() != "00"

    def close(self):
        subprocess.run(["tmux", "-L", self.name, "kill-server"], capture_output=True)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernel.py").write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef add(x, y, n, BLOCK: tl.constexpr):\n"
        "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(y + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)\n"
    )
    return tmp_path


@pytest.fixture
def terminal(folder):
    opened = []

    def start(command):
        opened.append(Terminal(command, folder))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


PROGRAM = f"{sys.executable} -m tritonscope open"


def processes(folder):
    """The processes whose environment or command names this folder: ours."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                command = Path(entry.path, "cmdline").read_bytes().split(b"\0")
                folder_of = Path(entry.path, "cwd").readlink()
            except OSError:
                continue
            if folder_of == folder and any(b"tritonscope" in word for word in command):
                found.append((int(entry.name), command))
    return found


def test_compile_step_diff_copy_quit(terminal, folder):
    signature = "x=*fp32:16, y=*fp32:16, n=i32, BLOCK=64"
    compiled = subprocess.run(
        [sys.executable, "-m", "tritonscope", "compile", "kernel.py:add", "-t", "sm_90", "-s", signature],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert compiled.returncode == 0, compiled.stderr
    one = terminal(PROGRAM)
    one.sees("sm_90")
    one.keys("e")
    one.sees("compile a variant")
    one.sees("n=i32, BLOCK=64")  # what the capture was compiled with is filled in
    one.type("sm_80")  # the form begins in the first field that is empty
    one.sees("sm_80")
    one.keys("Enter")
    one.sees("add  sm_80")
    one.sees("  ok")
    one.keys("1", "}")
    one.sees("after 0 inline")
    one.keys("d")
    one.sees("what 0 inline changed")
    one.keys("y")
    one.sees("copied the line")
    one.keys("q")
    one.sees("ended with 0")
    assert not one.alternate()
    assert len(list((folder / "dumps" / "add").glob("sm_80-*"))) == 1


@pytest.mark.parametrize("how", ["the child is killed", "the interface gets SIGTERM"])
def test_the_terminal_is_left_sane(terminal, folder, how):
    one = terminal(PROGRAM)
    one.sees("passes")
    (program,) = [pid for pid, command in processes(folder) if b"open" in command]
    if how == "the interface gets SIGTERM":
        os.kill(program, signal.SIGTERM)
        one.sees("ended with 143")
    else:
        one.keys("e")
        one.sees("compile a variant")
        one.type("sm_100")
        one.keys("Enter")
        deadline = time.monotonic() + PATIENCE
        children = []
        while not children and time.monotonic() < deadline:
            children = [pid for pid, command in processes(folder) if any(b"boot.py" in word for word in command)]
        assert children
        os.kill(children[0], signal.SIGKILL)
        one.sees("crashed")
        one.keys("q")
        one.sees("ended with 0")
    assert not one.alternate()
    deadline = time.monotonic() + PATIENCE
    while processes(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not processes(folder)
