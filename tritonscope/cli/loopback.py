"""The web server of `tritonscope serve`: textual-serve's, kept to this machine.

Whoever reaches the interface can run code, and every web page that a user looks at can reach 127.0.0.1: only pages of
this server may talk to it, under a name that means this machine.
"""

import asyncio
import errno
import logging
import os
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web
from textual_serve.server import Server

from tritonscope.errors import UsageError

__all__ = ["LoopbackServer"]

_LONGEST_END = 10  # seconds
_HOST = "127.0.0.1"
_NAMES = ("127.0.0.1", "localhost", "::1")

# textual-serve's page asks Google for a font that its own style sheet has: offline, a browser would wait for it.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws://{host}; frame-ancestors 'none'"
)


class LoopbackServer(Server):  # type: ignore[misc]
    """Serves `command` on a port of 127.0.0.1 to browsers of this machine, or of one that forwards the port."""

    def __init__(self, command: str, port: int) -> None:
        super().__init__(command, host=_HOST, port=port, title="tritonscope")
        self._open: set[asyncio.Task[Any]] = set()

    def serve(self, debug: bool = False) -> None:
        """Serve until interrupted; raises UsageError where the port cannot be had."""
        try:
            super().serve(debug)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            why = "in use" if error.errno == errno.EADDRINUSE else "not for you to take"
            raise UsageError(f"port {self.port} is {why}; choose another with --port") from None

    def initialize_logging(self) -> None:
        """Nothing but trouble, on standard error."""
        logging.basicConfig(level=logging.WARNING, format="tritonscope: %(message)s")

    async def on_startup(self, app: web.Application) -> None:
        """No banner."""

    async def on_shutdown(self, app: web.Application) -> None:
        """End the interfaces, and wait for their processes: asyncio complains about those that outlive it."""
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(_no_child_left(), _LONGEST_END)

    async def handle_index(self, request: web.Request) -> Any:
        """The page, with addresses under the name that it was asked for by: behind `ssh -L` that is another."""
        self._refuse_strangers(request)
        self.public_url = f"http://{request.host}"
        response = await super().handle_index(request)
        response.headers["Content-Security-Policy"] = _POLICY.format(host=request.host)
        return response

    async def handle_websocket(self, request: web.Request) -> Any:
        """The interface itself; for pages of this server alone."""
        self._refuse_strangers(request)
        if request.headers.get("Origin") != f"http://{request.host}":
            raise web.HTTPForbidden(text="this is for tritonscope's own page")
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            return await super().handle_websocket(request)
        finally:
            self._open.discard(task)

    def _refuse_strangers(self, request: web.Request) -> None:
        """A name that is not ours was made to lead here by its owner, whose page is then let in as if it were ours."""
        if urlsplit(f"//{request.host}").hostname not in _NAMES:
            raise web.HTTPForbidden(text="ask for this page as http://127.0.0.1 or http://localhost")


async def _no_child_left() -> None:
    with suppress(ChildProcessError):
        while True:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.02)  # in which asyncio takes note
