"""Operations are counted as a reader would."""

import pytest

from tritonscope.ir.stats import count_ops, op_counts

MLIR = """\
#blocked = #ttg.blocked<{sizePerThread = [1]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @f(%a: !tt.ptr<f16>, %n: i32) {
    %c-1_i32 = arith.constant -1 : i32
    %0:2 = scf.for %i = %n to %n step %n iter_args(%x = %n, %y = %n) -> (i32, i32)  : i32 {
      %1, %2 = "a.pair"(%x) <{text = "b.c"}> : (i32) -> (i32, i32)
      %3 = scf.if %1 -> (i32) {
        scf.yield %x : i32
      } else {
        scf.yield %y : i32
      }
      %4 = "tt.reduce"(%3) <{axis = 0 : i32}> ({
      ^bb0(%l: i32, %r: i32):
        tt.reduce.return %l : i32
      }) : (i32) -> i32
      scf.yield %4, %4 : i32, i32
    }
    ttg.warp_specialize(%a)
    default {
      ttg.warp_yield
    }
    partition0(%b: i32) num_warps(4) {
      ttg.warp_return
    } : (i32) -> ()
    "a.last"() : () -> ()
    tt.return
  }
  func.func @g() {
    call @f() : () -> ()
    return
  }
}
"""


def test_every_operation_of_a_module_counts_once() -> None:
    assert op_counts(MLIR) == {
        "builtin.module": 1,
        "tt.func": 1,
        "arith.constant": 1,
        "scf.for": 1,
        "a.pair": 1,
        "scf.if": 1,
        "scf.yield": 3,
        "tt.reduce": 1,
        "tt.reduce.return": 1,
        "ttg.warp_specialize": 1,
        "ttg.warp_yield": 1,
        "ttg.warp_return": 1,
        "a.last": 1,
        "tt.return": 1,
        "func.func": 1,
        "func.call": 1,
        "func.return": 1,
    }
    assert count_ops(MLIR) == 19


def test_locations_do_not_count() -> None:
    located = '#loc = loc("a.b":1:1)\n' + MLIR.replace("\n    tt.return\n", "\n    tt.return loc(#loc)\n")
    assert op_counts(located) == op_counts(MLIR)


def test_llvm_instructions_count_by_opcode() -> None:
    text = """\
source_filename = "x"
declare i32 @g()
define void @f() {
  %1 = tail call i32 @g(), !dbg !3
    #dbg_value(i32 %1, !9, !DIExpression(), !7)
  call void @g()
  switch i32 %1, label %2 [
    i32 0, label %2
  ]

2:                                                ; preds = %0
  store i32 0, ptr null
  ret void
}
attributes #0 = { nounwind }
!3 = !DILocation(line: 4)
"""
    assert op_counts(text, "llir") == {"call": 2, "switch": 1, "store": 1, "ret": 1}
    assert count_ops(text, "llir") == 5


def test_nothing_has_no_operations_and_other_kinds_are_refused() -> None:
    assert count_ops("") == 0
    with pytest.raises(ValueError, match="'ptx'"):
        count_ops("ret;", "ptx")
