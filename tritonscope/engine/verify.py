"""Compare a capture's artefacts with an unpatched compile of the same request, in a child of its own."""

import hashlib
from pathlib import Path

from tritonscope.engine.client import Cancel, Child
from tritonscope.errors import ChildDied
from tritonscope.model import Request, to_json

__all__ = ["compare"]


def compare(
    request: Request, folder: Path, python: str, timeout: float | None = None, cancel: Cancel | None = None
) -> dict[str, bool]:
    """For each artefact of a plain `triton.compile`: whether the capture in `folder` holds the very same bytes.

    ptxas gives one of several binaries for some PTX and targets; the cubin counts as the same when one of a dozen
    runs of it on that PTX gives it. Raises ChildDied where the plain compile does not come to an end.
    """
    message = {"action": "plain", "request": to_json(request), "repeat_ptxas": True}
    hashes: dict[str, list[str]] = {}
    with Child(message, python=python, env=request.env, timeout=timeout, cancel=cancel) as child:
        for event in child:
            if event["event"] == "plain":
                hashes = event["hashes"]
    if not hashes:
        raise ChildDied(f"The plain compile to verify against did not end: {child.ended.message or 'it failed'}.")
    return {stage: _hash(next(folder.glob(f"*.{stage}"), None)) in found for stage, found in hashes.items()}


def _hash(path: Path | None) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path else ""
