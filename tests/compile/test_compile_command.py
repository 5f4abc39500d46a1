"""`tritonscope compile` as a user runs it."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compile.conftest import ROOT
from tritonscope.store import reader

UNSEEN = ROOT / "tests" / "kernels" / "unseen.py"
SIGNATURE = "*fp32:16, *fp32:16, i32, 512"  # of `copy` in there


def tritonscope(*arguments: object, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tritonscope", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, **env},
    )


def compiled(*arguments: object, cwd: Path, **env: str) -> list[dict]:
    done = tritonscope("compile", *arguments, "--json", cwd=cwd, **env)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_main_job_prints_what_is_worth_reading(tmp_path):
    done = tritonscope("compile", "matmul", "-t", "sm_90", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for part in ("matmul/sm_90-", "ttgir", "registers", "spills", "shared", "changed the IR", "next:"):
        assert part in done.stdout
    assert "\x1b" not in done.stdout
    assert list((tmp_path / "dumps" / "matmul").glob("sm_90-*/capture.json"))


def test_json_has_the_documented_keys(tmp_path):
    (line,) = compiled("matmul", "-t", "sm_90", cwd=tmp_path)
    asked = {"constants", "options", "config", "skip", "stop_after"}
    assert set(line) == {"capture", "path", "kernel", "target", "key", "status", "seconds", "failure"} | asked
    assert [line[name] for name in sorted(asked)] == [None, {}, {}, [], None]
    assert line["status"] == "ok"
    assert line["failure"] is None
    assert Path(line["path"]).is_absolute()
    assert line["path"].endswith(line["capture"])


def test_comma_lists_make_the_product_and_no_two_share_a_folder(tmp_path):
    lines = compiled(
        f"{UNSEEN}:softmax",
        *("-s", "out=*fp16:16, x=*fp16:16, BLOCK=128"),
        *("-t", "sm_90", "-t", "gfx942"),
        *("--num-warps", "1,2", "--set", "BLOCK=128,256"),
        cwd=tmp_path,
    )
    captures = [reader.open_capture(Path(line["path"])) for line in lines]
    variants = {
        (c.target, c.metadata["num_warps"], c.request["used"]["signature"].rpartition("=")[2]) for c in captures
    }
    assert variants == {(t, w, b) for t in ("sm_90", "gfx942") for w in (1, 2) for b in ("128", "256")}
    assert len({line["path"] for line in lines}) == 8
    asked_for = {(line["target"], line["options"]["num_warps"], line["constants"]["BLOCK"]) for line in lines}
    assert asked_for == {(t, w, b) for t in ("sm_90", "gfx942") for w in ("1", "2") for b in ("128", "256")}


def test_without_a_target_it_says_which(tmp_path):
    done = tritonscope(
        "compile", f"{UNSEEN}:softmax", "-s", "*fp16, *fp16, i32, i32, 64", cwd=tmp_path, PATH="/nowhere"
    )
    assert done.returncode == 0, done.stderr
    assert "compiling for sm_90" in done.stderr
    assert "--target" in done.stderr


def test_an_autotuned_kernel_and_its_configurations(tmp_path):
    signature = ("-s", "x=*fp32:16, n=i32:16, factor=fp32, EVEN=True", "-t", "sm_90")
    (first,) = compiled(f"{UNSEEN}:scale", *signature, cwd=tmp_path)
    every = compiled(f"{UNSEEN}:scale", *signature, "--config", "all", cwd=tmp_path)
    warps = [reader.open_capture(Path(line["path"])).metadata["num_warps"] for line in every]
    assert warps == [2, 4, 8]
    assert every[0]["path"] == first["path"]
    beyond = tritonscope("compile", f"{UNSEEN}:scale", *signature, "--config", "3", cwd=tmp_path)
    assert beyond.returncode == 2
    assert "Traceback" not in beyond.stderr


def test_a_gluon_kernel(tmp_path):
    (line,) = compiled(f"{UNSEEN}:copy", "-s", "*fp32:16, *fp32:16, i32, 512", "-t", "sm_90", cwd=tmp_path)
    capture = reader.open_capture(Path(line["path"]))
    assert "ttir" not in [stage.stage for stage in capture.stages]
    assert "gluon-inline" in [record.name for record in capture.passes]
    assert "ttg.blocked" in reader.stage_text(capture, "source")


def test_what_is_missing_in_a_signature_is_printed_ready_to_edit(tmp_path):
    done = tritonscope("compile", f"{UNSEEN}:softmax", "-t", "sm_90", cwd=tmp_path)
    assert done.returncode == 2
    assert '--signature "' in done.stderr
    assert "stride=i32" in done.stderr
    assert not (tmp_path / "dumps").exists() or not list((tmp_path / "dumps").rglob("events.jsonl"))


def test_a_file_that_imports_what_is_not_here_names_the_line_and_the_way_out(tmp_path):
    file = tmp_path / "theirs.py"
    file.write_text("import triton\nimport a_package_of_theirs\n\n@triton.jit\ndef k(x):\n    pass\n")
    done = tritonscope("compile", f"{file}:k", "-t", "sm_90", "-s", "*fp32", cwd=tmp_path)
    assert done.returncode == 2
    assert "a_package_of_theirs" in done.stderr
    assert "line 2" in done.stderr or ":2" in done.stderr
    assert "--python" in done.stderr


def test_its_folder_is_importable_and_ours_is_not_on_its_path(tmp_path):
    (tmp_path / "beside.py").write_text("BLOCK = 64\n")
    file = tmp_path / "client.py"  # the name of a module of ours
    file.write_text(
        "import sys\nimport triton, triton.language as tl\nfrom beside import BLOCK\n"
        "assert not any(p.endswith('tritonscope/engine') for p in sys.path)\n"
        "N: tl.constexpr = tl.constexpr(BLOCK)\n"
        "@triton.jit\ndef k(x):\n    o = tl.arange(0, N)\n    tl.store(x + o, o)\n"
    )
    (line,) = compiled(f"{file}:k", "-t", "sm_90", "-s", "*i32:16", cwd=tmp_path)
    assert line["status"] == "ok"


def test_variables_that_steer_the_compiler_are_kept_out_noted_and_let_in_by_env(tmp_path):
    plain = compiled("matmul", "-t", "sm_90", cwd=tmp_path, TRITON_INTERPRET="1", DISABLE_LLVM_OPT="1")[0]
    capture = reader.open_capture(Path(plain["path"]))
    assert any("TRITON_INTERPRET=1" in note for note in capture.notes)
    asked = compiled("matmul", "-t", "sm_90", "--env", "DISABLE_LLVM_OPT=1", cwd=tmp_path)[0]
    assert asked["key"] != plain["key"]
    assert asked["path"] != plain["path"]


def test_verify_holds(tmp_path):
    (line,) = compiled("matmul", "-t", "sm_90", "--verify", cwd=tmp_path)
    verified = reader.open_capture(Path(line["path"])).verified
    assert verified is not None
    assert set(verified) == {"source", "ttir", "ttgir", "llir", "ptx", "cubin"}
    assert all(verified.values())


def test_the_llvm_passes_are_children_of_their_step_and_shift_nothing(tmp_path, capture):
    (line,) = compiled("matmul", "-t", "sm_90", "--llvm-passes", cwd=tmp_path)
    with_llvm, without = reader.open_capture(Path(line["path"])), capture("matmul", "sm_90")
    tops = [(p.step, p.name, p.changed) for p in with_llvm.passes if "." not in p.step]
    assert tops == [(p.step, p.name, p.changed) for p in without.passes if "." not in p.step]
    optimising = reader.find_step(with_llvm, "llvm.optimize_module").step
    names = [p.name for p in with_llvm.passes if p.step.startswith(f"{optimising}.")]
    assert {"SROAPass", "InstCombinePass", "GVNPass"} <= set(names)
    assert len(names) > 50
    last = [p for p in with_llvm.passes if p.step.startswith(f"{optimising}.") and p.scope == "module" and p.file][-1]
    body = reader.after(with_llvm, last)
    assert "define" in body
    for stage in ("llir", "ptx"):
        assert reader.stage_text(with_llvm, stage) == reader.stage_text(without, stage)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing_like_it"], "nothing_like_it"),
        (["matmu"], "did you mean matmul"),
        (["not_there.py:k"], "not_there.py"),
        (["matmul", "-t", "sm90"], "sm90"),
        (["matmul", "-t", "sm_10"], "sm_10"),
        (["matmul", "-s", "*fp16:16, i32:"], "signature"),
        (["matmul", "--set", "BLOCK_M"], "--set"),
        (["matmul", "--set", "NO_SUCH=1"], "NO_SUCH"),
        (["matmul", "--num-warps", "3"], "num_warps"),
        (["matmul", "--num-warps", ""], "--num-warps takes numbers"),
        (["matmul", "--maxnreg", "abc"], "--maxnreg takes numbers"),
        (["matmul", "--option", "num_warps=x"], "--num-warps takes numbers"),
        (["matmul", "--python", "/bin/true"], "/bin/true is no Python"),
        (["matmul", "-t", "cuda:90:64"], "warps of 64"),
        (["matmul", "--option", "no_such=1"], "no_such"),
        (["matmul", "--config", "x"], "--config"),
        (["matmul", "--python", "/no/such/python"], "/no/such/python"),
        (["matmul", "--jobs", "0"], "--jobs"),
        (["matmul", "--timeout", "-1"], "--timeout"),
        (["matmul", "-o", "/proc/nowhere"], "/proc/nowhere"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(arguments, says, tmp_path):
    done = tritonscope("compile", *arguments, *([] if "-t" in arguments else ["-t", "sm_90"]), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("events.jsonl"))


def test_what_it_says_to_do_next_works_as_printed(tmp_path):
    done = tritonscope("compile", f"{UNSEEN}:copy", "-s", SIGNATURE, "-t", "sm_90", "-o", "else where", cwd=tmp_path)
    commands = [line.partition("#")[0] for line in done.stdout.splitlines() if line.startswith("  tritonscope ")]
    assert len(commands) == 3
    for command in commands:
        again = tritonscope(*shlex.split(command)[1:], cwd=tmp_path)
        assert again.returncode in (0, 1), again.stderr  # grep may find nothing


def test_of_several_the_highest_code_wins_and_the_good_ones_are_kept(tmp_path):
    broken = ROOT / "tests" / "kernels" / "broken.py"
    done = tritonscope("compile", "matmul", f"{broken}:shape_error", "-t", "sm_90", "--json", cwd=tmp_path)
    assert done.returncode == 3
    assert [json.loads(line)["status"] for line in done.stdout.splitlines()] == ["ok", "failed"]
