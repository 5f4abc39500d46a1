"""`tritonscope trace`: other people's programs, and what it keeps of their kernels."""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compile.conftest import ROOT, artefact
from tritonscope import runs
from tritonscope.calls import Tensor
from tritonscope.model import Target
from tritonscope.store import reader

PATH = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
PROGRAMS = ROOT / "tests" / "programs"

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the program needs PyTorch")


def traced(*arguments: object, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TRITON_CACHE_DIR": str(cwd / "cache"), "PYTHONPATH": PATH}
    return subprocess.run(
        [sys.executable, "-m", "tritonscope", "trace", "-o", "dumps", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        input=stdin,
        env=environment,
    )


def objects(done: subprocess.CompletedProcess[str]) -> list[dict]:
    return [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]


def line_of(script: Path, text: str) -> int:
    return next(number for number, line in enumerate(script.read_text().splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program of all kinds, traced once: (its folder, the finished process, captures by kernel)."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("the program needs PyTorch")
    folder = tmp_path_factory.mktemp("program")
    done = traced("--json", "-t", "sm_90", PROGRAMS / "kernels_of_all_kinds.py", cwd=folder)
    captures: dict[str, list[dict]] = {}
    for each in objects(done):
        captures.setdefault(each["kernel"], []).append(each)
    return folder, done, captures


def test_the_program_runs_to_its_end_with_its_own_output_and_code(program):
    _, done, _ = program
    assert done.returncode == 7, done.stderr
    assert set(json.loads(done.stdout.splitlines()[-1])) == {"scale", "tuned", "in_gluon", "described"}
    assert "broken, as it would be" in done.stderr
    assert done.stdout.count("asked for 16") == 1


def test_each_key_is_one_capture_and_holds_what_the_program_itself_compiled(program):
    """The oracle is the program, whose own compiles nothing touches."""
    _, done, captures = program
    made = json.loads(done.stdout.splitlines()[-1])
    for kernel, keys in made.items():
        assert {each["key"] for each in captures[kernel]} == set(keys), kernel
        for each in captures[kernel]:
            ptx = artefact(reader.open_capture(Path(each["path"])), "ptx")
            assert hashlib.sha256(ptx).hexdigest() == keys[each["key"]], kernel
    whole = reader.open_capture(Path(captures["in_gluon"][0]["path"]))
    assert whole.status == "ok"
    assert any(record.changed for record in whole.passes)


def test_launches_are_counted_by_call_with_grids_and_shapes(program):
    _, _, captures = program
    launches = [launch for each in captures["scale"] for launch in each["launches"]]
    counts = {
        (tuple(each["grid"]), each["arguments"][2]["value"], each["arguments"][3]["value"]): each for each in launches
    }
    assert {call: each["count"] for call, each in counts.items()} == {
        ((4, 1, 1), "1024", "3.0"): 4,  # once in a benchmark
        ((4, 1, 1), "1000", "3.0"): 1,
        ((16, 1, 1), "4096", "2.0"): 2,  # forward, and backward on a thread of autograd's or not
    }
    unaligned = counts[(4, 1, 1), "1000", "3.0"]["arguments"][0]
    assert unaligned == {"name": "x", "tensor": {"dtype": "fp32", "aligned": False, "shape": [1000], "strides": [1]}}
    (descriptor,) = [each["launches"][0]["arguments"][1] for each in captures["described"]]
    assert descriptor["descriptor"]["shape"] == [128, 64]
    assert descriptor["descriptor"]["block"] == [64, 64]


def test_every_configuration_is_captured_and_none_wins_without_a_gpu(program):
    _, _, captures = program
    tunings = [each["tuning"] for each in captures["tuned"]]
    assert sorted(entry["config"]["BLOCK"] for (entry,) in tunings) == [64, 128]
    assert all((entry["ms"], entry["best"]) == (None, None) for (entry,) in tunings)
    # Benchmarks are not the program's: it launched one of the two, once.
    assert sorted(sum(launch["count"] for launch in each["launches"]) for each in captures["tuned"]) == [0, 1]


def test_a_kernel_that_fails_is_captured_and_the_program_sees_its_exception(program):
    _, _, captures = program
    (failed,) = captures["broken"]
    assert failed["status"] == "failed"
    lines = (PROGRAMS / "kernels_of_all_kinds.py").read_text().splitlines()
    assert "tl.arange(0, 2 * N)" in lines[failed["failure"]["line"] - 1]


def test_questions_that_only_a_gpu_can_answer_are_said_once_with_their_line(program):
    _, done, _ = program
    assert done.stderr.count("torch.allclose is taken to hold") == 1
    script = PROGRAMS / "kernels_of_all_kinds.py"
    assert f"{script}:{line_of(script, 'torch.allclose')}: nothing is computed without a GPU" in done.stderr
    assert done.stderr.count("do_bench calls the function once and gives nan") == 1
    assert "bench nan" in done.stderr


def test_show_tells_of_the_launches_and_run_would_repeat_the_most_frequent(program):
    folder, _, captures = program
    path = next(each["path"] for each in captures["scale"] if each["launches"][0]["count"] == 4)
    shown = subprocess.run(
        [sys.executable, "-m", "tritonscope", "show", path], capture_output=True, text=True, cwd=folder, check=True
    )
    assert "launched 4 times on a grid of 4x1x1: x=fp32[1024], y=fp32[1024], n=1024, factor=3.0" in shown.stdout
    asked = runs.Asked(python=sys.executable, target=Target.parse("sm_90"), command=())
    (unit,) = runs.plan_capture(reader.open_capture(Path(path)), asked)
    assert unit.grid == (4, 1, 1)
    assert unit.call is not None
    assert [argument.name for argument in unit.call] == ["x", "y", "n", "factor"]
    assert unit.call[0].value == Tensor("fp32", (1024,), (1,))
    assert "grid 4,1,1" in unit.notes[0]


def test_the_journal_alone_has_the_launches_too(program):
    _, _, captures = program
    folder = Path(captures["scale"][0]["path"])
    whole = reader.open_capture(folder)
    (folder / "capture.json").rename(folder / "aside")
    try:
        assert reader.open_capture(folder).launches == whole.launches
    finally:
        (folder / "aside").rename(folder / "capture.json")


@needs_torch
def test_a_value_from_the_gpu_ends_the_program_and_filters_choose_kernels(tmp_path):
    script = PROGRAMS / "needs_a_value.py"
    done = traced("-t", "gfx942", "--kernel", "^fill", "--limit", "2", script, cwd=tmp_path)
    assert done.returncode == 5, done.stderr
    assert f"{script}:{line_of(script, '(int(')} needs a value that only a GPU would have computed" in done.stderr
    assert "Traceback" not in done.stderr
    assert "2 kernels captured; 2 left out by --kernel or --limit" in done.stderr
    captures, unreadable = reader.list_captures(tmp_path / "dumps")
    assert not unreadable
    assert [(each.kernel, each.target, each.status) for each in captures] == [("fill", "gfx942", "ok")] * 2


@needs_torch
def test_a_program_goes_on_as_long_as_it_does_not_decide_by_what_nobody_computed(tmp_path):
    script = PROGRAMS / "reads_what_is_not_computed.py"
    done = traced("--json", "-t", "sm_90", script, cwd=tmp_path)
    assert done.returncode == 5, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.splitlines() == ["loss nan nan nan", "? % of 64: [?, ?] [nan, nan]"]
    assert f"{script}:{line_of(script, 'if positive')} needs a value that only a GPU would have computed" in done.stderr
    captured = objects(done)
    assert {each["status"] for each in captured} == {"ok"}
    components = [reader.open_capture(Path(each["path"])).components for each in captured]
    steps = [each["constants"]["STEP"] for each in components if "STEP" in each["constants"]]
    assert steps == ["item", "assert", "backward", "profile"]
    # What is passed and not known is compiled for any; the benchmark has two points, with 128 and 256 of them.
    passed = [
        [int(call["arguments"][1]["value"]) for call in each["launches"]]
        for each in captured
        if each["kernel"] == "counted"
    ]
    assert sorted(passed) == [[7], [128, 256]]
    for line in ("x.sum().item()", "(x[:2] > 0)", "counted[(1,)]", "assert (x - x)", "proton.start", "benchmark.run"):
        assert f"{script}:{line_of(script, line)}: " in done.stderr, line
    assert not (tmp_path / "unwritten").exists()


@pytest.mark.parametrize("how", ["", "raise", "exit", "kill", "interrupt"])
def test_a_program_cannot_tell_that_it_is_traced(how, tmp_path):
    (tmp_path / "itself.py").write_text((PROGRAMS / "reports_itself.py").read_text())
    words = ["itself.py", "--option", how]
    plain = subprocess.run([sys.executable, *words], capture_output=True, text=True, input="given", cwd=tmp_path)
    done = traced("-t", "sm_90", *words, cwd=tmp_path, stdin="given")
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    theirs = [line for line in done.stderr.splitlines() if not line.startswith("tritonscope: ")]
    assert theirs == plain.stderr.splitlines()


@needs_torch
def test_threads_and_closed_streams_are_as_good_as_any(tmp_path):
    """What PyTorch pretends is kept for each thread, and the line to the recorder may take a closed stream's place."""
    done = traced("-t", "sm_90", PROGRAMS / "threads_and_closed_streams.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    captured = [reader.open_capture(path) for path in (tmp_path / "dumps" / "twice").iterdir() if path.name[0] != "."]
    assert sorted((each.status, sum(call.count for call in each.launches)) for each in captured) == [("ok", 1)] * 4
    assert "4 kernels captured; `tritonscope open` shows them" in done.stderr


@needs_torch
def test_a_kernel_of_the_program_itself_becomes_a_script(tmp_path):
    """The oracle is Triton in a process of its own, which must come to the captured key."""
    program = tmp_path / "01-twice.py"
    program.write_text((PROGRAMS / "threads_and_closed_streams.py").read_text().partition("\nthreads = ")[0])
    with program.open("a") as file:
        file.write('\n\nif __name__ == "__main__":\n    launch(32)\n')
    done = traced("-t", "sm_90", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    command = [sys.executable, "-m", "tritonscope", "export", "twice", "--dumps", "dumps", "--script", "-o", "again.py"]
    environment = {**os.environ, "PYTHONPATH": PATH}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    again = subprocess.run([sys.executable, "again.py"], cwd=tmp_path, capture_output=True, text=True)
    assert "the key is the captured one" in again.stdout, again.stderr


@needs_torch
def test_a_trace_within_a_trace(tmp_path):
    """Both have the kernel of the block, whole; the outer one alone has what comes after."""
    text = (PROGRAMS / "threads_and_closed_streams.py").read_text().partition("\nthreads = ")[0]
    block = "import tritonscope\nwith tritonscope.trace('inner'):\n    launch(32)\nlaunch(64)\n"
    (tmp_path / "program.py").write_text(text + block)
    done = traced("-t", "sm_90", "program.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    inner, outer = (
        {path.name: reader.open_capture(path).status for path in (tmp_path / dumps / "twice").glob("sm_90-*")}
        for dumps in ("inner", "dumps")
    )
    assert set(outer.values()) == {"ok"}
    assert inner.items() < outer.items()
    assert (len(inner), len(outer)) == (1, 2)


STARTS_OTHERS = """
import multiprocessing, subprocess, sys

if __name__ == "__main__":
    subprocess.run(["true"], check=True)
    subprocess.run([sys.executable, "-c", ""], check=True)
    process = multiprocessing.get_context("spawn").Process(target=print, args=("spawned",))
    process.start()
    process.join()
"""


def test_other_pythons_are_not_traced_which_is_said(tmp_path):
    script = tmp_path / "starts_others.py"
    script.write_text(STARTS_OTHERS)
    done = traced("-t", "sm_90", script, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "spawned\n"), done.stderr
    told = [line for line in done.stderr.splitlines() if "another Python is started here" in line]
    assert [line.partition(": ")[2].partition(": ")[0] for line in told] == [
        f"{script}:{line_of(script, text)}" for text in ("sys.executable, ", "process.start()")
    ]


def test_a_folder_that_cannot_be_written_is_said_before_the_program_runs(tmp_path):
    (tmp_path / "dumps").touch()
    done = traced("-t", "sm_90", PROGRAMS / "reports_itself.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be written (Not a directory); choose another with --dumps" in done.stderr


def test_a_module_is_run_as_python_does(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "itself.py").write_text((PROGRAMS / "reports_itself.py").read_text())
    words = ["-m", "package.itself", "-m", "x"]
    environment = {**os.environ, "PYTHONPATH": ""}
    plain = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, input="", cwd=tmp_path, env=environment
    )
    done = traced("-t", "sm_90", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, plain.stdout)


BLOCK = """
import triton, triton.language as tl
import tritonscope
from tritonscope.engine.compile_only import TargetDriver
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import JITFunction, MockTensor
from triton.compiler.compiler import CompiledKernel
from triton.runtime.autotuner import Autotuner

triton.runtime.driver.set_active(TargetDriver(GPUTarget("cuda", 90, 32)))

@triton.jit
def fill(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), tl.arange(0, N))

def hooked():
    return (triton.compile, JITFunction._do_compile, CompiledKernel._init_handles, Autotuner._bench, Autotuner.run)

before = hooked()
fill.warmup(MockTensor(tl.int32), N=16, grid=(1,))
with tritonscope.trace("dumps") as outcome:
    fill.warmup(MockTensor(tl.int32), N=32, grid=(1,))
fill.warmup(MockTensor(tl.int32), N=64, grid=(1,))
assert hooked() == before
(capture,) = outcome.captures
print(capture.status, capture.components["constants"]["N"])
"""


def test_a_block_of_a_program_is_traced_from_within_and_all_hooks_are_put_back(tmp_path):
    (tmp_path / "block.py").write_text(BLOCK)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "block.py"], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.stdout == "ok 32\n", done.stderr


TUNED = """
import triton, triton.language as tl
import tritonscope
from tritonscope.engine.trace.pretended import install_driver
from triton.runtime.jit import MockTensor

install_driver({"backend": "cuda", "arch": "90", "warp_size": 32}, print)
times = iter([3.0, 1.0])

def bench(call, quantiles):
    call(), call()
    return [next(times)] * 3

@triton.autotune([triton.Config({"N": 16}), triton.Config({"N": 32})], key=["n"], do_bench=bench)
@triton.jit
def fill(x, n, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), tl.arange(0, N))

x = MockTensor(tl.int32)
with tritonscope.trace("dumps") as outcome:
    for n in range(5):
        fill[(7,)](x, 5)
    fill[(8,)](x, 5)
fill[(9,)](x, 5)
for capture in outcome.captures:
    tuned = [(each.ms, each.best) for each in capture.tuning]
    print(capture.components["constants"]["N"], tuned, [(each.grid, each.count) for each in capture.launches])
"""


def test_the_autotuner_s_times_are_kept_the_winner_marked_and_its_launches_left_out(tmp_path):
    (tmp_path / "tuned.py").write_text(TUNED)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "tuned.py"], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.stdout.splitlines() == [
        "16 [(3.0, False)] []",
        "32 [(1.0, True)] [((7, 1, 1), 5), ((8, 1, 1), 1)]",
    ], done.stderr


UNWANTED = """
import torch, triton, triton.language as tl

@triton.autotune([triton.Config({"N": 16 << step}) for step in range(6)], key=[])
@triton.jit
def fill(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), tl.zeros((N,), tl.float32))

fill[(1,)](torch.empty(512, device="cuda"))
print(len(next(iter(fill.fn.device_caches.values()))[0]), fill.best_config.kwargs)
"""


@needs_torch
def test_configurations_that_nobody_wants_are_not_compiled_without_a_gpu(tmp_path):
    (tmp_path / "unwanted.py").write_text(UNWANTED)
    done = traced("-t", "sm_90", "--limit", "1", "unwanted.py", cwd=tmp_path)
    # The second is compiled before it is known that it is one too many; the other four are not.
    assert (done.returncode, done.stdout) == (0, "2 {'N': 16}\n"), done.stderr
    assert "1 kernel captured; 1 left out by --kernel or --limit" in done.stderr


#: For each kernel that the program comes to, its launches as the library's source has them: blocks, how often, and the
#: shape of a tensor among its arguments. A row is a block's; backward passes of norms have a block a multiprocessor, of
#: which an H100 has 132; the fused loss takes as many rows at once as fill no more memory than its input: 2 times 128.
LIGER = {
    "_rms_norm_forward_kernel": [(256, 1, "X_ptr", [256, 512])],
    "_rms_norm_backward_kernel": [(132, 1, "dY_ptr", [256, 512])],
    "_layer_norm_forward_kernel": [(256, 1, "X_ptr", [256, 512])],
    "_layer_norm_backward_kernel": [(132, 1, "X_ptr", [256, 512])],
    "_swiglu_forward_kernel": [(256, 1, "a_ptr", [256, 512])],
    "_swiglu_backward_kernel": [(256, 1, "dc_ptr", [256, 512])],
    "_triton_rope": [(128, 1, "k_ptr", [2, 64, 2, 32])] * 2,
    "liger_cross_entropy_kernel": [(128, 2, "X_ptr", [128, 1024]), (256, 1, "X_ptr", [256, 1024])],
}


@pytest.mark.skipif(importlib.util.find_spec("liger_kernel") is None, reason="liger-kernel is not installed")
def test_a_published_kernel_library_yields_its_kernels(tmp_path):
    done = traced("--json", "-t", "sm_90", PROGRAMS / "uses_liger.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    captured = objects(done)
    assert {each["status"] for each in captured} == {"ok"}
    launches: dict[str, list[tuple]] = {}
    for each in captured:
        for call in each["launches"]:
            shapes = {
                argument["name"]: argument["tensor"]["shape"] for argument in call["arguments"] if "tensor" in argument
            }
            ((_, _, name, _), *_) = LIGER[each["kernel"]]
            assert call["grid"][1:] == [1, 1]
            launches.setdefault(each["kernel"], []).append((call["grid"][0], call["count"], name, shapes[name]))
    assert {kernel: sorted(calls) for kernel, calls in launches.items()} == LIGER
    assert "a kernel is passed an integer that only a GPU would have computed" in done.stderr
