"""Work that goes on in children while the reader reads: compiles and runs. Threads wait for them, never the screen."""

import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tritonscope import ablation, api, bundled_kernels, gpu, interpreter, kernel_reference, runs, variants
from tritonscope.engine.client import Cancel
from tritonscope.errors import Missing, TritonscopeError
from tritonscope.model import Capture, Request, RunResult, Target

__all__ = ["Job", "compile_requests", "fields_of", "start_ablation", "start_compile", "start_run"]


@dataclass
class Job:
    """One child's work: what it is called, how far it is, and the means to end it.

    `folder` is where a capture is written meanwhile, `origin` the capture that the reader was in when it was asked for.
    """

    label: str
    cancel: Cancel = field(default_factory=Cancel)
    progress: str = ""
    folder: str = ""
    origin: str = ""
    capture: Capture | None = None
    results: list[RunResult] = field(default_factory=list)
    error: str = ""
    done: bool = False
    began: float = field(default_factory=time.monotonic)


Notify = Callable[[Job], None]


def compile_requests(fields: Mapping[str, str]) -> list[Request]:
    """What a form asks for: the product of its comma lists. Raises UsageError for what does not parse."""
    kernel = kernel_reference.find(fields["kernel"])
    targets = [Target.parse(text) for text in variants.split(fields.get("target", "")) if text]
    if not targets:
        targets = [gpu.present() or Target.parse("sm_90")]
    constants = variants.product(variants.assignments("constexprs", fields.get("set", "").split()))
    options = variants.product(variants.assignments("options", fields.get("option", "").split()))
    environments = variants.product(variants.assignments("environment", fields.get("env", "").split()))
    return [
        Request(kernel, target, signature=fields.get("signature") or None, constants=c, options=o, env=e)
        for target in targets
        for c in constants
        for o in options
        for e in environments
    ]


def fields_of(capture: Capture) -> dict[str, str]:
    """The form with which `capture` would be compiled again, less its target."""
    request = capture.request
    kernel = request.get("kernel", {})
    path, function = str(kernel.get("path", "")), str(kernel.get("function", capture.kernel))
    bundled = {each.function: each.name for each in bundled_kernels.kernels()} if kernel.get("bundled") else {}
    return {
        "kernel": bundled.get(function, f"{path}:{function}"),
        "set": " ".join(f"{name}={value}" for name, value in request.get("constants", {}).items()),
        "option": " ".join(f"{name}={value}" for name, value in request.get("options", {}).items()),
        "signature": str(request.get("signature") or ""),
    }


def start_compile(request: Request, dumps: Path, origin: str, notify: Notify) -> Job:
    """Compile in a child; `notify` is called, in the thread that waits, whenever the job changed."""
    settings = " ".join(f"{name}={value}" for name, value in {**request.constants, **request.options}.items())
    job = Job(" ".join(filter(None, [request.kernel.name, request.target.name, settings])), origin=origin)

    def on_event(event: Mapping[str, Any]) -> None:
        job.folder = str(event.get("folder", job.folder))
        if event["event"] == "pass":
            job.progress = f"{event.get('stage', '')} {event.get('step', '')} {event.get('name', '')}".strip()
        elif event["event"] == "begin":
            job.progress = str(event.get("stage", ""))
        notify(job)

    def work() -> None:
        try:
            job.capture = api.capture(
                request,
                dumps,
                python=interpreter.choose(None),
                command=["tritonscope", "open"],
                cancel=job.cancel,
                on_event=on_event,
            )
        except TritonscopeError as error:
            job.error = str(error)
        finally:
            job.done = True
            notify(job)

    threading.Thread(target=work, daemon=True).start()
    return job


def start_run(captures: Sequence[Capture], dumps: Path, notify: Notify) -> Job:
    """Run captures on the GPU in a child, as `tritonscope run CAPTURE` does."""
    job = Job(f"running {captures[0].capture}")

    def on_progress(text: str) -> None:
        job.progress = text
        notify(job)

    def work() -> None:
        try:
            present = gpu.present()
            if present is None:
                raise Missing("there is no GPU here; `tritonscope run KERNEL --interpret` does without, in a shell")
            asked = runs.Asked(interpreter.choose(None), present, ("tritonscope", "open"), cancel=job.cancel)
            units = [unit for capture in captures for unit in runs.plan_capture(capture, asked)]
            for result in runs.run(units, asked, on_progress):
                job.results.append(result)
                notify(job)
        except TritonscopeError as error:
            job.error = str(error)
        except KeyboardInterrupt:
            job.error = "the run was cancelled"
        finally:
            job.done = True
            notify(job)

    threading.Thread(target=work, daemon=True).start()
    return job


def start_ablation(capture: Capture, rows: list[ablation.Ablated], notify: Notify) -> Job:
    """Leave one pass of `capture` out after the other, as `tritonscope ablate` does; `rows` fills meanwhile."""
    job = Job(f"leaving passes of {capture.capture} out")

    def on_progress(text: str) -> None:
        job.progress = text
        notify(job)

    def work() -> None:
        try:
            with tempfile.TemporaryDirectory(prefix="tritonscope-ablate-") as scratch:
                plan = _ablation_plan(capture, job.cancel, Path(scratch))
                records = [record for record in ablation.optional_passes(capture) if record.changed]
                for row in ablation.ablate(plan, ablation.variants_of(capture, records), on_progress):
                    rows.append(row)
                    notify(job)
        except TritonscopeError as error:
            job.error = str(error)
        except KeyboardInterrupt:
            job.error = "it was cancelled"
        finally:
            job.done = True
            notify(job)

    threading.Thread(target=work, daemon=True).start()
    return job


def _ablation_plan(capture: Capture, cancel: Cancel, scratch: Path) -> ablation.Plan:
    """With runs where this machine's GPU is what the capture is for."""
    target = Target(**capture.request["target"])
    asked = runs.Asked(
        interpreter.choose(None), target, ("tritonscope", "open"), seeds=(0,), baselines=False, cancel=cancel
    )
    unit = None
    if gpu.present() == target:
        unit, *_ = runs.plan_capture(capture, replace(asked, seeds=()))
        unit = replace(unit, checked=(unit.main,))
    return ablation.Plan(capture, unit, asked, scratch)
