"""Passes that a pass runs inside itself, from what the compiler printed while that pass ran.

The compiler prints a module before each nested pass and nothing after it: what a nested pass left is what the next one
was given, and for the last what the outer pass left in the end.
"""

from dataclasses import replace

from tritonscope.engine.snapshots import SnapshotFolder
from tritonscope.ir.locations import strip_locations
from tritonscope.ir.mlir_dump import Dump, Noise
from tritonscope.ir.stats import count_ops
from tritonscope.ir.timing import Timing, parse_timing
from tritonscope.model import PassRecord

__all__ = ["nested_records", "short_name"]


def nested_records(
    items: list[Dump | Noise], outer: PassRecord, before: str, after: str, snapshots: SnapshotFolder
) -> list[PassRecord]:
    """The passes inside `outer`, which turned the text `before` into `after`; their IR is written to `snapshots`."""
    dumps = [item for item in items if isinstance(item, Dump)]
    # A pass that is listened to prints itself first; one that is not may still print its inner steps.
    own = 1 if dumps and dumps[0].when == "Before" else 0
    inner = [d for d in dumps[own:] if d.when == "Before" or d.owner]
    if not inner:
        return []
    times = _times(parse_timing("".join(item.text for item in items if isinstance(item, Noise))), inner)
    records: list[PassRecord] = []
    text, file = before, None
    for index, dump in enumerate(inner, 1):
        step = f"{outer.step}.{index}"
        name = short_name(dump)
        if dump.text != text:
            file = snapshots.add(step, name if dump.owner else f"{name}.before", "mlir", dump.text.encode())
            if records and not dump.owner:
                records[-1] = _left(records[-1], text, dump.text, file)
            text = dump.text
        records.append(
            PassRecord(
                step=step,
                stage=outer.stage,
                name=name,
                options=" ".join((dump.options or "").split()),
                ms=times.get(index - 1),
                changed=dump.owner is not None,
                ops_before=None if dump.owner else count_ops(text),
                ops_after=count_ops(text),
                file=file if dump.owner else None,
                method="dumped",
                before=None if dump.owner else file,
                scope=dump.symbol or dump.owner or "",
            )
        )
    if not inner[-1].owner and after != text:
        # Where the outer pass changed nothing in the end, it has no file, and yet the last one did undo something.
        file = outer.file or snapshots.add(records[-1].step, records[-1].name, "mlir", after.encode())
        records[-1] = _left(records[-1], text, after, file)
    return records


def short_name(dump: Dump) -> str:
    """The pass's mnemonic, or its class without the namespaces around it."""
    return dump.mnemonic or dump.name.rpartition("::")[2]


def _left(record: PassRecord, before: str, after: str, file: str | None) -> PassRecord:
    """`record`, now that it is known what it left."""
    return replace(
        record, changed=strip_locations(after) != strip_locations(before), ops_after=count_ops(after), file=file
    )


def _times(report: list[Timing], inner: list[Dump]) -> dict[int, float]:
    """Milliseconds by position among `inner`, for passes that ran, and were timed, just once.

    The report adds up the runs of a pass over several functions, so any other share would be a guess.
    """
    nested = [line for line in report if line.depth > 0 or " Pipeline" in line.name]
    times = {}
    for index, dump in enumerate(inner):
        same = [line for line in nested if line.name == dump.name]
        if len(same) == 1 and sum(d.name == dump.name for d in inner) == 1:
            times[index] = round(same[0].seconds * 1000, 4)
    return times
