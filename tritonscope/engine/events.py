"""The child's voice: one JSON object a line, on a descriptor of its own."""

import json
import os
from typing import Any

__all__ = ["Events"]


class Events:
    """Sends events to the parent; see `protocol` for what they are."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, event: str, **fields: Any) -> None:
        """Send one event whole; what JSON cannot hold goes as its repr."""
        line = memoryview((json.dumps({"event": event, **fields}, default=repr) + "\n").encode())
        while line:
            line = line[os.write(self._descriptor, line) :]
