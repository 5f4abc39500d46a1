"""The cache key's components against the key that Triton itself computes."""

import hashlib
import json
import textwrap
from pathlib import Path

import pytest

triton = pytest.importorskip("triton")

from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler.compiler import make_backend  # noqa: E402

from tritonscope.cachekey import recombine  # noqa: E402
from tritonscope.engine.cachekey import components, environment  # noqa: E402
from tritonscope.engine.loader import build, load  # noqa: E402
from tritonscope.model import KernelRef, Request, Target  # noqa: E402

KERNELS = Path(__file__).parents[2] / "kernels"
pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def kernel(tmp_path):
    def make(text):
        path = tmp_path / "case.py"
        path.write_text("import triton\nimport triton.language as tl\n" + textwrap.dedent(text))
        return load(KernelRef("k", str(path), "k"))

    return make


def bundled(file, function):
    return load(KernelRef(function, str(KERNELS / f"{file}.py"), function, bundled=True))


def taken_apart(loaded, target="sm_90", **request):
    built = build(loaded, Request(loaded.ref, Target.parse(target), **request))
    parts = components(built.src, make_backend(built.target), built.options)
    return built, json.loads(json.dumps(parts))


def tritons_own(built):
    return triton.compile(built.src, target=built.target, options=built.options).hash


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize(("file", "function"), [("matmul", "matmul"), ("flash_attention", "attention")])
def test_the_components_make_tritons_own_key(file, function, target):
    built, parts = taken_apart(bundled(file, function), target)
    assert parts["notes"] == []
    assert recombine({**parts, "hash": ""}) == parts["hash"] == tritons_own(built)


def test_functions_globals_tuples_and_constants(kernel):
    loaded = kernel(
        """
        SCALE = tl.constexpr(3)
        TYPE = tl.constexpr(tl.float32)

        @triton.jit
        def again(x, N: tl.constexpr):
            return x if N == 0 else again(x * SCALE, N - 1)

        @triton.jit(noinline=True)
        def twice(x):
            return (2 * x).to(TYPE)

        @triton.jit
        def k(pair, F: tl.constexpr, N: tl.constexpr):
            tl.store(pair[0], F(again(tl.load(pair[0]) + pair[1], N)) + SCALE)
        """
    )
    built, parts = taken_apart(loaded, signature="(*fp32:16, i32, 1), twice, 2")
    assert parts["notes"] == []
    assert recombine(parts) == parts["hash"] == tritons_own(built)
    assert parts["signature"]["pair"] == {"repr": "('*fp32', 'i32', 'constexpr')"}
    assert parts["attributes"]["pair[0]"] == "[['tt.divisibility', 16]]"
    assert parts["constants"]["pair[2]"] == "1"
    by_name = {name.split(".")[-1]: function for name, function in parts["functions"].items()}
    assert set(by_name) == {"k", "again", "twice"}
    assert by_name["again"]["globals"][0][0] == "SCALE"
    assert by_name["k"]["line"] == 15
    assert parts["constants"]["F"] == by_name["twice"]["hash"]


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"constants": {"BLOCK_M": "64"}}, {"constants.BLOCK_M"}),
        ({"options": {"num_warps": "4"}}, {"options.num_warps"}),
        ({"constants": {"M": "i64:16"}}, {"signature.M"}),
        ({"constants": {"M": "i32"}}, {"attributes.M"}),
    ],
)
def test_a_change_shows_in_its_component_alone(change, differs):
    loaded = bundled("matmul", "matmul")
    left, right = taken_apart(loaded)[1], taken_apart(loaded, **change)[1]
    changed = {
        f"{part}.{name}"
        for part in ("signature", "attributes", "constants", "options", "libraries", "environment", "functions")
        for name in left[part].keys() | right[part].keys()
        if left[part].get(name) != right[part].get(name)
    }
    assert changed == differs
    assert left["hash"] != right["hash"] == recombine(right)


def test_an_edited_callee_changes_the_key_through_its_function(kernel):
    text = (
        "@triton.jit\ndef helper(x):\n    return x + {}\n@triton.jit\ndef k(x):\n    tl.store(x, helper(tl.load(x)))\n"
    )
    one = taken_apart(kernel(text.format(1)), signature="*fp32")[1]
    two = taken_apart(kernel(text.format(2)), signature="*fp32")[1]
    assert one["functions"]["case.k"]["source"] == two["functions"]["case.k"]["source"]
    # The new source in the old components gives the new key: nothing else has changed.
    spliced = {**one, "functions": {**one["functions"], "case.helper": two["functions"]["case.helper"]}}
    assert recombine(one) != recombine(spliced) == two["hash"]


def test_an_environment_variable_that_counts_is_a_component(monkeypatch):
    loaded = bundled("matmul", "matmul")
    monkeypatch.setenv("TRITON_DISABLE_LINE_INFO", "1")
    built, parts = taken_apart(loaded)
    assert parts["environment"]["TRITON_DISABLE_LINE_INFO"] in ("1", "true")
    assert recombine(parts) == parts["hash"] == tritons_own(built)


def test_what_cannot_be_taken_apart_stays_whole_and_exact(monkeypatch):
    loaded = bundled("matmul", "matmul")
    monkeypatch.setattr("tritonscope.engine.cachekey._hashed_modules", lambda: iter(["just.one"]))
    monkeypatch.setattr("tritonscope.engine.cachekey._option_candidates", lambda options: iter(()))
    monkeypatch.setattr("tritonscope.engine.cachekey._Functions._references", lambda self, fn: 1 / 0)
    _, parts = taken_apart(loaded)
    assert set(parts["triton"]) == set(parts["options"]) == {"opaque"}
    assert len(parts["notes"]) == 3
    assert recombine(parts) == parts["hash"]


def test_tritons_own_files_are_named():
    _, parts = taken_apart(bundled("matmul", "matmul"))
    files = parts["triton"]["files"]
    assert parts["triton"]["version"] == triton.__version__
    assert {"triton.compiler.compiler", "triton._C.libtriton", "triton.language.core"} <= set(files)
    core = Path(triton.__file__).parent / "language" / "core.py"
    assert files["triton.language.core"] == hashlib.sha256(core.read_bytes()).hexdigest()


def test_the_versions_of_the_tools():
    versions = environment()
    assert versions["triton"] == triton.__version__
    assert versions["ptxas"].split(".")[0].isdigit()
    parts = components(*_source_backend_options())
    assert versions["ptxas"] in parts["backend"]["hash"]


def _source_backend_options():
    loaded = bundled("matmul", "matmul")
    built = build(loaded, Request(loaded.ref, Target.parse("sm_80")))
    return built.src, make_backend(GPUTarget("cuda", 80, 32)), built.options
