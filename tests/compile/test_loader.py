"""The loader against Triton: the same source as its ahead-of-time compiler builds, the same attributes as a launch."""

import os
import sys
import textwrap
from pathlib import Path

import pytest

triton = pytest.importorskip("triton")

from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler.compiler import ASTSource, make_backend  # noqa: E402
from triton.runtime.driver import driver  # noqa: E402

from tritonscope.engine.loader import build, describe, load  # noqa: E402
from tritonscope.errors import KernelFileError, KernelNotFound, SignatureError, TargetError, UsageError  # noqa: E402
from tritonscope.model import KernelRef, Request, Target  # noqa: E402

KERNELS = Path(__file__).parents[2] / "kernels"
HEADER = "import triton\nimport triton.language as tl\n"
pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def kernel(tmp_path):
    """Write a file with the kernel `k` and load it."""

    def make(text, name="k", header=HEADER):
        path = tmp_path / f"case_{len(list(tmp_path.iterdir()))}.py"
        path.write_text(header + textwrap.dedent(text))
        return load(KernelRef(name, str(path), name))

    return make


def built(loaded, target="sm_90", **request):
    return build(loaded, Request(loaded.ref, Target.parse(target), **request))


COPY = """
@triton.jit
def k(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)
"""


def ahead_of_time(fn, signature, target, options):
    """Source and options as triton/tools/compile.py makes them from a signature without constants by name."""
    pieces = [piece.strip() for piece in signature.split(",")]
    constants = {name: int(p) for name, p in zip(fn.arg_names, pieces, strict=True) if p.lstrip("-").isdigit()}
    constants |= {name: 1 for name, p in zip(fn.arg_names, pieces, strict=True) if p.endswith(":1")}
    types = {
        name: "constexpr" if name in constants else p.split(":")[0]
        for name, p in zip(fn.arg_names, pieces, strict=True)
    }
    attrs = {(i,): [["tt.divisibility", 16]] for i, p in enumerate(pieces) if p.endswith(":16")}
    src = ASTSource(fn=fn, constexprs=constants, signature=types, attrs=attrs)
    return src, make_backend(target).parse_options(options).__dict__


def test_it_is_what_the_ahead_of_time_compiler_compiles(kernel):
    signature = "*fp16:16, *fp32:16, i64:16, 128"
    loaded = kernel(COPY)
    ours = built(loaded, signature=signature, options={"num_warps": "2"})
    theirs, options = ahead_of_time(loaded.fn, signature, ours.target, {"num_warps": 2})
    assert (ours.src.signature, ours.src.constants) == (theirs.signature, theirs.constants)
    assert {path: attr for path, attr in ours.src.attrs.items() if attr} == theirs.attrs
    assert ours.options == options
    first, second = (triton.compile(src, target=ours.target, options=ours.options).asm for src in (ours.src, theirs))
    assert {stage: str(first[stage]) for stage in ("ttir", "ttgir", "llir", "ptx")} == {
        stage: str(second[stage]) for stage in ("ttir", "ttgir", "llir", "ptx")
    }


@pytest.mark.parametrize(
    ("argument", "type_", "attributes"),
    [
        ("i32:16", "i32", [["tt.divisibility", 16]]),
        ("i32", "i32", []),
        ("i8:16", "i8", [["tt.divisibility", 16]]),
        ("u16", "u16", []),
        ("u32:16", "u32", [["tt.divisibility", 16]]),
        ("i64:16", "i64", [["tt.divisibility", 16]]),
        ("u64", "u64", []),
        ("i1", "i1", None),
        ("fp64", "fp64", None),
        ("bf16", "bf16", None),
        ("*kfp8e5:16", "*kfp8e5", [["tt.divisibility", 16]]),
        ("**fp16", "**fp16", []),
    ],
)
def test_types_are_the_written_ones_and_attributes_those_of_a_launch(kernel, argument, type_, attributes):
    loaded = kernel("@triton.jit\ndef k(x):\n    pass\n")
    src = built(loaded, signature=argument).src
    assert src.signature == {"x": type_}
    # An argument that Triton does not specialize has no entry at all, an unaligned one an empty entry: both are hashed.
    assert src.attrs == ({} if attributes is None else {(0,): attributes})
    assert src.constants == {}


