"""Every parser on damaged and hostile input: it returns, or refuses in a sentence of ours, within bounded memory."""

import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from tests.unit.synthetic import LLVM_BEFORE, PTX, TTGIR, TTIR
from tests.unit.test_binary_parsers import AMDGCN, PTXAS, RES_USAGE
from tests.unit.test_import import METADATA, ONE_KERNEL, entry, event
from tritonscope.calls import parse_call
from tritonscope.conditions import parse_condition
from tritonscope.engine import llvm_record
from tritonscope.errors import TritonscopeError
from tritonscope.foreign import facts, importing
from tritonscope.foreign.found import UNKNOWN_TARGET
from tritonscope.ir import llvm_dump, locations, mlir_dump, resource_usage, stats, timing
from tritonscope.model import Target
from tritonscope.signature import parse_signature
from tritonscope.sizes import parse_sizes
from tritonscope.store import decode, layout, reader

#: Given to a reader of a few kilobytes, this is far more than it may need.
MOST_MEMORY = 64 << 20

bounded = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=40,
    phases=[Phase.explicit, Phase.generate],  # to shrink what fails could take minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

#: Where every example writes captures, with what it takes to have them on the disk.
fewer = settings(bounded, max_examples=12)

NASTY = [
    b"\0",
    b"\x1b[31m",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\r",
    b"\n\n\n",
    b'"',
    b"\\",
    b"9" * 5000,
    b"-1",
    b"1e999",
    b"NaN",
    b"null",
    b"[" * 3000,
    b'{"a":' * 300,
    b"(" * 3000,
    b"<" * 3000,
    b"../" * 50,
    b"%s%n",
    b"// -----// IR Dump Before X: x ('builtin.module' operation) //----- //\n",
    b"; *** IR Dump After X on [module] ***\n",
    b"define void @a(\n",
    b"{-#\n",
    b"tt.func public @matmul(",
    b'module attributes {ttg.target = "cuda:1"',
]


@st.composite
def mangled(draw: st.DrawFn, sample: bytes) -> bytes:
    """`sample` after a few cuts, repetitions and insertions."""
    data = sample
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(["cut", "drop", "insert", "flip", "repeat"])):
            case "cut":
                data = data[:at]
            case "drop":
                data = data[:at] + data[at + draw(st.integers(1, 200)) :]
            case "insert":
                data = data[:at] + draw(st.sampled_from(NASTY)) + data[at:]
            case "flip":
                data = data[:at] + draw(st.binary(min_size=1, max_size=4)) + data[at + 1 :]
            case "repeat":
                piece = data[at : at + draw(st.integers(1, 300))]
                data = data[:at] + piece * draw(st.integers(2, 20)) + data[at:]
    return data


def survives(parse: Callable[[], Any]) -> None:
    """Whatever it gives, or an error of ours; anything else fails the test."""
    said = "nothing"
    tracemalloc.start()
    try:
        parse()
    except TritonscopeError as error:
        said = str(error)
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert said
    assert peak < MOST_MEMORY


TEXTS = "\n".join([TTIR, TTGIR, LLVM_BEFORE, PTX, PTXAS, RES_USAGE, AMDGCN]).encode()
REPRODUCER = (
    '{-#\n  external_resources: {\n    mlir_reproducer: {\n      pipeline: "builtin.module(cse)"\n    }\n  }\n#-}\n'
)
PRINTED = f"{ONE_KERNEL}k.py:5:1: error: no\n{TTIR}{REPRODUCER}a.cpp:3: void f(): Assertion `x' failed.\n".encode()
LLVM = (
    f"; *** IR Dump After SROAPass on [module] ***\n{LLVM_BEFORE}*** IR Dump After Early CSE (early-cse) ***\n"
    f"{LLVM_BEFORE}# *** IR Dump After Sink (machine-sink) ***:\n# Machine code for function matmul: SSA\n"
).encode()


