"""Whether a pass left a module as it was, told without printing it. Runs in the child.

MLIR has such a test itself, for printing after change only: a hash over every operation, its operands, types,
attributes and location, by address, which takes a tenth of the time that printing takes. Triton does not offer it, so
it is called by its symbol (see `native`); the module's address comes from Triton's own `Block.id` and MLIR's
`Block::getParentOp`, and no layout of anything in memory is assumed.
"""

from typing import Any

from tritonscope.engine import native

__all__ = ["Watch"]


class Watch:
    """Compares a module with what it was when it was last looked at."""

    def __init__(self) -> None:
        self._operations: dict[int, int | None] = {}
        self._seen: tuple[int, bytes] | None = None

    def unchanged(self, module: Any) -> bool:
        """Whether `module` is what it was at the call before this; False where that cannot be told."""
        if not native.can_fingerprint():
            return False
        # The address of its region stands for the module: keeping the module itself would keep it past its context.
        region = module.get_region(0).id()
        if region not in self._operations:
            self._operations[region] = _operation_of(module)
        operation = self._operations[region]
        before, self._seen = self._seen, (region, native.fingerprint(operation)) if operation else None
        return before is not None and before == self._seen


def _operation_of(module: Any) -> int | None:
    """The address of the module's operation, None for an empty module."""
    walked: list[Any] = []
    module.walk(walked.append)
    # Inner operations come before outer ones: the module itself last, and before it the last function in it.
    return native.operation_around(walked[-2].get_block().id()) if len(walked) > 1 else None
