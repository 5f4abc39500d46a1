"""Texts as the view shows them."""

from tritonscope.tui.document import Document, follow, next_match


def test_lines_within_a_string_of_python():
    text = '"""One.\n\nfor is no keyword here\n"""\nx = f"""\nin {x}\n"""\ny = 1\n'
    assert Document(text, "python").strings == {1, 2, 3, 5, 6}
    assert Document(text, "mlir").strings == frozenset()


def test_what_is_no_python_is_shown_all_the_same():
    assert Document('x = (\n"""a\nb', "python").strings == frozenset()
    assert Document('"""a\nb"""\nif (((', "python").strings == {1}


def test_a_line_is_followed_through_renumbering_and_moves():
    before = Document("func {\n  %0 = load\n  %1 = mul %0\n  %2 = exp %1\n  store %2\n}\n", "mlir")
    after = Document("func {\n  %c = const\n  %7 = load\n  %8 = mul %7\n  %10 = exp %8\n  store %10\n}\n", "mlir")
    assert [follow(before, line, after) for line in range(1, 5)] == [2, 3, 4, 5]


def test_a_line_that_is_gone_is_followed_to_where_it_was():
    before = Document("func {\n  %0 = load\n  %1 = mul %0\n  store %1\n}\n", "mlir")
    after = Document("func {\n  %0 = load\n  store %0\n}\n", "mlir")
    assert follow(before, 2, after) == 1  # before what came after it
    assert follow(before, 2, Document("ret;\n", "ptx")) == 0
    assert follow(Document("", "mlir"), 0, after) == 0


def test_the_next_match_wraps():
    assert [next_match([2, 5], start, 1) for start in (-1, 2, 4, 5)] == [2, 5, 5, 2]
    assert [next_match([2, 5], start, -1) for start in (6, 5, 2, 0)] == [5, 2, 5, 5]
    assert next_match([], 0, 1) is None
