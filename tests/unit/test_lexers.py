"""The lexers keep the text and know their language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.token import Comment, Keyword, Name, Number, String, Text, Token

from tritonscope.ir.lexers import lexer_for

SAMPLES = {
    "mlir": (
        "#mma = #ttg.nvidia_mma<{instrShape = [16, 128, 16]}>\n"
        '%rows_5:2 = tt.load %a#0, %m {cache = "x"} : tensor<128x64x!tt.ptr<f16>, #mma> loc(#loc3)\n'
        "^bb1(%x: i32):  // pred\n  llvm.call @f(%x) : (i32) -> ()\n  %c-1_i32 = arith.constant -1.5e+00 : bf16\n"
    ),
    "sass": (
        '\t.section\t.text.matmul,"ax",@progbits\n.L_x_1:\n'
        "        /*0010*/              @!P0 LDG.E.128 R4, desc[UR6][R2.64+0x10] ;\n"
        "        /*0020*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ; // c\n"
    ),
    "amdgcn": ".LBB0_1:\n\ts_load_dwordx2 s[2:3], s[0:1], 0x0 ; c\n\tv_mul_f32_e32 v1, 0x4f7ffffe, v1\n\t.p2align 8\n",
}
TOKENS = {
    "mlir": {
        "#mma": Name.Decorator,
        "%rows_5:2": Name.Variable,
        "tt.load": Name.Builtin,
        "llvm.call": Name.Builtin,
        '"x"': String.Double,
        "!tt.ptr": Keyword.Type,
        "f16": Keyword.Type,
        "128": Number.Integer,
        "^bb1": Name.Label,
        "@f": Name.Function,
        "// pred": Comment.Single,
        "#loc3": Comment.Special,
        "-1.5e+00": Number.Float,
        "%c-1_i32": Name.Variable,
    },
    "sass": {
        "/*0010*/": Comment.Multiline,
        "@!P0": Keyword.Pseudo,
        "LDG.E.128": Name.Builtin,
        "IMAD.MOV.U32": Name.Builtin,
        "R4": Name.Variable,
        "0x28": Number.Hex,
        ".L_x_1": Name.Label,
        ".section": Keyword.Reserved,
        "// c": Comment.Single,
    },
    "amdgcn": {
        ".LBB0_1": Name.Label,
        "s_load_dwordx2": Name.Builtin,
        "s[2:3]": Name.Variable,
        "v1": Name.Variable,
        "0x4f7ffffe": Number.Hex,
        ".p2align": Keyword.Pseudo,
        "; c": Comment.Single,
    },
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_tokens_are_what_they_are(kind: str) -> None:
    tokens = list(lexer_for(kind).get_tokens(SAMPLES[kind]))
    assert "".join(value for _, value in tokens) == SAMPLES[kind]
    assert not [value for token, value in tokens if token in (Token.Error, Text)]
    found = {value: token for token, value in tokens}
    assert {value: found.get(value) for value in TOKENS[kind]} == TOKENS[kind]


@pytest.mark.parametrize("kind", ["mlir", "sass", "amdgcn", "llir", "ptx", "python", "json", "text"])
@given(text=st.text(alphabet='ab#%!^@"<>(){}[]/*:.-0x1 \n\t\\;,é', max_size=60))
def test_no_character_is_lost(kind: str, text: str) -> None:
    assert "".join(value for _, value in lexer_for(kind).get_tokens(text)) == text
