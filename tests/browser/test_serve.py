"""`tritonscope serve`, in a browser: it opens, draws, answers keys; and answers nobody else."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytest.importorskip("textual_serve", reason="install tritonscope[serve]")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def started(port: int, cwd: Path, *words: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tritonscope", "serve", "--port", str(port), *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(cwd)}
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A port on which the reference capture of matmul is served."""
    port = free_port()
    with started(port, tmp_path_factory.mktemp("serve"), "matmul") as process:
        try:
            wait_for(lambda: answer(port) == 200)
            yield port
        finally:
            process.terminate()
            process.communicate(timeout=30)


def wait_for(happened: Any, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


def answer(port: int, path: str = "/", **headers: str) -> int | None:
    """The status of an HTTP request, None where nobody listens."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        return error.code
    except urllib.error.URLError:
        return None


def upgrade(**headers: str) -> dict[str, str]:
    return {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        **headers,
    }


def hear(page: Any) -> list[bytes]:
    """What the interface draws, as its bytes come in."""
    drawn: list[bytes] = []

    def listen(websocket: Any) -> None:
        websocket.on("framereceived", lambda data: drawn.append(data if isinstance(data, bytes) else data.encode()))

    page.on("websocket", listen)
    return drawn


def wait_until_drawn(page: Any, drawn: list[bytes], text: bytes, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while text not in b"".join(drawn):
        assert time.monotonic() < end, b"".join(drawn)[-2000:]
        page.wait_for_timeout(50)


def test_the_page_opens_draws_and_answers_keys_and_loads_nothing_from_elsewhere(tab: Any, server: int) -> None:
    drawn = hear(tab)
    tab.goto(f"http://127.0.0.1:{server}/")
    wait_until_drawn(tab, drawn, b"matmul")
    assert tab.locator("#terminal canvas, #terminal .xterm-rows").count() > 0
    drawn.clear()
    tab.locator("#terminal").click()
    tab.keyboard.press("?")
    wait_until_drawn(tab, drawn, b"keys")
    ours = f"http://127.0.0.1:{server}/"
    assert tab.requests
    assert [url for url in tab.requests if not url.startswith((ours, "data:")) and url not in tab.refused] == []
    assert tab.trouble == []


def test_it_works_under_another_port_as_behind_a_tunnel(tab: Any, server: int) -> None:
    """What `ssh -L` does: another port of this machine leads to the server."""
    near = free_port()
    forward = f"""
import asyncio

async def pump(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()

async def joined(reader, writer):
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", {server})
    await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer), return_exceptions=True)

async def main():
    server = await asyncio.start_server(joined, "127.0.0.1", {near})
    await server.serve_forever()

asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", forward]) as tunnel:
        try:
            wait_for(lambda: answer(near) == 200)
            drawn = hear(tab)
            tab.goto(f"http://localhost:{near}/")
            wait_until_drawn(tab, drawn, b"matmul")
        finally:
            tunnel.terminate()


def test_no_other_page_and_no_other_name_gets_in(server: int) -> None:
    """A page on the web can have a browser call 127.0.0.1, or its own name mean that: neither may type here."""
    assert answer(server, "/ws", **upgrade(Origin="https://example.com")) == 403
    assert answer(server, "/ws", **upgrade(Origin=f"http://127.0.0.1:{server + 1}")) == 403
    assert answer(server, "/ws", **upgrade()) == 403
    assert answer(server, "/", Host=f"example.com:{server}") == 403
    stranger = upgrade(Host=f"example.com:{server}", Origin=f"http://example.com:{server}")
    assert answer(server, "/ws", **stranger) == 403


def test_it_listens_on_loopback_alone(server: int) -> None:
    """The kernel's own list of listeners: 0100007F is 127.0.0.1."""
    rows = [
        line.split() for table in ("tcp", "tcp6") for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
    ]
    listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{server:04X}")]
    assert listening == [f"0100007F:{server:04X}"]


def test_a_port_in_use_is_said_in_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with started(port, tmp_path) as process:
            out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert f"port {port} is in use" in err
    assert "Traceback" not in err
    assert out == ""


def test_ctrl_c_ends_it_and_the_interfaces_that_it_started(browser: Any, tmp_path: Path) -> None:
    port = free_port()
    with started(port, tmp_path, "matmul") as process:
        wait_for(lambda: answer(port) == 200)
        page = browser.new_page()
        drawn = hear(page)
        page.goto(f"http://127.0.0.1:{port}/")
        wait_until_drawn(page, drawn, b"matmul")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert children
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
        out, err = process.communicate(timeout=60)
        page.close()
    assert process.returncode == 0
    assert out == ""
    assert err.splitlines() == [f"tritonscope: serving on http://127.0.0.1:{port}; Ctrl-C ends"]
    wait_for(lambda: not any(is_alive(int(child)) for child in children))


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
