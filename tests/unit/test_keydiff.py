"""Why two keys differ, from components made up for it; and the text of calls."""

import copy
from typing import Any

import pytest

from tritonscope.calls import CallArgument, Tensor, parse_call
from tritonscope.errors import UsageError
from tritonscope.keydiff import compare, source_of, summarise

COMPONENTS: dict[str, Any] = {
    "hash": "0" * 64,
    "triton": {"version": "3.9.0", "files": {"triton.compiler.compiler": "aa"}},
    "kernel": "k.matmul",
    "functions": {
        "k.matmul": {"hash": "1", "line": 3, "source": "def matmul(): ...", "references": [], "globals": [["N", "64"]]},
        "k.tile_of": {"hash": "2", "line": 1, "source": "def tile_of(): ...", "references": [], "globals": []},
    },
    "parameters": ["a", "b", "M", "BLOCK"],
    "signature": {"a": "*fp16", "b": "*fp16", "M": "i32", "BLOCK": "constexpr"},
    "attributes": {"a": "[['tt.divisibility', 16]]", "M": "[['tt.divisibility', 16]]"},
    "constants": {"BLOCK": "128"},
    "backend": {"name": "cuda", "hash": "12.9-90"},
    "options": {"arch": "sm90", "num_warps": "8", "extern_libs": None},
    "libraries": {"libdevice": "9e"},
    "environment": {},
    "stages_hook": "",
    "notes": [],
}


def changed(path: list[str], value: Any) -> dict[str, Any]:
    components = copy.deepcopy(COMPONENTS)
    owner: Any = components
    for name in path[:-1]:
        owner = owner[name]
    owner[path[-1]] = value
    return components


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (["attributes", "M"], "[]", "argument 3 `M` lost divisibility by 16"),
        (["attributes", "b"], "[['tt.divisibility', 16]]", "argument 2 `b` gained divisibility by 16"),
        (["signature", "a"], "*fp32", "argument 1 `a` is *fp32 instead of *fp16"),
        (["constants", "BLOCK"], "64", "constant BLOCK is 64 instead of 128"),
        (["options", "num_warps"], "4", "option num_warps is 4 instead of 8"),
        (["options", "arch"], "sm100", "the target is sm100 instead of sm90"),
        (["functions", "k.tile_of", "source"], "def tile_of(): 1", "the source of `tile_of` changed"),
        (["functions", "k.matmul", "line"], 7, "`matmul` starts on line 7 instead of 3"),
        (["functions", "k.matmul", "globals"], [["N", "32"]], "global N, which `matmul` reads, is 32 instead of 64"),
        (["environment", "DISABLE_LLVM_OPT"], "1", "variable DISABLE_LLVM_OPT is '1' instead of unset"),
        (["triton", "version"], "3.6.0", "Triton is 3.6.0 instead of 3.9.0"),
        (["libraries", "libdevice"], "00", "library libdevice is another file"),
        (["backend", "hash"], "13.0-90", "the backend's tools or target differ"),
    ],
)
def test_one_component_is_named_both_ways(path: list[str], value: Any, says: str) -> None:
    other = changed(path, value)
    (difference,) = compare(COMPONENTS, other)
    assert says in difference.clause
    assert summarise([difference]) == f"Compiled again because {difference.clause}."
    (back,) = compare(other, COMPONENTS)
    assert (back.left, back.right) == (difference.right, difference.left)


def test_the_same_has_no_difference() -> None:
    assert compare(COMPONENTS, copy.deepcopy(COMPONENTS)) == []
    assert "would not compile again" in summarise([])


def test_arguments_come_first_and_a_release_before_its_options() -> None:
    other = changed(["triton", "version"], "3.6.0")
    other["options"] = {**other["options"], "num_warps": "4"}
    other["attributes"] = {**other["attributes"], "M": "[]"}
    differences = compare(COMPONENTS, other)
    assert [d.component for d in differences] == ["attributes.M", "triton.version", "options.num_warps"]
    assert summarise(differences) == (
        "Compiled again because argument 3 `M` lost divisibility by 16, and 2 other components differ."
    )


def test_an_argument_that_became_one_is_told_once() -> None:
    other = changed(["signature", "M"], "constexpr")
    other["constants"]["M"] = "1"
    other["attributes"]["M"] = "[]"
    first, *rest = compare(COMPONENTS, other)
    assert first.clause == "argument 3 `M` is the constant 1 instead of i32"
    assert all("divisibility" not in difference.clause for difference in rest)


def test_a_function_that_is_no_longer_called() -> None:
    other = copy.deepcopy(COMPONENTS)
    del other["functions"]["k.tile_of"]
    (difference,) = compare(COMPONENTS, other)
    assert difference.clause == "function `tile_of` is no longer called"
    assert source_of(COMPONENTS, "k.tile_of") == "def tile_of(): ..."
    assert source_of(other, "k.tile_of") is None


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("x=fp16[4096,4096], M=4096", [("x", Tensor("fp16", (4096, 4096), (4096, 1))), ("M", "4096")]),
        ("fp16[8]@8, 1", [(None, Tensor("fp16", (8,), (1,), False)), (None, "1")]),
        ("x=bf16[2,3;3,1]@32", [("x", Tensor("bf16", (2, 3), (3, 1)))]),
        ("d=tensordesc<fp16[128, 64]>, flag=True", [("d", "tensordesc<fp16[128, 64]>"), ("flag", "True")]),
    ],
)
def test_calls(text: str, arguments: list[tuple[str | None, Tensor | str]]) -> None:
    assert parse_call(text) == tuple(CallArgument(*each) for each in arguments)


@pytest.mark.parametrize("text", ["", "x=", "x=fp16[", "x=1,,y=2", "x=fp16[2,3;1]"])
def test_calls_that_are_not_understood(text: str) -> None:
    with pytest.raises(UsageError, match="--call"):
        parse_call(text)


def test_another_target_is_the_reason_and_what_follows_from_it_is_not() -> None:
    other = changed(["options", "arch"], "gfx942")
    other["backend"] = {"name": "hip", "hash": "x"}
    other["attributes"] = {**other["attributes"], "a": "[['tt.divisibility', 16], ['tt.pointer_range', 32]]"}
    assert summarise(compare(COMPONENTS, other)).startswith(
        "Compiled again because the target is gfx942 instead of sm90, and 3 "
    )
