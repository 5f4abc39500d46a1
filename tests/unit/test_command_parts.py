"""The parts that `compile` is made of: comma lists, targets, interpreters, references to kernels."""

import argparse
import sys
from pathlib import Path

import pytest

from tritonscope import cli, interpreter, kernel_reference, variants
from tritonscope.cli.compile import Job, report
from tritonscope.engine.client import child_environment
from tritonscope.errors import KernelNotFound, TargetError, UsageError
from tritonscope.model import KernelRef, Request, Target


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("4,8", ["4", "8"]),
        ("4", ["4"]),
        ("(1, 2), [3,4]", ["(1, 2)", "[3,4]"]),
        ("'a,b', \"c,d\"", ["'a,b'", '"c,d"']),
        ("tensordesc<fp16[1, 2]>,x", ["tensordesc<fp16[1, 2]>", "x"]),
    ],
)
def test_commas_split_but_within_brackets_and_quotes(text: str, parts: list[str]) -> None:
    assert variants.split(text) == parts


def test_the_product_of_choices() -> None:
    assert variants.product({}) == [{}]
    assert variants.product({"a": ["1", "2"], "b": ["x", "y"]}) == [
        {"a": "1", "b": "x"},
        {"a": "1", "b": "y"},
        {"a": "2", "b": "x"},
        {"a": "2", "b": "y"},
    ]


def test_assignments_add_up() -> None:
    assert variants.assignments("--set", ["A=1,2", "B=x", "A=3"]) == {"A": ["1", "2", "3"], "B": ["x"]}


@pytest.mark.parametrize("text", ["A", "=1", "A=", " = ", "A=1,,2", "A=1,"])
def test_assignments_without_name_or_value(text: str) -> None:
    with pytest.raises(UsageError, match="--set"):
        variants.assignments("--set", [text])


@pytest.mark.parametrize(
    ("text", "target", "name"),
    [
        ("sm_90", Target("cuda", "90", 32), "sm_90"),
        ("sm_90a", Target("cuda", "90", 32), "sm_90"),
        ("cuda:100", Target("cuda", "100", 32), "sm_100"),
        ("cuda:90:32", Target("cuda", "90", 32), "sm_90"),
        ("gfx942", Target("hip", "gfx942", 64), "gfx942"),
        ("gfx90a", Target("hip", "gfx90a", 64), "gfx90a"),
        ("hip:gfx942:64", Target("hip", "gfx942", 64), "gfx942"),
        ("gfx1100", Target("hip", "gfx1100", 32), "gfx1100"),
        ("hip:gfx1201", Target("hip", "gfx1201", 32), "gfx1201"),
    ],
)
def test_targets(text: str, target: Target, name: str) -> None:
    assert Target.parse(text) == target
    assert target.name == name


@pytest.mark.parametrize(
    "text", ["", "sm90", "90", "cuda:", "cuda:9", "hip:90", "gfx", "sm_90:32:1", "sm_90\n", "rocm:gfx942"]
)
def test_texts_that_are_no_target(text: str) -> None:
    with pytest.raises(TargetError, match="sm_90"):
        Target.parse(text)


@pytest.mark.parametrize("text", ["cuda:90:64", "sm_90:0", "hip:gfx942:33", "gfx942:128"])
def test_warps_that_no_such_gpu_has(text: str) -> None:
    with pytest.raises(TargetError, match="warps of"):
        Target.parse(text)
    assert Target.parse("hip:gfx942:32").warp_size == 32


@pytest.mark.parametrize("values", [["x"], [""], ["4", "", "8"], ["1e3"], ["-1"], ["0x4"], ["\u0664"], ["9" * 30]])
def test_numbers_that_are_none(values: list[str]) -> None:
    with pytest.raises(UsageError, match=r"^--num-warps takes numbers"):
        variants.check_numbers("--num-warps", values)
    variants.check_numbers("--num-warps", ["4", "16"])


