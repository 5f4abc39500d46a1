"""Triton's hash of its own files, remembered between processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compile.conftest import ROOT
from tritonscope.engine import triton_hash

ASK = """
import sys
import triton
from tritonscope.engine import triton_hash
home = sys.modules[triton_hash.function().__module__]
with triton_hash.in_use():
    print(home.triton_key() == triton_hash.get())
print(home.triton_key())
print(triton_hash.get())
"""


def ask(cache: Path, program: str = ASK) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()


def test_it_is_tritons_own_and_kept(tmp_path):
    used, by_triton, ours = ask(tmp_path)
    assert used == "True"
    assert by_triton == ours
    (kept,) = (tmp_path / "tritonscope").iterdir()
    assert json.loads(kept.read_text())["key"] == ours


def test_what_is_kept_is_used_while_it_holds(tmp_path):
    _, by_triton, _ = ask(tmp_path)
    (kept,) = (tmp_path / "tritonscope").iterdir()
    document = json.loads(kept.read_text())
    kept.write_text(json.dumps({**document, "key": "kept"}))
    assert ask(tmp_path) == ["True", by_triton, "kept"]
    kept.write_text(json.dumps({"key": "kept", "state": "another"}))
    assert ask(tmp_path) == ["True", by_triton, by_triton]


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"state": 1, "key": 2}', "\xff"])
def test_a_damaged_file_is_replaced(damage, tmp_path):
    _, by_triton, _ = ask(tmp_path)
    (kept,) = (tmp_path / "tritonscope").iterdir()
    kept.write_text(damage, encoding="latin-1")
    assert ask(tmp_path)[2] == by_triton
    assert json.loads(kept.read_text())["key"] == by_triton


def test_no_room_to_keep_it_is_no_error(tmp_path):
    (tmp_path / "tritonscope").write_text("in the way")
    used, by_triton, ours = ask(tmp_path)
    assert (used, ours) == ("True", by_triton)


@pytest.mark.parametrize("file", ["_C/libtriton.so", "runtime/cache.py", "compiler/compiler.py", "language/core.py"])
def test_any_change_of_a_file_counts(file, tmp_path):
    changed = tmp_path / file
    changed.parent.mkdir(parents=True)
    changed.write_text("x")
    before = triton_hash._state(tmp_path)
    assert triton_hash._state(tmp_path) == before
    times = changed.stat()
    changed.write_text("y")
    os.utime(changed, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert triton_hash._state(tmp_path) != before
