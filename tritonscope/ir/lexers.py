"""Pygments lexers for the languages of a capture that Pygments does not have: MLIR, SASS and AMD's assembly.

Each works line by line without state, so that a long text may be highlighted in pieces.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from pygments.lexer import Lexer, RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace

__all__ = ["AmdgcnLexer", "MlirLexer", "SassLexer", "lexer_for"]

_groups: Callable[..., Any] = bygroups  # which has no types of its own


class MlirLexer(RegexLexer):
    """MLIR's textual form, with Triton's dialects in mind."""

    name = "MLIR"
    url = "https://mlir.llvm.org/docs/LangRef/"
    aliases: ClassVar[list[str]] = ["mlir"]
    filenames: ClassVar[list[str]] = ["*.mlir", "*.ttir", "*.ttgir", "*.glir"]
    mimetypes: ClassVar[list[str]] = []

    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r"//.*", Comment.Single),
            (r'(")([A-Za-z_][\w$]*\.[\w.$]+)(")(?=\()', _groups(Punctuation, Name.Builtin, Punctuation)),
            (r'"(?:[^"\\\n]|\\.)*"', String.Double),
            (r"%[\w$.-]+(?:[:#]\d+)?", Name.Variable),
            (r'@(?:[\w$.-]+|"[^"\n]*")', Name.Function),
            (r"\^[\w$.-]+", Name.Label),
            (r"#loc\d*\b|\bloc(?=\()", Comment.Special),
            (r"#[A-Za-z_][\w$.]*", Name.Decorator),
            (r"![A-Za-z_][\w$.]*", Keyword.Type),
            (r"\d+(?=x[\dA-Za-z?!])", Number.Integer),
            (r"(x)(?=\d+x|[?])", Punctuation),
            (r"(x?)((?:[su]?i\d+|bf16|tf32|f\d+(?:E\d+M\d+\w*)?|index|none)\b)", _groups(Punctuation, Keyword.Type)),
            (r"(x)(?=[!%])", Punctuation),
            (r"(?:tensor|vector|memref|complex|tuple|dense|array|struct|ptr)(?=<)", Keyword.Type),
            (r"[A-Za-z_][\w$]*(?:\.[\w$]+)+", Name.Builtin),
            (words(("true", "false", "unit", "unknown", "callsite", "fused"), suffix=r"\b"), Keyword.Constant),
            (words(("module", "func", "return", "call"), suffix=r"\b(?!\s*=)"), Name.Builtin),
            (
                words(
                    (
                        "attributes",
                        "public",
                        "private",
                        "iter_args",
                        "to",
                        "step",
                        "else",
                        "do",
                        "at",
                        "into",
                        "default",
                    ),
                    suffix=r"\b(?!\s*=)",
                ),
                Keyword,
            ),
            (r"[A-Za-z_][\w$]*", Name.Attribute),
            (r"-?0x[0-9A-Fa-f]+", Number.Hex),
            (r"-?\d+\.\d*(?:[eE][+-]?\d+)?", Number.Float),
            (r"-?\d+", Number.Integer),
            (r"->|::|[=:]", Operator),
            (r"[(){}\[\]<>,?*+#!^@%&|/.;-]", Punctuation),
            (r".", Text),
        ]
    }


class SassLexer(RegexLexer):
    """NVIDIA's machine code as nvdisasm and cuobjdump print it."""

    name = "SASS"
    url = "https://docs.nvidia.com/cuda/cuda-binary-utilities/"
    aliases: ClassVar[list[str]] = ["sass"]
    filenames: ClassVar[list[str]] = ["*.sass"]
    mimetypes: ClassVar[list[str]] = []

    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r"//.*", Comment.Single),
            (r"/\*[^*\n]*\*/", Comment.Multiline),
            (r'"[^"\n]*"', String.Double),
            (r"^([.$\w]+)(:)", _groups(Name.Label, Punctuation)),
            (r"@!?U?P(?:\d+|T)\b", Keyword.Pseudo),
            (r"!?\bU?P(?:\d+|T)\b", Name.Constant),
            (r"\bU?R(?:\d+|Z)\b(?:\.[\w.]+)?", Name.Variable),
            (r"\bU?B\d+\b", Name.Variable),
            (r"\bSR_[\w.]+|\bSRZ\b", Name.Variable.Magic),
            (r"\.L_x?_?\w+|`\([^)\n]*\)", Name.Label),
            (r"\bdesc(?=\[)|\bgdesc(?=\[)|\bcx?(?=\[)", Keyword.Type),
            (r"(?<![\w.])\.[a-z]\w*", Keyword.Reserved),
            (r"-?0x[0-9a-fA-F]+", Number.Hex),
            (r"[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_a-z]+)*(?=\s|;)", Name.Builtin),
            (r"[+-]?(?:INF|QNAN|SNAN)\b", Number.Float),
            (r"-?\d+\.\d*(?:e[+-]?\d+)?", Number.Float),
            (r"-?\d+\b", Number.Integer),
            (r"[A-Za-z_$.][\w$.]*", Name),
            (r"[-+*=|~!&@]", Operator),
            (r"[;,()\[\]{}:<>#%?/]", Punctuation),
            (r".", Text),
        ]
    }


