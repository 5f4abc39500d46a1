"""Which pass of one capture stands where which pass of another does, and how the IR after the two compares.

Pipelines differ by target and by Triton: passes are paired by name and order, stage by stage, as lines of a diff are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from tritonscope.ir.diff import Stat, diff
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.locations import strip_debug
from tritonscope.model import Capture, PassRecord
from tritonscope.store import reader

__all__ = ["Paired", "compare", "pair", "pair_stages"]


@dataclass(frozen=True)
class Paired:
    """A stage, or a pass of it, of two captures.

    `pass_name` is None for the stage itself; `left` and `right` are the records of a pass. `verdict` is "identical",
    "renamed" (nothing but names differ), "differs", "only_left" or "only_right"; `stat` counts lines where the two
    texts were compared.
    """

    stage: str
    pass_name: str | None
    left: PassRecord | None
    right: PassRecord | None
    verdict: str
    stat: Stat | None

    def to_json(self) -> dict[str, Any]:
        """The row as `diff --json` gives it."""
        stat = None if self.stat is None else {name: getattr(self.stat, name) for name in Stat.__dataclass_fields__}
        return {
            "stage": self.stage,
            "pass": self.pass_name,
            "left_step": self.left.step if self.left else None,
            "right_step": self.right.step if self.right else None,
            "verdict": self.verdict,
            "stat": stat,
        }


def pair(left: Capture, right: Capture) -> list[tuple[PassRecord | None, PassRecord | None]]:
    """The passes and steps of the two pipelines side by side, nested ones left out, in the order in which they ran."""
    if left.request.get("imported_from") or right.request.get("imported_from"):
        return _aligned(_outer(left), _outer(right))  # where one stage ends and the next begins was a guess
    stages = list(dict.fromkeys(p.stage for capture in (left, right) for p in _outer(capture)))
    rows: list[tuple[PassRecord | None, PassRecord | None]] = []
    for stage in _in_order(stages, left, right):
        a = [p for p in _outer(left) if p.stage == stage]
        b = [p for p in _outer(right) if p.stage == stage]
        rows += _aligned(a, b)
    return rows


def _aligned(a: list[PassRecord], b: list[PassRecord]) -> list[tuple[PassRecord | None, PassRecord | None]]:
    rows: list[tuple[PassRecord | None, PassRecord | None]] = []
    matcher = SequenceMatcher(None, [p.name for p in a], [p.name for p in b], autojunk=False)
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag == "equal":
            rows += zip(a[a1:a2], b[b1:b2], strict=True)
        else:
            rows += [(p, None) for p in a[a1:a2]]
            rows += [(None, p) for p in b[b1:b2]]
    return rows


def pair_stages(left: Capture, right: Capture) -> list[str]:
    """The stages with a text that either capture has, in the order of the pipeline."""
    names = [s.stage for s in left.stages if s.lines is not None and s.stage != "ast"]
    for stage in right.stages:
        if stage.lines is not None and stage.stage not in (*names, "ast"):
            names.append(stage.stage)
    return names


def compare(left: Capture, right: Capture) -> Iterator[Paired]:
    """Each stage, then each pass, with its verdict; they come as they are found, big ones take a second."""
    there = {side: {s.stage for s in capture.stages} for side, capture in (("left", left), ("right", right))}
    for stage in pair_stages(left, right):
        if stage not in there["right"]:
            yield Paired(stage, None, None, None, "only_left", None)
        elif stage not in there["left"]:
            yield Paired(stage, None, None, None, "only_right", None)
        else:
            kinds = {kind_of(reader.find_stage(capture, stage).file) for capture in (left, right)}
            texts = reader.stage_text(left, stage), reader.stage_text(right, stage)
            yield Paired(stage, None, None, None, *_judge(*texts, kinds.pop()))
    judged: dict[tuple[str | None, str | None], tuple[str, Stat | None]] = {}
    for a, b in pair(left, right):
        if b is None:
            assert a is not None
            yield Paired(a.stage, a.name, a, None, "only_left", None)
        elif a is None:
            yield Paired(b.stage, b.name, None, b, "only_right", None)
        elif _is_text(a) and _is_text(b):
            files = reader.file_after(left, a), reader.file_after(right, b)
            if files not in judged:
                kind = kind_of(files[0] or "x.mlir")
                judged[files] = _judge(reader.after(left, a), reader.after(right, b), kind)
            yield Paired(a.stage, a.name, a, b, *judged[files])


def _judge(left: str, right: str, kind: str) -> tuple[str, Stat | None]:
    a, b = strip_debug(left, kind), strip_debug(right, kind)
    if a == b:
        return "identical", None
    stat = diff(a, b, kind).stat
    return ("differs" if stat.differs else "renamed"), stat


def _outer(capture: Capture) -> list[PassRecord]:
    return [p for p in capture.passes if "." not in p.step]


def _is_text(record: PassRecord) -> bool:
    return record.file is None or kind_of(record.file) != "binary"


def _in_order(stages: list[str], left: Capture, right: Capture) -> list[str]:
    order = [s.stage for s in (*left.stages, *right.stages)]
    return sorted(stages, key=lambda stage: order.index(stage) if stage in order else len(order))
