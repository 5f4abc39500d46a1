"""The launches in a trace of tritonparse: counted by kernel, grid and arguments.

They may lie anywhere in the file, so that all are read before the first compilation has its own.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from tritonscope.errors import CaptureUnreadable, UsageError
from tritonscope.foreign.reading import lines, load_object
from tritonscope.model import Launch
from tritonscope.store import decode

__all__ = ["Launched", "Launches"]

#: So many different calls of a kernel are told apart, and so many of all kernels of a trace.
_MOST_CALLS = 1000
_MOST_CALLS_OF_ALL = 50_000

#: PyTorch's types that Triton calls otherwise.
_TYPES = {
    "bool": "i1",
    **{f"{sign}int{bits}": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"fp{bits}" for bits in (16, 32, 64)},
    "bfloat16": "bf16",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2": "fp8e5",
    "float8_e5m2fnuz": "fp8e5b16",
}


@dataclass
class Launched:
    """The launches of one kernel: how often each `calls`, a text that only this module reads, was made.

    `more` counts those of yet other calls; `tuning` how many of all were an autotuner's, measuring.
    """

    calls: dict[str, int] = field(default_factory=dict)
    more: int = 0
    tuning: int = 0

    def without(self, constants: Mapping[str, Any]) -> tuple[Launch, ...]:
        """The calls as they were first seen, their arguments less the `constants` of the kernel, by name."""
        counted: dict[str, dict[str, Any]] = {}
        for text, count in self.calls.items():
            call = json.loads(text)
            call["arguments"] = [each for each in call["arguments"] if each["name"] not in constants]
            counted.setdefault(json.dumps(call), {**call, "count": 0})["count"] += count
        return tuple(decode.decode_launch(each, "a launch of the trace") for each in counted.values())

    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the numbers."""
        total = sum(self.calls.values()) + self.more
        notes = []
        if self.tuning:
            notes.append(f"{self.tuning:,} of the {total:,} launches were an autotuner's measurements.")
        if self.more:
            notes.append(f"{self.more:,} of the {total:,} launches, with yet other grids and arguments, are left out.")
        return tuple(notes)


class Launches:
    """The launches of a trace, by the hash of the kernel that was launched."""

    def __init__(self) -> None:
        self._kernels: dict[str, Launched] = {}
        self._distinct = 0

    def of(self, key: Any) -> Launched:
        """Those of the kernel whose hash is `key`."""
        return self._kernels.get(key, Launched()) if isinstance(key, str) else Launched()

    def read(self, stream: BinaryIO, place: str) -> None:
        """Count those in `stream`; one that cannot be read is left out. Raises UsageError where a line is too long."""
        for line in lines(stream, place):
            if b'"launch"' not in line[:4096]:
                continue
            try:
                event = load_object(line, place)
                if event.get("event_type") == "launch":
                    self._count(event, place)
            except (UsageError, CaptureUnreadable, KeyError, TypeError, ValueError):
                continue

    def _count(self, event: Mapping[str, Any], place: str) -> None:
        given = event.get("extracted_args")
        arguments = given.items() if isinstance(given, Mapping) else ()
        call = {
            "grid": list(event["grid"]),
            "arguments": [
                {"name": name, **_argument(value)} for name, value in arguments if isinstance(value, Mapping)
            ],
        }
        decode.decode_launch({**call, "count": 1}, place)
        text = json.dumps(call)
        kernel = self._kernels.setdefault(str(event["compilation_metadata"]["hash"]), Launched())
        kernel.tuning += _by_autotuner(event.get("stack"))
        if text not in kernel.calls:
            if len(kernel.calls) >= _MOST_CALLS or self._distinct >= _MOST_CALLS_OF_ALL:
                kernel.more += 1
                return
            self._distinct += 1
            kernel.calls[text] = 0
        kernel.calls[text] += 1


def _argument(value: Mapping[str, Any]) -> dict[str, Any]:
    """An argument as `model.Launch` has it."""
    if value.get("type") == "tensor":
        return {"tensor": {**_memory(value), "shape": list(value["shape"]), "strides": list(value["stride"])}}
    if value.get("type") == "TensorDescriptor":
        shape = {"shape": list(value["shape"]), "strides": list(value["strides"])}
        return {"descriptor": {**_memory(value["base"]), **shape, "block": list(value["block_shape"]), "layout": None}}
    return {"value": repr(value["value"]) if "value" in value else str(value["repr"])}


def _memory(tensor: Mapping[str, Any]) -> dict[str, Any]:
    name = str(tensor["dtype"]).removeprefix("torch.")
    return {"dtype": _TYPES.get(name, name), "aligned": int(tensor["data_ptr"], 16) % 16 == 0}


def _by_autotuner(stack: Any) -> bool:
    return isinstance(stack, list) and any(
        isinstance(frame, Mapping)
        and frame.get("name") == "_bench"
        and str(frame.get("filename")).endswith("triton/runtime/autotuner.py")
        for frame in stack
    )
