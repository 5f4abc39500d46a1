"""Texts as the view shows them."""

from tritonscope.tui.document import Document


def test_lines_within_a_string_of_python():
    text = '"""One.\n\nfor is no keyword here\n"""\nx = f"""\nin {x}\n"""\ny = 1\n'
    assert Document(text, "python").strings == {1, 2, 3, 5, 6}
    assert Document(text, "mlir").strings == frozenset()


def test_what_is_no_python_is_shown_all_the_same():
    assert Document('x = (\n"""a\nb', "python").strings == frozenset()
    assert Document('"""a\nb"""\nif (((', "python").strings == {1}
