"""The screens beside the main one, as they look."""

import json
from dataclasses import replace

from tests.tui.conftest import SIZES, check_sizes, driven, reference
from tritonscope.model import Failure
from tritonscope.store import results
from tritonscope.tui.app import ScopeApp

#: What shows each of them, from the main screen of the reference matmul.
KEYS = {
    "form": ("e",),
    "explain": ("colon", *"40", "enter", "K"),
    "ast": ("a",),
    "help": ("question_mark",),
    "folds": ("z", "M"),
}


def test_what_lies_over_the_main_screen(matmul):
    async def script(pilot):
        for name, keys in KEYS.items():
            await pilot.press(*keys)
            await check_sizes(pilot, name)
            await pilot.press("escape")
            await pilot.pause()

    driven(matmul, SIZES[0], script)


FAILURE = Failure(
    stage="ttgir",
    pass_="tritongpu-pipeline",
    inner=None,
    step="29",
    message="tritongpu-pipeline failed: operation destroyed but still has uses",
    file="matmul.py",
    line=3,
    column=8,
    source_line="    acc = tl.dot(a, b, acc)",
    diagnostics="matmul.py:3:8: error: operation destroyed but still has uses\n" * 2,
)


def run(created, ms, correct=True, **more):
    """A run as runs.jsonl keeps it."""
    return {
        "capture": "matmul/sm_90-5f19578c9d",
        "kernel": "matmul",
        "target": "sm_90",
        "size": {"M": 4096, "N": 4096, "K": 4096},
        "config": {"BLOCK_M": 128},
        "device": {"name": "NVIDIA H100"},
        "created": created,
        "command": ["tritonscope", "run"],
        "correct": correct,
        "checked_by": "the spec's reference",
        "checks": [{"name": "reference", "passed": correct, "cases": 3, "detail": "" if correct else "2 % are off"}],
        "ms": {"median": ms, "q1": ms, "q3": 1.1 * ms, "n": 100},
        "tflops": 137.4 / ms,
        "baselines": {"cublas": {"ms": 0.2, "ratio": 0.2 / ms}},
        **more,
    }


RUNS = [
    run("2026-05-01T10:00:00Z", 0.30),
    run("2026-05-02T11:30:00Z", 0.22, correct=False),
    run("2026-05-03T09:15:00Z", 0.21),
]


def test_failure_and_runs(dumps, monkeypatch):
    whole = reference("matmul", "sm_90")
    passes = tuple(each for each in whole.passes if int(each.step.partition(".")[0]) <= 29)
    capture = replace(whole, status="failed", failure=FAILURE, passes=passes, resources={})
    damaged = [{"kernel": 3}, {**RUNS[0], "ms": 7}, {**RUNS[0], "error": {}}]
    monkeypatch.setattr(results, "runs_of", lambda _: json.loads(json.dumps([*damaged, *RUNS])))

    async def script(pilot):
        for name, key in (("failure", "x"), ("runs", "R")):
            await pilot.press(key)
            await check_sizes(pilot, name)
            await pilot.press("escape")

    driven(ScopeApp(dumps, capture), SIZES[0], script)
