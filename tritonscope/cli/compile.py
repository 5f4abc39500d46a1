"""`tritonscope compile`: from kernels to captures."""

import argparse
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from tritonscope import api, gpu, interpreter, kernel_reference, variants
from tritonscope.cli import failure_text, terminal
from tritonscope.engine.client import Cancel
from tritonscope.errors import ExitCode, TritonscopeError, UsageError
from tritonscope.model import Capture, KernelRef, Request, Target, to_json
from tritonscope.pass_reference import PassReference
from tritonscope.signature import parse_signature
from tritonscope.store import layout

DESCRIPTION = """\
Compile kernels with the Triton that is installed, without a GPU, and keep every level of IR, every pass between them
and what is known of the result, in DUMPS/<kernel>/<target>-<id>/. KERNEL is a bundled name ('tritonscope kernels') or
FILE.py:FUNCTION; FILE.py alone will do where it has one kernel. Values given as comma lists make every combination,
compiled in parallel."""

EPILOG = """\
examples:
  tritonscope compile matmul
  tritonscope compile matmul --target sm_90 --target gfx942 --num-warps 4,8
  tritonscope compile attention --set CAUSAL=True,False --target sm_100 --llvm-passes
  tritonscope compile my_kernels.py:softmax --signature "x=*fp16:16, y=*fp16:16, n=i32, BLOCK=1024"
  tritonscope compile my_kernels.py:softmax --python ~/project/.venv
  tritonscope compile matmul --skip-pass tritongpu-coalesce
  tritonscope compile matmul --stop-after tritongpu-remove-layout-conversions#2

a pass left out:
  --skip-pass keeps it in the list, marked as skipped, with its number; the capture is one of its own, beside the full
  one, and 'diff' compares the two. Passes are named as 'passes' lists them. Those inside another pass cannot be left
  out and do not count for NAME#2; steps that are no passes cannot either. What --stop-after ends is "ok", and has no
  binary.

a signature:
  the syntax of Triton's own ahead-of-time compiler, by position or by name: *fp16:16 is a pointer whose address is a
  multiple of 16, i32:16 a number that is, i32:1 the number 1, 128 or True or "text" a constant; (i32, *fp32) a tuple,
  tensordesc<fp16[128, 64]> a tensor descriptor. Without one, the kernel's own (TRITONSCOPE in its file) is used, then
  what annotations, defaults and autotune configurations tell; what is still unknown is printed as a line to edit.

--json: one object a line, as each capture ends:
  {capture, path, kernel, target, key, status, seconds, constants, options, config, skip, stop_after,
   failure: null | {stage, pass, inner, step, message, file, line}}
  constants and options are what --set and the options asked for, config the index that --config did, or null;
  status is "ok", "failed" (the compiler said no), "crashed", "timeout" or "interrupted".

exit codes:
  0 compiled; 1 --verify found a difference; 2 wrong usage, including the kernel's file; 3 a kernel did not compile;
  4 the compiler crashed or timed out; 5 triton or room on the disk is missing; 130 interrupted. Of several captures,
  the highest of 3 to 5."""

_MOST_LABELS = 4

#: What became of a compilation.
Outcome: TypeAlias = Capture | TritonscopeError | None

OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


