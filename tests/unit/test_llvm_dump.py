"""The streaming parser of LLVM_IR_ENABLE_DUMP."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonscope.ir import llvm_dump
from tritonscope.ir.llvm_dump import LlvmDump, read_llvm_dumps

MODULE = 'source_filename = "LLVMDialectModule"\n\ndefine void @k() {\n  ret void\n}\n'
FUNCTION = "define void @k() {\n  ret void\n}\n"
OPTIMISER = f"""\
a warning
Running pass: AnnotationPass on [module]
; *** IR Dump After AnnotationPass on [module] ***
{MODULE}Running pass: InstCombinePass on k (1 instruction)
Running analysis: AssumptionAnalysis on k
; *** IR Dump After InstCombinePass on k ***
{FUNCTION}Invalidating analysis: X on k
Clearing all analysis results for: k
Skipping pass LICMPass on k
; *** IR Dump After SimplifyCFGPass on k ***
{FUNCTION}; *** IR Dump After GVNPass on k ***
{FUNCTION.replace("ret void", "unreachable")}; *** IR Dump After LICMPass on loop %<unnamed loop> in function k ***

; Preheader:
  br label %1
; *** IR Dump After InlinerPass on (k) ***
{FUNCTION}; *** IR Dump After LoopDeletionPass on loop %2 in function k (invalidated) ***
"""
CODE_GENERATION = f"""\
*** IR Dump After Early CSE (early-cse) ***
; Function Attrs: nounwind
{FUNCTION}*** IR Dump After Lower ctors and dtors for NVPTX (nvptx-lower-ctor-dtor) ***
{MODULE}*** IR Dump After Loop Strength Reduction (loop-reduce) ***
; Preheader:
  br label %1
# *** IR Dump After NVPTX DAG->DAG Pattern Instruction Selection (nvptx-isel) ***:
# Machine code for function k: IsSSA
bb.0:
  Return

# End machine code for function k.

"""


def read(text: str) -> list[LlvmDump]:
    return list(read_llvm_dumps(BytesIO(text.encode())))


def test_optimiser() -> None:
    dumps = read(OPTIMISER)
    assert [(d.name, d.mnemonic, d.kind, d.on) for d in dumps] == [
        ("AnnotationPass", None, "module", ""),
        ("InstCombinePass", None, "function", "k"),
        ("SimplifyCFGPass", None, "function", "k"),
        ("GVNPass", None, "function", "k"),
        ("LICMPass", None, "loop", "%<unnamed loop> in function k"),
        ("InlinerPass", None, "scc", "k"),
        ("LoopDeletionPass", None, "loop", "%2 in function k"),
    ]
    assert [d.changed for d in dumps] == [None, None, False, True, None, None, None]
    assert [d.invalidated for d in dumps] == [False] * 6 + [True]


def test_texts_end_where_progress_lines_begin() -> None:
    dumps = read(OPTIMISER)
    assert [d.text for d in dumps[:3]] == [MODULE, FUNCTION, FUNCTION]
    assert dumps[4].text == "\n; Preheader:\n  br label %1\n"


def test_code_generation() -> None:
    dumps = read(CODE_GENERATION)
    assert [(d.name, d.mnemonic, d.kind, d.on) for d in dumps] == [
        ("Early CSE", "early-cse", "function", "k"),
        ("Lower ctors and dtors for NVPTX", "nvptx-lower-ctor-dtor", "module", ""),
        ("Loop Strength Reduction", "loop-reduce", "loop", ""),
        ("NVPTX DAG->DAG Pattern Instruction Selection", "nvptx-isel", "machine", "k"),
    ]
    assert dumps[0].text == f"; Function Attrs: nounwind\n{FUNCTION}"
    assert dumps[3].text.endswith("# End machine code for function k.\n\n")


def test_optimiser_and_code_generation_are_not_compared() -> None:
    changed = [
        d.changed for d in read(f"; *** IR Dump After A on k ***\n{FUNCTION}*** IR Dump After B (b) ***\n{FUNCTION}")
    ]
    assert changed == [None, None]


@pytest.mark.parametrize("chunk", [1, 2, 7, 40, 1000])
def test_the_size_of_reads_does_not_matter(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(OPTIMISER + CODE_GENERATION)
    monkeypatch.setattr(llvm_dump, "_CHUNK", chunk)
    assert read(OPTIMISER + CODE_GENERATION) == whole


def test_a_mark_within_a_line_is_text() -> None:
    text = 'define void @k() {\n  call void asm "; *** IR Dump After X on k ***", ""()\n}\n'
    assert [d.text for d in read(f"; *** IR Dump After A on k ***\n{text}")] == [text]


def test_output_without_dumps() -> None:
    assert read("") == []
    assert read("LLVM ERROR: broken\n" * 1000) == []


PIECES = ["; *** IR Dump After A on k ***\n", "# *** IR Dump After B (b) ***:\n", "*** IR Dump ", "\n", "x\n", FUNCTION]


@given(st.lists(st.sampled_from(PIECES), max_size=20), st.integers(1, 64))
def test_texts_put_together_again(pieces: list[str], chunk: int) -> None:
    text = "".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llvm_dump, "_CHUNK", chunk)
        kept = "".join(d.text for d in read(text))
    lines = text.splitlines(keepends=True)
    first = next((i for i, line in enumerate(lines) if line in PIECES[:2]), len(lines))
    assert kept == "".join(line for line in lines[first:] if line not in PIECES[:2])
