"""Other tools' files as captures: what is told by their contents, and what is refused."""

import argparse
import gzip
import io
import json
import os
import re
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.synthetic import CUBIN, PTX, module
from tritonscope import runs
from tritonscope.cli import main
from tritonscope.cli import open as open_command
from tritonscope.errors import UsageError
from tritonscope.export.archive import archive
from tritonscope.foreign import direct, importing, reading, tritonparse_launches
from tritonscope.model import Capture, to_json
from tritonscope.store import reader

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases"

TTIR = module("%0 = arith.constant 2 : i32", "ttir")
TTGIR = TTIR.replace("module {", 'module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {')
LLIR_MODULE = "module {\n  llvm.func @matmul() attributes {nvvm.kernel} {\n    llvm.return\n  }\n}\n"
METADATA = {
    "hash": "ab" * 32,
    "target": {"backend": "cuda", "arch": 90, "warp_size": 32},
    "num_warps": 4,
    "shared": 1024,
    "name": "matmul",
    "triton_version": "3.4.0",
    "TRITON_DISABLE_LINE_INFO": "true",
}


def entry(folder: Path, name: str = "matmul", metadata: Any = METADATA, **stages: str | bytes) -> Path:
    """A folder as Triton's cache has them."""
    folder.mkdir(parents=True, exist_ok=True)
    for stage, text in ({"ttir": TTIR, "ttgir": TTGIR, "ptx": PTX} | stages).items():
        (folder / f"{name}.{stage}").write_bytes(text if isinstance(text, bytes) else text.encode())
    if metadata is not None:
        (folder / f"{name}.json").write_text(json.dumps(metadata))
    return folder


def header(name: str, operation: str = "'builtin.module' operation") -> str:
    return f"// -----// IR Dump Before {name} ({operation}) //----- //\n"


def dump(*texts: tuple[str, str]) -> str:
    return "".join(f"{head}{text}\n\n" for head, text in texts)


ONE_KERNEL = dump(
    (header("CSEPass: cse"), TTIR),
    (header("ConvertTritonToTritonGPU: convert-triton-to-tritongpu{num-warps=4}"), TTIR),
    (header("TritonGPUCoalesce: tritongpu-coalesce"), TTGIR),
    (header("ConvertTritonGPUToLLVM: convert-triton-gpu-to-llvm"), TTGIR),
    (header("CSEPass: cse"), LLIR_MODULE),
)


def event(**more: Any) -> dict[str, Any]:
    payload = {
        "metadata": {**METADATA, "src_constants": {"(1,)": 64}, "cache_hit": False},
        "file_content": {"matmul.ttir": TTIR, "matmul.ttgir": TTGIR, "matmul.ptx": PTX},
        "python_source": {"file_path": "/k.py", "start_line": 32, "code": "@jit\ndef matmul(a, BLOCK):\n    pass\n"},
        "times": {"lowering_stages": [["ttir", 2500]]},
    }
    return {"event_type": "compilation", "payload": {**payload, **more}}


@pytest.fixture
def imported(dumps: Path, capfd: pytest.CaptureFixture[str]) -> Callable[[Path], list[Capture]]:
    """imported(path) -> the captures that the command makes of it."""

    def imported(path: Path) -> list[Capture]:
        code = main(["import", str(path), "--no-sass", "--json"])
        out, err = capfd.readouterr()
        assert code == 0, err
        return [reader.open_capture(Path(json.loads(line)["path"])) for line in out.splitlines()]

    return imported


@pytest.fixture
def refused(dumps: Path, capfd: pytest.CaptureFixture[str]) -> Callable[[Path], str]:
    """refused(path) -> why; nothing is left behind, and it is said in lines of ours without control characters."""

    def refused(path: Path) -> str:
        code = main(["import", str(path), "--no-sass"])
        out, err = capfd.readouterr()
        assert (code, out) == (2, "")
        assert all(line.startswith("tritonscope: ") and line.isprintable() for line in err.splitlines())
        assert not [each for each in dumps.rglob("*") if each.is_file()]
        return err

    return refused


# -- folders


