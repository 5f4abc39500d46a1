"""What is in the wheel, what an installed one finds, and who may import what."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.unit.synthetic import request, write_events
from tritonscope.store.writer import CaptureWriter

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
VARIABLES = ("PYTHONPATH", "TRITONSCOPE_DUMPS", "VIRTUAL_ENV", "CONDA_PREFIX")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built by the backend that pip would call, without a network."""
    pytest.importorskip("hatchling", reason="hatchling builds the wheel; install tritonscope[test]")
    folder = tmp_path_factory.mktemp("wheel")
    build = f"from hatchling.build import build_wheel; build_wheel({str(folder)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=ROOT, check=True, capture_output=True, text=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and nothing else in it."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def tritonscope(*words: str, path: tuple[Path, ...], cwd: Path) -> str:
    """What a command prints in the folder `cwd` when `path` is searched before Python's own folders."""
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, path))
    command = [sys.executable, "-m", "tritonscope", *words]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_holds_the_package_and_nothing_beside_it(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in names(wheel)}
    assert len(tops) == 2
    assert "tritonscope" in tops
    assert any(re.fullmatch(r"tritonscope-[^-]+\.dist-info", top) for top in tops)
    assert not [name for name in names(wheel) if "test" in name or "__pycache__" in name]


def test_the_wheel_holds_every_module(wheel: Path) -> None:
    modules = {str(file.relative_to(ROOT)) for file in (ROOT / "tritonscope").rglob("*.py")}
    assert modules <= set(names(wheel))
    assert "tritonscope/py.typed" in names(wheel)


def test_the_wheel_holds_the_kernels_and_the_reference_captures(wheel: Path) -> None:
    there = set(names(wheel))
    kernels = {f"tritonscope/bundled/kernels/{file.name}" for file in (ROOT / "kernels").glob("*.py")}
    assert kernels
    assert kernels <= there
    reference = ROOT / "dumps" / "reference"
    captures = {f"tritonscope/bundled/dumps/{file.relative_to(reference)}" for file in reference.rglob("*.json")}
    assert captures <= there


def test_an_installed_wheel_finds_its_kernels_and_captures(installed: Path, tmp_path: Path) -> None:
    kernels = json.loads(tritonscope("kernels", "--json", path=(installed,), cwd=tmp_path))
    assert {"attention", "matmul"} <= {kernel["name"] for kernel in kernels}
    for kernel in kernels:
        assert Path(kernel["path"]).is_relative_to(installed)
        assert Path(kernel["path"]).is_file()
    for summary in (ROOT / "dumps" / "reference").glob("*/*/capture.json"):
        name = f"{summary.parent.parent.name}/{summary.parent.name}"
        shown = json.loads(tritonscope("show", name, "--json", path=(installed,), cwd=tmp_path))
        assert Path(shown["path"]).is_relative_to(installed)


def test_browsing_needs_no_triton(installed: Path, tmp_path: Path) -> None:
    """On a machine where triton cannot be installed, or is broken."""
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    for name in ("triton", "torch"):
        (blocked / f"{name}.py").write_text("raise ImportError('not on this machine')\n")
    writer = CaptureWriter.create(
        tmp_path / "dumps", request(), ["tritonscope", "compile", "matmul"], {"tritonscope": "0"}
    )
    write_events(writer, "0123456789")
    writer.publish("ok", 1.0)
    for command in (
        ["ls", "--json"],
        ["ls"],
        ["show", "matmul", "--json"],
        ["show", "matmul"],
        ["passes", "matmul", "--changed"],
        ["dump", "matmul", "ttgir"],
        ["dump", "matmul", "--pass", "tritongpu-coalesce"],
        ["grep", "convert_layout", "matmul"],
        ["kernels"],
        ["export", "matmul"],
        ["export", "matmul", "--html"],
    ):
        assert tritonscope(*command, path=(blocked, installed), cwd=tmp_path)


def test_triton_is_asked_for_on_linux_alone_and_torch_only_as_an_extra(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        wanted = re.findall(r"^Requires-Dist: (.*)$", archive.read(metadata).decode(), re.MULTILINE)
    assert [line for line in wanted if line.startswith("triton")] == ["triton>=3.4; sys_platform == 'linux'"]
    assert all("extra == " in line for line in wanted if line.startswith("torch"))


def test_each_module_of_the_engine_is_the_parents_or_the_childs() -> None:
    """The import contracts name them one by one: a new module must be put on one side."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    sides = [
        {module for module in contract["source_modules"] if module.startswith("tritonscope.engine.")}
        for contract in contracts
        if contract["name"].startswith(("The parent", "The child"))
    ]
    assert len(sides) == 2
    assert not sides[0] & sides[1]
    files = (ROOT / "tritonscope" / "engine").glob("*.py")
    assert sides[0] | sides[1] == {f"tritonscope.engine.{file.stem}" for file in files if file.stem != "__init__"}
