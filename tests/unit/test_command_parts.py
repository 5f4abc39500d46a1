"""The parts that `compile` is made of: comma lists, targets, interpreters, references to kernels."""

import sys
from pathlib import Path

import pytest

from tritonscope import interpreter, kernel_reference, variants
from tritonscope.engine.client import child_environment
from tritonscope.errors import KernelNotFound, TargetError, UsageError
from tritonscope.model import Target


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


@pytest.mark.parametrize("text", ["A", "=1", "A=", " = "])
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