@bounded
@given(data=mangled(PRINTED))
def test_what_mlir_prints(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    survives(lambda: list(mlir_dump.read_dumps(data.splitlines(keepends=True))))
    survives(lambda: mlir_dump.parse_diagnostics(text))
    survives(lambda: mlir_dump.parse_reproducer(text))
    survives(lambda: mlir_dump.why_failed(text))
    survives(lambda: (timing.parse_timing(text), timing.without_timing(text)))


@bounded
@given(data=mangled(LLVM))
def test_what_llvm_prints(data: bytes) -> None:
    survives(lambda: list(llvm_dump.read_llvm_dumps(io.BytesIO(data))))
    survives(lambda: llvm_record._Module().differs(data.decode("utf-8", "replace")))


@bounded
@given(data=mangled(TEXTS))
def test_ir_and_what_tools_say(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for kind in ("mlir", "llir", "ptx", "sass", "amdgcn", "text"):
        survives(lambda kind=kind: locations.strip_debug(text, kind))  # type: ignore[misc]
    survives(lambda: (stats.op_counts(text, "mlir"), stats.op_counts(text, "llir")))
    survives(lambda: (resource_usage.parse_ptxas_log(text), resource_usage.parse_res_usage(text)))
    survives(lambda: resource_usage.parse_amdgcn_usage(text))
    survives(lambda: (facts.kernel_name(text), facts.target_of(text), facts.source_file(text)))
    survives(lambda: facts.components("matmul", UNKNOWN_TARGET, {}, text, None))


TYPED = [b"x=*fp16:16, n=i32, BLOCK=(1, 2), f=constexpr[1]", b"x=fp16[64,1024;1024,1@8], M=4096, c=True", b"M=N=K=1024"]


@bounded
@given(data=st.sampled_from(TYPED).flatmap(mangled))
@example(b"spills>0")
@example(b"a, " * 200)
def test_what_a_user_types(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    survives(lambda: parse_signature(text))
    survives(lambda: parse_call(text))
    survives(lambda: parse_sizes([text]))
    survives(lambda: parse_condition(text))
    survives(lambda: Target.parse(text))


@bounded
@given(draw=st.data())
def test_a_capture(draw: st.DataObject, tmp_path_factory: pytest.TempPathFactory, a_capture: Path) -> None:
    """The summary damaged: then the journal counts. Both damaged: it is refused."""
    summary = (a_capture / layout.CAPTURE).read_bytes()
    journal = (a_capture / layout.JOURNAL).read_bytes()
    folder = tmp_path_factory.mktemp("capture")
    (folder / layout.JOURNAL).write_bytes(draw.draw(mangled(journal)))
    survives(lambda: reader.open_capture(folder))
    (folder / layout.CAPTURE).write_bytes(draw.draw(mangled(summary)))
    survives(lambda: reader.open_capture(folder))
    survives(lambda: reader.list_captures(folder.parent))


@pytest.fixture(scope="module")
def a_capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.unit.synthetic import VERSIONS, request, write_events
    from tritonscope.store.writer import CaptureWriter

    writer = CaptureWriter.create(tmp_path_factory.mktemp("dumps"), request(), ["tritonscope"], VERSIONS)
    write_events(writer, "0123456789")
    return writer.publish("ok", 1.0)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@bounded
@given(
    values=st.dictionaries(st.sampled_from(["stages", "passes", "failure", "notes", "request", "status"]), JSON_VALUES)
)
def test_a_summary_of_the_wrong_types(values: dict[str, Any]) -> None:
    survives(lambda: decode.decode_capture({"format": 1, **values}, "a/b", "/a/b", "capture.json"))


def _all(path: Path) -> None:
    for found in importing.compilations(str(path)):
        if not isinstance(found, TritonscopeError):
            assert found.kernel.isprintable()
            json.dumps(found.metadata, allow_nan=False)


def _captures(path: Path, dumps: Path) -> None:
    for _ in importing.captures_of(str(path), dumps, python=None):
        pass
    for path in dumps.rglob("*"):
        assert path.resolve().is_relative_to(dumps.resolve())


@fewer
@given(data=mangled(PRINTED) | mangled(LLVM) | mangled(PRINTED + LLVM) | st.binary(max_size=300))
def test_importing_what_was_printed(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(data)
    survives(lambda: _captures(tmp_path / "file", tmp_path / "dumps"))


@bounded
@given(data=mangled(json.dumps(event()).encode() + b"\n" + json.dumps(event()).encode()))
def test_importing_a_trace(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(data)
    survives(lambda: _all(tmp_path / "file"))


@fewer
@given(values=st.fixed_dictionaries({}, optional=dict.fromkeys([*METADATA, "src_constants"], JSON_VALUES)))
def test_importing_a_trace_of_the_wrong_types(values: dict[str, Any], tmp_path: Path) -> None:
    payload = event()["payload"] | {"metadata": METADATA | values, "python_source": values, "times": values}
    (tmp_path / "file").write_text(json.dumps({"event_type": "compilation", "payload": payload}) + "\n")
    survives(lambda: _captures(tmp_path / "file", tmp_path / "dumps"))


@fewer
@given(draw=st.data())
def test_importing_a_cache_entry(draw: st.DataObject, tmp_path: Path) -> None:
    folder = entry(tmp_path / "entry")
    name = draw.draw(st.sampled_from(["matmul.ttir", "matmul.ttgir", "matmul.ptx", "matmul.json"]))
    (folder / name).write_bytes(draw.draw(mangled((folder / name).read_bytes())))
    survives(lambda: _captures(folder, tmp_path / "dumps"))