class AmdgcnLexer(RegexLexer):
    """AMD's assembly as LLVM prints it."""

    name = "AMDGCN"
    url = "https://llvm.org/docs/AMDGPUUsage.html"
    aliases: ClassVar[list[str]] = ["amdgcn"]
    filenames: ClassVar[list[str]] = ["*.amdgcn"]
    mimetypes: ClassVar[list[str]] = []

    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r";.*|//.*", Comment.Single),
            (r'"(?:[^"\\\n]|\\.)*"', String.Double),
            (r"^([.$\w]+)(:)(?!\s+\S)", _groups(Name.Label, Punctuation)),
            (r"\.L\w+", Name.Label),
            (r"\.[A-Za-z_][\w.]*", Keyword.Pseudo),
            (r"\b(?:[sva]|ttmp)\[\d+(?::\d+)?\]|\b(?:[sva]|ttmp)\d+\b", Name.Variable),
            (r"\b(?:vcc|exec|m0|scc|flat_scratch)(?:_lo|_hi)?\b", Name.Variable.Magic),
            (r"\b(?:s|v|ds|buffer|global|flat|scratch|image|tbuffer)_[a-z]\w*", Name.Builtin),
            (r"\b(?:offset|offen|idxen|glc|slc|sc0|sc1|nt|lds|vmcnt|lgkmcnt|expcnt|op_sel\w*|neg\w*)\b", Keyword),
            (r"-?0x[0-9a-fA-F]+", Number.Hex),
            (r"-?\d+\.\d*(?:e[+-]?\d+)?", Number.Float),
            (r"-?\d+\b", Number.Integer),
            (r"[A-Za-z_$@][\w$.@-]*", Name),
            (r"[-+*=|~!&]", Operator),
            (r"[,()\[\]{}:<>#%?/]", Punctuation),
            (r".", Text),
        ]
    }


_OWN: dict[str, type[RegexLexer]] = {"mlir": MlirLexer, "sass": SassLexer, "amdgcn": AmdgcnLexer}
_PYGMENTS = {"llir": "llvm", "ptx": "ptx", "python": "python", "json": "json"}


def lexer_for(kind: str) -> Lexer:
    """The lexer for a kind of `ir.kinds.kind_of`; plain text where there is none. It keeps the text as it is."""
    keep = {"stripnl": False, "stripall": False, "ensurenl": False}
    if kind in _OWN:
        return _OWN[kind](**keep)
    from pygments.lexers import get_lexer_by_name  # knows hundreds of them, and takes its time

    return get_lexer_by_name(_PYGMENTS.get(kind, "text"), **keep)
