"""The parser of MLIR_ENABLE_DUMP: headers of several releases, texts to the byte, failures and their reproducers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonscope.ir.mlir_dump import (
    Diagnostic,
    Dump,
    Noise,
    parse_diagnostics,
    parse_reproducer,
    read_dumps,
    why_failed,
)

MODULE = (
    'module {\n  tt.func public @f() {\n    tt.return loc(#loc1)\n  } loc(#loc)\n} loc(#loc)\n#loc = loc("f.py":3:1)\n'
)


def read(text: str) -> list[Dump | Noise]:
    return list(read_dumps(text.encode().splitlines(keepends=True)))


def only(text: str) -> Dump:
    (dump,) = read(text)
    assert isinstance(dump, Dump)
    return dump


@pytest.mark.parametrize(
    ("header", "fields"),
    [
        (
            "// -----// IR Dump Before CSE (cse) ('builtin.module' operation) //----- //",
            ("Before", "CSE", "cse", None, "builtin.module", None, None),
        ),
        (
            "// -----// IR Dump Before CSEPass: cse ('builtin.module' operation) //----- //",
            ("Before", "CSEPass", "cse", None, "builtin.module", None, None),
        ),
        (
            "// -----// IR Dump Before CanonicalizerPass: canonicalize{cse-between-iterations=false    top-down=true} "
            "('tt.func' operation: @matmul) //----- //",
            (
                "Before",
                "CanonicalizerPass",
                "canonicalize",
                "cse-between-iterations=false    top-down=true",
                "tt.func",
                "@matmul",
                None,
            ),
        ),
        (
            "// -----// IR Dump Before Canonicalizer (canonicalize) ('tt.func' operation: "
            "@triton.language.standard.zeros____(0, 0)cconstexpr_128__(1,)cconstexpr_fp32_) //----- //",
            (
                "Before",
                "Canonicalizer",
                "canonicalize",
                None,
                "tt.func",
                "@triton.language.standard.zeros____(0, 0)cconstexpr_128__(1,)cconstexpr_fp32_",
                None,
            ),
        ),
        (
            "// -----// IR Dump Before (anonymous namespace)::Check: unknown<(anonymous namespace)::Check> "
            "('builtin.module' operation) //----- //",
            ("Before", "(anonymous namespace)::Check", None, None, "builtin.module", None, None),
        ),
        (
            "// -----// IR Dump Before (anonymous namespace)::Check ('builtin.module' operation: @top) //----- //",
            ("Before", "(anonymous namespace)::Check", None, None, "builtin.module", "@top", None),
        ),
        (
            "// -----// IR Dump After X Failed (x-pass) ('builtin.module' operation) //----- //",
            ("After failed", "X", "x-pass", None, "builtin.module", None, None),
        ),
        (
            "// -----// IR Dump After X Failed: x-pass{num-stages=3} ('builtin.module' operation) //----- //",
            ("After failed", "X", "x-pass", "num-stages=3", "builtin.module", None, None),
        ),
        ("// -----// IR Dump After CSE //----- //", ("After", "CSE", None, None, None, None, None)),
        (
            "// -----// SoftwarePipeliner internal IR Dump After: LowerLoops",
            ("After", "LowerLoops", None, None, None, None, "SoftwarePipeliner"),
        ),
        (
            "// -----// WarpSpec internal IR Dump After: doTaskPartition",
            ("After", "doTaskPartition", None, None, None, None, "WarpSpec"),
        ),
    ],
)
def test_headers(header: str, fields: tuple[str | None, ...]) -> None:
    dump = only(f"{header}\n{MODULE}\n\n")
    assert (
        dump.when,
        dump.name,
        dump.mnemonic,
        dump.options,
        dump.operation,
        dump.symbol,
        dump.owner,
    ) == fields
    assert dump.text == MODULE
    assert dump.complete


CSE = "// -----// IR Dump Before CSE (cse) ('builtin.module' operation) //----- //\n"


def test_steps_inside_a_pass_follow_its_dump() -> None:
    step = "// -----// SoftwarePipeliner internal IR Dump After: LowerLoops\n"
    dumps = read(f"{CSE}{MODULE}\n\n{step}module {{\n}}\n\n\n{CSE}{MODULE}\n\n")
    assert [d.text for d in dumps] == [MODULE, "module {\n}\n", MODULE]


def test_noise_between_dumps_stays_out_of_the_texts() -> None:
    noise = "f.py:3:1: warning: slow\ndef f():\n^\n"
    items = read(f"before\n{CSE}{MODULE}\n\n{noise}{CSE}{MODULE}\n\n")
    assert [i.text for i in items] == ["before\n", MODULE, noise, MODULE]
    assert [type(i) for i in items] == [Noise, Dump, Noise, Dump]


def test_a_line_that_only_resembles_a_header_is_text() -> None:
    text = "module {\n// -----// IR Dump of something\n}\n"
    assert only(f"{CSE}{text}\n\n").text == text


def test_an_empty_line_inside_a_text_belongs_to_it() -> None:
    text = "module {\n}\n\n// more\n"
    assert only(f"{CSE}{text}\n\n").text == text


def test_cut_off_output_is_marked() -> None:
    assert only(f"{CSE}module {{\n  tt.fu").complete is False
    assert only(f"{CSE}module {{\n  tt.fu").text == "module {\n  tt.fu"
    first, second = read(f"{CSE}module {{\n{CSE}{MODULE}\n\n")
    assert isinstance(first, Dump)
    assert isinstance(second, Dump)
    assert (first.complete, second.complete) == (False, True)


def test_a_text_without_a_newline_of_its_own() -> None:
    first, _ = read(f"{CSE}tt.func @f() {{\n}}\n\n{CSE}{MODULE}\n\n")
    assert isinstance(first, Dump)
    assert (first.text, first.complete) == ("tt.func @f() {\n}\n", True)


@given(st.lists(st.sampled_from([CSE, MODULE, "\n", "x\n", "module", "\xff\n", "}\n"]), max_size=30))
def test_nothing_printed_is_lost_but_blank_lines_and_headers(pieces: list[str]) -> None:
    text = "".join(pieces)
    kept = "".join(item.text for item in read(text))
    expected = "".join(line for line in text.splitlines(keepends=True) if line != CSE)
    assert kept.replace("\n", "") == expected.replace("\n", "")


@given(st.binary(max_size=400))
def test_any_bytes_are_taken(data: bytes) -> None:
    for item in read_dumps(data.splitlines(keepends=True)):
        parse_diagnostics(item.text)
        parse_reproducer(item.text)


DIAGNOSTICS = """\
/k/warp.py:46:54: error: 'tt.descriptor_store' op types must match: a: b
def f():
^
loc("/k/f.py":3:4): error: 'tt.print' op requires attribute 'hex'
loc(callsite("a b"("/k/g.py":7:1) at "/k/f.py":9:2)): warning: slow
<unknown>:0: note: see current operation
loc(unknown): error: no place
not a diagnostic: error: at all
"""


def test_diagnostics() -> None:
    assert parse_diagnostics(DIAGNOSTICS) == [
        Diagnostic("/k/warp.py", 46, 54, "error", "'tt.descriptor_store' op types must match: a: b"),
        Diagnostic("/k/f.py", 3, 4, "error", "'tt.print' op requires attribute 'hex'"),
        Diagnostic("/k/g.py", 7, 1, "warning", "slow"),
        Diagnostic(None, None, None, "note", "see current operation"),
        Diagnostic(None, None, None, "error", "no place"),
    ]


REPRODUCER = """\
#blocked = #ttg.blocked<{order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @f() {
    tt.return
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(nvgpu-warp-specialization{dump=\\"a\\\\b\\22 num-stages=3})",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
"""


def test_reproducer_amid_other_output() -> None:
    found = parse_reproducer(
        f"LLVM ERROR: no\nmodule {{\n}}\n#x\nnoise\n{REPRODUCER}f.py:1:1: error: failed\n{REPRODUCER}"
    )
    assert found is not None
    assert found.pipeline == 'builtin.module(nvgpu-warp-specialization{dump="a\\b" num-stages=3})'
    assert found.text == REPRODUCER
    assert found.ir == REPRODUCER.partition("\n\n{-#")[0] + "\n"


def test_no_reproducer() -> None:
    assert parse_reproducer(MODULE) is None
    assert parse_reproducer('{-#\n  pipeline: "x"\n#-}\n') is None
    assert parse_reproducer(REPRODUCER.replace("pipeline", "no_line")) is None


FAILED = "m.py:3:1: error: Failures have been detected while processing an MLIR pass pipeline\n"
SIGNAL = "m.py:3:1: error: A signal was caught while processing the MLIR module:reproducer generated at `x`; marking\n"
ASSERTION = (
    "python: /project/lib/AccelerateMatmul.cpp:63: int mlir::version(int, DotOp): "
    'Assertion `false && "computeCapability not supported"\' failed.\n'
)


@pytest.mark.parametrize(
    ("printed", "raised", "why"),
    [
        (FAILED + "m.py:4:2: error: no layout\n", "PassManager::run failed", "no layout"),
        (
            ASSERTION + SIGNAL + FAILED,
            "PassManager::run failed",
            'the assertion false && "computeCapability not supported" does not hold (AccelerateMatmul.cpp:63)',
        ),
        ("LLVM ERROR: out of registers\n" + SIGNAL, "", "out of registers"),
        (SIGNAL + FAILED, "", "the compiler caught a signal in the pass, and did not say why"),
        (FAILED, "PassManager::run failed", "the pass failed and did not say why"),
        ("", "PassManager::run failed", "PassManager::run failed"),
    ],
)
def test_why_a_pass_failed(printed: str, raised: str, why: str) -> None:
    assert why_failed(printed, raised) == why