@pytest.mark.parametrize("argument", ["i32:1", "1", "i64:1"])
def test_one_is_the_constant_that_a_launch_makes_of_it(kernel, argument):
    src = built(kernel("@triton.jit\ndef k(x):\n    pass\n"), signature=argument).src
    assert (src.signature, src.constants) == ({"x": "constexpr"}, {(0,): 1})


def test_do_not_specialize_keeps_divisibility_out_as_in_a_launch(kernel):
    text = "@triton.jit(do_not_specialize=['n'], do_not_specialize_on_alignment=['m'])\ndef k(n, m):\n    pass\n"
    src = built(kernel(text), signature="i32:16, i32:16").src
    assert src.signature == {"n": "i32", "m": "i32"}
    assert not any(src.attrs.values())


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100", "gfx942", "gfx1100"])
@pytest.mark.parametrize(("file", "function"), [("matmul", "matmul"), ("flash_attention", "attention")])
def test_a_bundled_kernel_builds_from_its_spec_and_again_from_the_line_that_is_reported(file, function, target):
    loaded = load(KernelRef(function, str(KERNELS / f"{file}.py"), function, bundled=True))
    first = built(loaded, target)
    again = built(loaded, target, signature=first.signature)
    assert first.options["num_warps"] == loaded.spec["options"]["num_warps"]
    assert (again.src.hash(), again.options, again.signature) == (first.src.hash(), first.options, first.signature)
    assert first.target == GPUTarget(
        *(("hip", target, 64 if "gfx9" in target else 32) if "gfx" in target else ("cuda", int(target[3:]), 32))
    )


def test_set_overrides_the_signature_and_options_override_the_spec():
    loaded = load(KernelRef("matmul", str(KERNELS / "matmul.py"), "matmul"))
    ours = built(loaded, constants={"BLOCK_M": "64", "M": "i64"}, options={"num_warps": "4"})
    assert ours.src.constants[(6,)] == 64
    assert ours.src.signature["M"] == "i64"
    assert (ours.options["num_warps"], ours.options["num_stages"]) == (4, 3)


TUNED = """
@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 32}, num_warps=1, pre_hook=lambda args: 1 / 0),
        triton.Config({"BLOCK": 64}, num_warps=2, num_stages=5),
    ],
    key=["n"],
)
@triton.heuristics({
    "EVEN": lambda args: args["BLOCK"] % 2 == 0,
    "TWICE": lambda args: 2 * args["BLOCK"] if args["EVEN"] else 0,
    "FITS": lambda args: args["n"] % args["BLOCK"] == 0,
})
@triton.jit
def k(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, TWICE: tl.constexpr, FITS: tl.constexpr = False):
    pass
"""


def test_autotune_and_heuristics_are_looked_through(kernel):
    loaded = kernel(TUNED)
    described = describe(loaded)
    assert [line.split(",")[0] for line in described["configs"]] == ["BLOCK=32", "BLOCK=64"]
    assert described["heuristics"] == ["EVEN", "TWICE", "FITS"]

    first = built(loaded, signature="*fp32:16, i32:16")
    assert [first.src.constants[(i,)] for i in (2, 3, 4, 5)] == [32, True, 64, False]
    assert first.options["num_warps"] == 1
    assert [note.split(" needs")[0] for note in first.notes] == ["The heuristic for FITS"]
    second = built(loaded, signature="*fp32:16, i32:16", config=1, options={"num_stages": "4"})
    assert [second.src.constants[(i,)] for i in (2, 3, 4)] == [64, True, 128]
    assert (second.options["num_warps"], second.options["num_stages"]) == (2, 4)
    constant = built(loaded, signature="*fp32:16, 96, TWICE=7", config=1)
    assert [constant.src.constants[(i,)] for i in (1, 4, 5)] == [96, 7, False]


