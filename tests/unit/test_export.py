"""`tritonscope export`: what is written can be read again, is the same each time, and overwrites nothing unasked."""

import ast
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonscope import cli
from tritonscope.store import reader

MakeCapture = Callable[..., Path]
NAME = "matmul/sm_90-0123456789"


@pytest.fixture
def export(capsys: pytest.CaptureFixture[str], dumps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run `tritonscope export` in an empty folder; gives its exit code, standard output and standard error."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def export(*argv: str) -> tuple[int, str, str]:
        code = cli.main(["export", *argv])
        said = capsys.readouterr()
        return code, said.out, said.err

    return export


def test_an_archive_is_a_capture_again(export, capture: MakeCapture, tmp_path: Path) -> None:
    folder = capture()
    code, out, _ = export("matmul")
    assert code == 0
    with tarfile.open(out.strip()) as tar:
        assert all(name.startswith(f"{NAME}/") for name in tar.getnames())
        tar.extractall(tmp_path / "elsewhere")
    unpacked = tmp_path / "elsewhere" / NAME
    assert {path.relative_to(folder) for path in folder.rglob("*")} | {Path("README.txt")} == {
        path.relative_to(unpacked) for path in unpacked.rglob("*")
    }
    before, after = reader.open_capture(folder), reader.open_capture(unpacked)
    assert (before.capture, before.passes, before.stages) == (after.capture, after.passes, after.stages)
    assert reader.stage_text(before, "ttgir") == reader.stage_text(after, "ttgir")


def test_the_same_capture_gives_the_same_archive(export, capture: MakeCapture, tmp_path: Path) -> None:
    folder = capture()
    assert export("matmul", "-o", "first")[0] == 0
    for path in folder.rglob("*"):
        os.utime(path, (1, 1))
    assert export("matmul", "-o", "second")[0] == 0
    first, second = (Path(name).read_bytes() for name in ("first", "second"))
    assert first == second
    with tarfile.open("first") as tar:
        tar.extractall(tmp_path / "dumps2")
    assert export(str(tmp_path / "dumps2" / NAME), "-o", "third")[0] == 0
    assert Path("third").read_bytes() == first


def test_what_a_link_leads_to_is_not_handed_on(export, capture: MakeCapture, tmp_path: Path) -> None:
    folder = capture()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("hunter2")
    (folder / "link").symlink_to(tmp_path / "secret" / "key")
    (folder / "links").symlink_to(tmp_path / "secret")
    code, out, _ = export("matmul")
    assert code == 0
    with tarfile.open(out.strip()) as tar:
        assert not [name for name in tar.getnames() if "link" in name or "key" in name]


@pytest.mark.parametrize("form", ["--archive", "--override"])
def test_nothing_is_overwritten_without_force(export, capture: MakeCapture, form: str) -> None:
    capture()
    Path("mine").write_text("mine")
    code, _, err = export("matmul", form, "-o", "mine")
    assert code == 2
    assert "--force" in err
    assert Path("mine").read_text() == "mine"


def test_force_overwrites(export, capture: MakeCapture) -> None:
    capture()
    Path("mine").write_text("mine")
    assert export("matmul", "-o", "mine", "--force")[0] == 0
    assert tarfile.is_tarfile("mine")


def test_json_says_what_was_written(export, capture: MakeCapture) -> None:
    capture()
    value = json.loads(export("matmul", "--json")[1])
    assert (value["capture"], value["form"]) == (NAME, "archive")
    assert Path(value["path"]).stat().st_size == value["bytes"]


def test_an_archive_goes_to_a_pipe(dumps: Path, capture: MakeCapture, capfdbinary) -> None:
    capture()
    assert cli.main(["export", "matmul", "-o", "-"]) == 0
    with tarfile.open(fileobj=io.BytesIO(capfdbinary.readouterr().out)) as tar:
        assert f"{NAME}/capture.json" in tar.getnames()


def test_an_override_of_what_triton_does_not_replace_is_refused(export, capture: MakeCapture) -> None:
    capture()
    code, _, err = export("matmul", "--override", "--stage", "sass")
    assert code == 2
    assert "ptx" in err
    assert not list(Path().iterdir())


MATMUL = next((Path(__file__).resolve().parents[2] / "dumps" / "reference" / "matmul").iterdir())


def kernel_of(script: Path) -> dict:
    """The dict that an exported script begins with."""
    tree = ast.parse(script.read_text())
    return next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["run", "matmul", "--size", "M=64"], {}),
        (
            ["run", "matmul", "--call", "fp16[8,4;16,1]@8, M=3", "--grid", "2"],
            {"a": {"dtype": "float16", "shape": (8, 4), "strides": (16, 1), "aligned": False}, "M": 3},
        ),
    ],
)
def test_a_script_holds_what_the_newest_run_was_called_with(export, tmp_path: Path, command, expected) -> None:
    folder = tmp_path / "matmul" / MATMUL.name
    shutil.copytree(MATMUL, folder)
    runs = [{"size": {"M": 1}, "grid": [1]}, {"size": {"M": 64}, "grid": [2, 1, 1], "command": command}]
    (folder / "runs.jsonl").write_text("".join(f"{json.dumps(run)}\n" for run in runs))
    code, out, _ = export(str(folder), "--script")
    assert code == 0
    kernel = kernel_of(Path(out.strip()))
    assert (kernel["size"], kernel["call"], kernel["grid"]) == ({"M": 64}, expected, [2, 1, 1])


