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
from tritonscope.export import reproduce
from tritonscope.ir.locations import strip_debug
from tritonscope.model import Capture, KernelRef, Request, Target
from tritonscope.store import reader

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
    found = exported(capsys, scale.path, "--override", "-o", str(tmp_path / "override"))
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
    found = exported(capsys, scale.path, "--override", "--stage", "ptx", "-o", str(tmp_path / "override"))
    file = Path(found["path"]) / found["files"][0]
    file.write_text(file.read_text().replace("0f40400000", "0f422A0000"))  # 3.0 and 42.5
    edited = launched(tmp_path / "edited", **found["environment"])
    usual = launched(tmp_path / "usual")
    assert (edited / "ttgir").read_bytes() == (usual / "ttgir").read_bytes()
    assert (edited / "cubin").read_bytes() != (usual / "cubin").read_bytes()


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    """A capture of a kernel in a package, which imports what it calls from beside it."""
    folder = tmp_path_factory.mktemp("project") / "mine"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    text = (ROOT / "tests" / "kernels" / "scale.py").read_text()
    called = text[text.index("@triton.jit\ndef scaled") : text.index("@triton.jit\ndef scale(")]
    (folder / "parts.py").write_text(f"import triton\nimport triton.language as tl\n\n\n{called}")
    (folder / "kernels.py").write_text(text.replace(called, "from . import parts\nfrom .parts import scaled\n\n\n"))
    request = Request(KernelRef("scale", str(folder / "kernels.py"), "scale"), Target.parse("gfx942"))
    dumps = tmp_path_factory.mktemp("dumps")
    return api.capture(request, dumps, python=sys.executable, command=["test"], timeout=300)


@pytest.mark.parametrize(("captured", "assembly"), [("scale", "ptx"), ("package", "amdgcn")])
def test_the_script_compiles_the_same_kernel_with_triton_alone(request, tmp_path, capsys, captured, assembly) -> None:
    capture = request.getfixturevalue(captured)
    found = exported(capsys, capture.path, "--script", "-o", str(tmp_path / "again.py"))
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("PYTHONPATH", None)
    script = [sys.executable, "-S", "-c", _ALONE, found["path"]]
    done = subprocess.run(script, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *paths, verdict = done.stdout.splitlines()
    assert verdict == "the key is the captured one"
    made = {Path(path).suffix[1:]: Path(path) for path in paths}
    for stage in ("ttir", "ttgir", "llir", assembly):
        kind = {"ttir": "mlir", "ttgir": "mlir"}.get(stage, stage)
        assert strip_debug(made[stage].read_text(), kind) == strip_debug(reader.stage_text(capture, stage), kind)


#: Runs a script where no tritonscope is to be found, wherever this Python has it.
_ALONE = f"""
import runpy, sys
sys.path += {[path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]!r}
sys.modules["tritonscope"] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_a_script_makes_the_tensors_of_a_call_as_they_were_written() -> None:
    """A GPU runs it; what it is called with can be looked at here."""
    torch = pytest.importorskip("torch")
    tensor = {"dtype": "float16", "shape": (8, 4), "strides": (16, 1), "aligned": False}
    flags = {"dtype": "bool", "shape": (3,), "strides": (1,), "aligned": True}
    call = reproduce.Call({"call": {"x": tensor, "flags": flags, "n": 3}, "grid": [2, 1, 1]})
    given = call.arguments({}, {}, "cpu")
    assert (given["x"].dtype, tuple(given["x"].shape), given["x"].stride()) == (torch.float16, (8, 4), (16, 1))
    assert given["x"].data_ptr() % 16
    assert (given["flags"].dtype, given["flags"].data_ptr() % 16, given["n"]) == (torch.bool, 0, 3)
    assert call.grid({}, {}) == (2, 1, 1)


def test_a_script_of_a_kernel_that_does_not_compile_fails_as_it_did(tmp_path, capsys) -> None:
    kernel = KernelRef("shape_error", str(ROOT / "tests" / "kernels" / "broken.py"), "shape_error")
    request = Request(kernel, Target.parse("sm_90"))
    capture = api.capture(request, tmp_path, python=sys.executable, command=["test"], timeout=300)
    assert capture.failure is not None
    found = exported(capsys, capture.path, "--script", "-o", str(tmp_path / "again.py"))
    done = subprocess.run([sys.executable, found["path"]], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert "incompatible dimensions at index 0: 64 and 128" in capture.failure.message
    assert "incompatible dimensions at index 0: 64 and 128" in done.stderr
