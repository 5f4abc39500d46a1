"""Text made smaller, by a judge that is plain Python; and what becomes of a try that crashes or hangs."""

import faulthandler
import os
import signal
import tempfile
import time

import pytest

from tritonscope.engine import attempts, replay
from tritonscope.ir.outline import names_in, outline, walk
from tritonscope.reduction import reduce
from tritonscope.trials import Outcome

LOOP = """\
#blocked = #ttg.blocked<{order = [0]}>
#unused = #ttg.blocked<{order = [1]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64xf32, #blocked>
    %other = arith.addi %c0, %c1 : i32
    %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %at = %other) -> (tensor<64xf32>, i32) : i32 {
      %bad = test.culprit %acc, %at : tensor<64xf32, #blocked>
      %next = arith.addi %at, %c1 : i32
      scf.yield %bad, %next : tensor<64xf32, #blocked>, i32
    }
    %twice = arith.addf %sum#0, %sum#0 : tensor<64xf32, #blocked>
    tt.store %x, %twice {cache = 1 : i32} : tensor<64x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
"""


def well_formed(text: str) -> bool:
    """Braces match, and each value is defined, once, before it is used: enough for the text above."""
    defined: set[str] = set()
    depth = 0
    for line in text.splitlines():
        depth += line.rstrip().endswith("{") - line.strip().startswith("}")
        left, _, right = line.partition(" = ") if line.strip().startswith("%") else ("", "", line)
        inside = {name for name in names_in(right) if f"({name} = " in right or f", {name} = " in right}
        if "scf.for" in right:
            inside.add(right.split("scf.for ")[1].split(" ")[0])
        if "func" in right:
            inside = names_in(right)
        if not names_in(right) - inside <= defined:
            return False
        defined |= names_in(left) | inside
    return depth == 0


def test_outline_knows_what_is_inside_what() -> None:
    lines = LOOP.split("\n")
    (module,) = outline(lines)
    (function,) = module.inner
    assert [lines[each.first].split("=")[0].strip() for each in function.inner][:4] == ["%c0", "%c1", "%zero", "%other"]
    loop = next(each for each in function.inner if each.inner)
    assert loop.results == ("%sum",)
    assert (len(loop.inner), lines[loop.last].strip()) == (3, "}")
    assert len(list(walk([module]))) == 13


def test_what_is_left_is_what_the_judge_needs() -> None:
    tries = []

    def still(text: str) -> bool:
        tries.append(text)
        return well_formed(text) and "test.culprit" in text and "scf.for" in text

    assert well_formed(LOOP)
    small = reduce(LOOP, still)
    assert still(small)
    kept = [line.strip() for line in small.splitlines()]
    assert any(line.startswith("%bad = test.culprit") for line in kept)
    for gone in ("#unused", "tt.store", "%twice", "%next = ", "noinline", "tt.divisibility", "cache"):
        assert not any(gone in line for line in kept), small
    assert len(kept) < 0.7 * len(LOOP.splitlines())
    assert len(tries) == len(set(tries)) + 1  # nothing is tried twice; the one is this test's own


def test_every_better_text_is_told_and_holds() -> None:
    told: list[str] = []
    small = reduce(LOOP, lambda text: well_formed(text) and "culprit" in text, told.append)
    assert told[-1] == small
    assert all(well_formed(text) and "culprit" in text for text in told)


@pytest.mark.parametrize("text", ["", "}\n}\n", "{" * 5000 + "\n", "{\n" * 300, '"unclosed {\n', "%a = %a\n%a:\n"])
def test_odd_texts_do_no_harm(text: str) -> None:
    assert reduce(text, lambda _: False) == text


def test_the_same_failure_but_for_names_and_numbers() -> None:
    first = Outcome("failed", "'tt.dot' op has 3 users of %acc_12 : tensor<64x32xf16, #blocked>")
    assert first.like(Outcome("failed", "'tt.dot' op has 17 users of %7 : tensor<8xf16>"))
    assert not first.like(Outcome("failed", "'tt.load' op has 3 users of %7 : tensor<8xf16>"))
    assert not first.like(Outcome("crashed", first.why, signal.SIGABRT))


def crash(_: object) -> None:
    faulthandler.disable()  # pytest's
    os.kill(os.getpid(), signal.SIGSEGV)


def hang(_: object) -> None:
    while True:
        time.sleep(60)


def leave(_: object) -> None:
    os._exit(3)


@pytest.mark.parametrize(
    ("does", "how", "number"),
    [(crash, "crashed", signal.SIGSEGV), (hang, "timeout", None), (leave, "crashed", None)],
)
def test_a_try_that_ends_badly_takes_nothing_with_it(does, how, number, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "prepared", does)
    with tempfile.TemporaryFile() as output:
        found = attempts._tried({}, 0.2 if how == "timeout" else 60, output.fileno())
    assert (found["how"], found["signal"] if how == "crashed" else None) == (how, number)
