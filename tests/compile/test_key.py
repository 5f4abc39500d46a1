"""`tritonscope key`: what separates compilations that really were made, and calls that a launch would specialize."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = """\
import triton
import triton.language as tl

FACTOR: tl.constexpr = tl.constexpr(2)


@triton.jit
def helper(x):
    return x * FACTOR


@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x + offsets, helper(tl.load(x + offsets, mask=offsets < n)), mask=offsets < n)
"""


def tritonscope(*arguments: object, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tritonscope", *map(str, arguments)], cwd=cwd, capture_output=True, text=True
    )


def compiled(cwd: Path, *more: str, text: str = KERNEL, signature: str = "x=*fp32:16, n=i32:16, BLOCK=64") -> str:
    (cwd / "k.py").write_text(text)
    done = tritonscope("compile", "k.py:kernel", "-t", "sm_90", "-s", signature, "--json", *more, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["path"])


@pytest.fixture(scope="module")
def cwd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("key")


@pytest.fixture(scope="module")
def base(cwd: Path) -> str:
    return compiled(cwd)


def test_one_capture_shows_all_and_recombines(cwd, base):
    done = tritonscope("key", base, "--json", cwd=cwd)
    found = json.loads(done.stdout)
    assert found["recombined"] is True
    assert found["hash"] == found["components"]["hash"]
    shown = tritonscope("key", base, cwd=cwd).stdout
    for part in (
        found["hash"],
        "give Triton's own hash",
        "n: i32, divisible by 16",
        "num_warps=4",
        "k.helper",
        "FACTOR",
    ):
        assert part in shown


@pytest.mark.parametrize(
    ("more", "changes", "says"),
    [
        ([], {"signature": "x=*fp32:16, n=i32, BLOCK=64"}, "argument 2 `n` lost divisibility by 16"),
        ([], {"signature": "x=*fp16:16, n=i32:16, BLOCK=64"}, "argument 1 `x` is *fp16 instead of *fp32"),
        ([], {"signature": "x=*fp32:16, n=i32:16, BLOCK=128"}, "constant BLOCK is 128 instead of 64"),
        (["--num-warps", "8"], {}, "option num_warps is 8 instead of 4"),
        ([], {"text": KERNEL.replace("x * FACTOR", "x + FACTOR")}, "the source of `helper` changed"),
        ([], {"text": KERNEL.replace("constexpr(2)", "constexpr(3)")}, "global FACTOR"),
        ([], {"text": "\n" + KERNEL}, "starts on line"),
        (["--env", "DISABLE_LLVM_OPT=1"], {}, "variable DISABLE_LLVM_OPT is"),
        (["-t", "sm_80"], {}, "the target is sm80 instead of sm90"),
    ],
)
def test_two_captures_say_why(more, changes, says, cwd, base):
    if more[:1] == ["-t"]:
        (cwd / "k.py").write_text(KERNEL)
        done = tritonscope(
            *("compile", "k.py:kernel", "-s", "x=*fp32:16, n=i32:16, BLOCK=64", "--json", *more), cwd=cwd
        )
        other = json.loads(done.stdout)["path"]
    else:
        other = compiled(cwd, *more, **changes)
    done = tritonscope("key", base, other, "--json", "--exit-code", cwd=cwd)
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert found["same"] is False
    assert found["summary"].startswith("Compiled again because ")
    assert says in found["summary"]
    text = tritonscope("key", base, other, cwd=cwd).stdout
    assert text.splitlines()[0] == found["summary"]
    if "helper" in says:
        assert "    -    return x * FACTOR" in text.splitlines()
        assert "    +    return x + FACTOR" in text.splitlines()


def test_the_same_key(cwd, base):
    done = tritonscope("key", base, base, "--exit-code", cwd=cwd)
    assert done.returncode == 0
    assert "would not compile again" in done.stdout


def test_calls_share_kernels_as_launches_do(cwd):
    """The oracle is Triton's own specialization of the very numbers, through the cache of a kernel."""
    (cwd / "k.py").write_text(KERNEL)
    numbers = [4096, 4095, 8192, 1, 2**40, 17, 16]
    done = tritonscope(
        *("key", "k.py:kernel", "-t", "sm_90", "--json"),
        *(word for n in numbers for word in ("--call", f"x=fp32[1024], n={n}, BLOCK=64")),
        cwd=cwd,
    )
    assert done.returncode == 0, done.stderr
    groups = json.loads(done.stdout)["groups"]
    script = f"""
from triton.runtime.jit import native_specialize_impl
from triton.backends.compiler import BaseBackend
from triton.backends.nvidia.compiler import CUDABackend
print([native_specialize_impl(CUDABackend, n, False, True, True) for n in {numbers}])
"""
    try:
        asked = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True
        )
    except subprocess.CalledProcessError:
        pytest.skip("this Triton specializes elsewhere")
    kinds = eval(asked.stdout)
    expected: dict[object, list[int]] = {}
    for number, kind in enumerate(kinds):
        expected.setdefault(kind, []).append(number)
    assert groups == list(expected.values())


def test_calls_that_do_not_fit(cwd):
    (cwd / "k.py").write_text(KERNEL)
    for call, says in (
        ("nothing=1", "no parameter nothing"),
        ("1, 2, 3, 4", "4 arguments"),
        ("x=fp32[", "--call"),
        ("x=fp33[4]", "fp33 is no element type"),
        ("x=fp32[4], n=1", "call 1 does not say what to pass for BLOCK"),
        ("x=fp32[4], n=99999999999999999999999, BLOCK=64", "n=99999999999999999999999 does not fit"),
    ):
        done = tritonscope("key", "k.py:kernel", "-t", "sm_90", "--call", call, cwd=cwd)
        assert done.returncode == 2, call
        assert says in done.stderr
        assert "Traceback" not in done.stderr
        assert "--signature" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--call", "n=1", "--option", "num_warps=4,8"],
        ["--call", "n=1", "--option", "num_warps=4", "--option", "num_warps=8"],
        ["--call", "n=1", "-t", "sm_90", "-t", "sm_80"],
        ["--option", "num_warps=4"],
        ["--target", "sm_90"],
        ["--python", "python3"],
    ],
)
def test_flags_that_a_key_does_not_take(arguments, cwd):
    (cwd / "k.py").write_text(KERNEL)
    done = tritonscope("key", "k.py:kernel", *arguments, cwd=cwd)
    assert done.returncode == 2
    assert "--call" in done.stderr


def test_a_kernel_file_that_hangs_is_given_up(cwd):
    (cwd / "hangs.py").write_text("import time\ntime.sleep(100)\n")
    done = tritonscope("key", "hangs.py:k", "-t", "sm_90", "--call", "1", "--timeout", "1", cwd=cwd)
    assert done.returncode == 4
    assert "did not end within 1 s" in done.stderr
