"""The bundled kernel in Gluon: it compiles for sm_90 alone, and as a launch of it with the spec's arguments would."""

import subprocess
import sys

import pytest
import triton

from tritonscope import bundled_kernels
from tritonscope.engine.compile_only import record
from tritonscope.engine.kernelfile import load
from tritonscope.engine.loader import build
from tritonscope.model import KernelRef, Request, Target

pytest.importorskip("torch")
pytest.importorskip("triton.experimental.gluon.language.nvidia.hopper")

from tritonscope.engine.run.call import known_constants, misfit, signature_text
from tritonscope.engine.run.spec import Spec

BUNDLED = bundled_kernels.find("attention/gluon")
REF = KernelRef("attention/gluon", BUNDLED.path, BUNDLED.function)
SM_90 = Target.parse("sm_90")


@pytest.fixture(scope="module")
def loaded():
    return load(REF)


def called(loaded, given):
    """The arguments of a launch at that size, and the options, as `run` finds them."""
    spec = Spec(loaded)
    size = spec.size(given)
    config = spec.configs(size)[0]
    parameters = {param.name for param in loaded.fn.params}
    arguments = spec.arguments(size, known_constants(loaded, SM_90, config, {}, {}), "meta")
    constexprs = {name: value for name, value in config.items() if name in parameters}
    options = {name: value for name, value in config.items() if name not in parameters}
    return {**constexprs, **arguments}, options


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"causal": 1, "head_dim": 64, "tokens": 777, "queries": 300, "heads": 4, "kv_heads": 2},
        {"head_dim": 256, "dtype": "bf16", "tokens": 333},
        {"tokens": 1, "queries": 1, "causal": 1},
    ],
)
def test_the_signature_of_a_size_is_what_a_launch_specializes(loaded, given):
    arguments, options = called(loaded, given)
    text = signature_text(loaded.fn, arguments)
    typed = {name: str(value) for name, value in options.items()}
    ours = build(loaded, Request(REF, SM_90, signature=text, options=typed))
    launched = record(loaded.fn, ours.target, [], {**arguments, **options})
    assert ours.src.signature == launched.src.signature
    assert ours.src.hash() == launched.src.hash()
    components = {
        "parameters": [param.name for param in loaded.fn.params],
        "signature": ours.src.signature,
        "constants": {loaded.fn.params[path[0]].name: str(value) for path, value in ours.src.constants.items()},
        "attributes": {loaded.fn.params[path[0]].name: str(value) for path, value in ours.src.attrs.items()},
    }
    assert misfit(components, arguments) is None


def test_the_file_s_own_signature_compiles(loaded):
    built = build(loaded, Request(REF, SM_90))
    assert "wgmma.mma_async" in triton.compile(built.src, target=built.target, options=built.options).asm["ptx"]


@pytest.mark.parametrize("target", ["sm_80", "sm_100", "gfx942"])
def test_other_targets_are_an_ordinary_failure(target, tmp_path):
    command = [sys.executable, "-m", "tritonscope", "compile", "attention/gluon", "-t", target]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "attention_gluon compiles for sm_90 alone" in done.stderr
