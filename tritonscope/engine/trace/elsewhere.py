"""Other Pythons that a traced program starts: nothing is captured in them, and the user is told so."""

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from tritonscope.engine.trace.uncomputed import Say, place

__all__ = ["watched"]


def watched(say: Say) -> dict[str, Callable[[], None]]:
    """For modules that start processes, what to do when one has been imported: {module: called then}."""

    def tell() -> None:
        say(f"{place()}: another Python is started here, in which nothing is captured; trace what it runs instead")

    def watch_subprocess() -> None:
        popen = sys.modules["subprocess"].Popen
        execute = popen._execute_child

        @functools.wraps(execute)
        def execute_child(process: Any, args: Any, executable: Any, *rest: Any, **named: Any) -> Any:
            if _is_python(executable or args):
                tell()
            return execute(process, args, executable, *rest, **named)

        popen._execute_child = execute_child

    # Python imports the last two for the first process that is not forked.
    return {
        "subprocess": watch_subprocess,
        "multiprocessing.popen_spawn_posix": tell,
        "multiprocessing.popen_forkserver": tell,
    }


def _is_python(command: Any) -> bool:
    """Whether a command, one word or several, is Python's."""
    if isinstance(command, str | bytes | os.PathLike):
        words = os.fsdecode(command).split()
    else:
        words = [os.fsdecode(word) for word in command]
    return bool(words) and (words[0] == sys.executable or os.path.basename(words[0]).startswith("python"))  # noqa: PTH119
