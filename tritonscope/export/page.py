"""A capture as one HTML page that needs nothing else: no network, no server, no other file.

The page is page.css and page.js around data. What a capture holds reaches it as JSON alone, which the script puts on
the page as text, never as markup; the Content-Security-Policy lets no script run but that one, by its hash. Long texts
are packed (gzip, in base64) until they are looked at. A page has room for so much: the stages come first, then what
each pass changed, then the IR after each pass; what was left out says so where it would be.
"""

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from tritonscope.errors import CaptureUnreadable, UsageError
from tritonscope.explain import explain_all
from tritonscope.ir.diff import Diff, Line, hunks
from tritonscope.ir.diff import diff as compare
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.locations import strip_debug
from tritonscope.ir.marks import Span
from tritonscope.model import Capture, PassRecord, to_json
from tritonscope.printable import escape
from tritonscope.store import reader, results

__all__ = ["page"]

_CONTEXT = 3

# Bytes of base64 that the page's texts may have in all; the largest text, and the most to compare, in characters.
_ROOM = 16 << 20
_LARGEST_TEXT = 16 << 20
_LARGEST_DIFF = 6_000_000
_MOST_COMPARED = 120_000_000

_LONGEST_LINE = 4000
_MOST_DIFF_LINES = 20_000
_MOST_RUNS = 200

_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{style_hash}'; \
script-src '{script_hash}'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
<body>
<noscript>This page shows a capture of the Triton compiler, and needs JavaScript for it; it loads nothing.</noscript>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
"""


def page(capture: Capture) -> str:
    """The page; what cannot be read of a damaged capture says so in its place."""
    style, script = (
        files("tritonscope.export").joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js")
    )
    data = json.dumps(_Contents(capture).data(), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return _PAGE.format(
        title=html.escape(escape(f"{capture.capture} - tritonscope").replace("\n", " ")),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        data=data.replace("<", "\\u003c"),  # no "</script>" and no "<!--" can end the element
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


class _Contents:
    """The page's data: what each key holds is what page.js reads."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.room = _ROOM
        self.compared = 0
        self.blobs: list[str] = []
        self.texts: dict[str, dict[str, Any]] = {}

    def data(self) -> dict[str, Any]:
        """Everything, in the order in which it has a claim to the room."""
        capture = self.capture
        stages = [
            {**to_json(stage), "text": None if stage.lines is None or stage.stage == "ast" else self._text(stage.file)}
            for stage in capture.stages
        ]
        # Passes of the pipeline itself come before those inside another, which may be LLVM's hundreds.
        by_depth = sorted(capture.passes, key=lambda step: step.step.count("."))
        diffs = {step.step: self._diff(step) for step in by_depth if step.changed}
        after = {step.step: self._text(reader.file_after(capture, step)) for step in by_depth}
        before = {step.step: self._text(reader.file_before(capture, step)) for step in by_depth if step.changed}
        passes = [
            {
                **to_json(step),
                "diff": diffs.get(step.step),
                "after": after[step.step],
                "before": before.get(step.step),
            }
            for step in capture.passes
        ]
        found: dict[str, Any] = _printable(
            {
                "capture": capture.capture,
                "kernel": capture.kernel,
                "target": capture.target,
                "status": capture.status,
                "created": capture.created,
                "seconds": capture.seconds,
                "command": list(capture.command),
                "versions": to_json(capture.versions),
                "resources": to_json(capture.resources),
                "signature": str(capture.request.get("used", {}).get("signature", "")),
                "options": _options(capture),
                "failure": to_json(capture.failure),
                "notes": list(capture.notes),
                "stages": stages,
                "passes": passes,
                "explained": {name: text for name in {step.name for step in capture.passes} if (text := _about(name))},
                "runs": results.runs_of(capture)[-_MOST_RUNS:],
                "texts": self.texts,
                "blobs": self.blobs,
            }
        )
        return found

    # -- texts

    def _text(self, file: str | None) -> str | None:
        """The key in `texts` of a file: {kind, lines, blob} or {kind, why} where it is not on the page."""
        if file is None:
            return None
        if file not in self.texts:
            self.texts[file] = {"kind": kind_of(file), **self._packed_text(file)}
        return file

    def _packed_text(self, file: str) -> dict[str, Any]:
        if kind_of(file) == "binary":
            return {"why": "This is a binary."}
        if self.room <= 0:
            return {"why": "Left out: the page is full. `tritonscope dump` prints it."}
        try:
            text = self._read(file)
        except CaptureUnreadable as error:
            return {"why": str(error)}
        if len(text) > _LARGEST_TEXT:
            return {"why": "Left out: the text is too large for a page. `tritonscope dump` prints it."}
        lines = [_clipped(line) for line in text.split("\n")]
        return {"lines": len(lines), "blob": self._pack("\n".join(lines))}

    def _read(self, file: str) -> str:
        return escape(strip_debug(reader.read_text(self.capture, file), kind_of(file))).rstrip("\n")

    def _pack(self, text: str) -> int:
        packed = base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), mtime=0)).decode()
        self.room -= len(packed)
        self.blobs.append(packed)
        return len(self.blobs) - 1

    # -- diffs

    def _diff(self, step: PassRecord) -> dict[str, Any]:
        """What a pass changed: {stat, blob} of rows, or {why}."""
        left, right = reader.file_before(self.capture, step), reader.file_after(self.capture, step)
        if left is None or right is None:
            return {"why": "The IR before this pass was not kept."}
        if kind_of(left) != kind_of(right) or kind_of(right) == "binary":
            return {"why": "This step turned one language into another: there are no lines to compare."}
        if self.room <= 0 or self.compared > _MOST_COMPARED:
            return {"why": "Left out: the page is full. `tritonscope diff --pass` shows it."}
        try:
            a, b = self._read(left), self._read(right)
        except (CaptureUnreadable, UsageError) as error:
            return {"why": str(error)}
        if len(a) + len(b) > _LARGEST_DIFF:
            return {"why": "Left out: these texts are too large for a page. `tritonscope diff --pass` shows it."}
        self.compared += len(a) + len(b)
        found = compare(a, b, kind_of(right))
        rows = _rows(found)
        stat = {name: getattr(found.stat, name) for name in type(found.stat).__dataclass_fields__}
        return {"stat": stat, "cut": len(rows) > _MOST_DIFF_LINES, "blob": self._pack(_rows_text(rows))}


