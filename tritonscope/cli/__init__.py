"""The command line: `tritonscope COMMAND ...`.

A command's module is imported when that command is asked for, and argparse, which takes longer to load than Python
itself, no sooner: `--help` and `--version` cost next to nothing.
"""

import os
import sys

from tritonscope import __version__
from tritonscope.errors import ExitCode, Missing, TritonscopeError, UsageError

__all__ = ["COMMANDS", "main"]

#: Each command, the module that runs it, and what it does in a line.
COMMANDS = {
    "compile": ("tritonscope.cli.compile", "compile a kernel and keep every level of its IR and every pass"),
    "trace": ("tritonscope.cli.trace", "run a program, and capture the kernels that it compiles"),
    "ls": ("tritonscope.cli.listing", "list the captures there are"),
    "show": ("tritonscope.cli.show", "sum one capture up: stages, passes, resources, failure"),
    "passes": ("tritonscope.cli.passes", "list the passes that ran: times, changes, operation counts"),
    "dump": ("tritonscope.cli.dump", "print the IR of a stage, or around a pass"),
    "grep": ("tritonscope.cli.grep", "search every stage and pass, and name the first where it appears"),
    "diff": ("tritonscope.cli.diff", "show what a pass changed, or in what two captures differ"),
    "compare": ("tritonscope.cli.compare", "compile a kernel in two ways, and say where and in what they part"),
    "key": ("tritonscope.cli.key", "say what Triton's cache key is made of, and why two differ"),
    "lines": ("tritonscope.cli.lines", "show which Python each line came from, and what became of it"),
    "layout": ("tritonscope.cli.layout", "draw which thread and register holds which element"),
    "stats": ("tritonscope.cli.stats", "count instructions, loops and occupancy, and compare two captures"),
    "sweep": ("tritonscope.cli.sweep", "compile every combination, on all cores or machines, and compare"),
    "run": ("tritonscope.cli.run", "run a kernel on the GPU: is it right, and how fast is it"),
    "profile": ("tritonscope.cli.profile", "profile one launch with Nsight Compute: why it waits, and on which lines"),
    "ablate": ("tritonscope.cli.ablate", "leave out one pass at a time, and say what each one buys"),
    "bisect": ("tritonscope.cli.bisect", "find the pass after which something holds, or without which it does not"),
    "edit": ("tritonscope.cli.edit", "change the IR of a capture, compile on from there, and say what that did"),
    "new-spec": ("tritonscope.cli.new_spec", "write a template that says how to run a kernel of yours"),
    "watch": ("tritonscope.cli.watch", "compile again on every save, and say what changed"),
    "open": ("tritonscope.cli.open", "browse it all, full screen"),
    "serve": ("tritonscope.cli.serve", "the same in a browser"),
    "export": ("tritonscope.cli.export", "hand a capture on: one file, a page, a script, a folder to edit"),
    "import": ("tritonscope.cli.importing", "make captures of Triton's caches and dumps, and of traces"),
    "replay": ("tritonscope.cli.replay", "run one pass again on the IR that went into it"),
    "reduce": ("tritonscope.cli.reduce", "make the IR on which a pass fails smaller while it still fails like that"),
    "explain": ("tritonscope.cli.explain", "say what a pass, operation, layout or instruction is"),
    "kernels": ("tritonscope.cli.kernels", "list the kernels that travel with tritonscope"),
}

#: With these the compiler's process is another, or none.
_NO_HEAD_START = ("--python", "--env", "--help", "-h")

#: Of a name that is quoted, this much will do.
_MOST_OF_A_NAME = 200

_HELP = """\
usage: tritonscope [COMMAND ...]

A terminal explorer for the Triton compiler: every IR level, every pass, what each one did.

options:
  -h, --help  show this text
  --version   show the version

commands:
{commands}

exit codes:
  0    done
  1    a difference, a failed check, or nothing found, where that was asked
  2    wrong usage, or a file, kernel or capture that is not there or not readable
  3    the kernel did not compile
  4    the compiler's process crashed or ran past its time
  5    something needed is missing: GPU, torch, triton, a tool, room on the disk
  130  interrupted, or asked to end

`tritonscope` alone opens the full-screen interface. Start with `tritonscope compile matmul`;
`tritonscope COMMAND --help` has examples.
"""


