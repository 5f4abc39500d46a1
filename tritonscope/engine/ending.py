"""The end of a child: its process group, and then its private folder.

A shell does both. It is in a session of its own, so whatever ends parent and child meanwhile, it goes on to the end;
and the child can have it end the child itself.
"""

import os
import signal
import subprocess
from contextlib import suppress

__all__ = ["end"]

#: A process that is killed still ends the call it is in, which may put a file where others have just been removed.
_END = """\
kill -s KILL -- "-$1" 2>/dev/null
for again in 1 2 3 4 5; do
    rm -rf -- "$2" 2>/dev/null && exit
    sleep 0.1
done
"""


def end(group: int, folder: str) -> "subprocess.Popen[bytes] | None":
    """Kill the process group, and begin to remove the folder; None, and the folder stays, where no process starts."""
    path = os.pathsep.join(filter(None, [os.environ.get("PATH"), os.defpath]))  # the user's may lack `rm`
    command = ["/bin/sh", "-c", _END, "sh", str(group), folder]
    try:
        shell = subprocess.Popen(command, env={**os.environ, "PATH": path}, start_new_session=True)
    except OSError:
        shell = None
    # The shell does so, too: it may be the first to come to it, and must not remove anything before.
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    return shell