def _rows(found: Diff) -> list[list[Any]]:
    """Rows as page.js draws them: [sign, left number, right number, text, marks]; of a hunk's head [">", ..]."""
    rows: list[list[Any]] = []
    for hunk in hunks(found, _CONTEXT):
        rows.append(["@", hunk.left_start, hunk.right_start, "", []])
        for line in hunk.lines:
            rows += _sides(line)
    return rows


def _sides(line: Line) -> list[list[Any]]:
    if not line.shown:
        return [[" ", line.left, line.right, *_shown(line.right_text if line.right else line.left_text, ())]]
    signs = {"layout": "~", "moved": ">"}.get(line.kind, "")
    sides = []
    if line.left is not None:
        sides.append([f"-{signs}", line.left, None, *_shown(line.left_text, line.marks[0])])
    if line.right is not None:
        sides.append([f"+{signs}", None, line.right, *_shown(line.right_text, line.marks[1])])
    return sides


def _shown(text: str, marks: Sequence[Span]) -> tuple[str, list[int]]:
    """A line as far as it is shown, and its marks as one list of starts and ends."""
    return _clipped(text), [at for mark in marks if mark[1] <= _LONGEST_LINE for at in mark]


def _rows_text(rows: list[list[Any]]) -> str:
    return json.dumps(rows[:_MOST_DIFF_LINES], ensure_ascii=False, separators=(",", ":"))


def _clipped(line: str) -> str:
    left = len(line) - _LONGEST_LINE
    return line if left <= 0 else f"{line[:_LONGEST_LINE]} .. ({left} characters more)"


def _options(capture: Capture) -> dict[str, str]:
    """Those of the options that a user sets."""
    options = capture.request.get("used", {}).get("options", {})
    names = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion")
    return {name: str(options[name]) for name in names if isinstance(options, Mapping) and name in options}


def _about(name: str) -> str:
    return next((each.text for each in explain_all(name) if "pass" in each.kind or "step" in each.kind), "")


def _printable(value: Any) -> Any:
    """JSON data with no control characters in its texts; base64 is left as it is. Numbers that JSON lacks go."""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, dict):
        return {escape(str(key)): each if key == "blobs" else _printable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_printable(each) for each in value]
    if isinstance(value, float) and value - value != 0:
        return None
    return value
