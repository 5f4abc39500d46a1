"""The command that `--check` names."""

import shlex
import shutil

from tritonscope.errors import UsageError

__all__ = ["command_words"]


def command_words(text: str) -> list[str]:
    """Its words; raises UsageError where it does not parse, or where there is no such command."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--check {text!r} is not understood ({error}); quote it as a shell does") from None
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"--check {text!r} names no command that is there; give its path")
    return words