def main(argv: list[str] | None = None) -> int:
    """Run the command that `argv` asks for, sys.argv's by default; gives the exit code, see `errors.ExitCode`."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_closed_streams()
    if argv is None and arguments and arguments[0] in COMMANDS and arguments[0] != "open":
        _interrupt_when_asked_to_end()
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        if argv is None:
            _ignore_interrupts()
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough
        _silence_stdout()
        return ExitCode.DONE
    except TritonscopeError as error:
        return _say(error)
    except OSError as error:
        return _say(_of_the_system(error))
    return code


def _open_closed_streams() -> None:
    """Open what the shell closed (`>&-`) on nothing: the next file would get its number, and what we print."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one
            setattr(sys, name, open(number, mode))  # noqa: PTH123, SIM115 - a descriptor, for as long as we run


def _silence_stdout() -> None:
    """Let what is still to be written go nowhere: else Python complains when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupt_when_asked_to_end() -> None:
    """SIGTERM and a terminal that closes are as Ctrl-C: temporary folders go, what was found is printed."""
    import signal

    def interrupt(*_: object) -> None:
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background, or while a program has the terminal
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, interrupt)


def _ignore_interrupts() -> None:
    """Another has nothing left to end, and Python would print where it hit."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _say(error: TritonscopeError) -> int:
    from tritonscope.cli import terminal

    terminal.say_error(str(error))
    try:
        sys.stdout.flush()  # what was found before the error
    except OSError:
        _silence_stdout()
    return error.exit_code


def _of_the_system(error: OSError) -> TritonscopeError:
    """The sentence for what no command foresaw: a full disk, names that are too long, folders nobody may read."""
    import errno

    from tritonscope.errors import NO_ROOM

    if error.errno in NO_ROOM:
        _silence_stdout()  # nearly always it is what had no room
        return Missing("there is no room for what is to be written; make some, or write it elsewhere")
    if error.filename is None and error.errno == errno.ENOENT:
        return UsageError("the folder that this was started in is gone; change into one that is there")
    name = "" if error.filename is None else os.fsdecode(error.filename)
    named = f"{name[:_MOST_OF_A_NAME]} .." if len(name) > _MOST_OF_A_NAME else name or "something"
    return UsageError(f"{named} cannot be used ({error.strerror or error}); name another file or folder")


def _run(arguments: list[str]) -> int:
    if not arguments and sys.stdin.isatty() and sys.stdout.isatty():
        arguments = ["open"]
    if not arguments:
        sys.stderr.write(_help())
        return ExitCode.USAGE
    name, *rest = arguments
    if name in ("-h", "--help"):
        sys.stdout.write(_help())
        return ExitCode.DONE
    if name == "--version":
        print(f"tritonscope {__version__}")
        return ExitCode.DONE
    if name not in COMMANDS:
        raise _unknown(name)
    if name == "compile" and not any(word.startswith(_NO_HEAD_START) for word in rest):
        from tritonscope import interpreter
        from tritonscope.engine import client

        with client.head_start(interpreter.choose(None)):
            return _run_command(name, rest)
    return _run_command(name, rest)


def _run_command(name: str, arguments: list[str]) -> int:
    import argparse
    from importlib import import_module

    from tritonscope.cli import terminal

    module = import_module(COMMANDS[name][0])
    parser = argparse.ArgumentParser(
        prog=f"tritonscope {name}", formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    module.add_arguments(parser)
    parse = parser.parse_intermixed_args if parser.get_default("intermixed") else parser.parse_args
    try:
        args = parse(arguments)
    except SystemExit as exit_:  # argparse has said what there was to say
        return exit_.code if isinstance(exit_.code, int) else ExitCode.DONE
    terminal.tolerate_any_text()
    code: int = module.run(args)
    return code


def _unknown(name: str) -> UsageError:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f"did you mean {near[0]}?" if near else "`tritonscope --help` lists them"
    what = "option" if name.startswith("-") else "command"
    return UsageError(f"there is no {what} {name!r}; {hint}")


def _help() -> str:
    width = max(map(len, COMMANDS))
    return _HELP.format(commands="\n".join(f"  {name:{width}}  {what}" for name, (_, what) in COMMANDS.items()))
