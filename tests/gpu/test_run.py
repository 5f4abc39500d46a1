"""`tritonscope run` on a GPU; skipped without one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tritonscope import bundled_kernels, gpu

pytestmark = pytest.mark.skipif(gpu.present() is None, reason="there is no GPU here")

WRONG = Path(__file__).resolve().parents[1] / "kernels" / "wrong.py"


@pytest.fixture(scope="module")
def cwd(tmp_path_factory):
    return tmp_path_factory.mktemp("run")


def tritonscope(*arguments, cwd):
    command = [sys.executable, "-m", "tritonscope", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def run(*arguments, cwd):
    done = tritonscope("run", *arguments, "--json", cwd=cwd)
    assert "Traceback" not in done.stderr, done.stderr
    return done, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kernel", [each.name for each in bundled_kernels.kernels()])
def test_every_bundled_kernel_is_right(kernel, cwd):
    done, found = run(kernel, "--check", cwd=cwd)
    assert done.returncode == 0, done.stderr + done.stdout
    assert [each["correct"] for each in found] == [True]
    assert not found[0]["notes"]


def test_a_right_kernel_is_timed_beside_its_baseline(cwd):
    done, (found,) = run(f"{WRONG}:right", "--size", "n=1M", cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert found["correct"] is True
    assert found["error"]["relative"] == 0
    assert found["ms"]["q1"] <= found["ms"]["median"] <= found["ms"]["q3"]
    assert set(found["baselines"]) == {"torch"}  # the one that refuses is left out
    assert found["gbps"] == pytest.approx(8 * (1 << 20) / found["ms"]["median"] / 1e6)
    assert 0 < found["of_ceiling"]["gbps"] < 2
    assert found["occupancy"]["blocks"] >= 1
    assert found["clocks"]["after"]["sm_mhz"] > 0
    kept = Path(json.loads(tritonscope("show", found["capture"], "--json", cwd=cwd).stdout)["path"]) / "runs.jsonl"
    assert json.loads(kept.read_text().splitlines()[-1])["ms"] == found["ms"]


@pytest.mark.parametrize(
    ("kernel", "check", "says"),
    [
        ("one_wrong", "reference", "at (17,)"),
        ("unwritten", "written", "the first at (23,)"),
        ("beside", "bounds", "behind it"),
        ("reads_output", "repeats", "depends on what the output held before"),
        ("not_finite", "finite", "the first at (5,)"),
        ("writes_input", "inputs", "x changed"),
        ("race", "repeats", "possibly a race"),
    ],
)
def test_each_flaw_is_found_and_named(kernel, check, says, cwd):
    done, (found,) = run(f"{WRONG}:{kernel}", "--check", cwd=cwd)
    assert done.returncode == 1, done.stderr
    failed = {each["name"]: each["detail"] for each in found["checks"] if not each["passed"]}
    assert says in failed[check]


@pytest.mark.parametrize(
    ("kernel", "says"),
    [("illegal", "illegal memory access"), ("hangs", "no sign of life for 10 s"), ("too_large", "out of resource")],
)
def test_after_a_fault_the_next_kernel_runs(kernel, says, cwd):
    done, found = run(f"{WRONG}:{kernel}", f"{WRONG}:right", "--check", "--timeout", "10", cwd=cwd)
    assert done.returncode == 4, done.stderr
    assert [each["kernel"] for each in found] == [kernel, "right"]
    assert says in found[0]["fault"]
    assert found[1]["correct"] is True
    text = tritonscope("run", f"{WRONG}:{kernel}", "--check", "--timeout", "10", cwd=cwd)
    assert says in text.stdout
    assert kernel in text.stdout


def test_without_a_reference_the_interpreter_judges(cwd):
    done, (found,) = run(f"{WRONG}:no_reference", "--check", cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert found["correct"] is True
    assert found["checked_by"] == "Triton's interpreter"


def test_a_capture_runs_as_it_is(cwd):
    compiled = tritonscope("compile", f"{WRONG}:right", "-s", "y=*fp32:16, x=*fp32:16, n=i32:16", "--json", cwd=cwd)
    capture = json.loads(compiled.stdout)["capture"]
    done, (found,) = run(capture, "--size", "n=1024", cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert found["capture"] == capture
    assert found["correct"] is True
    assert any("at n=1: " in each for each in found["notes"])  # it was compiled for multiples of 16
    done, _ = run(capture, "--size", "n=1001", cwd=cwd)
    assert done.returncode == 2
    assert "not divisible by 16" in done.stderr


def test_a_call_stands_in_for_a_spec(cwd):
    signature = "y=*fp32:16, x=*fp32:16, n=i32:16, BLOCK=64"
    captures = [
        json.loads(tritonscope("compile", f"{WRONG}:{name}", "-s", signature, "--json", cwd=cwd).stdout)["capture"]
        for name in ("no_spec", "one_wrong")
    ]
    call = ("--call", "y=fp32[1024], x=fp32[1024], n=1024", "--grid", "16")
    done, (found,) = run(captures[0], *call, cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert found["correct"] is True
    assert found["checked_by"] == "Triton's interpreter"
    done, (found,) = run(captures[0], *call, "--against", captures[1], cwd=cwd)
    assert done.returncode == 1
    assert "(17,)" in json.dumps(found["checks"])


def test_another_architecture_is_refused_before_the_launch(cwd):
    compiled = tritonscope("compile", f"{WRONG}:right", "-t", "sm_120", "--json", cwd=cwd)
    done, found = run(json.loads(compiled.stdout)["capture"], cwd=cwd)
    assert done.returncode == 5
    assert not found
    assert "sm_120" in done.stderr


def test_timing_alone_is_unchecked(cwd):
    done = tritonscope("run", f"{WRONG}:right", "--time", cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert "unchecked" in done.stdout
