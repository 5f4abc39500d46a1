"""Numbers that nobody computed, and the sentence for a program that cannot go on without one."""

import math
from functools import partial
from operator import eq, lt
from pathlib import Path
from types import SimpleNamespace

import pytest

from tritonscope.engine.trace.uncomputed import NeedsValue, UncomputedNumber, for_a_kernel, why_it_cannot_go_on


def test_an_unknown_number_is_shown_and_calculated_with():
    number = UncomputedNumber()
    assert f"{number} {number:5d} {100 * number / 7:.2f} {-number} {round(number, 2)}" == "? ? ? ? ?"
    assert math.isnan(float(number))


@pytest.mark.parametrize("decide", [bool, int, range, hash, [1, 2].__getitem__, partial(lt, 3), partial(eq, 3)])
def test_nothing_is_decided_by_it(decide):
    with pytest.raises(NeedsValue) as caught:
        decide(UncomputedNumber())
    sentence = why_it_cannot_go_on(caught.value)
    assert sentence is not None
    assert sentence.startswith(f"{__file__}:")
    assert sentence.endswith(
        "needs a value that only a GPU would have computed (`decide(UncomputedNumber())`), so the program ends here"
    )


def test_the_sentence_names_the_library_in_which_the_value_is_needed(tmp_path):
    library = tmp_path / "site-packages" / "library.py"
    library.parent.mkdir()
    library.write_text("def rows_of(number):\n    return range(number)\n")
    module = SimpleNamespace()
    exec(compile(library.read_text(), library, "exec"), vars(module))
    with pytest.raises(NeedsValue) as caught:
        module.rows_of(UncomputedNumber())
    sentence = why_it_cannot_go_on(caught.value)
    assert f"{__file__}:" in sentence
    assert f", in {library}:2 (`return range(number)`), so the program ends here" in sentence


def test_an_exception_of_the_programs_own_has_no_sentence():
    for error in (AssertionError("wrong"), ValueError("no"), KeyError("FILE")):
        assert why_it_cannot_go_on(error) is None


def test_a_kernel_is_compiled_for_the_number_that_fits_most_and_it_is_said_where():
    said = []
    passed = for_a_kernel(UncomputedNumber(), said.append)
    assert passed > 1
    assert passed % 16
    (sentence,) = said
    assert sentence.startswith(f"{Path(__file__)}:")
    assert for_a_kernel(12, said.append) == 12
    assert len(said) == 1
