"""How passes are named, and which of a pipeline a name leaves out."""

import pytest

from tritonscope.engine.selection import Selection
from tritonscope.errors import UsageError
from tritonscope.pass_reference import PassReference

PIPELINE = ["inline", "canonicalize", "cse", "canonicalize", "tritongpu-coalesce", "ptxas"]


def left_out(skip: list[str], stop_after: str | None = None) -> list[int]:
    selection = Selection(skip, stop_after)
    found = []
    for step, name in enumerate(PIPELINE):
        if selection.leaves_out(step, name, is_pass=name != "ptxas"):
            found.append(step)
        if selection.ends_after(step, name):
            found.append(-1)
            break
    selection.check()
    return found


@pytest.mark.parametrize(
    ("skip", "steps"),
    [
        (["canonicalize"], [1, 3]),
        (["canonicalize#2"], [3]),
        (["Triton_GPU-coalesce", "cse"], [2, 4]),
        (["3", "inline"], [0, 3]),
    ],
)
def test_a_name_means_every_run_and_a_number_one(skip: list[str], steps: list[int]) -> None:
    assert left_out(skip) == steps


def test_a_compile_ends_after_the_first_run_of_a_name() -> None:
    assert left_out([], "canonicalize") == [-1]
    assert left_out(["cse"], "canonicalize#2") == [2, -1]
    assert left_out(["canonicalize#2"], "3") == [3, -1]
    assert left_out([], "ptxas") == [-1]


@pytest.mark.parametrize(
    ("skip", "stop_after", "said"),
    [
        (["coalesce"], None, "did you mean tritongpu-coalesce"),
        (["colaesce"], None, "did you mean tritongpu-coalesce"),
        (["canonicalise"], None, "did you mean canonicalize"),
        (["zzz"], None, "tritonscope passes"),
        (["canonicalize#3"], None, "ran 2 times"),
        (["cse#2"], None, "ran once"),
        (["17"], None, "no step 17; this compile has 0 to 5"),
        (["ptxas"], None, "cannot be left out"),
        ([], "coalesce", "did you mean tritongpu-coalesce"),
    ],
)
def test_what_no_pass_is_called_is_refused_in_a_sentence(skip: list[str], stop_after: str | None, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        left_out(skip, stop_after)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["", "#2", "cse#", "cse#0", "cse#two", "-_"])
def test_what_names_no_pass_is_refused_before_anything_is_compiled(text: str) -> None:
    with pytest.raises(UsageError, match="not understood"):
        PassReference.parse(text)


def test_a_pass_behind_the_end_is_not_said_to_be_none() -> None:
    asked = Selection(skip=["pipeline"], stop_after="coalesce")
    for step, name in enumerate(("inline", "coalesce")):
        asked.leaves_out(step, name, is_pass=True)
        asked.ends_after(step, name)
    with pytest.raises(UsageError, match="no pass 'pipeline' came up to step 1, after which it was to stop"):
        asked.check()
