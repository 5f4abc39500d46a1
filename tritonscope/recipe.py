"""What sets a compilation apart from the plain one with the same key: what was left out, where it ended, its edits."""

from collections.abc import Mapping, Sequence
from typing import Any

from tritonscope.model import Request
from tritonscope.pass_reference import PassReference

__all__ = ["of_request", "words"]


def of_request(request: Request) -> dict[str, Any]:
    """What of `request` goes into the capture's id beside key and place; empty for a plain compile."""
    found: dict[str, Any] = {"env": dict(sorted(request.env.items()))} if request.env else {}
    if request.skip:
        found["skip"] = sorted({str(PassReference.parse(text)) for text in request.skip})
    if request.stop_after is not None:
        found["stop_after"] = str(PassReference.parse(request.stop_after))
    if request.edits:
        found["edits"] = [[edit.stage, edit.step, edit.sha256] for edit in request.edits]
    return found


def words(request: Mapping[str, Any]) -> str:
    """The same, of a request as a capture keeps it, for people: "without tritongpu-coalesce", "" for a plain one."""
    skip, stop_after = request.get("skip"), request.get("stop_after")
    parts = []
    if isinstance(skip, Sequence) and skip:
        parts.append(f"without {', '.join(map(str, skip))}")
    if stop_after is not None:
        parts.append(f"stopped after {stop_after}")
    edits = request.get("edits")
    if isinstance(edits, Sequence) and edits and isinstance(edits[-1], Mapping):
        # Of several, the parent tells of the others.
        edit = edits[-1]
        where = str(edit.get("stage"))
        if edit.get("name") is not None:
            where = f"IR after {edit.get('name')}, step {edit.get('step')},"
        parts.append(f"edited {where} of {request.get('parent')}")
    return "; ".join(parts)
