"""Two switches inside libtriton that Triton does not offer, for speed alone: without them every text is the same.

Both call C++ functions of the loaded library by address. A function that is not there, another processor, another
operating system or `TRITONSCOPE_NATIVE=0` turns them off: then the calls answer False and nothing has happened.
Runs in the child only; standard library and triton.
"""

import ctypes
import functools
import mmap
import os
import platform
import sys
from pathlib import Path

from tritonscope.engine.elf import function_values, read_sections

__all__ = ["assume_verified", "buffer_errs", "flush_errs", "unbuffer_errs"]

_REGISTER_PRINTER_OPTIONS = "_ZN4mlir27registerAsmPrinterCLOptionsEv"
_PARSE_OPTIONS = "LLVMParseCommandLineOptions"
_ERRS = "_ZN4llvm4errsEv"
_SET_BUFFERED = "_ZN4llvm11raw_ostream11SetBufferedEv"
_SET_BUFFER_AND_MODE = "_ZN4llvm11raw_ostream16SetBufferAndModeEPcmNS0_10BufferKindE"
_FUNCTIONS = (_REGISTER_PRINTER_OPTIONS, _PARSE_OPTIONS, _ERRS, _SET_BUFFERED, _SET_BUFFER_AND_MODE)
_ANCHOR = "PyInit_libtriton"  # exported by every Python extension: dlsym's address less its value is the load base
_OPTION = "mlir-print-assume-verified"
_UNBUFFERED = 0  # raw_ostream::BufferKind

_buffered = False


@functools.cache
def assume_verified() -> bool:
    """Make `str(module)` skip the verification it hides, for the rest of this process; False where that cannot be.

    Call it before the first context is made. From then on a module that does *not* verify is printed as if it did,
    and its printers may then crash: print after a pass only where the pass succeeded.
    """
    functions = _functions()
    register, parse = functions.get(_REGISTER_PRINTER_OPTIONS), functions.get(_PARSE_OPTIONS)
    # LLVM ends the process on an option that it does not know.
    if not register or not parse or not _library_knows(_OPTION):
        return False
    arguments = (ctypes.c_char_p * 2)(b"tritonscope", f"--{_OPTION}=true".encode())
    ctypes.CFUNCTYPE(None)(register)()
    ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(parse)(2, arguments, None)
    return True


def buffer_errs() -> bool:
    """Buffer what LLVM and MLIR print on descriptor 2, which they write byte by byte otherwise.

    What is buffered appears after what Python or C print meanwhile, and a crash loses up to a buffer (4 kB) of it:
    call `flush_errs` before reading, `unbuffer_errs` when done. False, and unbuffered, where it cannot be.
    """
    global _buffered
    functions = _functions()
    # Without the way back there is none in.
    if not all(name in functions for name in (_ERRS, _SET_BUFFERED, _SET_BUFFER_AND_MODE)):
        return False
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(functions[_SET_BUFFERED])(_errs(functions))
    _buffered = True
    return True


def flush_errs() -> bool:
    """Write out what `buffer_errs` has kept back; it stays buffered. False where nothing is buffered."""
    # SetBuffered writes out what is there before it allocates, and unlike flush_nonempty takes an empty buffer.
    return _buffered and buffer_errs()


def unbuffer_errs() -> bool:
    """Write out what `buffer_errs` has kept back and write at once again; False where nothing is buffered."""
    global _buffered
    if not flush_errs():
        return False
    functions = _functions()
    set_mode = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int)
    set_mode(functions[_SET_BUFFER_AND_MODE])(_errs(functions), None, 0, _UNBUFFERED)
    _buffered = False
    return True


def _errs(functions: dict[str, int]) -> int | None:
    stream: int | None = ctypes.CFUNCTYPE(ctypes.c_void_p)(functions[_ERRS])()
    return stream


@functools.cache
def _functions() -> dict[str, int]:
    """The addresses of our functions in this process, those that were found; empty where we keep our hands off."""
    supported = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
    if not supported or os.environ.get("TRITONSCOPE_NATIVE") == "0":
        return {}
    try:
        path = _library_path()
        library = ctypes.CDLL(path)
        addresses = {name: _exported(library, name) for name in (*_FUNCTIONS, _ANCHOR)}
        missing = [name for name in _FUNCTIONS if not addresses[name]]
        if missing:
            addresses |= _hidden(path, missing, addresses[_ANCHOR])
        return {name: address for name, address in addresses.items() if address}
    except (ImportError, OSError, ValueError):
        return {}


def _library_path() -> str:
    from triton._C import libtriton

    return str(libtriton.__file__)


def _exported(library: ctypes.CDLL, name: str) -> int:
    try:
        return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    except AttributeError:
        return 0


def _hidden(path: str, names: list[str], anchor: int) -> dict[str, int]:
    """Addresses of functions that the library does not export but lists in .symtab, as Triton 3.4 to 3.6 do."""
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        values = function_values(image, [*names, _ANCHOR])
    if not anchor or _ANCHOR not in values:
        return {}
    base = anchor - values.pop(_ANCHOR)
    return {name: base + value for name, value in values.items()}


def _library_knows(option: str) -> bool:
    """Whether the option's name stands among the library's read-only data."""
    try:
        with Path(_library_path()).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
            return any(
                image.find(option.encode(), section.offset, section.offset + section.size) >= 0
                for section in read_sections(image)
                if section.name.startswith(".rodata")
            )
    except (ImportError, OSError, ValueError):
        return False