def test_an_option_that_the_target_lacks_is_left_out_of_a_configuration_and_said(kernel):
    text = "@triton.autotune([triton.Config({}, maxnreg=64)], key=[])\n@triton.jit\ndef k(x):\n    pass\n"
    assert built(kernel(text), "sm_90", signature="*fp32").options["maxnreg"] == 64
    ours = built(kernel(text), "gfx942", signature="*fp32")
    assert "maxnreg" not in ours.options
    assert ours.notes[0].startswith("maxnreg=64 of the autotune configuration")


def test_a_configuration_that_is_not_there(kernel):
    with pytest.raises(UsageError, match="has 2, numbered from 0"):
        built(kernel(TUNED), config=2)


def test_a_parameter_that_is_also_an_option_reaches_both(kernel):
    text = """
    @triton.autotune([triton.Config({}, num_warps=2)], key=[])
    @triton.jit
    def k(x, num_warps: tl.constexpr):
        pass
    """
    tuned = built(kernel(text), signature="*fp32")
    assert (tuned.src.constants[(1,)], tuned.options["num_warps"]) == (2, 2)
    written = built(kernel(text), signature="*fp32, 8")
    assert (written.src.constants[(1,)], written.options["num_warps"]) == (8, 8)


def test_tuples_are_specialized_item_by_item(kernel):
    loaded = kernel("@triton.jit\ndef k(pair, SHAPE: tl.constexpr):\n    pass\n")
    ours = built(loaded, signature="(*fp16:16, (i32, 1, fp64)), (128, 64)")
    assert ours.src.signature == {"pair": ("*fp16", ("i32", "constexpr", "fp64")), "SHAPE": "constexpr"}
    assert ours.src.constants == {(0, 1, 1): 1, (1,): (128, 64)}
    assert ours.src.attrs[(0, 0)] == [["tt.divisibility", 16]]
    assert ours.src.attrs[(0, 1, 0)] == []
    assert built(loaded, signature=ours.signature).src.hash() == ours.src.hash()


@pytest.mark.skipif(tuple(map(int, triton.__version__.split(".")[:2])) < (3, 9), reason="*args came with Triton 3.9")
def test_variadic_and_keyword_only_parameters(kernel):
    loaded = kernel("@triton.jit\ndef k(x, *rest, BLOCK: tl.constexpr):\n    pass\n")
    src = built(loaded, signature="x=*fp32, rest=(i32:16, *fp16), BLOCK=4").src
    assert src.signature == {"x": "*fp32", "rest": ("i32", "*fp16"), "BLOCK": "constexpr"}
    assert src.constants == {(2,): 4}


def test_annotations_and_defaults_are_inferred(kernel):
    text = """
    @triton.jit
    def k(n: tl.int64, flag: tl.int1, scale=0.5, size=32, one=1, odd=7, none=None, DT: tl.constexpr = tl.float16):
        pass
    """
    src = built(kernel(text)).src
    assert src.signature == {
        "n": "i64", "flag": "u1", "scale": "fp32", "size": "i32", "one": "constexpr", "odd": "i32",
        "none": "constexpr", "DT": "constexpr",
    }  # fmt: skip
    assert src.attrs[(3,)] == [["tt.divisibility", 16]]
    assert src.attrs[(5,)] == []
    assert src.constants[(7,)] == triton.language.float16


def test_dtypes_functions_and_strings_as_constants(kernel):
    text = """
    @triton.jit
    def relu(x):
        return tl.maximum(x, 0)

    @triton.jit
    def k(x, DT: tl.constexpr, ACTIVATION: tl.constexpr, MODE: tl.constexpr):
        tl.store(x, ACTIVATION(tl.load(x)).to(DT))
    """
    loaded = kernel(text)
    ours = built(loaded, signature="*fp32, fp16, relu, 'fast'")
    assert ours.src.constants[(1,)] == triton.language.float16
    assert ours.src.constants[(2,)] is loaded.module.relu
    assert ours.src.constants[(3,)] == "fast"
    assert built(loaded, signature="*fp32, tl.float16, relu, 'fast'").src.hash() == ours.src.hash()
    with pytest.raises(SignatureError, match="gelu"):
        built(loaded, signature="*fp32, fp16, gelu, 'fast'")
    for text in ("open('/dev/null')", "tl.zeros((4,), tl.float16)", "triton.runtime.cache.FileCacheManager('x')"):
        with pytest.raises(SignatureError, match=r"more than a name|neither a type nor a name"):
            built(loaded, signature=f"*fp32, fp16, {text}, 'fast'")


