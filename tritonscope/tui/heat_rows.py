"""The Python source with what became of each line before it. No textual here."""

from collections.abc import Mapping
from dataclasses import replace

from tritonscope.ir.links import Position
from tritonscope.line_links import Heat
from tritonscope.tui.document import Document
from tritonscope.tui.rows import Row, TextRows

__all__ = ["HeatRows"]

_HOT, _WARM = 0.5, 0.15
_NUMBERS = 8  # columns before the margin: the line's number and the frame, less the title's own place


class HeatRows(TextRows):
    """Instructions of each stage of machine code, bytes loaded and stored by each thread, samples of the profile.

    A line is hot by its share of what the line with the most has: of samples, else of the final stage's instructions.
    """

    def __init__(self, document: Document, file: str, heat: Heat, samples: Mapping[Position, int]) -> None:
        super().__init__(document)
        lines = next((found.lines for found in heat.files if found.file == file), ())
        self._stages = heat.stages
        self._moves = any(line.loaded or line.stored for line in lines)
        self._lines = {line.line: line for line in lines}
        self._samples = {place.line: count for place, count in samples.items() if place.file == file}
        amounts = self._samples or {line.line: line.instructions[heat.stages[-1]] for line in lines}
        most = max(amounts.values(), default=0) or 1
        self._share = {line: amount / most for line, amount in amounts.items()}
        names = [*heat.stages, *(("loaded", "stored") if self._moves else ()), *(("samples",) if samples else ())]
        self._widths = [max(len(name), 4) + 1 for name in names]
        self.margin = sum(self._widths) + 2
        head = "".join(f"{name:>{width}}" for name, width in zip(names, self._widths, strict=True))
        self.title = f"{document.title:<{_NUMBERS - 3}}{head}"

    def row(self, number: int) -> Row:
        line = number + 1
        share = self._share.get(line, 0.0)
        style = "hot" if share > _HOT else "warm" if share > _WARM else ""
        (cell,) = super().row(number).cells
        return Row((replace(cell, style=style, margin=self._before(line)),))

    def _before(self, line: int) -> str:
        found = self._lines.get(line)
        numbers = [found.instructions[stage] if found else 0 for stage in self._stages]
        if self._moves:
            numbers += (found.loaded, found.stored) if found else (0, 0)
        if len(numbers) < len(self._widths):
            numbers.append(self._samples.get(line, 0))
        return "".join(f"{value or '':>{width}}" for value, width in zip(numbers, self._widths, strict=True))
