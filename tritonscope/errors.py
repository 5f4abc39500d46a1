"""What can go wrong, and the exit code that says so.

    TritonscopeError
    ├── UsageError            2   a flag, file, kernel or capture that is not there, or not readable as one
    │   ├── KernelNotFound        no such bundled kernel, file or function
    │   ├── KernelFileError       the kernel file itself failed while it was loaded; names its line
    │   ├── SignatureError        a signature that does not parse, or does not fit the kernel
    │   ├── TargetError           a target that does not parse, or that the installed Triton does not take
    │   ├── CaptureNotFound       no capture of that name, or several
    │   └── CaptureUnreadable     a file that is not a capture, or a damaged one
    ├── CompileFailed         3   the compiler said no
    ├── ChildDied             4   the child crashed, was killed, or ran past its time
    └── Missing               5   triton, torch, a GPU, a tool or room on the disk is missing

Every error is one sentence that says what to do next, takes that sentence as its only argument, and pickles.
Standard library only: the child raises them too.
"""

import errno
from enum import IntEnum

__all__ = [
    "NO_ROOM",
    "CaptureNotFound",
    "CaptureUnreadable",
    "ChildDied",
    "CompileFailed",
    "ExitCode",
    "KernelFileError",
    "KernelNotFound",
    "Missing",
    "SignatureError",
    "TargetError",
    "TritonscopeError",
    "UsageError",
    "no_room",
]

#: The error numbers of an OSError that say that the disk, or our share of it, is full.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


def no_room(error: BaseException | None) -> OSError | None:
    """The full disk that is behind `error`, None where that was something else."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return error
        error = error.__cause__ or error.__context__
    return None


class ExitCode(IntEnum):
    """The exit codes of every command. Of several captures, the highest of 3, 4 and 5 wins."""

    DONE = 0
    DIFFERS = 1  # a difference, a failed check or a threshold, where one was asked for
    USAGE = 2
    NOT_COMPILED = 3
    CHILD_DIED = 4
    MISSING = 5
    INTERRUPTED = 130


class TritonscopeError(Exception):
    """The root: `str(error)` is the sentence for stderr, `exit_code` what the process exits with."""

    exit_code = ExitCode.USAGE


class UsageError(TritonscopeError):
    """Wrong usage, including a file, kernel or capture that is not there or not readable as one."""


class KernelNotFound(UsageError):
    """No such bundled kernel, file or function."""


class KernelFileError(UsageError):
    """The kernel file failed while it was loaded."""


class SignatureError(UsageError):
    """A signature that does not parse, or does not fit the kernel."""


class TargetError(UsageError):
    """A target that does not parse, or that the installed Triton does not take."""


class CaptureNotFound(UsageError):
    """No capture answers to that name, or several do."""


class CaptureUnreadable(UsageError):
    """Not a capture, or a damaged or hostile one."""


class CompileFailed(TritonscopeError):
    """The compiler refused the kernel."""

    exit_code = ExitCode.NOT_COMPILED


class ChildDied(TritonscopeError):
    """The child crashed, was killed, or ran past its time."""

    exit_code = ExitCode.CHILD_DIED


class Missing(TritonscopeError):
    """Something that is needed is not there: triton, torch, a GPU, a tool, room on the disk."""

    exit_code = ExitCode.MISSING
