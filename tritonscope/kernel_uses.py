"""How a kernel uses its parameters, read off its syntax tree: which are addresses, which are written to, which count.

Guesses, for suggestions that a person reads. Standard library only.
"""

import ast

__all__ = ["Uses", "uses_of"]


class Uses(ast.NodeVisitor):
    """`pointers` begin an address that is loaded from or stored to, `stored` one stored to; `integers` count."""

    def __init__(self) -> None:
        self.pointers: set[str] = set()
        self.stored: set[str] = set()
        self.integers: set[str] = set()
        self.origins: dict[str, str] = {}

    def visit_Assign(self, node: ast.Assign) -> None:
        """Remember which parameter a variable's address began with."""
        origin = self._origin(node.value)
        if origin and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self.origins[node.targets[0].id] = origin
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Loads, stores and atomics; what is counted with."""
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if node.args and (called in ("load", "store") or called.startswith("atomic_")):
            origin = self._origin(node.args[0])
            if origin:
                self.pointers.add(origin)
                if called != "load":
                    self.stored.add(origin)
        if called in ("cdiv", "range", "min", "max"):
            self.integers.update(arg.id for arg in node.args if isinstance(arg, ast.Name))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """What something is compared with, as in a mask."""
        self.integers.update(side.id for side in (node.left, *node.comparators) if isinstance(side, ast.Name))
        self.generic_visit(node)

    def _origin(self, node: ast.expr) -> str | None:
        """The leftmost name of a sum: addresses are written base + offsets."""
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            node = node.left
        return self.origins.get(node.id, node.id) if isinstance(node, ast.Name) else None


def uses_of(tree: ast.AST) -> Uses:
    """What the function in `tree` does with names."""
    uses = Uses()
    uses.visit(tree)
    return uses
