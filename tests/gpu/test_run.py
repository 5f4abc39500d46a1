"""`tritonscope run` on a GPU; skipped without one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tritonscope import bundled_kernels, gpu
from tritonscope.model import Target

BUNDLED = [
    each.name
    for each in bundled_kernels.kernels()
    if not each.name.endswith("/gluon") or gpu.present() == Target.parse("sm_90")  # Hopper's instructions
]
FLAWS = {
    "one_wrong": ("reference", "at (17,)"),
    "unwritten": ("written", "the first at (23,)"),
    "beside": ("bounds", "behind it"),
    "reads_output": ("repeats", "depends on what the output held before"),
    "not_finite": ("finite", "the first at (5,)"),
    "writes_input": ("inputs", "x changed"),
    "race": ("repeats", "possibly a race"),
}
FAULTS = {
    "illegal": "illegal memory access",
    "hangs": "no sign of life for 10 s",
    "too_large": "out of resource",
}

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


@pytest.fixture(scope="module")
def bundled(cwd):
    """Every bundled kernel, checked by one command: starting PyTorch is what takes the time."""
    done, found = run(*BUNDLED, "--check", cwd=cwd)
    assert done.returncode in (0, 1, 4), done.stderr
    return dict(zip(BUNDLED, found, strict=True))


@pytest.mark.parametrize("kernel", BUNDLED)
def test_every_bundled_kernel_is_right(kernel, bundled):
    found = bundled[kernel]
    assert found["correct"] is True, [each for each in found["checks"] if not each["passed"]] or found["fault"]
    assert not found["notes"]


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


@pytest.fixture(scope="module")
def flawed(cwd):
    done, found = run(*(f"{WRONG}:{kernel}" for kernel in FLAWS), "--check", cwd=cwd)
    assert done.returncode == 1, done.stderr
    return {each["kernel"]: each for each in found}


@pytest.mark.parametrize("kernel", FLAWS)
def test_each_flaw_is_found_and_named(kernel, flawed):
    check, says = FLAWS[kernel]
    assert flawed[kernel]["correct"] is False
    failed = {each["name"]: each["detail"] for each in flawed[kernel]["checks"] if not each["passed"]}
    assert says in failed[check]


def test_after_a_fault_the_next_kernel_runs(cwd):
    names = [name for kernel in FAULTS for name in (kernel, "right")]
    done = tritonscope("run", *(f"{WRONG}:{name}" for name in names), "--check", "--timeout", "10", cwd=cwd)
    assert done.returncode == 4, done.stderr
    parts = done.stdout.split("  capture")[1:]
    assert len(parts) == len(names)
    for name, part in zip(names, parts, strict=True):
        if name == "right":
            assert "  correct" in part
        else:
            assert FAULTS[name] in part.partition("FAULT")[2]


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
    done, (found,) = run(captures[0], cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert found["correct"] is True
    assert "made up from the signature" in found["notes"][0]
    done, (found,) = run(captures[0], *call, "--against", captures[1], cwd=cwd)
    assert done.returncode == 1
    assert "(17,)" in json.dumps(found["checks"])


def test_an_edited_capture_is_checked_and_timed_beside_its_parent(cwd):
    """Another dividend of the same kernel is wrong, and about as fast."""
    scale = f"{WRONG.with_name('scale.py')}:scale"
    parent = json.loads(tritonscope("compile", scale, "--json", cwd=cwd).stdout)["capture"]
    ptx = tritonscope("dump", parent, "ptx", cwd=cwd).stdout
    (cwd / "edited.ptx").write_text(ptx.replace("mul.f32", "add.f32"))
    child = json.loads(tritonscope("edit", parent, "ptx", "edited.ptx", "--json", cwd=cwd).stdout)["capture"]
    done, (edited, whole) = run(child, "--beside", parent, cwd=cwd)
    assert done.returncode == 1, done.stderr
    assert (edited["correct"], whole["correct"]) == (False, True)
    assert (edited["capture"], whole["capture"]) == (child, parent)
    assert 0.5 < edited["baselines"][parent]["ratio"] < 2
    assert whole["ms"] is None


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


def test_an_exported_script_runs_and_checks_without_us(cwd):
    """Exported after a run, it runs at that size; and says so when what comes out is wrong."""
    kernel = Path(__file__).resolve().parents[1] / "kernels" / "scale.py"
    _, (result, *_) = run(f"{kernel}:scale", "--size", "n=777", cwd=cwd)
    exported = tritonscope("export", result["capture"], "--script", "-o", "again.py", cwd=cwd)
    assert exported.returncode == 0, exported.stderr
    ran = subprocess.run([sys.executable, "again.py", "--run"], cwd=cwd, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "ran the captured kernel" in ran.stdout
    assert "'n': 777" in ran.stdout
    assert "y: right" in ran.stdout
    wrong = (cwd / "again.py").read_text().replace("return x * FACTOR", "return x * FACTOR + 0.5")
    (cwd / "wrong.py").write_text(wrong)
    ran = subprocess.run([sys.executable, "wrong.py", "--run"], cwd=cwd, capture_output=True, text=True)
    assert ran.returncode == 1, ran.stderr
    assert "y: WRONG" in ran.stdout
