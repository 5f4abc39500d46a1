"""Finding the GPU from what the system says of it."""

from pathlib import Path

import pytest

from tritonscope import gpu


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a stand-in for nvidia-smi on the path."""

    def put(script: str) -> None:
        tool = tmp_path / "nvidia-smi"
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    monkeypatch.setattr(gpu, "KFD_NODES", tmp_path / "nodes")
    return put


@pytest.mark.parametrize(
    ("capability", "name"), [("9.0", "sm_90"), ("8.6", "sm_86"), ("10.0", "sm_100"), ("12.0", "sm_120")]
)
def test_nvidia(smi, capability: str, name: str) -> None:
    smi(f"echo {capability}; echo 8.0")
    found = gpu.present()
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("script", ["echo 'NVIDIA-SMI has failed'; exit 9", "true", "echo No devices were found"])
def test_nvidia_smi_without_a_gpu(smi, script: str) -> None:
    smi(script)
    assert gpu.present() is None


@pytest.mark.parametrize(
    ("version", "name", "warp_size"),
    [("90402", "gfx942", 64), ("90010", "gfx90a", 64), ("110000", "gfx1100", 32), ("120001", "gfx1201", 32)],
)
def test_amd(smi, tmp_path: Path, version: str, name: str, warp_size: int) -> None:
    smi("exit 1")
    for node, number in (("0", "0"), ("1", version)):
        folder = tmp_path / "nodes" / node
        folder.mkdir(parents=True)
        (folder / "properties").write_text(f"cpu_cores_count 0\ngfx_target_version {number}\nvendor_id 4098\n")
    found = gpu.present()
    assert found is not None
    assert (found.name, found.warp_size) == (name, warp_size)
