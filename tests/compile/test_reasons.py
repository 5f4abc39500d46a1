"""Why code is slow, for kernels that are slow for one reason each, as this Triton compiles them."""

import sys
from pathlib import Path

import pytest

from tests.compile.conftest import ROOT
from tritonscope import api, kernel_stats
from tritonscope.model import KernelRef, Request, Target

SLOW = ROOT / "tests" / "kernels" / "slow.py"


def reasons(function: str, signature: str, dumps: Path, **options: str) -> list[tuple[str, str]]:
    kernel = KernelRef(function, str(SLOW), function)
    request = Request(kernel, Target.parse("sm_90"), signature=signature, options=options)
    capture = api.capture(request, dumps, python=sys.executable, command=["test"], timeout=300)
    return [(reason.kind, reason.text) for reason in kernel_stats.stats_of(capture).reasons]


@pytest.mark.parametrize(
    ("function", "signature", "kind", "said"),
    [
        ("copy", "x=*fp16:16, y=*fp16:16, n=i32, BLOCK=1024", "narrow", "n in its mask is not known"),
        (
            "multiply",
            'a=*fp32:16, b=*fp32:16, c=*fp32:16, M=64, N=64, K=32, PRECISION="ieee"',
            "no_tensor_core",
            "its precision is ieee",
        ),
        ("transpose_in_loop", "x=*fp16:16, y=*fp16:16, n=i32, BLOCK=64", "conversion", "shared store"),
    ],
)
def test_the_reason_is_told(function: str, signature: str, kind: str, said: str, tmp_path: Path):
    found = reasons(function, signature, tmp_path)
    assert {each for each, _ in found} == {kind}
    assert said in found[0][1]


def test_what_is_as_fast_as_it_gets_has_none(tmp_path: Path):
    assert reasons("copy", "x=*fp16:16, y=*fp16:16, n=i32:16, BLOCK=1024", tmp_path) == []


def test_the_line_that_spills_is_told(tmp_path: Path):
    signature = 'a=*fp32:16, b=*fp32:16, c=*fp32:16, M=64, N=64, K=32, PRECISION="ieee"'
    kind, said = reasons("multiply", signature, tmp_path, maxnreg="32")[0]
    assert kind == "local_memory"
    assert "registers are spilled here" in said