def test_tensor_descriptors_compile(kernel):
    text = """
    @triton.jit
    def k(a, b):
        b.store([0, 0], a.load([0, 0]))
    """
    loaded = kernel(text)
    ours = built(loaded, signature="tensordesc<fp16[128, 64]>, tensordesc<fp16[128, 64]>")
    assert ours.src.signature == dict.fromkeys("ab", "tensordesc<fp16[128, 64]>")
    assert "cp.async.bulk.tensor" in triton.compile(ours.src, target=ours.target, options=ours.options).asm["ptx"]
    with pytest.raises(SignatureError, match="power of 2"):
        built(loaded, signature="tensordesc<fp16[100, 64]>, tensordesc<fp16[128, 64]>")


def test_gluon_kernels_compile_with_a_layout_by_name_or_by_call(kernel):
    header = "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n"
    text = """
    LAYOUT = gl.BlockedLayout([1], [32], [4], [0])

    @gluon.jit
    def k(x, layout: gl.constexpr):
        offsets = gl.arange(0, 128, layout)
        gl.store(x + offsets, gl.load(x + offsets) * 2)
    """
    loaded = kernel(text, header=header)
    named = built(loaded, signature="*fp32:16, LAYOUT")
    called = built(loaded, signature="*fp32:16, gl.BlockedLayout([1], [32], [4], [0])")
    assert type(named.src).__name__ == "GluonASTSource"
    assert named.src.hash() == called.src.hash()
    assert "ld.global" in triton.compile(named.src, target=named.target, options=named.options).asm["ptx"]


def test_what_is_unknown_is_asked_for_with_a_line_to_edit(kernel):
    text = """
    @triton.jit
    def k(x, out, n, whatever, eps=1e-5, BLOCK: tl.constexpr = 64, MODE: tl.constexpr = None, W: tl.constexpr = 2):
        at = x + tl.arange(0, BLOCK)
        tl.store(out + tl.arange(0, BLOCK), tl.load(at, mask=tl.arange(0, BLOCK) < n))
    """
    loaded = kernel(text)
    with pytest.raises(SignatureError) as caught:
        built(loaded, constants={"W": "4"})
    sentence, line = str(caught.value).split("\n")
    assert "x, out, n, whatever" in sentence
    assert line.strip() == (
        '--signature "x=*fp16:16, out=*fp16:16, n=i32, whatever=?, eps=fp32, BLOCK=64, MODE=None, W=4"'
    )
    edited = line.strip().removeprefix('--signature "').rstrip('"').replace("?", "fp32")
    assert built(loaded, signature=edited).src.constants[(7,)] == 4


@pytest.mark.parametrize(
    ("request_", "error", "match"),
    [
        ({"signature": "*fp32, *fp32, i32, 4, 5"}, SignatureError, "5 arguments for 4 parameters: x, y, n, BLOCK"),
        ({"signature": "z=i32"}, SignatureError, "its parameters are x, y, n, BLOCK"),
        ({"signature": "*fp32, x=i32"}, SignatureError, "twice"),
        ({"constants": {"BLOK": "4"}}, SignatureError, "its parameters are"),
        ({"constants": {"num_warps": "4"}}, SignatureError, "--option num_warps"),
        ({"signature": "*fp32, *fp32, i32, *fp16"}, SignatureError, "BLOCK is a constexpr"),
        ({"options": {"num_warp": "4"}}, UsageError, "did you mean num_warps"),
        ({"signature": "*fp32, *fp32, i32, 4", "options": {"num_warps": "3"}}, UsageError, "power of 2"),
        ({"signature": "*fp32, *fp32, i33, 4"}, SignatureError, "i33"),
    ],
)
def test_wrong_requests(kernel, request_, error, match):
    with pytest.raises(error, match=match):
        built(kernel(COPY), **request_)


