"""Kernels that do not compile: the sentence, the exit code, what is left, and the reproducer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compile.conftest import ROOT
from tritonscope.store import reader

BROKEN = ROOT / "tests" / "kernels" / "broken.py"
WARP_SPECIALIZED = ROOT / "tests" / "kernels" / "warp_specialized.py"


def tritonscope(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tritonscope", *map(str, arguments)], cwd=cwd, capture_output=True, text=True
    )


def line_of(file: Path, text: str) -> int:
    return next(n for n, line in enumerate(file.read_text().splitlines(), 1) if text in line)


@pytest.mark.parametrize(
    ("function", "culprit", "says"),
    [
        ("type_error", "tl.load(offsets)", "Unsupported ptr type"),
        ("shape_error", "few + many", "incompatible dimensions at index 0: 64 and 128"),
        ("undefined_name", "not_there", "NameError: not_there is not defined"),
    ],
)
def test_a_front_end_error_shows_the_users_line_with_a_caret(function, culprit, says, tmp_path):
    done = tritonscope("compile", f"{BROKEN}:{function}", "-t", "sm_90", cwd=tmp_path)
    line = line_of(BROKEN, culprit)
    assert done.returncode == 3
    sentence = done.stderr.strip().splitlines()[-1]
    assert says in sentence
    assert f"line {line} of {BROKEN}" in sentence
    assert "Traceback" not in done.stderr + done.stdout
    shown = done.stdout.splitlines()
    at = max(n for n, text in enumerate(shown) if culprit in text)
    assert shown[at + 1].strip() == "^"
    # The caret stands below the expression that Triton names, which is on that line.
    assert shown[at][shown[at + 1].index("^")] != " "


def test_ptx_that_ptxas_refuses_names_ptxas_and_the_line(tmp_path):
    done = tritonscope("compile", f"{BROKEN}:bad_ptx", "-t", "sm_90", "--json", cwd=tmp_path)
    assert done.returncode == 3
    failure = json.loads(done.stdout)["failure"]
    assert failure["pass"] == "ptxas"
    assert "bogus" in failure["message"]
    capture = reader.open_capture(Path(json.loads(done.stdout)["path"]))
    ptx = reader.stage_text(capture, "ptx").splitlines()
    assert "bogus.f32" in ptx[failure["line"] - 1]
    assert "ptxas" in done.stderr
    assert f"line {failure['line']}" in done.stderr


def test_a_failing_pass_is_named_and_replays(tmp_path):
    """Fails in NVGPUWarpSpecialization on Triton 3.6 and 3.9."""
    done = tritonscope("compile", WARP_SPECIALIZED, "-t", "sm_90", "--json", cwd=tmp_path)
    assert done.returncode == 3
    result = json.loads(done.stdout)
    failure = result["failure"]
    assert (failure["stage"], failure["pass"]) == ("ttgir", "nvgpu-warp-specialization")
    assert failure["file"] == str(WARP_SPECIALIZED)
    source = WARP_SPECIALIZED.read_text().splitlines()
    assert "def warp_specialized" in source[failure["line"] - 1] or "c.store" in source[failure["line"] - 1]
    sentence = done.stderr.strip().splitlines()[-1]
    for part in ("nvgpu-warp-specialization", "stage ttgir", f"line {failure['line']}", failure["message"]):
        assert part in sentence

    capture = reader.open_capture(Path(result["path"]))
    failed = reader.find_step(capture, failure["step"])
    assert failed == [p for p in capture.passes if "." not in p.step][-1]
    went_in = reader.before(capture, failed)
    assert "tt.func" in went_in
    assert reader.stage_text(capture, "ttir") != ""
    assert failure["message"] in capture.failure.diagnostics

    again = tritonscope("replay", Path(result["path"]) / capture.failure.reproducer, "--json", cwd=tmp_path)
    replayed = json.loads(again.stdout)
    assert again.returncode == 3
    assert replayed["outcome"] == "failed"
    assert replayed["message"] == failure["message"]
    assert replayed["same"] is True


@pytest.fixture(scope="module")
def unknown_gpu(tmp_path_factory):
    """What a compile for a GPU that no compiler knows says, and its reproducer: an assertion fails."""
    cwd = tmp_path_factory.mktemp("unknown")
    done = tritonscope("compile", "matmul", "-t", "sm_999", "--json", cwd=cwd)
    assert done.returncode == 3
    line = json.loads(done.stdout)
    return line["failure"]["message"], Path(line["path"]) / "reproducer.mlir"


def test_an_assertion_is_what_is_said_by_compile_and_by_replay(unknown_gpu, tmp_path):
    message, file = unknown_gpu
    assert message.startswith('the assertion false && "computeCapability not supported" does not hold')
    piped = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m tritonscope replay <(cat {file}) --json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    given = subprocess.run(
        [sys.executable, "-m", "tritonscope", "replay", "/dev/stdin", "--json"],
        cwd=tmp_path,
        stdin=file.open(),
        capture_output=True,
        text=True,
    )
    for done in (tritonscope("replay", file, "--json", cwd=tmp_path), piped, given):
        assert done.returncode == 3, done.stderr
        replayed = json.loads(done.stdout)
        assert (replayed["message"], replayed["same"]) == (message, True)


def test_an_edited_reproducer_that_does_not_parse_names_the_line(unknown_gpu, tmp_path):
    text = unknown_gpu[1].read_text()
    edited = tmp_path / "edited.mlir"
    edited.write_text(text.replace("tt.return", "tt.retrn"))
    line = line_of(edited, "tt.retrn")
    done = tritonscope("replay", "edited.mlir", cwd=tmp_path)
    assert done.returncode == 2
    assert f"edited.mlir, line {line}, column 5: custom op 'tt.retrn' is unknown" in done.stderr


def test_where_replay_writes(unknown_gpu, tmp_path):
    """The same IR for a GPU that is known goes through."""
    file = tmp_path / "mended.mlir"
    file.write_text(unknown_gpu[1].read_text().replace("cuda:999", "cuda:90"))
    done = tritonscope("replay", file, "-o", "-", cwd=tmp_path)
    assert (done.returncode, "tt.func public @matmul" in done.stdout) == (0, True), done.stderr
    assert tritonscope("replay", file, "-o", "out.mlir", cwd=tmp_path).returncode == 0
    assert (tmp_path / "out.mlir").read_text() == done.stdout
    for arguments, code in ((["-o", "/nope/x"], 2), (["-o", "/dev/full"], 5), (["-o", "-", "--json"], 2)):
        done = tritonscope("replay", file, *arguments, cwd=tmp_path)
        assert done.returncode == code
        assert "Traceback" not in done.stderr


def test_a_failure_inside_a_nested_pass_names_both(capture):
    captured = capture("warp_specialized", "sm_100")
    if captured.status == "ok":
        pytest.skip("this Triton compiles it; Triton 3.6 fails in nvws-insert-aref")
    assert captured.failure.pass_ == "tritongpu-automatic-warp-specialization"
    assert captured.failure.inner == "nvws-insert-aref"
    inner = captured.passes[-1]
    assert inner.name == "nvws-insert-aref"
    assert "tt.func" in reader.before(captured, inner)


def test_a_reproducer_runs_where_only_triton_is(tmp_path):
    """The child that replays sees triton and the standard library, and our package without its dependencies."""
    done = tritonscope("compile", WARP_SPECIALIZED, "-t", "sm_90", "--json", cwd=tmp_path)
    reproducer = Path(json.loads(done.stdout)["path"]) / "reproducer.mlir"
    for blocked in ("rich", "textual", "pygments", "zstandard", "torch"):
        (tmp_path / f"{blocked}.py").write_text("raise ImportError('not here')")
    again = subprocess.run(
        [sys.executable, "-c", REPLAY_IN_CHILD, str(ROOT), str(reproducer), str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert again.stdout.split() == ["failure"], again.stderr


REPLAY_IN_CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tritonscope import reproducer
from tritonscope.engine.client import Child
recorded = reproducer.read(Path(sys.argv[2]))
message = {"action": "replay", "path": sys.argv[2], "call": dict(recorded.call), "target": dict(recorded.target)}
with Child(message, env={"PYTHONPATH": sys.argv[3]}) as child:
    print(*(event["event"] for event in child))
"""


