"""Run a program as `python SCRIPT ARGS` or `python -m MODULE ARGS` would, with Triton watched from its import on."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import os
import runpy
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any, NoReturn

from tritonscope.engine.trace import elsewhere
from tritonscope.engine.trace.hooks import INDUCTOR, Hooks
from tritonscope.engine.trace.uncomputed import why_it_cannot_go_on

__all__ = ["main"]

#: The exit code where a program needs the GPU that is not there; `errors.ExitCode.MISSING`.
_NO_GPU = 5


def main(settings_text: str, words: Sequence[str]) -> NoReturn:
    """Run the program that `words` name, "-m MODULE" or a script, with its arguments; ends with its exit code.

    `settings_text` is JSON: {socket, pretend}; "pretend" is the target that is compiled for where no GPU is used.
    """
    settings = json.loads(settings_text)
    pretend = settings["pretend"]
    hooks = Hooks(settings["socket"], measures=pretend is None)
    actions = {"triton": hooks.install, INDUCTOR: hooks.install_inductor, **elsewhere.watched(hooks.say)}
    for name in [name for name in actions if name in sys.modules]:
        actions.pop(name)()
    if pretend is not None:
        pretended = _pretended()

        def pretend_and_install() -> None:
            pretended.install_driver(pretend, hooks.say)
            hooks.install()

        actions["triton"] = pretend_and_install
        actions["torch"] = lambda: pretended.install_torch(pretend, hooks.say)
        actions["triton.profiler"] = lambda: pretended.install_profiler(hooks.say)
        actions["triton.profiler.viewer"] = pretended.install_viewer
    sys.meta_path.insert(0, _AfterImport(actions))
    owner = os.getpid()
    try:
        _run(words)
    except SystemExit:
        raise
    except BaseException as error:
        _uncaught(error, hooks, pretend is not None)
    finally:
        if os.getpid() == owner:  # a fork of the program has counted nothing that is its own
            hooks.remove()
    sys.exit(0)


def _run(words: Sequence[str]) -> None:
    main_module = ModuleType("__main__")
    vars(main_module)["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = main_module
    if words[0] == "-m":
        sys.argv = ["-m", *words[2:]]
        if not getattr(sys.flags, "safe_path", False):
            sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as Python spells it
        _runpy()._run_module_as_main(words[1])
        return
    script = words[0]
    sys.argv = list(words)
    if os.path.isdir(script) or _is_archive(script):  # noqa: PTH112
        sys.path.insert(0, script)
        _runpy()._run_module_as_main("__main__", alter_argv=False)
        return
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, os.path.dirname(os.path.realpath(script)))  # noqa: PTH120
    path = os.path.abspath(script)  # noqa: PTH100 - links are not followed
    vars(main_module).update(
        __file__=path, __cached__=None, __doc__=None, __loader__=SourceFileLoader("__main__", path)
    )
    exec(_code(path), vars(main_module))  # noqa: S102 - running it is the job


def _runpy() -> Any:
    """What `python -m` itself calls is private."""
    return runpy


def _pretended() -> Any:
    """Only what pretends a GPU knows PyTorch, and most programs have one."""
    return importlib.import_module("tritonscope.engine.trace.pretended")


def _is_archive(script: str) -> bool:
    import zipfile

    return zipfile.is_zipfile(script)


def _code(script: str) -> CodeType:
    """The script, compiled as Python does; raises SyntaxError, or SystemExit with Python's own words and code."""
    try:
        data = Path(script).read_bytes()
    except OSError as error:
        print(f"{sys.executable}: can't open file {script!r}: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    return compile(data, script, "exec", dont_inherit=True)


def _uncaught(error: BaseException, hooks: Hooks, pretends: bool) -> NoReturn:
    """What Python does with an exception that nobody caught: print it without our frames, and end accordingly."""
    if pretends and (sentence := why_it_cannot_go_on(error)):
        hooks.send("stopped", text=sentence)
        raise SystemExit(_NO_GPU) from None
    traceback = _of_the_program(error.__traceback__)
    sys.excepthook(type(error), error.with_traceback(traceback), traceback)
    if isinstance(error, KeyboardInterrupt):
        hooks.remove()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOBase):
                stream.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    raise SystemExit(1) from None


def _of_the_program(traceback: TracebackType | None) -> TracebackType | None:
    """Less the frames of this module, which come first."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename in (__file__, runpy.__file__):
        traceback = traceback.tb_next
    return traceback


class _AfterImport(importlib.abc.MetaPathFinder):
    """Does something once a module has been imported, and leaves no trace in the module.

    The program decides when and with which settings Triton is imported; some count from that moment on.
    """

    def __init__(self, actions: dict[str, Callable[[], None]]) -> None:
        self._actions = actions

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        action = self._actions.pop(name, None)
        if action is None:
            return None
        if not self._actions:
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Acting(spec.loader, action)
        return spec


class _Acting(importlib.abc.Loader):
    def __init__(self, loader: Any, action: Callable[[], None]) -> None:
        self._loader = loader
        self._action = action

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        spec.loader = self._loader
        module: ModuleType | None = self._loader.create_module(spec)
        spec.loader = self
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        assert module.__spec__ is not None
        module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._action()
