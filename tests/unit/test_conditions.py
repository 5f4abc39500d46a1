"""Conditions as `--fail-if` takes them, against what Python says of the same numbers."""

import pytest

from tritonscope.conditions import holds, names_in, parse_condition
from tritonscope.errors import UsageError

VALUES = {"spills": 4.0, "registers": 255.0, "ttg.convert_layout": 11.0, "ld.global.v4": 0.0}
TEXT = "  %a = ttg.convert_layout %b : tensor<64xf16>\n  wgmma.mma_async.sync (x)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spills>0", True),
        ("spills >= 4 and registers<255", False),
        ("spills>=4 or registers<255", True),
        ("not spills == 4", False),
        ("ttg.convert_layout>10 and ld.global.v4=0", True),
        ("spills>9 and spills>9 or registers!=0", True),
        ("spills>9 and (spills>9 or registers!=0)", False),
        ("registers < 255.5", True),
        ("contains(wgmma)", True),
        ('contains("(x)")', True),
        ("contains('tensor<128')", False),
        (r"/^\s*wgmma\.\w+/", True),
        (r"/a\/b/", False),
        ("not /mbarrier/ and contains(tensor<64xf16>)", True),
    ],
)
def test_a_condition_says_what_it_reads_like(text: str, expected: bool) -> None:
    assert holds(parse_condition(text), VALUES.__getitem__, TEXT) is expected


def test_the_names_are_those_that_have_to_be_known() -> None:
    assert names_in(parse_condition("a>1 and (b<2 or not a.b==3) and /c>4/ and a<9")) == ["a", "b", "a.b"]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "at its end"),
        ("spills", "at its end"),
        ("spills>", "at its end"),
        ("spills>0 registers>0", "'registers>0'"),
        ("(spills>0", "at its end"),
        ("spills>0)", "')'"),
        ("and>1", "'and>1'"),
        ("spills>many", "'many'"),
        ("__import__('os').system('x')>0", "('os')"),
        ("/(/", "no regular expression"),
        ("spills>1e9", "1e9"),
        ("(" * 1000, "deep"),
        ("not " * 400, "deep"),
    ],
)
def test_what_is_not_understood_is_named(text: str, where: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_condition(text)
    assert where in str(caught.value)


def test_a_text_is_looked_for_only_where_there_is_one() -> None:
    with pytest.raises(UsageError, match="no text"):
        holds(parse_condition("contains(x)"), VALUES.__getitem__)
