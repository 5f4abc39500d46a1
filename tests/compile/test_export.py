"""Exports, against the compiler: an edited folder is taken by a plain Triton, which never heard of us."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compile.conftest import ROOT
from tritonscope import api
from tritonscope.cli import main
from tritonscope.model import Capture, KernelRef, Request, Target

LAUNCH = Path(__file__).with_name("launch_oracle.py")


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    """A capture of tests/kernels/scale.py for sm_90."""
    kernel = KernelRef("scale", str(ROOT / "tests" / "kernels" / "scale.py"), "scale")
    request = Request(kernel, Target.parse("sm_90"))
    dumps = tmp_path_factory.mktemp("dumps")
    return api.capture(request, dumps, python=sys.executable, command=["test"], timeout=300)


def launched(out: Path, **variables: str) -> Path:
    """The folder of artefacts that a program's own call makes with these variables set."""
    out.mkdir()
    environment = {**os.environ, "TRITON_CACHE_DIR": str(out / "cache"), **variables}
    subprocess.run([sys.executable, str(LAUNCH), str(out)], check=True, env=environment)
    return out


def exported(capsys: pytest.CaptureFixture[str], *argv: str) -> dict:
    """What `export --json` says."""
    assert main(["export", *argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_plain_triton_takes_what_was_edited_in_the_folder(scale, tmp_path, capsys) -> None:
    """3.0 becomes 42.5 in TTGIR, and Triton goes on from there: in PTX it is 0f422A0000."""
    found = exported(capsys, scale.path, "override", "-o", str(tmp_path / "override"))
    (file,) = found["files"]
    file = Path(found["path"]) / file
    assert "3.000000e+00" in file.read_text()
    file.write_text(file.read_text().replace("3.000000e+00", "4.250000e+01"))
    edited = launched(tmp_path / "edited", **found["environment"])
    usual = launched(tmp_path / "usual")
    assert "0f422A0000" in (edited / "ptx").read_text()
    assert "0f422A0000" not in (usual / "ptx").read_text()
    # A second run with another edit: the cache does not hide it.
    file.write_text(file.read_text().replace("4.250000e+01", "4.000000e+00"))
    again = launched(tmp_path / "again", **found["environment"])
    assert "0f422A0000" not in (again / "ptx").read_text()
    assert "0f40800000" in (again / "ptx").read_text()


def test_a_later_stage_can_be_edited_too(scale, tmp_path, capsys) -> None:
    found = exported(capsys, scale.path, "override", "--stage", "ptx", "-o", str(tmp_path / "override"))
    file = Path(found["path"]) / found["files"][0]
    file.write_text(file.read_text().replace("0f40400000", "0f422A0000"))  # 3.0 and 42.5
    edited = launched(tmp_path / "edited", **found["environment"])
    usual = launched(tmp_path / "usual")
    assert (edited / "ttgir").read_bytes() == (usual / "ttgir").read_bytes()
    assert (edited / "cubin").read_bytes() != (usual / "cubin").read_bytes()
