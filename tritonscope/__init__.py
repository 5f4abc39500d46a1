"""A terminal explorer for the Triton compiler."""

TYPE_CHECKING = False  # typing itself takes a while to import
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

__version__ = "0.1.0"


def trace(
    dumps: str | None = None, *, kernel: str | None = None, limit: int | None = None
) -> "AbstractContextManager[Any]":
    """`with tritonscope.trace():` captures each kernel that Triton compiles in the block; see `tritonscope trace`.

    `dumps` is the folder for the captures ($TRITONSCOPE_DUMPS, else ./dumps), `kernel` a regular expression that must
    be found in a kernel's name, `limit` the most captures. Gives an `Outcome`, whose `captures` are there after the
    block, with the launches in it. Raises errors.UsageError for a folder or expression that will not do.
    """
    from importlib import import_module  # by name: who asks for the version alone loads nothing

    context: AbstractContextManager[Any] = import_module("tritonscope.tracing").trace(dumps, kernel=kernel, limit=limit)
    return context
