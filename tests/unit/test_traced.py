"""What a traced program did with a kernel: read from files of unknown origin, and written as a call."""

import pytest

from tritonscope.calls import CallArgument, Descriptor, Items, Tensor, argument_text, parse_call, recorded_argument
from tritonscope.cli.show import tuning_texts
from tritonscope.errors import CaptureUnreadable
from tritonscope.model import Tuning, to_json
from tritonscope.store.decode import decode_launch, decode_tuning

TENSOR = {"dtype": "fp16", "shape": [4, 8], "strides": [8, 1], "aligned": True}
LAUNCH = {
    "grid": [4, 1, 1],
    "count": 3,
    "arguments": [
        {"name": "x", "tensor": TENSOR},
        {"name": "d", "descriptor": {**TENSOR, "block": [4, 8], "layout": None}},
        {"name": "t", "items": [{"value": "1"}, {"tensor": TENSOR}]},
        {"name": "n", "value": "32"},
    ],
}


def test_a_launch_is_read_as_it_was_written():
    assert to_json(decode_launch(LAUNCH, "here")) == LAUNCH
    tuning = {"config": {"BLOCK": 64, "num_warps": 4}, "ms": 0.5, "best": True}
    assert to_json(decode_tuning(tuning, "here")) == tuning


@pytest.mark.parametrize(
    "damage",
    [
        {"grid": [1, 2, 3, 4]},
        {"grid": ["1"]},
        {"grid": [True]},
        {"count": "3"},
        {"arguments": [{"name": 1, "value": "1"}]},
        {"arguments": [{"name": "x", "value": 1}]},
        {"arguments": [{"name": "x", "tensor": {**TENSOR, "strides": [1]}}]},
        {"arguments": [{"name": "x", "tensor": {**TENSOR, "shape": [4, 0.5]}}]},
        {"arguments": [{"name": "x", "tensor": {**TENSOR, "aligned": 1}}]},
        {"arguments": [{"name": "x", "items": {"value": "1"}}]},
        {"arguments": ["x"]},
    ],
)
def test_a_damaged_launch_is_refused_in_a_sentence(damage):
    with pytest.raises(CaptureUnreadable, match="here"):
        decode_launch({**LAUNCH, **damage}, "here")


def test_recorded_arguments_are_what_a_call_can_be_made_of():
    tensor = Tensor("fp16", (4, 8), (8, 1))
    assert [recorded_argument(each) for each in LAUNCH["arguments"]] == [
        CallArgument("x", tensor),
        CallArgument("d", Descriptor(tensor, (4, 8))),
        CallArgument("t", Items(("1", tensor))),
        CallArgument("n", "32"),
    ]


@pytest.mark.parametrize("text", ["x=fp16[4,8]", "x=fp16[4,8;1,4]", "n=32", "y=i32[7]@1", "f=1.5"])
def test_an_argument_is_shown_as_it_is_written_in_a_call(text):
    (argument,) = parse_call(text)
    assert argument_text(argument) == text


def test_a_configuration_that_was_tried_for_many_sizes_is_one_line():
    tried = [
        Tuning({"N": 16, "maxnreg": None}, 0.5, True),
        Tuning({"N": 32}, None, None),
        Tuning({"N": 64}, 2.0, False),
        *(Tuning({"N": 128}, ms, ms < 2) for ms in (3.0, 1.0, 1.5)),
        *(Tuning({"N": 256}, None, None) for _ in range(31)),
    ]
    assert tuning_texts(tried) == [
        "N=16: 0.5 ms, the best",
        "N=32: not timed",
        "N=64: 2 ms",
        "N=128: tried 3 times, 1 to 3 ms, the best 2 times",
        "N=256: tried 31 times, not timed",
    ]
