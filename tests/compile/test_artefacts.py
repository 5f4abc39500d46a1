"""What a capture holds is to the byte what a plain compile gives."""

import pytest

from tests.compile.conftest import artefact

TARGETS = ["sm_80", "sm_90", "sm_100", "gfx942"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["matmul", "attention"])
def test_every_artefact_is_that_of_a_plain_compile(name, target, capture, plain):
    captured, folder = capture(name, target), plain(name, target)
    assert captured.status == "ok"
    stages = [path.name for path in folder.iterdir() if path.is_file()]
    stages = sorted({stage.partition(".")[0] for stage in stages})
    assert stages == sorted(
        ["source", "ttir", "ttgir", "llir", *(["amdgcn", "hsaco"] if target == "gfx942" else ["ptx", "cubin"])]
    )
    differing = [
        stage
        for stage in stages
        if artefact(captured, stage) not in [path.read_bytes() for path in folder.glob(f"{stage}*")]
    ]
    assert differing == []


@pytest.mark.parametrize(("name", "target"), [("matmul", "sm_90"), ("attention", "gfx942")])
def test_the_key_is_tritons_own(name, target, capture):
    captured = capture(name, target)
    assert captured.key == captured.metadata["hash"] == captured.components["hash"]


def test_tritons_own_cache_is_neither_used_nor_polluted(tmp_path, monkeypatch):
    import sys

    from tests.compile.conftest import request_for
    from tritonscope import api

    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(home / "cache"))
    made = api.capture(request_for("matmul", "sm_90"), tmp_path / "dumps", python=sys.executable, command=[])
    assert made.status == "ok"
    # Our own note of what Triton's files hash to is all that may lie there.
    written = {path.parent.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()}
    assert written <= {".cache/tritonscope"}