@dataclass(frozen=True)
class Job:
    """One compilation of those that were asked for, and what sets it apart from the others."""

    request: Request
    variant: str

    @property
    def label(self) -> str:
        """Kernel, target and variant in a few words."""
        return " ".join(filter(None, [self.request.kernel.name, self.request.target.name, self.variant]))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `tritonscope compile`."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.add_argument("kernels", nargs="+", metavar="KERNEL", help="a bundled name, or FILE.py:FUNCTION")
    parser.add_argument(
        "-t",
        "--target",
        action="append",
        default=[],
        metavar="T",
        help="sm_90, cuda:90:32, gfx942, hip:gfx942:64; may be repeated (default: this machine's GPU, else sm_90)",
    )
    parser.add_argument("-s", "--signature", metavar="S", help="argument types and constants, see below")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=V", help="a constexpr's value, or several")
    for option in OPTIONS:
        parser.add_argument(f"--{option.replace('_', '-')}", metavar="N", help=f"{option}, or a comma list of it")
    parser.add_argument("--option", action="append", default=[], metavar="K=V", help="any other option of the backend")
    parser.add_argument("--env", action="append", default=[], metavar="K=V", help="a variable for the compiler to see")
    parser.add_argument("--config", metavar="N|all", help="which autotune configuration, from 0 (default: the first)")
    parser.add_argument(
        "--skip-pass",
        action="append",
        default=[],
        metavar="P,..",
        help="leave a pass out: every run of NAME, NAME#2 or a step; repeatable",
    )
    parser.add_argument("--stop-after", metavar="P", help="end after the first run of NAME, after NAME#2, or a step")
    parser.add_argument("--llvm-passes", action="store_true", help="keep what every LLVM pass did, too")
    parser.add_argument("--verify", action="store_true", help="compare each artefact with an unpatched compile's")
    terminal.add_timeout_option(parser, "a compilation")
    parser.add_argument("-j", "--jobs", type=_count, metavar="N", help="compilations at a time (default: one a core)")
    parser.add_argument("--python", metavar="PATH", help="the Python, or environment, whose triton compiles")
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Compile what was asked for; returns the exit code."""
    python = interpreter.choose(args.python)
    dumps = layout.dumps_folder(args.dumps)
    command = ["tritonscope", *sys.argv[1:]]
    cancel = Cancel()
    jobs = plan(args, python)
    workers = min(args.jobs or os.cpu_count() or 1, len(jobs))
    if sys.stderr.isatty() and not args.json:
        from tritonscope.cli.progress import Progress

        progress = Progress([job.label for job in jobs])
    else:
        progress = None

    def compile_one(index: int, job: Job) -> Capture:
        def on_event(event: Mapping[str, Any]) -> None:
            if progress is not None:
                progress.show(index, event)

        try:
            return api.capture(
                job.request,
                dumps,
                python=python,
                command=command,
                timeout=args.timeout,
                cancel=cancel,
                on_event=on_event,
            )
        finally:
            if progress is not None:
                progress.done(index)

    outcomes: list[Outcome] = []
    futures: list[Future[Capture]] = []
    with _ctrl_c_cancels(cancel, futures), ThreadPoolExecutor(workers) as pool:
        futures += [pool.submit(compile_one, index, job) for index, job in enumerate(jobs)]
        try:
            if not args.json:
                terminal.load_console()  # takes a while, and the compilers do not need us now
            outcomes += _outcomes(futures, args)
        finally:
            if progress is not None:
                progress.close()
    return report(jobs, outcomes, cancel.cancelled, args)


@contextmanager
def _ctrl_c_cancels(cancel: Cancel, futures: list["Future[Capture]"]) -> Iterator[None]:
    """Let Ctrl-C, however often, end the compilers and not us: what they came to is still to be written down."""

    def on_interrupt(*_: object) -> None:
        cancel.cancel()
        for future in futures:
            future.cancel()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN if cancel.cancelled else before)


def _outcomes(futures: list["Future[Capture]"], args: argparse.Namespace) -> Iterator[Outcome]:
    """What became of each compilation, in the order in which they were asked for; None of one that was not started."""
    for future in futures:
        try:
            capture = future.result()
        except CancelledError:
            yield None
        except TritonscopeError as error:
            yield error
        else:
            if args.json:
                print_line(capture)
            yield capture


def print_line(capture: Capture) -> None:
    """One line of --json."""
    fields = to_json(capture)
    line = {name: fields[name] for name in ("capture", "path", "kernel", "target", "key", "status", "seconds")}
    line |= {name: fields["request"].get(name) for name in ("constants", "options", "config", "skip", "stop_after")}
    failure = fields["failure"] and {
        name: fields["failure"][name] for name in ("stage", "pass", "inner", "step", "message", "file", "line")
    }
    terminal.print_json_line({**line, "failure": failure})


# -- what is asked for


def plan(args: argparse.Namespace, python: str) -> list[Job]:
    """The product of kernels, targets, configurations and comma lists; raises UsageError for what does not parse."""
    kernels = [kernel_reference.find(text) for text in args.kernels]
    targets = [Target.parse(text) for given in args.target for text in variants.split(given)] or [default_target()]
    if args.signature is not None:
        parse_signature(args.signature)
    options = variants.assignments("--option", args.option)
    for name in OPTIONS:
        if (text := getattr(args, name)) is not None:
            options[name] = variants.split(text)
        variants.check_numbers(f"--{name.replace('_', '-')}", options.get(name, ()))
    skip, stop_after = passes_left_out(args)
    constants = variants.product(variants.assignments("--set", args.set))
    environments = variants.product(variants.assignments("--env", args.env))
    jobs = []
    for kernel in kernels:
        for config in configurations(kernel, args.config, python, args.timeout):
            for target in dict.fromkeys(targets):
                for chosen_options in variants.product(options):
                    for chosen_constants in constants:
                        for env in environments:
                            request = Request(
                                kernel=kernel,
                                target=target,
                                signature=args.signature,
                                constants=chosen_constants,
                                options=chosen_options,
                                config=config,
                                env=env,
                                llvm_passes=args.llvm_passes,
                                verify=args.verify,
                                skip=skip,
                                stop_after=stop_after,
                            )
                            jobs.append(request)
    return [Job(request, variant) for request, variant in zip(jobs, settings_apart(jobs), strict=True)]


def passes_left_out(args: argparse.Namespace) -> tuple[tuple[str, ...], str | None]:
    """What --skip-pass and --stop-after name, each as it was written; raises UsageError."""
    skip = tuple(dict.fromkeys(text for given in args.skip_pass for text in variants.split(given)))
    for text in (*skip, *([] if args.stop_after is None else [args.stop_after])):
        PassReference.parse(text)
    if args.verify and (skip or args.stop_after is not None):
        raise UsageError("--verify compares with an unpatched compile, which leaves no pass out; leave --verify out")
    return skip, args.stop_after


def default_target() -> Target:
    """This machine's GPU, else sm_90; says on stderr which."""
    target = gpu.present()
    if target is not None:
        terminal.say(f"compiling for {target.name}, the GPU in this machine; --target chooses another")
        return target
    terminal.say("no GPU here, compiling for sm_90; --target chooses another")
    return Target.parse("sm_90")


