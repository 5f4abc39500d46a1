"""`tritonscope kernels`: the kernels that travel with the tool."""

import argparse

from tritonscope import bundled_kernels
from tritonscope.cli import terminal
from tritonscope.errors import ExitCode
from tritonscope.model import to_json

__all__ = ["add_arguments", "run"]

_EPILOG = """examples:
  tritonscope kernels
  tritonscope compile matmul

JSON: an array of {name, summary, path, function, signature, options}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = "List the kernels that travel with tritonscope, and the signatures they compile with."
    parser.epilog = _EPILOG
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the kernels."""
    kernels = bundled_kernels.kernels()
    if args.json:
        terminal.print_json(to_json(kernels))
        return ExitCode.DONE
    from rich.text import Text

    console = terminal.console()
    for kernel in kernels:
        console.print(Text(kernel.name, style="bold"), Text(kernel.summary), sep="  ")
        options = ", ".join(f"{name}={value}" for name, value in kernel.options.items())
        for label, value in (("file", kernel.path), ("signature", kernel.signature), ("options", options)):
            console.print(Text(f"  {label:10}", style="dim"), Text(value), sep="", soft_wrap=True)
    return ExitCode.DONE
