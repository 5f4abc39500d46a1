"""The signature's text: what it means, that it round-trips, and what its errors point at."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonscope.errors import SignatureError
from tritonscope.signature import (
    Constant,
    Descriptor,
    Expression,
    Pointer,
    Scalar,
    Signature,
    TupleOf,
    Unknown,
    format_signature,
    parse_signature,
    parse_value,
)

ELEMENTS = ["fp16", "bf16", "fp32", "fp64", "fp8e5", "fp8e4nv", "i1", "i8", "u16", "i32", "u64"]
INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
NAMES = st.sampled_from(["a", "b_ptr", "M", "BLOCK_M", "num_warps", "é"])

scalars = st.builds(Scalar, st.sampled_from([*ELEMENTS, "nvTmaDesc"])) | st.builds(
    Scalar, st.sampled_from(INTEGERS), st.sampled_from([None, 1, 16])
)
pointers = st.builds(Pointer, st.sampled_from([*ELEMENTS, "*fp16"]), st.booleans(), st.sampled_from([None, 16]))
descriptors = st.builds(
    Descriptor,
    st.sampled_from(ELEMENTS),
    st.lists(st.integers(1, 256), min_size=1, max_size=5).map(tuple),
    st.sampled_from(["", "NVMMASharedLayout(swizzle_byte_width=128, transposed=False, rank=2)"]),
)
constants = st.builds(
    Constant, st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
)
expressions = st.builds(Expression, st.sampled_from(["tl.float16", "relu", "BlockedLayout([1], [32], x=(1, 2))"]))
leaves = scalars | pointers | descriptors | constants | expressions | st.just(Unknown())
arguments = st.recursive(leaves, lambda inner: st.builds(TupleOf, st.lists(inner, max_size=3).map(tuple)), max_leaves=5)
signatures = st.builds(
    Signature,
    st.lists(arguments, max_size=4).map(tuple),
    st.dictionaries(NAMES, arguments, max_size=4).map(lambda named: tuple(named.items())),
)


@given(signatures)
def test_formatting_and_parsing_are_inverse(signature):
    # By repr: Constant(1), Constant(1.0) and Constant(True) are equal, yet different signatures.
    assert repr(parse_signature(format_signature(signature))) == repr(signature)


@given(st.text(alphabet="*ifp0123456789:,()[]<>= '\"\\.?abNonetsrdc\n", max_size=30))
def test_any_text_is_read_or_refused_in_a_sentence(text):
    try:
        parse_signature(text)
    except SignatureError as error:
        sentence, quoted, marks = str(error).split("\n")
        assert sentence.endswith(".")
        assert "^" in marks
        assert len(marks) <= len(quoted) + 1


def test_the_syntax_of_the_ahead_of_time_compiler():
    assert parse_signature("*fp16:16, *kbf16, i32:16, i32, 128, fp32").positional == (
        Pointer("fp16", hint=16),
        Pointer("bf16", const=True),
        Scalar("i32", 16),
        Scalar("i32"),
        Constant(128),
        Scalar("fp32"),
    )


def test_names_are_free_in_order_and_may_follow_positions():
    signature = parse_signature("*fp32, BLOCK=64, n=i64:1")
    assert signature.positional == (Pointer("fp32"),)
    assert dict(signature.named) == {"n": Scalar("i64", 1), "BLOCK": Constant(64)}


def test_commas_in_brackets_and_strings_do_not_split():
    text = "tensordesc<fp16[128, 64]>, (i32:16, (*fp32, None)), 'a,b', f(1, 2)"
    assert parse_signature(text).positional == (
        Descriptor("fp16", (128, 64)),
        TupleOf((Scalar("i32", 16), TupleOf((Pointer("fp32"), Constant(None))))),
        Constant("a,b"),
        Expression("f(1, 2)"),
    )


def test_brackets_around_the_whole_are_dropped_and_inside_are_a_tuple():
    assert parse_signature("[*fp16, i32]") == parse_signature("*fp16, i32")
    assert parse_signature("([1, 2], i32)").positional == (
        TupleOf((TupleOf((Constant(1), Constant(2))), Scalar("i32"))),
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [("4", 4), ("-0x10", -16), ("1e-5", 1e-5), ("-inf", float("-inf")), ("true", True), ("None", None), ("'4'", "4")],
)
def test_values(text, value):
    assert repr(parse_value(text)) == repr(Constant(value))


@pytest.mark.parametrize(
    ("text", "marked", "reason"),
    [
        ("*fp16, i32:4, i32", "i32:4", "hint"),
        ("*fp16, *fp33", "*fp33", "no pointer type"),
        ("i32, fp32:16", "fp32:16", "takes no hint"),
        ("*fp32:1", "*fp32:1", "cannot be the constant 1"),
        ("i32, (i32", "(", "never closed"),
        ("i32, (i32]", "(i32]", "does not close"),
        ("i32) , i32", ")", "closes nothing"),
        ("i32,, i32", ",", "before this comma"),
        ("a=i32, i32", "i32", "cannot follow"),
        ("a=i32, a=i32", "a=i32", "twice"),
        ("x=", "^", "missing"),
        ("i32, 'abc", "'", "never closed"),
        ("tensordesc<fp16[M]>", "M", "sizes"),
        ("i32 + 3", "i32 + 3", "neither"),
    ],
)
def test_an_error_marks_the_bad_piece(text, marked, reason):
    with pytest.raises(SignatureError, match=reason) as caught:
        parse_signature(text)
    quoted, marks = (line[4:] for line in str(caught.value).split("\n")[1:])
    assert quoted == text
    start, length = marks.index("^"), marks.count("^")
    assert text[start : start + length] == marked or marked == "^"