def configurations(kernel: KernelRef, config: str | None, python: str, timeout: float | None) -> list[int | None]:
    """The indices of autotune configurations that --config asks for; None stands for the first, if there are any."""
    if config is None:
        return [None]
    if config.isdecimal():
        return [int(config)]
    if config != "all":
        raise UsageError(f"--config {config!r} is not understood; give a number from 0, or 'all'")
    return list(range(len(api.describe(kernel, python=python, timeout=timeout)["configs"]))) or [None]


def settings_apart(requests: list[Request]) -> list[str]:
    """For each request the settings that tell it from the others, "num_warps=4 BLOCK=128"."""
    settings = [
        {
            **request.options,
            **request.constants,
            **request.env,
            **({} if request.config is None else {"config": str(request.config)}),
        }
        for request in requests
    ]
    differing = [
        name for name in dict.fromkeys(n for s in settings for n in s) if len({s.get(name) for s in settings}) > 1
    ]
    return [" ".join(f"{name}={each[name]}" for name in differing if name in each) for each in settings]


# -- what came of it


def report(jobs: list[Job], outcomes: list[Outcome], interrupted: bool, args: argparse.Namespace) -> int:
    """Show the captures, say what failed, and give the exit code."""
    captures = [outcome for outcome in outcomes if isinstance(outcome, Capture)]
    if not args.json:
        if len(jobs) == 1 and captures:
            from tritonscope.cli import show

            show.render(captures[0], terminal.console())
        elif captures:
            from tritonscope.cli import comparison

            rows = [
                (job.variant, outcome)
                for job, outcome in zip(jobs, outcomes, strict=False)
                if isinstance(outcome, Capture)
            ]
            comparison.render(rows, terminal.console())
    codes = [ExitCode.DONE]
    errors: dict[str, list[str]] = {}
    for job, outcome in zip(jobs, outcomes, strict=False):
        if isinstance(outcome, TritonscopeError):
            errors.setdefault(str(outcome), []).append(job.label)
            codes.append(outcome.exit_code)
    for sentence, labels in errors.items():
        # What is wrong with all of them is no matter of the variant.
        terminal.say_error(sentence if len(labels) == len(jobs) else f"{_listed(labels)}: {sentence}")
    for outcome in captures:
        if outcome.status != "ok":
            terminal.say_error(failure_text.sentence(outcome))
            codes.append(ExitCode.NOT_COMPILED if outcome.status == "failed" else ExitCode.CHILD_DIED)
        for stage, same in (outcome.verified or {}).items():
            if not same:
                terminal.say_error(f"{outcome.capture}: {stage} is not what an unpatched compile gives.")
                codes.append(ExitCode.DIFFERS)
    return ExitCode.INTERRUPTED if interrupted else max(codes)


def _listed(labels: list[str]) -> str:
    more = [f"{len(labels) - _MOST_LABELS} more"] if len(labels) > _MOST_LABELS else []
    return ", ".join([*labels[:_MOST_LABELS], *more])


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return count
