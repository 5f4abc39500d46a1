"""`tritonscope run` as far as it goes without a GPU: by Triton's interpreter, and in what it refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tritonscope import bundled_kernels, gpu

pytest.importorskip("torch")

WRONG = Path(__file__).resolve().parents[1] / "kernels" / "wrong.py"


def run(*arguments, cwd=None):
    command = [sys.executable, "-m", "tritonscope", "run", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def results(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


# The interpreter takes Triton's language, not Gluon's: these are checked on a GPU alone, in tests/gpu.
GLUON = {"attention/gluon"}


@pytest.mark.parametrize("kernel", sorted({each.name for each in bundled_kernels.kernels()} - GLUON))
def test_every_bundled_kernel_is_right_by_the_interpreter(kernel):
    done = run(kernel, "--interpret", "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    found = results(done)
    assert found
    assert all(each["correct"] is True for each in found)
    assert any(any(size % 16 for size in each["size"].values() if isinstance(size, int)) for each in found)


@pytest.mark.parametrize("kernel", sorted(GLUON))
def test_a_gluon_kernel_is_refused_in_a_sentence(kernel):
    done = run(kernel, "--interpret")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "is written in Gluon, which Triton's interpreter does not take" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_is_right_passes_every_check():
    done = run(f"{WRONG}:right", "--interpret", "--json", "--size", "n=1000,1")
    assert done.returncode == 0, done.stderr
    assert [each["size"] for each in results(done)] == [{"n": 1000}, {"n": 1}]
    for each in results(done):
        assert {check["name"] for check in each["checks"]} == {
            *("reference", "bounds", "written", "repeats", "inputs", "finite"),
        }
        assert all(check["passed"] for check in each["checks"])
        assert each["error"]["relative"] == 0


@pytest.mark.parametrize(
    ("kernel", "check", "says"),
    [
        ("one_wrong", "reference", "at (17,)"),
        ("unwritten", "written", "1 of 1000 elements were not written, the first at (23,)"),
        ("beside", "bounds", "4 bytes were written behind it, the nearest 1 bytes away"),
        ("reads_output", "repeats", "depends on what the output held before"),
        ("not_finite", "finite", "the first at (5,)"),
        ("writes_input", "inputs", "x changed"),
    ],
)
def test_each_flaw_is_found_and_named(kernel, check, says):
    done = run(f"{WRONG}:{kernel}", "--interpret", "--json", "--size", "n=1000")
    assert done.returncode == 1, done.stderr
    (found,) = results(done)
    assert found["correct"] is False
    failed = {each["name"]: each["detail"] for each in found["checks"] if not each["passed"]}
    assert says in failed[check]


def test_the_text_says_what_is_wrong_and_what_is_right():
    done = run(f"{WRONG}:unwritten", f"{WRONG}:right", "--interpret", "--size", "n=100")
    assert done.returncode == 1, done.stderr
    wrong, right = (done.stdout.partition(name)[2] for name in ("unwritten", "right"))
    assert "WRONG" in wrong.partition("right")[0]
    assert "1 of 100 elements were not written, the first at (23,)" in wrong
    assert "correct" in right


def test_without_a_reference_it_is_unchecked():
    done = run(f"{WRONG}:no_reference", "--interpret", "--json", "--size", "n=64")
    assert done.returncode == 0, done.stderr
    (found,) = results(done)
    assert found["correct"] is None
    assert "unchecked" in run(f"{WRONG}:no_reference", "--interpret", "--size", "n=64").stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["wrong.py:no_spec"], "new-spec"),
        (["wrong.py:bad_spec"], "wrong.py line"),
        (["wrong.py:right", "--size", "m=3"], "it has n"),
        (["wrong.py:right", "--size", "n=word"], "takes values such as 1000"),
        (["wrong.py:right", "--size", "n"], "is not understood"),
        (["wrong.py:right", "--config", "7"], "is not there"),
        (["wrong.py:right", "--config", "best"], "is not understood"),
        (["wrong.py:right", "--grid", "1"], "goes with --call"),
        (["wrong.py:nothing"], "no function"),
        (["nothing"], "no bundled kernel"),
    ],
)
def test_wrong_usage_is_a_sentence(arguments, says):
    done = run(*arguments, "--interpret", cwd=WRONG.parent)
    assert done.returncode == 2, done.stdout + done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_without_torch_it_says_how_to_install_it(tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError('not here')\n")
    command = [sys.executable, "-m", "tritonscope", "run", f"{WRONG}:right", "--interpret"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 5
    assert "pip install torch" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(gpu.present() is not None, reason="there is a GPU here")
@pytest.mark.parametrize("what", [f"{WRONG}:right", "matmul"])
def test_without_a_gpu_it_says_what_works(what, tmp_path):
    done = run(what, cwd=tmp_path)
    assert done.returncode == 5
    assert "--interpret" in done.stderr
    assert len(done.stderr.splitlines()) == 1
