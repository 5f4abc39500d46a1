"""Sources and syntax trees of a kernel and its callees."""

import json
import linecache
import textwrap
from pathlib import Path

import pytest

triton = pytest.importorskip("triton")

from tritonscope.engine import frontend  # noqa: E402
from tritonscope.engine.frontend import ast_json, functions  # noqa: E402
from tritonscope.engine.kernelfile import load  # noqa: E402
from tritonscope.model import KernelRef  # noqa: E402

KERNELS = Path(__file__).parents[2] / "kernels"


@pytest.fixture
def kernel(tmp_path):
    def make(text):
        path = tmp_path / f"case_{len(list(tmp_path.iterdir()))}.py"
        path.write_text("import triton\nimport triton.language as tl\n" + textwrap.dedent(text))
        return load(KernelRef("k", str(path), "k"))

    return make


def walk(node):
    yield node
    for child in node["children"]:
        yield from walk(child)


def piece(text, node):
    """What stands at the place of `node` in the file's text."""
    lines = text.split("\n")[node["line"] - 1 : node["end_line"]]
    lines[-1] = lines[-1][: node["end_column"]]
    lines[0] = lines[0][node["column"] :]
    return "\n".join(lines)


def test_the_kernel_comes_first_then_its_callees_then_theirs():
    path = KERNELS / "matmul.py"
    sources = functions(load(KernelRef("matmul", str(path), "matmul")).fn)
    names = [each.name.split(".")[-1] for each in sources]
    assert names[0] == "matmul"
    assert {"tile_of", "cdiv", "zeros"} <= set(names)
    ours = [each for each in sources if not each.library]
    files = {f"matmul.{name}": path for name in ("matmul", "store_tile", "through_registers")}
    files["matmul_grouped.tile_of"] = path.with_name("matmul_grouped.py")
    assert ours[0].name == "matmul.matmul"
    assert files.keys() == {each.name for each in ours}
    for each in ours:
        text = files[each.name].read_text()
        assert text.split("\n")[each.line - 1] == "@triton.jit"
        assert each.source in text


def test_places_are_those_of_the_file():
    path = KERNELS / "flash_attention.py"
    text = path.read_text()
    sources = functions(load(KernelRef("attention", str(path), "attention")).fn)
    own = [each for each in sources if not each.library]
    assert [each.name for each in own] == ["flash_attention.attention", "flash_attention.attend"]
    for each in own:
        nodes = list(walk(each.tree))
        names = [node for node in nodes if node["type"] == "Name"]
        assert len(names) > 50
        assert all(piece(text, node) == node["fields"]["id"] for node in names)
        constants = [node for node in nodes if node["type"] == "Constant" and node["fields"]["value_type"] == "int"]
        assert all(int(piece(text, node)) == node["fields"]["value"] for node in constants)


def test_columns_count_characters_also_in_an_indented_function(kernel):
    loaded = kernel(
        """
        def make(ε):
            @triton.jit
            def inner(x):
                "é"; y = x + ε
                return y
            return inner
        helper = make(tl.constexpr(2))
        @triton.jit
        def k(x):
            é = helper(x); tl.store(x, é)
        """
    )
    sources = [each for each in functions(loaded.fn) if not each.library]
    assert [each.name.split(".")[-1] for each in sources] == ["k", "inner"]
    text = Path(loaded.ref.path).read_text()
    for each in sources:
        for node in walk(each.tree):
            if node["type"] == "Name":
                assert piece(text, node) == node["fields"]["id"]


def test_functions_behind_modules_classes_constants_and_recursion(kernel):
    loaded = kernel(
        """
        import types

        @triton.jit
        def hidden(x):
            return x

        space = types.ModuleType("space")
        space.hidden = hidden
        del hidden

        @triton.jit
        def passed(x):
            return looped(x)

        @triton.jit
        def looped(x):
            return looped(x) if False else passed(x)

        class Box:
            @triton.jit
            def method(x):
                return x

        @triton.jit
        def k(x, F: tl.constexpr):
            tl.store(x, F(space.hidden(Box.method(tl.load(x)))))
        """
    )
    names = [each.name.split(".")[-1] for each in functions(loaded.fn, [loaded.module.passed, 3, None])]
    assert sorted(names) == ["hidden", "k", "looped", "method", "passed"]
    assert names[0] == "k"


def test_the_document_is_plain_json_and_keeps_what_the_code_says(kernel):
    loaded = kernel(
        """
        @triton.jit
        def k(x, N: tl.constexpr):
            if N > 1 and not N == 1e400:
                tl.store(x, -N ** 2, mask=None)
        """
    )
    document = ast_json(functions(loaded.fn))
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["format"] == 1
    (function,) = document["functions"]
    assert function["line"] == 4
    types = {node["type"]: node for node in walk(function["ast"])}
    assert types["BoolOp"]["fields"] == {"op": "And"}
    assert types["Compare"]["fields"]["ops"] in (["Gt"], ["Eq"])
    assert types["BinOp"]["fields"] == {"op": "Pow"}
    assert types["keyword"]["fields"] == {"arg": "mask"}
    assert [child["field"] for child in types["If"]["children"]] == ["test", "body"]
    constants = [node["fields"] for node in walk(function["ast"]) if node["type"] == "Constant"]
    assert {"value": None, "value_type": "NoneType"} in constants
    assert {"value": "inf", "value_type": "float"} in constants


def test_a_source_that_is_gone_is_no_error(kernel):
    loaded = kernel("@triton.jit\ndef k(x):\n    pass\n")
    Path(loaded.ref.path).unlink()
    linecache.clearcache()
    frontend._lines.cache_clear()
    frontend._file_tree.cache_clear()
    (source,) = functions(loaded.fn)
    assert (source.source, source.tree) == ("", None)
    assert ast_json([source])["functions"][0]["ast"] is None