def test_a_cache_entry(imported: Any, tmp_path: Path) -> None:
    (capture,) = imported(entry(tmp_path / "cache" / "XYZ", cubin=CUBIN))
    assert (capture.kernel, capture.target, capture.status, capture.key) == ("matmul", "sm_90", "ok", "ab" * 32)
    assert [stage.stage for stage in capture.stages] == ["ttir", "ttgir", "ptx", "cubin"]
    assert reader.stage_text(capture, "ttgir") == TTGIR
    assert reader.stage_bytes(capture, "cubin") == CUBIN
    assert capture.metadata == METADATA
    assert capture.versions["triton"] == "3.4.0"
    assert capture.request["imported_from"] == {"tool": "Triton's cache", "path": str(tmp_path / "cache" / "XYZ")}
    assert capture.seconds is None
    assert {stage.seconds for stage in capture.stages} == {None}
    components = capture.components
    assert components["signature"] == {"a": "*fp16"}
    assert components["environment"] == {"TRITON_DISABLE_LINE_INFO": "true"}
    assert components["options"] == {"num_warps": "4", "arch": "sm90"}
    assert {"functions", "constants", "backend.hash"} <= set(components["unknown"])


def test_a_whole_cache_and_the_same_again(imported: Any, tmp_path: Path, dumps: Path) -> None:
    cache = tmp_path / "cache"
    entry(cache / "ONE")
    entry(cache / "TWO", metadata={**METADATA, "hash": "cd" * 32})
    entry(cache / "THREE", name="softmax")
    (cache / "LAUNCHER").mkdir()
    (cache / "LAUNCHER" / "cuda_utils.so").write_bytes(CUBIN)
    first = imported(cache)
    assert sorted(capture.kernel for capture in first) == ["matmul", "matmul", "softmax"]
    assert {capture.path for capture in imported(cache)} == {capture.path for capture in first}
    assert len(reader.list_captures(dumps)[0]) == 3


def test_a_dump_folder_has_no_metadata(imported: Any, tmp_path: Path) -> None:
    (capture,) = imported(entry(tmp_path / "dump", metadata=None))
    assert (capture.target, capture.key, capture.versions.get("triton")) == ("sm_90", "", None)
    assert capture.request["imported_from"]["tool"] == "TRITON_DUMP_DIR"
    assert {"options", "environment", "triton.version"} <= set(capture.components["unknown"])