def test_an_edited_reproducer_that_passes_says_so_and_gives_the_ir(tmp_path):
    done = tritonscope("compile", WARP_SPECIALIZED, "-t", "sm_90", "--json", cwd=tmp_path)
    reproducer = Path(json.loads(done.stdout)["path"]) / "reproducer.mlir"
    edited = tmp_path / "edited.mlir"
    header, _ = reproducer.read_text().split("\n", 1)
    edited.write_text(header + '\nmodule attributes {"ttg.num-warps" = 4 : i32} {\n}\n')
    again = tritonscope("replay", edited, "-o", tmp_path / "after.mlir", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "after.mlir").read_text().startswith("module")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"module {}\n",
        b"// tritonscope replay {\n",
        b"// tritonscope replay []\n",
        b'// tritonscope replay {"stage": 1}\n',
        b"\xff\xfe\x00",
    ],
)
def test_a_file_that_is_no_reproducer_is_refused(content, tmp_path):
    (tmp_path / "x.mlir").write_bytes(content)
    done = tritonscope("replay", "x.mlir", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("tritonscope: error: x.mlir is no reproducer")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "path", [["os", "system"], ["passes", "__class__"], ["nvidia", "load_dialects"], ["llvm", "init_targets"]]
)
def test_a_hostile_reproducer_reaches_nothing_but_passes(path, tmp_path):
    header = {
        "stage": "ttgir",
        "pass_name": "x",
        "options": "",
        "call": {"path": path, "args": ["touch owned"], "kwargs": {}},
        "target": {"backend": "cuda", "arch": "90", "warp_size": 32},
        "versions": {},
        "message": None,
    }
    (tmp_path / "x.mlir").write_text(f"// tritonscope replay {json.dumps(header)}\nmodule {{}}\n")
    done = tritonscope("replay", "x.mlir", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "adds no pass" in done.stderr
