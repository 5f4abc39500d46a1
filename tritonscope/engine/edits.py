"""Texts that take the place of what a step or a stage left. Runs in the child."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tritonscope.engine import printed
from tritonscope.ir.mlir_dump import parse_diagnostics
from tritonscope.model import Edit

__all__ = ["Edits", "Exchangeable", "Refused", "native_of"]

#: With how many threads a kernel is launched is settled before the first pass.
_SETTLED = ("ttg.num-warps", "ttg.num-ctas", "ttg.threads-per-warp")

_INSIDE_TYPE = re.compile(r"<.*>", re.DOTALL)


class Refused(Exception):
    """A text cannot take its place; `fields` are those of a "failure" event."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__(fields["message"])
        self.fields = fields


class Exchangeable:
    """Stands in for a module while a stage runs, so that another can take its place; else it behaves like it."""

    def __init__(self, native: Any) -> None:
        self.__dict__["_native"] = native

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._native, name, value)

    def __str__(self) -> str:
        return str(self._native)

    def exchange(self, native: Any) -> None:
        """Be `native` from now on."""
        self.__dict__["_native"] = native


def native_of(value: Any) -> Any:
    """The module that `value` stands for, or `value` itself."""
    return value.__dict__["_native"] if isinstance(value, Exchangeable) else value


class Edits:
    """The texts of one compile, which lie in its capture's `folder`; each is asked for once, in order."""

    def __init__(self, edits: Sequence[Edit], folder: Path) -> None:
        self._waiting = {(edit.stage, edit.step): edit for edit in edits}
        self._folder = folder

    def inside(self, stage: str) -> bool:
        """Whether one of them belongs after a step of `stage`."""
        return any(at == stage and step is not None for at, step in self._waiting)

    def module(self, stage: str, step: int | None, before: Any) -> Any | None:
        """The module to go on with in place of `before`, what `step` of `stage` left; None where it is `before` itself.

        Raises Refused where the text does not parse, or is that of a kernel which is launched in another way.
        """
        edit = self._waiting.pop((stage, None if step is None else str(step)), None)
        if edit is None:
            return None
        module = self._parsed(edit, before)
        for name in _SETTLED:
            settled, found = before.get_int_attr(name), module.get_int_attr(name)
            if settled != found:
                message = f"it has {name} = {found}, and the kernel is compiled for {settled}, which no edit changes"
                raise self._refused(edit, message)
        if _arguments(before) != _arguments(module):
            raise self._refused(edit, "its function takes other arguments than the kernel, which no edit changes")
        return module

    def text(self, stage: str, name: str) -> str | None:
        """The text to go on with in place of what `stage` left, None where there is none.

        Raises Refused where it has lost the `name` of the kernel.
        """
        edit = self._waiting.pop((stage, None), None)
        if edit is None:
            return None
        text = self._read(edit)
        if not re.search(rf"(?<![\w$.]){re.escape(name)}(?![\w$.])", text):
            raise self._refused(edit, f"it has lost the function {name}, which is the kernel")
        return text

    def check(self) -> None:
        """At the end: raise Refused where a text found no place."""
        for edit in self._waiting.values():
            raise self._refused(edit, "this compile does not come by the place where it belongs")

    def _read(self, edit: Edit) -> str:
        return (self._folder / edit.file).read_text(encoding="utf-8", errors="replace")

    def _parsed(self, edit: Edit, before: Any) -> Any:
        from triton._C import libtriton

        start = printed.size()
        try:
            # What has no location gets the line of the file, which should have the same name in every compile.
            with _working_in(self._folder):
                module = libtriton.ir.parse_mlir_module(edit.file, before.context)
        except Exception as error:
            said = printed.since(start)
            errors = [each for each in parse_diagnostics(said) if each.severity == "error"]
            placed = next((each for each in errors if each.file == edit.file), None)
            first = placed or next(iter(errors), None)
            raise self._refused(
                edit,
                first.message if first else str(error),
                line=placed.line if placed else None,
                column=placed.column - 1 if placed and placed.column else None,
                diagnostics=said,
            ) from error
        module.context = before.context
        return module

    def _refused(
        self, edit: Edit, message: str, line: int | None = None, column: int | None = None, diagnostics: str = ""
    ) -> Refused:
        lines = self._read(edit).splitlines()
        return Refused(
            {
                "stage": edit.stage,
                "step": None,
                "message": f"the edited text is not taken: {message}",
                "file": edit.file,
                "line": line,
                "column": column,
                "source_line": lines[line - 1] if line is not None and line <= len(lines) else None,
                "diagnostics": diagnostics,
            }
        )


@contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _arguments(module: Any) -> list[str] | None:
    """What the kernel of a module takes, layouts aside; None where Triton cannot tell, in the dialects of LLVM."""
    name = module.get_entry_func_name()
    if not name or not module.has_function(name):
        return None
    return [_INSIDE_TYPE.sub("", each) for each in module.get_function_signature(module.get_function(name))]