@pytest.mark.parametrize(
    ("module", "path", "name"),
    [
        ("01-vector-add", "/x/01-vector-add.py", "01-vector-add"),
        ("my kernels", "/x/my kernels.py", "my kernels"),
        ("__main__", "/x/train.py", "train"),
        ("None", "/x/<string>", "<string>"),
        ("../evil", "/x/evil.py", None),
        ("__main__", "/x/a\nb.py", None),
    ],
)
def test_a_kernel_may_stand_in_any_file(export, tmp_path: Path, module: str, path: str, name: str | None) -> None:
    """Triton's tutorials have names that no import statement can have; a traced program is `__main__`."""
    folder = tmp_path / "matmul" / MATMUL.name
    shutil.copytree(MATMUL, folder)
    summary = json.loads((folder / "capture.json").read_text())
    summary["components"]["kernel"] = f"{module}.matmul"
    summary["request"]["kernel"] |= {"path": path, "bundled": False}
    (folder / "capture.json").write_text(json.dumps(summary))
    code, out, err = export(str(folder), "--script")
    assert code == (0 if name else 2)
    if name:
        assert kernel_of(Path(out.strip()))["module"] == name
        assert ("stood in the program that was traced" in err) == (module in ("__main__", "None"))


def test_a_script_holds_a_file_as_it_is_and_nothing_that_only_a_path_names(export, tmp_path: Path) -> None:
    """The capture's text may hold quotes and line ends; the file it names may be another by now, and is not read."""
    folder = tmp_path / "matmul" / MATMUL.name
    shutil.copytree(MATMUL, folder)
    text = "import beside\nx = r'''a'''\r\ny = \"\"\"b\"\"\"\n# \u202e\n"
    (folder / "matmul.py").write_bytes(text.encode())
    (tmp_path / "beside.py").write_text("SECRET = 1\n")
    (tmp_path / "kernel.py").write_text("import beside\n")
    summary = json.loads((folder / "capture.json").read_text())
    summary["request"]["kernel"] |= {"path": str(tmp_path / "kernel.py"), "bundled": False}
    (folder / "capture.json").write_text(json.dumps(summary))
    code, out, err = export(str(folder), "--script")
    assert code == 0
    script = Path(out.strip()).read_text()
    assert "SECRET" not in script
    assert "\u202e" not in script
    assert "beside" in err
    tree = ast.parse(script)
    files = [ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)][1]
    assert files == {"matmul.py": text}