@pytest.mark.parametrize(("target", "match"), [("sm_60", "oldest"), ("gfx803", "gfx9")])
def test_targets_that_triton_does_not_take(kernel, target, match):
    with pytest.raises(TargetError, match=match):
        built(kernel(COPY), target, signature="*fp32, *fp32, i32, 4")


def test_nothing_of_tritons_is_left_changed(kernel):
    loaded = kernel(COPY)
    before = (dict(vars(driver)), triton.compiler.compile, dict(vars(loaded.fn)), list(sys.meta_path))
    built(loaded, signature="*fp32, *fp32, i32, 4")
    built(loaded, "gfx942", signature="*fp32, *fp32, i32, 4")
    after = (dict(vars(driver)), triton.compiler.compile, dict(vars(loaded.fn)), list(sys.meta_path))
    # The kernel's own hash is computed and kept by Triton; everything else is as it was.
    for state in (before[2], after[2]):
        for name in ("hash", "used_global_vals"):
            state.pop(name)
    assert before == after


def test_the_files_folder_is_importable_and_no_bytecode_is_left(tmp_path):
    (tmp_path / "sizes_of_mine.py").write_text("BLOCK = 32\n")
    path = tmp_path / "importer.py"
    path.write_text(HEADER + "from sizes_of_mine import BLOCK\n@triton.jit\ndef k(x=BLOCK):\n    pass\n")
    assert built(load(KernelRef("k", str(path), "k"))).src.attrs == {(0,): [["tt.divisibility", 16]]}
    assert not list(tmp_path.glob("__pycache__/importer*"))


def test_a_file_in_a_package_may_import_relatively(tmp_path):
    package = tmp_path / "package_of_mine"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "sizes.py").write_text("BLOCK = 32\n")
    (package / "kernels.py").write_text(HEADER + "from .sizes import BLOCK\n@triton.jit\ndef k(x=BLOCK):\n    pass\n")
    assert load(KernelRef("k", str(package / "kernels.py"), "k")).module.__name__ == "package_of_mine.kernels"


def test_an_edited_file_is_read_again(tmp_path):
    path = tmp_path / "edited.py"
    sources = []
    for size in (16, 32):
        path.write_text(HEADER + f"@triton.jit\ndef k(x={size}):\n    pass\n")
        os.utime(path, (1, 1))
        sources.append(load(KernelRef("k", str(path), "k")).fn.src)
    assert "32" in sources[1]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("import os\nimport a_module_that_is_not_there\n", r"line 2: import a_module.*--python PATH"),
        (
            "def helper():\n    return 1 / 0\n\nhelper()\n",
            r"line 2: return 1 / 0\): ZeroDivisionError: division by zero",
        ),
        ("x = 1\ndef broken(:\n", r"not valid Python, line 2"),
        ("raise SystemExit(3)\n", r"ended the program.*line 1"),
        ("raise KeyboardInterrupt\n", r"interrupted.*line 1"),
        ("import json\njson.loads('{')\n", r"line 2: json.loads"),
    ],
)
def test_a_file_that_fails_names_its_own_line(tmp_path, text, match):
    path = tmp_path / "failing.py"
    path.write_text(text)
    with pytest.raises(KernelFileError, match=match):
        load(KernelRef("k", str(path), "k"))


def test_a_kernel_or_file_that_is_not_there(tmp_path):
    with pytest.raises(KernelNotFound, match="no kernel file"):
        load(KernelRef("k", str(tmp_path / "nowhere.py"), "k"))
    path = tmp_path / "some.py"
    path.write_text(
        HEADER + "@triton.jit\ndef one(x):\n    pass\n\n@triton.jit\ndef two(x):\n    pass\n\ndef plain():\n    pass\n"
    )
    with pytest.raises(KernelNotFound, match=r"no function 'three'; its kernels are one, two\."):
        load(KernelRef("three", str(path), "three"))
    with pytest.raises(KernelNotFound, match=r"'plain' in some\.py is no Triton kernel"):
        load(KernelRef("plain", str(path), "plain"))