@pytest.mark.parametrize("text", ["inf", "nan", "1e10", "-1", "0", "x", ""])
def test_times_that_are_none(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["compile", "matmul"], ["replay", "x"], ["key", "matmul"]):
        assert cli.main([*command, f"--timeout={text}"]) == 2
        assert "more than 0 and at most 1000000" in capsys.readouterr().err


def job(**options: str) -> Job:
    request = Request(KernelRef("k", "/k.py", "k"), Target.parse("sm_90"), options=options)
    return Job(request, " ".join(f"{name}={value}" for name, value in options.items()))


def test_what_is_wrong_with_some_variants_says_with_which_and_once(capsys: pytest.CaptureFixture[str]) -> None:
    args = argparse.Namespace(json=True)
    jobs = [job(num_warps=number) for number in "345"]
    wrong = UsageError("must be a power of 2")
    assert report(jobs, [wrong, None, wrong], False, args) == 2
    sentence = "k sm_90 num_warps=3, k sm_90 num_warps=5: must be a power of 2"
    assert capsys.readouterr().err == f"tritonscope: error: {sentence}\n"
    assert report(jobs, [wrong] * 3, False, args) == 2
    assert capsys.readouterr().err == "tritonscope: error: must be a power of 2\n"


def python_in(prefix: Path, *, triton: bool) -> Path:
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "python").write_text("")
    if triton:
        package = prefix / "lib" / "python3.12" / "site-packages" / "triton"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
    return prefix / "bin" / "python"


def test_the_active_environment_compiles_where_it_has_triton(tmp_path: Path) -> None:
    with_triton = python_in(tmp_path / "a", triton=True)
    without = python_in(tmp_path / "b", triton=False)
    assert interpreter.choose(None, {"VIRTUAL_ENV": str(tmp_path / "a")}) == str(with_triton)
    assert interpreter.choose(None, {"VIRTUAL_ENV": str(tmp_path / "b")}) == sys.executable
    assert interpreter.choose(None, {"CONDA_PREFIX": str(tmp_path / "a")}) == str(with_triton)
    assert interpreter.choose(None, {}) == sys.executable
    assert interpreter.choose(str(without), {"VIRTUAL_ENV": str(tmp_path / "a")}) == str(without)
    assert interpreter.choose(str(tmp_path / "b"), {}) == str(without)


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--python"):
        interpreter.choose(str(tmp_path / "nowhere"), {})


def test_kernels_by_name_and_by_file(tmp_path: Path) -> None:
    bundled = kernel_reference.find("matmul")
    assert (bundled.name, bundled.function, bundled.bundled) == ("matmul", "matmul", True)
    file = tmp_path / "k.py"
    file.write_text("@triton.jit\ndef one(x): ...\n\ndef plain(x): ...\n")
    assert kernel_reference.find(f"{file}:one").function == "one"
    assert kernel_reference.find(str(file)).function == "one"
    assert not kernel_reference.find(str(file)).bundled
    file.write_text(
        "@triton.jit\ndef one(x): ...\n\n@triton.autotune(configs=[], key=[])\n@triton.jit\ndef two(x): ...\n"
    )
    with pytest.raises(KernelNotFound, match=r"one.*two"):
        kernel_reference.find(str(file))
    file.write_text("x = 1\n")
    with pytest.raises(KernelNotFound, match="no function under"):
        kernel_reference.find(str(file))


def test_a_child_does_not_inherit_what_steers_compilers() -> None:
    inherited = {"PATH": "/bin", "TRITON_INTERPRET": "1", "MLIR_ENABLE_DUMP": "1", "TRITONSCOPE_NATIVE": "0"}
    environment = child_environment(inherited, {"MLIR_ENABLE_DUMP": "kernel"}, "/cache")
    assert "TRITON_INTERPRET" not in environment
    assert environment["MLIR_ENABLE_DUMP"] == "kernel"
    assert environment["TRITONSCOPE_NATIVE"] == "0"
    assert environment["TRITON_CACHE_DIR"] == "/cache"
    assert environment["PATH"] == "/bin"
