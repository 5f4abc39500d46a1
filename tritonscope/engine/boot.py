"""The child's first lines: load this package, and nothing else of our environment, into whatever Python runs this file.

Run as `python boot.py EVENTS REQUEST`, two descriptor numbers or, where a profiler stands between, paths, and an action
where its request comes later; or, for a traced program, as `python boot.py trace SETTINGS PROGRAM..`. Putting our
site-packages on another Python's path would mix the binary interfaces of two environments, so the package is loaded by
its own folder alone.
"""

import importlib.util
import os
import sys
from pathlib import Path

# Any module beside this file would shadow one of the user's: Python put our folder first.
if not getattr(sys.flags, "safe_path", False):
    sys.path.pop(0)

package = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location(
    "tritonscope", package / "__init__.py", submodule_search_locations=[str(package)]
)
assert spec is not None
assert spec.loader is not None
module = importlib.util.module_from_spec(spec)
sys.modules["tritonscope"] = module
spec.loader.exec_module(module)


def descriptor(text: str, mode: int) -> int:
    """The descriptor with that number, or of the file that is opened."""
    return int(text) if text.isdecimal() else os.open(text, mode)


if __name__ == "__main__" and sys.argv[1] == "trace":
    from tritonscope.engine.trace.program import main as run_program

    run_program(sys.argv[2], sys.argv[3:])
elif __name__ == "__main__":
    from tritonscope.engine.worker import main

    sys.exit(
        main(
            descriptor(sys.argv[1], os.O_WRONLY | os.O_APPEND),
            descriptor(sys.argv[2], os.O_RDONLY),
            ahead="".join(sys.argv[3:]),
        )
    )
