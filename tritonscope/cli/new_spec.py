"""`tritonscope new-spec`: a template of a spec, into the kernel's file."""

import argparse
from pathlib import Path

from tritonscope import kernel_reference
from tritonscope.cli import terminal
from tritonscope.errors import ExitCode, UsageError
from tritonscope.spec_template import spec_name, template

_EPILOG = """\
examples:
  tritonscope new-spec my_kernels.py:softmax
  tritonscope new-spec my_kernels.py:softmax --print
  tritonscope run my_kernels.py:softmax

The template runs as it is: random tensors, one program, checked against Triton's interpreter. What it had to guess is
marked. It goes to the end of the file, so that no line of a kernel moves and no cache key changes.

exit codes: 0 done; 2 wrong usage, including a file that has such a spec already."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope new-spec`."""
    parser.description = "Write a template that says how 'tritonscope run' calls a kernel, into the kernel's own file."
    parser.epilog = _EPILOG
    parser.add_argument("kernel", metavar="FILE.py:FUNCTION", help="a kernel in a file of yours")
    parser.add_argument("--print", action="store_true", help="print it instead")


def run(args: argparse.Namespace) -> int:
    """Append the template, or print it."""
    kernel = kernel_reference.find(args.kernel)
    if kernel.bundled:
        raise UsageError(f"{kernel.name} is bundled and has a spec; name a kernel of yours as FILE.py:FUNCTION")
    path = Path(kernel.path)
    text = template(path, kernel.function)
    if args.print:
        terminal.print_text(text.strip("\n"), "python")
        return ExitCode.DONE
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); --print shows the template instead") from None
    terminal.say(f"{path} has a class {spec_name(kernel.function)} now; edit it, then: tritonscope run {args.kernel}")
    return ExitCode.DONE
