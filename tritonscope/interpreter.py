"""Which Python compiles: the one that was named, the active environment's where that has triton, or our own."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tritonscope.errors import UsageError
from tritonscope.store import layout

__all__ = ["choose"]


def choose(named: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """The Python to start children with; raises UsageError where `named` is no file."""
    if named is not None:
        path = layout.expand(named)
        if path.is_dir():
            path = path / "bin" / "python"
        if not path.is_file():
            raise UsageError(f"there is no Python at {named}; --python takes an interpreter or an environment's folder")
        # The link itself: what it points to is the base interpreter, without the environment's packages.
        return str(path.absolute())
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = Path(environment.get(variable) or os.devnull)
        python = prefix / "bin" / "python"
        if python.is_file() and any(prefix.glob("lib/python3*/site-packages/triton/__init__.py")):
            return str(python)
    return sys.executable
