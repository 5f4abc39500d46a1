"""MLIR's fingerprint of a module: what it calls unchanged is, to the letter."""

import os
import subprocess
import sys

import pytest

from tests.compile.conftest import ROOT

PROGRAM = """
import os, sys, tempfile
import triton
from tritonscope import kernel_reference
from tritonscope.engine import loader, native, pipeline, unchanged
from tritonscope.engine.capture import Session
from tritonscope.engine.edits import Edits
from tritonscope.engine.events import Events
from tritonscope.model import Request, Target

seen = {"calls": 0, "unchanged": 0, "wrong": 0}
texts = [None]

class Checked(unchanged.Watch):
    def unchanged(self, module):
        claimed = super().unchanged(module)
        text = str(module)
        seen["calls"] += 1
        seen["unchanged"] += claimed
        seen["wrong"] += claimed and text != texts[0]
        texts[0] = text
        return claimed

pipeline.Watch = Checked
native.assume_verified()
request = Request(kernel=kernel_reference.find(sys.argv[1]), target=Target.parse(sys.argv[2]))
loaded = loader.load(request.kernel)
built = loader.build(loaded, request)
folder = tempfile.mkdtemp(dir=sys.argv[3])
os.mkdir(os.path.join(folder, "passes"))
printed = open(os.path.join(folder, "printed"), "w+b")
os.dup2(printed.fileno(), 2)
session = Session(folder, Events(os.open(os.devnull, os.O_WRONLY)), request, loaded, built)
watched = pipeline.Pipeline(
    session.folder,
    session.events,
    pipeline.NESTING,
    pipeline.Selection((), None),
    Edits((), session.place),
    llvm_passes=False,
    dumping=False,
)
session.compile_with(watched)
print(seen["calls"], seen["unchanged"], seen["wrong"])
"""


@pytest.mark.parametrize(("kernel", "target"), [("matmul", "sm_90"), ("attention", "sm_100"), ("attention", "gfx942")])
@pytest.mark.parametrize("native", ["1", "0"])
def test_what_is_called_unchanged_is_the_same_text(kernel, target, native, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, kernel, target, str(tmp_path)],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "TRITON_CACHE_DIR": str(tmp_path / "cache"),
            "TRITONSCOPE_NATIVE": native,
        },
        check=True,
        capture_output=True,
        text=True,
    )
    calls, unchanged, wrong = map(int, done.stdout.split())
    assert calls > 40
    assert wrong == 0
    if native == "0":
        assert unchanged == 0
    elif sys.platform == "linux":
        assert unchanged > calls // 3
