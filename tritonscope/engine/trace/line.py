"""The line between a traced program and who records it: a Unix socket, one JSON object a line, either way."""

import fcntl
import json
import socket
from typing import Any

from tritonscope.engine.events import Events

__all__ = ["Line"]

#: The first descriptor that is none of the standard streams: a program may have closed those.
_FIRST_OWN = 3


class Line(Events):
    """One connection."""

    def __init__(self, path: str) -> None:
        """Connect to the socket at `path`; raises OSError where nobody listens any more."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise
        if self._socket.fileno() < _FIRST_OWN:
            own = fcntl.fcntl(self._socket.fileno(), fcntl.F_DUPFD_CLOEXEC, _FIRST_OWN)
            self._socket.close()
            self._socket = socket.socket(fileno=own)
        super().__init__(self._socket.fileno())
        self._reader = self._socket.makefile("r", encoding="utf-8")

    def fileno(self) -> int:
        """The connection's descriptor."""
        return self._socket.fileno()

    def receive(self) -> dict[str, Any] | None:
        """The next message, None where the other side has gone. Waits for it."""
        line = self._reader.readline()
        return json.loads(line) if line.endswith("\n") else None

    def close(self) -> None:
        """Close this side of it, in this process."""
        self._reader.close()
        self._socket.close()
