"""What a program can see of how it was started; no triton in it."""

import json
import os
import signal
import sys

main = sys.modules["__main__"]
json.dump(
    {
        "argv": sys.argv,
        "path": sys.path[0],
        "name": __name__,
        "file": main.__file__,
        "package": __package__,
        "spec": main.__spec__ and main.__spec__.name,
        "is main": vars(main) is globals(),
        "input": sys.stdin.read(),
    },
    sys.stdout,
)
if "raise" in sys.argv:
    raise KeyError("nobody catches this")
if "exit" in sys.argv:
    sys.exit("a last word")
if "kill" in sys.argv:
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGTERM)
if "interrupt" in sys.argv:
    raise KeyboardInterrupt
