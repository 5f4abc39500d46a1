"""What stands between a program and Triton while it is traced, and how it is taken away again.

A compile is announced to the recorder, captured by a fork, and then done as the program asked. A launch is counted.
The autotuner's measurements are noted. Nothing here raises: what goes wrong with a trace is said, and the program
goes on.
"""

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

from tritonscope.engine.trace.launches import Launches
from tritonscope.engine.trace.line import Line

__all__ = ["INDUCTOR", "Hooks"]

#: The module of torch.compile's autotuner.
INDUCTOR = "torch._inductor.runtime.triton_heuristics"

_ABSENT = object()


class Hooks:
    """The hooks of one trace, which reports to the recorder that listens at `socket`.

    `measures` is False where no GPU is there to time with: then every configuration is compiled and none timed.
    """

    #: Whether this process is a fork that captures: no other trace of the program captures what that compiles.
    in_capture = False

    def __init__(self, socket: str, *, measures: bool) -> None:
        self.socket = socket
        self.measures = measures
        self.launches = Launches()
        self.tuned: list[dict[str, Any]] = []
        self.active = False
        self._said: set[str] = set()
        self._line: Line | None = None
        self._lock = threading.Lock()
        self._replaced: list[tuple[Any, str, Any]] = []
        self._rounds: dict[int, list[dict[str, Any]]] = {}
        #: The functions of kernels that the recorder did not want.
        self._declined: set[Any] = set()

    # -- in and out

    def install(self) -> None:
        """Hook into the triton that has been imported."""
        import triton
        from triton.compiler.compiler import CompiledKernel
        from triton.runtime.autotuner import Autotuner
        from triton.runtime.jit import JITFunction

        # Whatever the forks import is there before them: another thread's import would never end in a fork.
        from tritonscope.engine.trace import forked  # noqa: F401

        self.active = True
        self._replace(triton, "compile", self._compile(triton.compile))
        if hasattr(JITFunction, "_do_compile"):
            self._replace(JITFunction, "_do_compile", self._do_compile(JITFunction._do_compile))
        else:  # early releases: kernels that were launched before the trace are not seen
            self._replace(triton.compiler, "compile", self._compile(triton.compiler.compile))
        self._replace(CompiledKernel, "_init_handles", self._init_handles(CompiledKernel._init_handles))
        self._replace(Autotuner, "_bench", self._bench(Autotuner._bench))
        self._replace(Autotuner, "run", self._run_tuned(Autotuner.run))
        # While it is being imported it is there without its classes, and imports triton itself.
        if hasattr(sys.modules.get(INDUCTOR), "CachingAutotuner"):
            self.install_inductor()

    def install_inductor(self) -> None:
        """Hook into torch.compile's own autotuner, which has been imported: its launches are not the program's."""
        tuner = sys.modules[INDUCTOR].CachingAutotuner
        self._replace(tuner, "bench", self._aside(tuner.bench))

    def remove(self) -> None:
        """Put back all that was replaced, and report what was counted."""
        self.active = False
        for owner, name, before in reversed(self._replaced):
            setattr(owner, name, before)
        self._replaced.clear()
        self.launches.stop()
        self.report()
        if self._line is not None:
            self._line.close()
            self._line = None

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        self._replaced.append((owner, name, vars(owner)[name]))
        setattr(owner, name, value)

    # -- what is said

    def say(self, text: str) -> None:
        """Let the recorder tell the user, once; what the program prints next comes after it."""
        if text not in self._said:
            self._said.add(text)
            self.send("say", text=text)
            if self._line is not None:
                self._line.receive()

    def report(self) -> None:
        """Send the launches and what the autotuner measured."""
        for launch in self.launches.report():
            self.send("launch", **launch)
        for tuned in self.tuned:
            self.send("tuned", **tuned)
        self.send("reported")

    def send(self, event: str, **fields: Any) -> None:
        """Send an event of the program's own, which belongs to no capture."""
        try:
            if self._line is None:
                self._line = Line(self.socket)
                self._line.send("program")
            self._line.send(event, **fields)
        except OSError:  # nobody records any more
            return

    # -- compiles

    def _compile(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def compile(src: Any, target: Any = None, options: Any = None, *rest: Any, **named: Any) -> Any:  # noqa: A001
            if self.active and not Hooks.in_capture:
                self._capture(src, target, options)
            return original(src, target, options, *rest, **named)

        compile.hooks = (self, *getattr(original, "hooks", ()))  # type: ignore[attr-defined]
        return compile

    def _do_compile(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A kernel keeps the compile function of its first launch, which may have been before this trace."""

        @functools.wraps(original)
        def do_compile(fn: Any, *args: Any, **kwargs: Any) -> Any:
            with self._lock:  # several threads may compile a kernel at once
                before = vars(fn).get("compile", _ABSENT)
                if self.active and before is not _ABSENT and self not in getattr(before, "hooks", ()):
                    self._replace(fn, "compile", self._compile(before))
            return original(fn, *args, **kwargs)

        return do_compile

    def _capture(self, src: Any, target: Any, options: Any) -> None:
        """Ask the recorder whether it wants this one, and let a fork capture it if so."""
        if not hasattr(src, "fn") or not hasattr(src, "signature"):
            return  # IR from a file: there is no kernel behind it
        try:
            from triton.runtime.driver import driver

            from tritonscope.engine.trace import forked

            target = driver.active.get_current_target() if target is None else target
            line = Line(self.socket)
            try:
                line.send(
                    "compile",
                    name=src.name,
                    path=src.fn.fn.__code__.co_filename,
                    function=src.fn.fn.__qualname__,
                    backend=target.backend,
                    arch=str(target.arch),
                    warp_size=target.warp_size,
                )
                answer = line.receive()
                if answer and not answer["capture"]:
                    self._declined.add(src.fn.fn)
                elif answer and forked.start():
                    self.active, Hooks.in_capture = False, True
                    forked.capture_and_exit(line, answer, src, target, dict(options or {}))
            finally:
                line.close()
        except OSError:  # nobody records any more
            return
        except Exception as error:
            self.say(f"{getattr(src, 'name', 'a kernel')} could not be captured: {type(error).__name__}: {error}")

    # -- launches

    def _init_handles(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def init_handles(kernel: Any) -> None:
            original(kernel)
            if self.active:
                self.launches.count(kernel)

        return init_handles

    # -- the autotuner

    def _bench(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def bench(tuner: Any, *args: Any, config: Any, **meta: Any) -> Any:
            if not self.active:
                return original(tuner, *args, config=config, **meta)
            if not self.measures and tuner.base_fn in self._declined:
                return [0.0] * 3  # a time and its quantiles, of what nobody wants to see compiled
            outer, self.launches.tuning = self.launches.tuning, set()
            before = vars(tuner).get("do_bench", _ABSENT)
            if not self.measures:
                tuner.do_bench = _once
            try:
                timings = original(tuner, *args, config=config, **meta)
                self._note(tuner, config, self.launches.tuning, timings)
                return timings
            finally:
                self.launches.tuning = outer
                if not self.measures:
                    if before is _ABSENT:
                        del tuner.do_bench
                    else:
                        tuner.do_bench = before

        return bench

    def _aside(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def bench(*args: Any, **kwargs: Any) -> Any:
            outer, self.launches.tuning = self.launches.tuning, set()
            try:
                return original(*args, **kwargs)
            finally:
                self.launches.tuning = outer

        return bench

    def _note(self, tuner: Any, config: Any, keys: set[str], timings: Any) -> None:
        measured = list(timings) if isinstance(timings, list | tuple) else [timings]
        median = measured[0] if self.measures and measured and measured[0] != float("inf") else None
        values = {name: _plain(value) for name, value in config.all_kwargs().items()}
        for key in keys:
            round_ = self._rounds.setdefault(id(tuner), [])
            round_.append({"key": key, "config": values, "ms": median, "of": config})

    def _run_tuned(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def run(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(tuner, *args, **kwargs)
            if self._rounds and (round_ := self._rounds.pop(id(tuner), None)):
                best = tuner.best_config
                names = [getattr(each, "__name__", str(each)) for each in tuner.keys]
                for entry in round_:
                    won = entry.pop("of") is best if self.measures else None
                    self.tuned.append({**entry, "best": won, "tuned_for": names})
            return result

        return run


def _once(call: Callable[[], Any], quantiles: Any = None, **_: Any) -> Any:
    """In the place of a benchmark where there is nothing to time with: compile it, and call all equally fast."""
    call()
    return [0.0] * len(quantiles) if quantiles else 0.0


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
