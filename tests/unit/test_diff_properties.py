"""The diff on real IR under random edits: pure renaming shows nothing, every real edit shows, and it is sound."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.diff_oracle import EDITS, check, disguise, edit, read, texts
from tritonscope.ir.diff import diff

bounded = settings(derandomize=True, database=None, deadline=None, max_examples=60)
seeds = st.integers(0, 2**32 - 1)

REAL_PAIRS = [
    ("matmul.specialized.ttgir", "matmul.pipelined.ttgir"),
    ("matmul.pipelined.ttgir", "matmul.canonical.ttgir"),
    ("matmul.canonical.ttgir", "matmul.cse.ttgir"),
    ("attention.layouts.ttgir", "attention.cse.ttgir"),
    ("rows.ttir", "rows.ttgir"),
    ("rows.canonical.mlir", "rows.cse.mlir"),
    ("rows.ll", "rows.llir"),
]


@bounded
@given(name=st.sampled_from(texts()), seed=seeds)
def test_pure_renaming_shows_nothing(name: str, seed: int) -> None:
    text, kind = read(name)
    other = disguise(text, kind, random.Random(seed))
    for left, right in ((text, other), (other, text)):
        found = diff(left, right, kind)
        assert not found.stat.differs, [line for line in found.lines if line.shown][:3]
        check(found, left, right)


@bounded
@given(name=st.sampled_from(texts()), what=st.sampled_from(sorted(EDITS)), seed=seeds, hide=st.booleans())
def test_every_real_edit_shows(name: str, what: str, seed: int, hide: bool) -> None:
    text, kind = read(name)
    chance = random.Random(seed)
    other = edit(text, what, chance)
    if other is None:
        return
    if hide:
        other = disguise(other, kind, chance)
    for left, right in ((text, other), (other, text)):
        found = diff(left, right, kind)
        assert found.stat.differs
        check(found, left, right)


@bounded
@given(name=st.sampled_from([t for t in texts() if t.endswith(("ttir", "ttgir", "mlir"))]), seed=seeds)
def test_an_edited_constant_shows_on_its_line_alone(name: str, seed: int) -> None:
    text, kind = read(name)
    chance = random.Random(seed)
    other = edit(text, "constant", chance)
    assert other is not None
    found = diff(text, disguise(other, kind, chance), kind)
    assert found.stat.lines <= 4, [line for line in found.lines if line.shown]


@bounded
@given(name=st.sampled_from(texts()), seed=seeds, count=st.integers(2, 12))
def test_many_edits_leave_it_sound(name: str, seed: int, count: int) -> None:
    text, kind = read(name)
    chance = random.Random(seed)
    other = text
    for _ in range(count):
        other = edit(other, chance.choice(sorted(EDITS)), chance) or other
    other = disguise(other, kind, chance)
    check(diff(text, other, kind), text, other)
    check(diff(other, text, kind), other, text)


@pytest.mark.parametrize(("before", "after"), REAL_PAIRS)
def test_what_a_pass_did_is_sound_both_ways(before: str, after: str) -> None:
    (left, kind), (right, _) = read(before), read(after)
    check(diff(left, right, kind), left, right)
    check(diff(right, left, kind), right, left)


@pytest.mark.parametrize("name", texts())
def test_a_text_and_itself(name: str) -> None:
    text, kind = read(name)
    found = diff(text, text, kind)
    assert found.stat.unchanged == len(text.splitlines())
    assert not found.stat.differs
    assert not found.stat.renamed


@pytest.mark.parametrize("kind", ["mlir", "llir", "ptx", "sass", "amdgcn", "mir", "text"])
def test_nothing_and_something(kind: str) -> None:
    assert not diff("", "", kind).stat.differs
    assert diff("", "a b\n", kind).stat.added == 1
    assert diff("a b\n", "", kind).stat.removed == 1
