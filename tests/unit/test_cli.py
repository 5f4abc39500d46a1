"""The reading commands: what scripts rely on, and what a terminal shows."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.unit.synthetic import CUBIN, LLVM_INNER, PTX, SOURCE, TTGIR, TTIR
from tritonscope import cli
from tritonscope.cli import show, terminal
from tritonscope.errors import ChildDied, Missing
from tritonscope.ir.locations import strip_locations
from tritonscope.store import reader

MakeCapture = Callable[..., Path]
Run = Callable[..., tuple[int, str, str]]
NAME = "matmul/sm_90-0123456789"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], dumps: Path) -> Run:
    """Run a command in this process; gives its exit code, standard output and standard error."""

    def run(*argv: str) -> tuple[int, str, str]:
        code = cli.main(list(argv))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def program(*argv: str) -> list[str]:
    return [sys.executable, "-c", "import sys; from tritonscope.cli import main; sys.exit(main())", *argv]


def on_a_terminal(*argv: str, **environment: str) -> str:
    """What a command writes to a terminal of 80 columns."""
    leader, follower = pty.openpty()
    env = {**os.environ, "COLUMNS": "80", "TERM": "xterm-256color", **environment}
    with subprocess.Popen(program(*argv), stdout=follower, stderr=subprocess.STDOUT, env=env) as process:
        os.close(follower)
        written = b""
        try:
            while data := os.read(leader, 65536):
                written += data
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(leader)
    assert process.returncode in (0, 2)
    return written.decode().replace("\r\n", "\n")


def test_full_screen_is_not_drawn_into_a_file(tmp_path: Path) -> None:
    """The interface draws on standard error: `2>log` would leave an empty screen that takes keys."""
    leader, follower = pty.openpty()
    log = tmp_path / "log"
    with log.open("w") as error:
        code = subprocess.run(program("open"), stdin=follower, stdout=follower, stderr=error, check=False).returncode
    os.close(leader)
    os.close(follower)
    assert (code, "needs a terminal" in log.read_text()) == (2, True)


def test_ls(run: Run, capture: MakeCapture, dumps: Path) -> None:
    folder = capture()
    capture("bbbb", kernel="attention", target="gfx942", status="crashed")
    code, out, err = run("ls", "--json")
    assert (code, err) == (0, "")
    rows = json.loads(out)
    assert [row["capture"] for row in rows] == ["attention/gfx942-bbbb", NAME]
    created = rows[1].pop("created")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", created)
    assert rows[1] == {
        "capture": NAME,
        "path": str(folder),
        "kernel": "matmul",
        "target": "sm_90",
        "key": "f00d" * 16,
        "status": "ok",
        "triton_version": "3.9.0",
        "stages": ["source", "ttir", "ttgir", "llir", "ptx", "cubin"],
        "recipe": None,
    }
    code, out, err = run("ls", "--dumps", str(dumps))
    assert (code, err) == (0, "")
    assert [line.split()[:3] for line in out.splitlines()[1:]] == [
        ["attention/gfx942-bbbb", "crashed", "3.9.0"],
        [NAME, "ok", "3.9.0"],
    ]


def test_ls_skips_what_cannot_be_read(run: Run, capture: MakeCapture) -> None:
    capture("aaaa")
    bad = capture("bbbb")
    (bad / "capture.json").write_text('{"format": 99}')
    code, out, err = run("ls", "--json")
    assert [row["capture"] for row in json.loads(out)] == ["matmul/sm_90-aaaa"]
    assert code == 0
    assert err.startswith("tritonscope: skipped: ")
    assert "format 99" in err
    (bad.parent / "sm_90-aaaa" / "capture.json").write_text("[]")
    (bad.parent / "sm_90-aaaa" / "events.jsonl").unlink()
    assert run("ls")[0] == 2


def test_ls_of_nothing_says_how_to_start(run: Run, dumps: Path) -> None:
    assert run("ls", "--json")[:2] == (0, "[]\n")
    code, out, err = run("ls")
    assert (code, out) == (0, "")
    assert "tritonscope compile matmul" in err
    assert run("ls", "--dumps", str(dumps / "none"))[0] == 2


def test_show_json(run: Run, capture: MakeCapture) -> None:
    failure = {"message": "no", "stage": "ttgir", "pass": "tritongpu-pipeline", "line": 3}
    folder = capture(status="failed", events=[{"event": "failure", **failure}])
    code, out, err = run("show", NAME, "--json")
    data = json.loads(out)
    assert (code, err) == (0, "")
    assert data["path"] == str(folder)
    assert data["resources"] == {"registers": 64, "spills": 0, "shared": 1024, "stack": None}
    assert data["stages"][0] == {
        "stage": "source",
        "seconds": 0.25,
        "lines": 8,
        "bytes": len(SOURCE),
        "file": "matmul.source",
    }
    assert data["metadata"] == {"shared": 1024, "name": "matmul"}
    assert data["request"]["target"] == {"backend": "cuda", "arch": "90", "warp_size": 32}
    assert data["failure"]["pass"] == "tritongpu-pipeline"
    assert (data["failure"]["inner"], data["failure"]["line"], data["failure"]["message"]) == (None, 3, "no")
    assert (data["triton_version"], data["status"], data["key"]) == ("3.9.0", "failed", "f00d" * 16)
    assert "passes" not in data


def rendered(folder: Path, width: int = 80) -> str:
    written = io.StringIO()
    show.render(reader.open_capture(folder), Console(file=written, width=width, markup=False, highlight=False))
    return written.getvalue()


def test_show_says_what_matters(capture: MakeCapture) -> None:
    text = rendered(capture())
    assert f"{NAME}  ok\n" in text
    assert "triton 3.9.0" in text
    assert "took 1.75 s" in text
    assert re.search(r"^ttgir +8 +[\d,]+ +0\.250", text, re.MULTILINE)
    assert re.search(r"^cubin +binary +7 ", text, re.MULTILINE)
    assert "registers 64   spills 0   shared 1,024\n" in text
    changed = re.search(r"^6 passes and steps, and 4 inside them; (\d+) changed the IR:$", text, re.MULTILINE)
    listed = re.findall(r"^\w+ +(\d+) +[\w.-]+ +.*[\d.]+$", text.partition("changed the IR:")[2], re.MULTILINE)
    assert changed is not None
    of_pipeline = [p for p in reader.open_capture(capture()).passes if "." not in p.step]
    assert listed[: int(changed[1])] == [p.step for p in of_pipeline if p.changed]
    assert text.partition("changed nothing:")[2] != "" or all(p.changed for p in of_pipeline)
    assert f"tritonscope passes {NAME} --changed" in text
    assert "note: a note" in text


def test_show_points_at_the_users_line(capture: MakeCapture) -> None:
    failure = {
        "event": "failure",
        "message": "cannot \x1b[2Jbroadcast",
        "stage": "ttir",
        "pass": "inline",
        "inner": "canonicalizer",
        "step": "0",
        "file": "/kernels/matmul.py",
        "line": 33,
        "column": 7,
        "source_line": "\tx = a + b",
        "reproducer": "passes/repro me.mlir",
    }
    folder = capture(status="failed", events=[failure])
    text = rendered(folder)
    assert "error: cannot \\x1b[2Jbroadcast" in text
    assert "inline, inside it canonicalizer (step 0)" in text
    assert "/kernels/matmul.py:33" in text
    source, caret = text.partition("        x = a + b\n")[1:]
    assert source
    line = caret.split("\n")[0]
    assert (source[line.index("^")], line.strip()) == ("+", "^")
    assert f"tritonscope replay '{folder}/passes/repro me.mlir'" in text.replace("\n", "")


def test_passes(run: Run, capture: MakeCapture) -> None:
    capture()
    code, out, _ = run("passes", "matmul", "--json")
    rows = json.loads(out)
    assert code == 0
    assert rows[0] == {
        "step": "0",
        "stage": "ttir",
        "name": "inline",
        "options": "",
        "ms": 2.5,
        "changed": True,
        "ops_before": 4,
        "ops_after": 4,
        "file": "passes/000-inline.mlir",
        "method": "intercepted",
        "before": None,
        "scope": "",
    }
    changed = json.loads(run("passes", "matmul", "--changed", "--json")[1])
    assert changed == [row for row in rows if row["changed"]]
    assert len(changed) == 6
    slowest = json.loads(run("passes", "matmul", "--sort", "time", "--json")[1])
    assert [slowest[index]["step"] for index in (0, 1, -1)] == ["2", "0", "0.1"]
    lines = run("passes", "matmul")[1].splitlines()
    assert re.match(r"0\.1 +ttir +  canonicalizer +changed +4", lines[2])
    assert re.match(r"1 +ttir +canonicalizer +0\.5", lines[3])


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["ttgir"], strip_locations(TTGIR)),
        (["ttgir", "--locations"], TTGIR),
        (["--pass", "1"], strip_locations(TTIR)),
        (["--pass", "inline", "--before", "--locations"], SOURCE),
        (["--pass", "sroa#2"], LLVM_INNER),
        (["--pass", "4", "--before", "--locations"], None),
        (["ptx"], PTX.replace("\t.loc\t1 32 0\n", "")),
        (["TTGIR", "-o", "-"], strip_locations(TTGIR)),
    ],
)
def test_dump(run: Run, capture: MakeCapture, argv: list[str], expected: str | None) -> None:
    capture()
    code, out, err = run("dump", "matmul", *argv)
    assert (code, err) == (0, "")
    if expected is None:
        assert "!dbg !3" in out
    else:
        assert out == expected


def test_dump_json(run: Run, capture: MakeCapture) -> None:
    folder = capture()
    data = json.loads(run("dump", "matmul", "--pass", "2", "--json")[1])
    assert data == {
        "capture": NAME,
        "path": str(folder),
        "stage": "ttgir",
        "step": "2",
        "pass": "tritongpu-coalesce",
        "when": "after",
        "file": "passes/002-tritongpu-coalesce.mlir",
        "text": strip_locations(TTGIR),
    }
    assert json.loads(run("dump", "matmul", "cubin", "--json")[1])["text"] is None


def test_dump_says_which_run_it_took(run: Run, capture: MakeCapture) -> None:
    capture()
    _, _, err = run("dump", "matmul", "--pass", "canonicalizer")
    assert "ran 3 times; taking the first, step 0.1" in err


@pytest.mark.parametrize("argv", [[], ["ttir", "--pass", "1"], ["ttir", "--before"], ["hsaco"], ["--pass", "nope"]])
def test_dump_refuses(run: Run, capture: MakeCapture, argv: list[str]) -> None:
    capture()
    code, out, err = run("dump", "matmul", *argv)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"tritonscope: error: [^\n]+\n", err)


def test_dump_into_a_file_is_whole_or_not_at_all(run: Run, capture: MakeCapture, tmp_path: Path) -> None:
    capture()
    file = tmp_path / "out.cubin"
    file.write_text("old")
    assert run("dump", "matmul", "cubin", "-o", str(file)) == (0, "", "")
    assert file.read_bytes() == CUBIN
    assert run("dump", "matmul", "ttir", "-o", str(tmp_path / "no" / "x"))[0] == 2
    assert {path.name for path in tmp_path.iterdir()} == {"dumps", "out.cubin"}


def test_binaries_go_raw_into_a_pipe(capture: MakeCapture) -> None:
    capture()
    done = subprocess.run(program("dump", "matmul", "cubin"), capture_output=True, check=True)
    assert done.stdout == CUBIN


def test_binaries_do_not_go_to_a_terminal(capture: MakeCapture) -> None:
    capture()
    assert "-o FILE" in on_a_terminal("dump", "matmul", "cubin")


def test_grep(run: Run, capture: MakeCapture) -> None:
    capture()
    code, out, err = run("grep", "convert_layout", "matmul")
    assert code == 0
    assert "first appears after step 2, tritongpu-coalesce (ttgir)" in err
    line = "    %0 = ttg.convert_layout %a : tensor<4xf16>"
    assert out == f"2-tritongpu-coalesce:3:{line}\nttgir:3:{line}\n"
    data = json.loads(run("grep", "CONVERT.layout", "matmul", "-i", "--stage", "ttgir", "--json")[1])
    place = {"stage": "ttgir", "step": "2", "pass": "tritongpu-coalesce", "file": "passes/002-tritongpu-coalesce.mlir"}
    assert data["pattern"] == "CONVERT.layout"
    assert data["first"] == place
    assert data["matches"][0] == {**place, "line": 3, "text": line}


def test_grep_looks_in_the_order_in_which_the_ir_was_made(run: Run, capture: MakeCapture) -> None:
    capture()
    _, out, err = run("grep", "-l", "define|module", "matmul")
    assert out.split() == [
        "source",
        "0.1-canonicalizer",
        "0-inline",
        "ttir",
        "2-tritongpu-coalesce",
        "ttgir",
        "3-llvm.to_module",
        "4.1-sroa",
        "4-llvm.optimize_module",
    ]
    assert "first appears in the stage source, before any pass" in err


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["nothing like it"], 1),
        (["constant.*i32", "-F"], 1),
        (["matmul\\.py"], 1),
        (["matmul\\.py", "--locations"], 0),
        (["convert_layout", "--stage", "ttir"], 1),
        (["(", "-F"], 0),
        (["("], 2),
        (["x", "--stage", "nope"], 2),
        (["x", "-c", "-l"], 2),
    ],
)
def test_grep_exit_codes(run: Run, capture: MakeCapture, argv: list[str], code: int) -> None:
    capture()
    assert run("grep", argv[0], "matmul", *argv[1:])[0] == code


def test_grep_counts(run: Run, capture: MakeCapture) -> None:
    capture()
    assert run("grep", "-c", "tt\\.", "matmul", "--stage", "ttgir")[1] == "2-tritongpu-coalesce:2\nttgir:2\n"
    data = json.loads(run("grep", "-c", "tt\\.", "matmul", "--json")[1])
    assert [place["count"] for place in data["counts"]] == [2] * 6


def test_kernels(run: Run) -> None:
    rows = {row["name"]: row for row in json.loads(run("kernels", "--json")[1])}
    assert rows["matmul"]["options"] == {"num_warps": 8, "num_stages": 3}
    assert rows["matmul"]["signature"].startswith("a=tensordesc<fp16[128,64]>, ")
    assert Path(rows["matmul"]["path"]).name == "matmul.py"
    assert "matmul  C[M, N]" in run("kernels")[1]


@pytest.mark.parametrize("command", ["show", "passes", "dump", "grep"])
def test_a_capture_that_is_not_there_is_one_line_and_exit_code_2(run: Run, command: str) -> None:
    more = {"dump": ["ttir"], "grep": ["nope"]}.get(command, [])
    argv = [command, *more, "nope"] if command == "grep" else [command, "nope", *more]
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"tritonscope: error: no capture is called 'nope' in [^\n]+\n", err)


@pytest.mark.parametrize(
    ("raised", "code"),
    [(ChildDied("died"), 4), (Missing("gone"), 5), (KeyboardInterrupt(), 130), (BrokenPipeError(), 0)],
)
def test_exit_codes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], raised: BaseException, code: int
) -> None:
    def fail(args: object) -> int:
        raise raised

    monkeypatch.setattr("tritonscope.cli.kernels.run", fail)
    monkeypatch.setattr(os, "dup2", lambda *_: None)
    monkeypatch.setattr(sys.stdout, "fileno", lambda: 1, raising=False)
    assert cli.main(["kernels"]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (f"tritonscope: error: {raised}\n" if code in (4, 5) else "")


@pytest.mark.parametrize("argv", [[], ["lss"], ["ls", "--nope"], ["--nope"], ["passes", "x", "--sort", "size"]])
def test_wrong_usage_is_exit_code_2(run: Run, argv: list[str]) -> None:
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert re.match(r"usage: tritonscope|tritonscope: error: there is no (command|option) '", err)


def test_every_command_has_help_with_examples(run: Run) -> None:
    for command in ("ls", "show", "passes", "dump", "grep", "kernels"):
        code, out, _ = run(command, "--help")
        assert code == 0
        assert f"tritonscope {command}" in out
        assert "examples:" in out
        assert "JSON:" in out
    code, out, _ = run("--help")
    assert code == 0
    assert all(f"  {command} " in out for command in cli.COMMANDS)
    assert run("--version")[1] == f"tritonscope {cli.__version__}\n"


def loaded(*argv: str) -> set[str]:
    code = f"import sys; from tritonscope.cli import main; main({list(argv)!r}); print(*sys.modules, file=sys.stderr)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split())


def test_help_loads_nothing_but_the_table() -> None:
    modules = loaded("--help")
    assert {name for name in modules if name.startswith("tritonscope")} == {
        "tritonscope",
        "tritonscope.cli",
        "tritonscope.errors",
    }
    assert (
        not {"argparse", "typing", "rich", "pygments", "dataclasses", "json", "pathlib", "triton", "textual"} & modules
    )


def test_reading_loads_neither_triton_nor_what_it_does_not_need(capture: MakeCapture) -> None:
    capture()
    assert not {"triton", "torch", "textual", "rich", "pygments"} & loaded("passes", "matmul", "--json")
    assert not {"triton", "torch", "textual", "rich", "pygments"} & loaded("dump", "matmul", "ttir")


def test_a_reader_that_leaves_early_is_no_error(capture: MakeCapture) -> None:
    folder = capture()
    (folder / "matmul.ttgir").write_text("module {\n}\n" * 100_000)
    with subprocess.Popen(
        program("dump", "matmul", "ttgir"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == 0


HOSTILE = "a\x1b[2J\x9b31m\x07\r\x7f\u202eb\tc\n"


def test_control_characters_never_reach_a_terminal(capture: MakeCapture) -> None:
    folder = capture()
    (folder / "matmul.ttgir").write_text(HOSTILE)
    for environment in ({}, {"NO_COLOR": "1"}):
        for argv in (("dump", "matmul", "ttgir"), ("grep", "b", "matmul", "--stage", "ttgir")):
            shown = re.sub(r"\x1b\[[\d;]*m", "", on_a_terminal(*argv, **environment))
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown)
            assert r"a\x1b[2J\x9b31m\x07\r\x7f\u202eb" in shown


def test_control_characters_pass_through_a_pipe_unchanged(capture: MakeCapture) -> None:
    folder = capture()
    (folder / "matmul.ttgir").write_bytes(HOSTILE.encode())
    done = subprocess.run(program("dump", "matmul", "ttgir"), capture_output=True, check=True)
    assert done.stdout == HOSTILE.encode()


def test_colour_is_for_terminals_that_want_it(capture: MakeCapture) -> None:
    capture()
    colour = re.compile(r"\x1b\[[\d;]*3\d")
    for argv in (("dump", "matmul", "ttgir"), ("show", "matmul"), ("ls",), ("grep", "arith", "matmul")):
        assert colour.search(on_a_terminal(*argv))
        assert not colour.search(on_a_terminal(*argv, NO_COLOR="1"))
        piped = subprocess.run(program(*argv), capture_output=True, check=True)
        assert b"\x1b" not in piped.stdout + piped.stderr


def test_tables_fit_80_columns(capture: MakeCapture) -> None:
    capture()
    for argv in (("show", "matmul"), ("ls",), ("passes", "matmul")):
        lines = re.sub(r"\x1b\[[\d;]*m", "", on_a_terminal(*argv)).split("\n")
        commands = ("  tritonscope ",)  # which stay whole, to be copied
        assert [line for line in lines if len(line) > 80 and not line.startswith(commands)] == []


def test_json_is_utf_8_whatever_the_locale_and_whatever_the_text(capture: MakeCapture) -> None:
    capture(events=[{"event": "note", "text": "naïve \ud800"}])
    env = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(program("show", "matmul", "--json"), capture_output=True, check=True, env=env)
    notes: Any = json.loads(done.stdout.decode("utf-8"))["notes"]
    assert notes == ["a note", "naïve \ud800"]
    shown = subprocess.run(program("show", "matmul"), capture_output=True, check=True, env=env)
    assert b"\\ud800" in shown.stdout


@pytest.mark.parametrize("code", [*range(0x20), *range(0x7F, 0xA0), 0x202E, 0x2066])
def test_escaping_writes_controls_out(code: int) -> None:
    character = chr(code)
    if character in "\n\t":
        assert terminal.escape(character) == character
    else:
        assert terminal.escape(character).isprintable()
