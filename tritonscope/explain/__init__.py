"""What the names in a dump mean: passes, steps, stages, operations, layouts, attributes and machine instructions.

Texts are in tables, one module for each sort of name, and read when the first is asked for. Standard library only.
"""

from tritonscope.explain.lookup import close_matches, explain, explain_all
from tritonscope.explain.tables import KINDS, Entry, Explanation, entries

__all__ = ["KINDS", "Entry", "Explanation", "close_matches", "entries", "explain", "explain_all"]