def test_what_one_entry_has_wrong_does_not_hold_up_the_others(
    dumps: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    entry(tmp_path / "cache" / "BAD", ttir=b"\0\0")
    entry(tmp_path / "cache" / "GOOD")
    assert main(["import", str(tmp_path / "cache"), "--no-sass"]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("matmul/sm_90-")
    assert "skipped: " in err
    assert "ttir is binary" in err


@pytest.mark.parametrize(
    ("stages", "says"),
    [
        ({"ttir": b"\0\1\2"}, "is binary"),
        ({"ttir": "no such thing"}, "does not look like it"),
        ({"cubin": b"MZ not an ELF file"}, "no ELF file"),
        ({"ptx": ""}, "does not look like it"),
    ],
)
def test_files_that_triton_did_not_write(refused: Any, tmp_path: Path, stages: Any, says: str) -> None:
    assert says in refused(entry(tmp_path / "cache", **stages))


def test_links_are_not_followed(refused: Any, imported: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(TTIR)
    linked = entry(tmp_path / "linked")
    (linked / "matmul.ttir").unlink()
    (linked / "matmul.ttir").symlink_to(secret)
    assert "it is a link" in refused(linked)
    (tmp_path / "outer").mkdir()
    (tmp_path / "outer" / "round").symlink_to(tmp_path / "outer")
    (tmp_path / "outer" / "away").symlink_to(entry(tmp_path / "elsewhere"))
    assert "holds nothing compiled" in refused(tmp_path / "outer")


def test_a_fifo_in_a_folder_does_not_hold_it_up(refused: Any, tmp_path: Path) -> None:
    folder = entry(tmp_path / "cache")
    (folder / "matmul.ptx").unlink()
    os.mkfifo(folder / "matmul.ptx")
    assert "no regular file" in refused(folder)


def test_a_file_that_is_too_large(refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tritonscope.foreign.triton_folders._LARGEST", 1000)
    assert "over 1000 bytes" in refused(entry(tmp_path / "cache", ttir=TTIR * 10))


@pytest.mark.parametrize(
    "metadata",
    [
        {**METADATA, "name": "../../etc/passwd", "hash": ["not", "text"], "triton_version": {"a": 1}},
        {**METADATA, "target": "cuda", "num_warps": {"deep": [[[]]]}},
        {**METADATA, "target": {"backend": "\x1b[31m", "arch": "../..", "warp_size": 10**30}},
        {**METADATA, "hash": "\x1b]0;title\x07", "shared": float("nan")},
        {"name": "\ud800"},
    ],
)
def test_metadata_that_lies_is_kept_out_of_paths_and_terminals(
    imported: Any, metadata: Any, tmp_path: Path, dumps: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (capture,) = imported(entry(tmp_path / "cache", metadata=metadata))
    assert Path(capture.path).parent == dumps / "matmul"
    for command in ("show", "key"):
        assert main([command, capture.path]) == 0
        out, err = capfd.readouterr()
        assert all(line.isprintable() for line in (out + err).splitlines())


def test_metadata_that_is_none(refused: Any, tmp_path: Path) -> None:
    folder = entry(tmp_path / "cache")
    for text in ("[" * 100_000, '{"a":' * 70 + "1" + "}" * 70, "[]", "{", "\xff", '{"a": 1' + "0" * 5000 + "}"):
        (folder / "matmul.json").write_text(text, encoding="latin-1")
        assert "is not the JSON that it should be" in refused(folder)


def test_the_cache_of_torch_compile(imported: Any, tmp_path: Path) -> None:
    """Triton's cache lies in it, by device, amid Inductor's own files."""
    entry(tmp_path / "triton" / "0" / "ABC", name="triton_poi_fused_add_0")
    entry(tmp_path / "triton" / "1" / "ABC", name="triton_red_fused_sum_1", metadata={**METADATA, "hash": "cd" * 32})
    (tmp_path / "fxgraph" / "ab").mkdir(parents=True)
    (tmp_path / "fxgraph" / "ab" / "pickled").write_bytes(b"\x80\x04cos\nabort\n(tR.")
    (tmp_path / "qx").mkdir()
    (tmp_path / "qx" / "cqxz.py").write_text("raise SystemExit(1)")
    (tmp_path / "qx" / "cqxz.best_config").write_text("{}")
    assert sorted(c.kernel for c in imported(tmp_path)) == ["triton_poi_fused_add_0", "triton_red_fused_sum_1"]


def test_a_folder_of_torch_compile_without_kernels_says_which_has_them(refused: Any, tmp_path: Path) -> None:
    (tmp_path / "run" / "torchinductor").mkdir(parents=True)
    (tmp_path / "run" / "torchinductor" / "output_code.py").write_text("exit(1)")
    assert "TORCHINDUCTOR_CACHE_DIR" in refused(tmp_path / "run")


def test_captures_of_ours_are_not_imported_as_a_cache(capture: Any, refused: Any, tmp_path: Path, dumps: Path) -> None:
    folder = capture()
    moved = tmp_path / "mine"
    folder.rename(moved)
    shutil.rmtree(dumps / "matmul")
    assert "holds nothing compiled" in refused(moved)


# -- printed passes


def test_the_passes_of_a_dump(imported: Any, tmp_path: Path) -> None:
    file = tmp_path / "printed"
    file.write_text(f"some program says hello\n{ONE_KERNEL}goodbye\n")
    (capture,) = imported(file)
    assert (capture.kernel, capture.target, capture.status) == ("matmul", "sm_90", "ok")
    assert [(p.step, p.stage, p.name, p.options, p.changed) for p in capture.passes] == [
        ("0", "ttir", "cse", "", False),
        ("1", "ttgir", "convert-triton-to-tritongpu", "num-warps=4", True),
        ("2", "ttgir", "tritongpu-coalesce", "", False),
        ("3", "llir", "convert-triton-gpu-to-llvm", "", True),
        ("4", "llir", "cse", "", False),
    ]
    assert {p.method for p in capture.passes} == {"dumped"}
    assert {p.ms for p in capture.passes} == {None}
    assert capture.passes[-1].ops_after is None
    assert reader.before(capture, capture.passes[0]) == TTIR
    assert reader.after(capture, capture.passes[1]) == TTGIR
    assert reader.stage_text(capture, "ttir") == TTIR


def test_several_kernels_in_a_dump_are_told_apart(imported: Any, tmp_path: Path) -> None:
    file = tmp_path / "printed"
    other = ONE_KERNEL.replace("@matmul", "@softmax")
    file.write_text(ONE_KERNEL + ONE_KERNEL.replace("constant 2", "constant 7") + other)
    captures = imported(file)
    assert [capture.kernel for capture in captures] == ["matmul", "matmul", "softmax"]
    assert [len(capture.passes) for capture in captures] == [5, 5, 5]
    assert len({capture.path for capture in captures}) == 3


def test_old_headers_and_functions_inside_the_inliner(imported: Any, tmp_path: Path) -> None:
    file = tmp_path / "printed"
    inlined = TTIR.replace("constant 2", "constant 3")
    on_function = "'tt.func' operation: @matmul"
    file.write_text(
        dump(
            (header("Inliner (inline)"), TTIR),
            (header("Canonicalizer (canonicalize)", on_function), TTIR),
            (header("TritonAMDGPUSink (amd-sink)"), inlined),
            (header("TritonAMDGPUHoist (amd-hoist)", on_function), inlined),
        )
    )
    (capture,) = imported(file)
    assert [(p.step, p.name, p.changed) for p in capture.passes] == [
        ("0", "inline", True),
        ("0.1", "canonicalize", True),
        ("1", "amd-sink", False),
        ("2", "amd-hoist", False),
    ]
    assert capture.target == "unknown"


def test_a_pass_that_failed(imported: Any, tmp_path: Path) -> None:
    file = tmp_path / "printed"
    failed = header("TritonGPUCoalesce Failed (tritongpu-coalesce)").replace("Before", "After")
    file.write_text(
        dump((header("CSEPass: cse"), TTGIR), (header("TritonGPUCoalesce: tritongpu-coalesce"), TTGIR))
        + "k.py:5:1: error: no such layout\n"
        + dump((failed, TTGIR))
    )
    (capture,) = imported(file)
    assert capture.status == "failed"
    assert capture.failure is not None
    assert (capture.failure.pass_, capture.failure.step) == ("tritongpu-coalesce", "1")
    assert capture.failure.message == "no such layout"


def test_llvm_passes(imported: Any, tmp_path: Path) -> None:
    text = "define ptx_kernel void @matmul() {\n  %1 = add i32 1, 2\n  ret void\n}\n"
    less = "define ptx_kernel void @matmul() {\n  ret void\n}\n"
    file = tmp_path / "printed"
    one = (
        f'; *** IR Dump After SROAPass on [module] ***\n; ModuleID = "m"\n{text}'
        f"; *** IR Dump After ADCEPass on matmul ***\n{less}"
        "# *** IR Dump After Machine Sink (machine-sink) ***:\n# Machine code for function matmul: SSA\n"
    )
    file.write_text(one + one)
    first, second = imported(file)
    assert first.path == second.path, "the same contents are the same capture"
    assert [(p.step, p.name, p.changed) for p in first.passes] == [
        ("0", "llvm.optimize_module", True),
        ("0.1", "SROAPass", False),
        ("0.2", "ADCEPass", True),
        ("1", "llvm.translate_to_asm", True),
        ("1.1", "machine-sink", False),
    ]


def test_standard_input(dumps: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ONE_KERNEL.encode())))
    assert main(["import", "-", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["imported_from"] == {"tool": "MLIR_ENABLE_DUMP", "path": "standard input"}
    assert told["passes"] == 5


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 5000,
        b"hello\n",
        CUBIN,
        os.urandom(4096),
        b"\x1f\x8b",
        b"\x1f\x8bgarbage",
        b"\xff\xfeh\0e\0",
        b"PK\3\4",
    ],
    ids=["empty", "zeros", "text", "binary", "random", "cut gzip", "bad gzip", "utf-16", "cut zip"],
)
def test_files_that_are_nothing_known(refused: Any, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "file").write_bytes(data)
    refused(tmp_path / "file")


def test_a_line_without_an_end(refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading.lines, "__defaults__", (1 << 16,))
    (tmp_path / "file").write_text(ONE_KERNEL + "x" * (1 << 17))
    assert "line 53 of" in refused(tmp_path / "file")


def test_a_dump_without_an_end(refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tritonscope.foreign.pass_dumps._LARGEST_DUMP", 10_000)
    (tmp_path / "file").write_text(header("CSEPass: cse") + "x\n" * 10_000)
    assert "over 10000 bytes" in refused(tmp_path / "file")


def test_every_cut_of_a_dump_is_imported_or_refused(imported: Any, tmp_path: Path, dumps: Path) -> None:
    file = tmp_path / "file"
    for cut in range(0, len(ONE_KERNEL), 97):
        file.write_text(ONE_KERNEL[:cut])
        for found in importing.compilations(str(file)) if cut > 200 else ():
            assert found.kernel in ("matmul", "unnamed")  # type: ignore[union-attr]


# -- traces


def write_trace(path: Path, *events: Any) -> Path:
    text = "".join(json.dumps(each) + "\n" for each in events).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("name", ["trace.ndjson", "trace.ndjson.gz", "named otherwise"])
def test_a_trace(imported: Any, tmp_path: Path, name: str) -> None:
    launch = {"event_type": "launch", "grid": [1]}
    (capture,) = imported(write_trace(tmp_path / name, event(), launch, launch, event()))
    assert (capture.kernel, capture.target, capture.key) == ("matmul", "sm_90", "ab" * 32)
    assert [(s.stage, s.seconds) for s in capture.stages] == [
        ("python", None),
        ("ttir", 0.0025),
        ("ttgir", None),
        ("ptx", None),
    ]
    # Locations in the IR name line 33 of the file.
    assert reader.stage_text(capture, "python").splitlines()[32] == "def matmul(a, BLOCK):"
    assert capture.components["parameters"] == ["a", "BLOCK"]
    assert capture.components["signature"] == {"a": "*fp16", "BLOCK": "constexpr"}
    assert capture.components["constants"] == {"BLOCK": "64"}


def launch(**more: Any) -> dict[str, Any]:
    tensor = {"type": "tensor", "dtype": "torch.float16", "shape": [8, 4], "stride": [1, 8], "data_ptr": "0x7f08"}
    return {
        "event_type": "launch",
        "grid": [2, 1],
        "compilation_metadata": {"hash": METADATA["hash"]},
        "extracted_args": {"a": tensor, "BLOCK": {"type": "int", "value": 64}},
        **more,
    }


def test_traces_are_found_in_the_folders_of_each_rank(imported: Any, tmp_path: Path) -> None:
    for rank in ("rank_0", "rank_1"):
        (tmp_path / "traces" / rank).mkdir(parents=True)
        compiled = event(metadata={**METADATA, "hash": rank[-1] * 64})
        write_trace(tmp_path / "traces" / rank / "trace.ndjson.gz", compiled)
    assert [capture.key for capture in imported(tmp_path / "traces")] == ["0" * 64, "1" * 64]


def test_launches_of_a_trace_are_counted_wherever_they_lie(
    imported: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    a = launch()["extracted_args"]["a"]
    described = {"type": "TensorDescriptor", "base": a, "shape": [8], "strides": [1], "block_shape": [4]}
    other = {"n": {"type": "float", "value": 1.5}, "p": {"type": "NoneType", "repr": "None"}, "d": described}
    measured = [{"name": "_bench", "filename": "/lib/triton/runtime/autotuner.py", "line": 1, "loc": ""}]
    events = [
        launch(),
        event(),
        launch(compilation_metadata={"hash": "cd" * 32}),
        launch(stack=measured),
        launch(extracted_args=other),
        launch(extracted_args={"_note": "skipped"}, grid=[7]),
    ]
    (capture,) = imported(write_trace(tmp_path / "trace.ndjson.gz", *events))
    memory = {"dtype": "fp16", "aligned": False}
    descriptor = {**memory, "shape": [8], "strides": [1], "block": [4], "layout": None}
    assert to_json(capture.launches) == [
        {
            "grid": [2, 1],
            "count": 2,
            "arguments": [{"name": "a", "tensor": {**memory, "shape": [8, 4], "strides": [1, 8]}}],
        },
        {
            "grid": [2, 1],
            "count": 1,
            "arguments": [
                {"name": "n", "value": "1.5"},
                {"name": "p", "value": "None"},
                {"name": "d", "descriptor": descriptor},
            ],
        },
        {"grid": [7], "count": 1, "arguments": []},
    ]
    assert "1 of the 4 launches were an autotuner's measurements." in capture.notes
    assert main(["show", capture.capture]) == 0
    out = capfd.readouterr().out
    assert "launched 2 times on a grid of 2x1: a=fp16[8,4;1,8]@1\n" in out
    assert "launched 1 time on a grid of 7\n" in out


def test_launches_of_a_trace_are_bounded(imported: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tritonparse_launches, "_MOST_CALLS", 2)
    events = [launch(grid=[size]) for size in (1, 2, 3, 2, 4)]
    (capture,) = imported(write_trace(tmp_path / "trace", *events, event()))
    assert [(each.grid, each.count) for each in capture.launches] == [((1,), 1), ((2,), 2)]
    assert "2 of the 5 launches, with yet other grids and arguments, are left out." in capture.notes


@pytest.mark.parametrize(
    "more",
    [
        {"grid": [1, 1, 1, 1]},
        {"grid": "\x1b[2J"},
        {"grid": [1e300]},
        {"compilation_metadata": None},
        {"extracted_args": {"a": {"type": "tensor"}}},
        {"extracted_args": {"a": {**launch()["extracted_args"]["a"], "stride": [1]}}},
        {"extracted_args": {"a": {**launch()["extracted_args"]["a"], "data_ptr": "?"}}},
        {"extracted_args": {"a": {"type": "int"}}},
    ],
)
def test_launches_that_are_none_are_left_out(imported: Any, more: Any, tmp_path: Path) -> None:
    (capture,) = imported(write_trace(tmp_path / "trace", launch(**more), event(), launch()))
    assert [each.count for each in capture.launches] == [1]


@pytest.mark.parametrize(
    "more",
    [
        {"file_content": {"../../../../tmp/evil.ttir": TTIR, "/etc/passwd.ptx": PTX, "a\0b.ttgir": TTGIR}},
        {"python_source": {"file_path": "\x1b[2J", "start_line": 10**30, "code": "import os; os.abort()"}},
        {"python_source": {"code": "(" * 5000, "start_line": -1}},
        {"python_source": {"code": "def matmul(a, BLOCK): pass\0", "start_line": True}},
        {"python_source": [], "times": [], "file_content": {"matmul.ttir": TTIR + "\ud800\x1b[31m", "matmul.ttgir": 3}},
        {"metadata": {**METADATA, "name": "../" * 90 + "\n\x1b[0m", "src_constants": {"(99999,)": {}, "x": []}}},
    ],
)
def test_traces_that_lie(imported: Any, more: Any, tmp_path: Path, dumps: Path) -> None:
    (capture,) = imported(write_trace(tmp_path / "trace", event(**more)))
    assert Path(capture.path).parent.parent == dumps
    for path in dumps.rglob("*"):
        assert path.resolve().is_relative_to(dumps)
        assert path.name.isprintable()


@pytest.mark.parametrize(
    "line",
    [
        '{"event_type": "compilation", "payload": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"event_type": "compilation"}',
        '{"event_type": "compilation", "payload": {"metadata": {}, "file_content": {}}}',
        '{"event_type": "compilation", "payload": {"metadata": {}, "file_content": {"a.ttir": "\\u0000"}}}',
        '{"event_type": "compilation", "payl',
        '{"event_type": "compilation"}' + "\xff",
    ],
    ids=["deep", "empty", "no stage", "binary", "cut", "wrong encoding"],
)
def test_events_that_are_none(refused: Any, line: str, tmp_path: Path) -> None:
    (tmp_path / "trace").write_text(line + "\n", encoding="latin-1")
    assert "line 1 of" in refused(tmp_path / "trace")


def test_a_trace_that_unpacks_without_an_end(refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_RATIO_MATTERS_FROM", 1 << 20)
    bomb = json.dumps({"event_type": "launch"}) + "\n" + (" " * 1000 + "\n") * 20_000
    (tmp_path / "trace.ndjson.gz").write_bytes(gzip.compress(bomb.encode()))
    assert "unpacks to far more" in refused(tmp_path / "trace.ndjson.gz")


def test_a_trace_that_was_cut_off_keeps_what_came_before(
    dumps: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    noise = [{"event_type": "launch", "data": os.urandom(400).hex()} for _ in range(400)]
    whole = write_trace(tmp_path / "trace.gz", event(), *noise)
    whole.write_bytes(whole.read_bytes()[:-1000])
    assert main(["import", str(whole), "--no-sass"]) == 2
    out, err = capfd.readouterr()
    assert out.startswith("matmul/sm_90-")
    assert "does not unpack" in err


# -- what is said of them


def test_show_key_and_diff_say_unknown(imported: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    old = {name: value for name, value in METADATA.items() if name != "triton_version"} | {"hash": "cd" * 32, "old": 1}
    (a,) = imported(entry(tmp_path / "a", metadata=old))
    (b,) = imported(entry(tmp_path / "b", ttgir=TTGIR.replace("constant 2", "constant 7")))
    assert main(["show", a.path]) == 0
    shown = capfd.readouterr().out
    assert "triton unknown, imported" in shown
    assert f"from Triton's cache: {tmp_path / 'a'}" in shown
    assert main(["key", a.path, b.path]) == 0
    key = capfd.readouterr().out
    assert key.startswith("Of what is known of both keys, the options themselves are others")
    assert "Compiled again" not in key
    assert "not known of both: constants, functions" in key
    assert main(["key", a.path, b.path, "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["same"] is False
    assert "triton.version" in told["unknown"]
    assert main(["diff", a.path, b.path]) == 0
    assert "They differ from stage ttgir on; at which pass is not known" in capfd.readouterr().out


def test_an_imported_capture_is_not_run(imported: Any, tmp_path: Path) -> None:
    (capture,) = imported(write_trace(tmp_path / "trace", event()))
    with pytest.raises(UsageError, match="was imported, so it can be looked at but not run"):
        runs.kernel_of(capture)


@pytest.mark.skipif(not CASES.is_dir(), reason="the real files of other tools are not here (../shared/cases)")
class TestRealFiles:
    @pytest.mark.parametrize("version", ["3.1.0", "3.4.0"])
    def test_caches(self, imported: Any, version: str) -> None:
        folder = CASES / f"triton-cache-v{version}"
        (capture,) = imported(folder)
        assert (capture.kernel, capture.target) == ("matmul_kernel", "sm_89")
        assert capture.versions.get("triton") == (version if version == "3.4.0" else None)
        for stage in capture.stages:
            assert reader.stage_bytes(capture, stage.stage) == (folder / f"matmul_kernel.{stage.stage}").read_bytes()
        assert len(capture.components["signature"]) == 9

    def test_traces(self, imported: Any) -> None:
        assert [c.kernel for c in imported(CASES / "tritonparse" / "raw.ndjson")] == [
            "add_kernel",
            "triton_poi_fused_add_0",
        ]
        mapped = imported(CASES / "tritonparse" / "mapped.ndjson.gz")
        assert [c.kernel for c in mapped] == ["matmul_kernel"] * 3 + ["fused_op_kernel"] * 2
        assert mapped[0].components["constants"]["BLOCK_SIZE_M"] == "16"
        assert mapped[0].components["signature"]["c_ptr"] == "*fp16"
        # As tritonparse itself counted them, in its "launch_diff" events.
        assert [sum(each.count for each in c.launches) for c in mapped] == [441, 559, 553, 2, 2]
        assert [(each.grid, each.count) for each in mapped[0].launches] == [((1,), 66), ((4,), 193), ((1,), 182)]


# -- in a capture's place


@pytest.fixture
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    return tmp_path / "xdg" / "tritonscope" / "imports"


def test_commands_take_a_path_in_a_captures_place(
    cache_home: Path, dumps: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    a = entry(tmp_path / "a")
    (tmp_path / "b").write_text(ONE_KERNEL)
    b = str(tmp_path / "b")
    for command in (["show", str(a)], ["passes", b], ["dump", b, "ttir"], ["diff", str(a), b], ["key", str(a), b]):
        assert main(command) == 0, capfd.readouterr().err
        assert re.search(r"matmul|convert-triton-to-tritongpu", capfd.readouterr().out)
    assert main(["diff", b, "--pass", "convert-triton-to-tritongpu", "--stat"]) == 0
    assert "1 changed" in capfd.readouterr().out
    assert not list(dumps.iterdir())
    assert len(list(cache_home.iterdir())) == 2
    (a / "matmul.ttir").write_text(TTIR.replace("constant 2", "constant 9"))
    assert main(["dump", str(a), "ttir"]) == 0
    assert "constant 9" in capfd.readouterr().out, "a file that changed is imported anew"


def test_a_path_with_several_kernels_says_so(
    cache_home: Path, dumps: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    entry(tmp_path / "cache" / "A")
    entry(tmp_path / "cache" / "B", name="softmax")
    assert main(["show", str(tmp_path / "cache")]) == 2
    err = capfd.readouterr().err
    assert "holds 2 compilations" in err
    assert "`tritonscope import " in err


def test_the_folder_of_imports_does_not_grow(cache_home: Path, dumps: Path, tmp_path: Path) -> None:
    folder = entry(tmp_path / "cache")
    for number in range(20):
        (folder / "matmul.ttir").write_text(TTIR.replace("constant 2", f"constant {number}"))
        assert main(["show", str(folder), "--json"]) == 0
    assert len(list(cache_home.iterdir())) == direct._KEPT


def test_what_open_opens(cache_home: Path, dumps: Path, tmp_path: Path) -> None:
    folder, first = open_command._wanted(argparse.Namespace(what=str(entry(tmp_path / "cache")), dumps=None))
    assert first is not None
    assert first.kernel == "matmul"
    assert folder.parent == cache_home


# -- archives of ours


def tarred(path: Path, *members: tuple[str, bytes | str, bytes]) -> Path:
    """A .tar.gz of (name, contents or what a link points to, type)."""
    with tarfile.open(path, "w:gz") as tar:
        for name, data, kind in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            if isinstance(data, str):
                member.linkname = data
                tar.addfile(member)
            else:
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
    return path


def test_an_exported_capture_comes_back(
    capture: Any, dumps: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = capture()
    before = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (tmp_path / "a.tar.gz").write_bytes(archive(reader.open_capture(folder)))
    assert main(["import", str(tmp_path / "a.tar.gz")]) == 2
    assert "is there already" in capfd.readouterr().err
    assert main(["import", str(tmp_path / "a.tar.gz"), "-o", str(tmp_path / "other")]) == 0
    back = tmp_path / "other" / folder.parent.name / folder.name
    after = {path.name: path.read_bytes() for path in back.rglob("*") if path.is_file()}
    assert after.pop("README.txt")
    assert after == before
    assert [each.name for each in (tmp_path / "other").iterdir()] == ["matmul"]


HOSTILE = {
    "up": [("../../evil", b"x", tarfile.REGTYPE)],
    "up within": [("matmul/sm_90-1/../../../evil", b"x", tarfile.REGTYPE)],
    "absolute": [("/tmp/evil/a/b", b"x", tarfile.REGTYPE)],
    "a link": [("matmul/sm_90-1/capture.json", "/etc/passwd", tarfile.SYMTYPE)],
    "a hard link": [("matmul/sm_90-1/capture.json", "../../../etc/passwd", tarfile.LNKTYPE)],
    "a link to write through": [
        ("matmul/sm_90-1/passes", "/tmp", tarfile.SYMTYPE),
        ("matmul/sm_90-1/passes/evil", b"x", tarfile.REGTYPE),
    ],
    "a device": [("matmul/sm_90-1/capture.json", b"", tarfile.CHRTYPE)],
    "a fifo": [("matmul/sm_90-1/capture.json", b"", tarfile.FIFOTYPE)],
    "two captures": [("matmul/sm_90-1/a", b"", tarfile.REGTYPE), ("matmul/sm_90-2/a", b"", tarfile.REGTYPE)],
    "twice": [("matmul/sm_90-1/a", b"", tarfile.REGTYPE)] * 2,
    "no capture": [("matmul/sm_90-1/a", b"", tarfile.REGTYPE)],
    "damaged": [("matmul/sm_90-1/capture.json", b"{", tarfile.REGTYPE)],
    "hidden": [(".ssh/id/authorized_keys", b"", tarfile.REGTYPE)],
    "control characters": [("matmul/sm_90-1/\x1b[31m", b"", tarfile.REGTYPE)],
    "long": [("matmul/sm_90-1/" + "x" * 5000, b"", tarfile.REGTYPE)],
    "a file below a file": [("matmul/sm_90-1/a", b"", tarfile.REGTYPE), ("matmul/sm_90-1/a/b", b"", tarfile.REGTYPE)],
    "empty": [],
}


@pytest.mark.parametrize("members", HOSTILE.values(), ids=HOSTILE)
def test_hostile_archives(refused: Any, members: Any, tmp_path: Path, dumps: Path) -> None:
    refused(tarred(tmp_path / "a.tar.gz", *members))
    assert not list(dumps.iterdir())
    assert not (tmp_path / "evil").exists()


def test_archives_that_are_bombs(refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_RATIO_MATTERS_FROM", 1 << 20)
    zeros = tarred(tmp_path / "zeros.tar.gz", ("matmul/sm_90-1/capture.json", bytes(8 << 20), tarfile.REGTYPE))
    assert "unpacks to far more" in refused(zeros)
    claims = tarfile.TarInfo("matmul/sm_90-1/capture.json")
    claims.size = 1 << 40
    (tmp_path / "claims.tar").write_bytes(claims.tobuf() + bytes(1024))
    assert "more than a capture does" in refused(tmp_path / "claims.tar")
    claims.type, claims.size = tarfile.XHDTYPE, 6 << 30
    (tmp_path / "header.tar").write_bytes(claims.tobuf() + bytes(1024))
    assert "header that is larger" in refused(tmp_path / "header.tar")


def test_every_cut_of_an_archive_is_refused(capture: Any, refused: Any, dumps: Path, tmp_path: Path) -> None:
    whole = archive(reader.open_capture(capture()))
    shutil.rmtree(dumps / "matmul")
    for cut in range(0, len(whole), len(whole) // 16):
        (tmp_path / "a.tar.gz").write_bytes(whole[:cut])
        refused(tmp_path / "a.tar.gz")


def test_of_many_kernels_the_machine_code_is_left_alone(
    cache_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct, "_MOST_DISASSEMBLED", 1)
    entry(tmp_path / "cache" / "A", cubin=CUBIN)
    entry(tmp_path / "cache" / "B", name="softmax", cubin=CUBIN)
    found, _ = reader.list_captures(direct.dumps_of(tmp_path / "cache", "/no/such/python"))
    assert [c.notes for c in found] == [
        ("Machine code was not looked into, so there is no SASS; `tritonscope import` does that.",)
    ] * 2
    one = direct.open_foreign(tmp_path / "cache" / "A", "/no/such/python")
    assert "cannot be started" in one.notes[0]
