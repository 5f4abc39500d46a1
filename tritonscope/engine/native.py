"""Switches inside libtriton that Triton does not offer, for speed alone: without them every text is the same.

They call C++ functions of the loaded library by address. A function that is not there, another processor, another
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

__all__ = [
    "assume_verified",
    "buffer_dbgs",
    "buffer_errs",
    "can_fingerprint",
    "fingerprint",
    "flush_dbgs",
    "flush_errs",
    "operation_around",
    "unbuffer_dbgs",
    "unbuffer_errs",
]

_REGISTER_PRINTER_OPTIONS = "_ZN4mlir27registerAsmPrinterCLOptionsEv"
_PARSE_OPTIONS = "LLVMParseCommandLineOptions"
_ERRS = "_ZN4llvm4errsEv"
_DBGS = "_ZN4llvm4dbgsEv"
_SET_BUFFERED = "_ZN4llvm11raw_ostream11SetBufferedEv"
_SET_BUFFER_AND_MODE = "_ZN4llvm11raw_ostream16SetBufferAndModeEPcmNS0_10BufferKindE"
_PARENT_OF_BLOCK = "_ZN4mlir5Block11getParentOpEv"
_FINGERPRINT = "_ZN4mlir20OperationFingerPrintC1EPNS_9OperationEb"
_FUNCTIONS = (
    _REGISTER_PRINTER_OPTIONS,
    _PARSE_OPTIONS,
    _ERRS,
    _DBGS,
    _SET_BUFFERED,
    _SET_BUFFER_AND_MODE,
    _PARENT_OF_BLOCK,
    _FINGERPRINT,
)
# Exported functions: dlsym's address of one less its value in the file is where the library lies in memory.
_ANCHORS = ("PyInit_libtriton", "triton_amdgpu_compile")
_OPTION = "mlir-print-assume-verified"
_UNBUFFERED, _EXTERNAL_BUFFER = 0, 2  # raw_ostream::BufferKind
_DUMP_BUFFER = 64 << 20

_buffered: set[tuple[str, str]] = set()


@functools.cache
def assume_verified() -> bool:
    """Make `str(module)` skip the verification it hides, for the rest of this process; False where that cannot be.

    Call it before the first context is made. From then on a module that does *not* verify is printed as if it did,
    and its printers may then crash: print after a pass only where the pass succeeded.
    """
    path = _libtriton()
    functions = _functions(path)
    register, parse = functions.get(_REGISTER_PRINTER_OPTIONS), functions.get(_PARSE_OPTIONS)
    # LLVM ends the process on an option that it does not know.
    if not register or not parse or not _knows_option(path, _OPTION):
        return False
    arguments = (ctypes.c_char_p * 2)(b"tritonscope", f"--{_OPTION}=true".encode())
    ctypes.CFUNCTYPE(None)(register)()
    ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(parse)(2, arguments, None)
    return True


def buffer_errs() -> bool:
    """Buffer what LLVM prints on descriptor 2 (`llvm::errs()`), which it writes in pieces of a few bytes otherwise.

    For LLVM_IR_ENABLE_DUMP, not for MLIR's dumps: MLIR asks the stream how much it has written, is told the wrong
    number through this buffer, and prints some types twice. What is buffered appears after what Python or C print
    meanwhile, and a crash loses up to a buffer (4 kB) of it: call `flush_errs` before reading, `unbuffer_errs` when
    done. Triton 3.9 generates AMD code in a library of its own, which is buffered as well once it is loaded, but
    apart: flush between the two. False, and unbuffered, where it cannot be.
    """
    done = [_buffer(path, _ERRS, 0) for path in (_libtriton(), _amd_codegen()) if path]
    return any(done)


def flush_errs() -> bool:
    """Write out what `buffer_errs` has kept back; it stays buffered. False where nothing is buffered."""
    done = [_buffer(path, stream, 0) for path, stream in list(_buffered) if stream == _ERRS]
    return any(done)


def unbuffer_errs() -> bool:
    """Write out what `buffer_errs` has kept back and write at once again; False where nothing is buffered."""
    done = [_unbuffer(path, stream) for path, stream in list(_buffered) if stream == _ERRS]
    return any(done)


def buffer_dbgs() -> bool:
    """Buffer what MLIR dumps on descriptor 2 (`llvm::dbgs()`), up to 64 MB, until `flush_dbgs` or `unbuffer_dbgs`.

    For MLIR_ENABLE_DUMP without MLIR_DUMP_PATH. Diagnostics are not held back: they appear before the dumps, never
    within one, as long as the buffer holds. A crash that ends the process loses the dumps; one that MLIR catches to
    print a reproducer does not. False, and unbuffered, where it cannot be.
    """
    return _buffer(_libtriton(), _DBGS, _DUMP_BUFFER)


def flush_dbgs() -> bool:
    """Write out what `buffer_dbgs` has kept back; it stays buffered. False where nothing is buffered."""
    return (_libtriton(), _DBGS) in _buffered and buffer_dbgs()


def unbuffer_dbgs() -> bool:
    """Write out what `buffer_dbgs` has kept back and write at once again; False where nothing is buffered."""
    return (_libtriton(), _DBGS) in _buffered and _unbuffer(_libtriton(), _DBGS)


def can_fingerprint() -> bool:
    """Whether `operation_around` and `fingerprint` may be called."""
    return _functions(_libtriton()).keys() >= {_PARENT_OF_BLOCK, _FINGERPRINT}


def operation_around(block: int) -> int | None:
    """The address of the operation that the block at the address `block` lies in."""
    call = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(_functions(_libtriton())[_PARENT_OF_BLOCK])
    operation: int | None = call(block)
    return operation


def fingerprint(operation: int) -> bytes:
    """MLIR's own fingerprint of the operation at the address `operation` and of all in it: equal while none changes."""
    result = ctypes.create_string_buffer(64)  # it takes 20
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_bool)
    prototype(_functions(_libtriton())[_FINGERPRINT])(ctypes.addressof(result), operation, True)
    return result.raw


def _buffer(path: str, stream: str, size: int) -> bool:
    """Write out what a library's `stream` holds and buffer it from here on, by `size` bytes or 0 for its own choice."""
    functions = _functions(path)
    # Without the way back there is none in.
    if not all(name in functions for name in (stream, _SET_BUFFERED, _SET_BUFFER_AND_MODE)):
        return False
    memory = _memory(size) if size else None
    if size and not memory:
        return False
    address = _address(functions[stream])
    # SetBuffered writes out what is there before it allocates, and unlike flush_nonempty takes an empty buffer.
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(functions[_SET_BUFFERED])(address)
    if memory:
        _set_mode(functions, address, memory, size, _EXTERNAL_BUFFER)
    _buffered.add((path, stream))
    return True


def _unbuffer(path: str, stream: str) -> bool:
    if not _buffer(path, stream, 0):
        return False
    functions = _functions(path)
    _set_mode(functions, _address(functions[stream]), None, 0, _UNBUFFERED)
    _buffered.discard((path, stream))
    return True


def _set_mode(functions: dict[str, int], stream: int | None, memory: int | None, size: int, mode: int) -> None:
    """Call raw_ostream::SetBufferAndMode, which asserts that the stream holds nothing."""
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    prototype(functions[_SET_BUFFER_AND_MODE])(stream, memory, size, mode)


def _address(getter: int) -> int | None:
    stream: int | None = ctypes.CFUNCTYPE(ctypes.c_void_p)(getter)()
    return stream


@functools.cache
def _memory(size: int) -> int | None:
    """Memory that is never freed: LLVM's stream may outlive Python, and pages that nothing touches cost nothing."""
    allocate = ctypes.CDLL(None).malloc
    allocate.restype, allocate.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    block: int | None = allocate(size)
    return block


@functools.cache
def _libtriton() -> str:
    """The path of libtriton.so, "" where there is none."""
    try:
        from triton._C import libtriton
    except ImportError:
        return ""
    return str(libtriton.__file__)


def _amd_codegen() -> str:
    """The path of AMD's code generator where Triton has one and this process has loaded it, else ""."""
    backend = sys.modules.get("triton.backends.amd.compiler")
    try:
        path = str(backend.get_amd_codegen_path()) if backend else ""
        if path:
            ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except (AttributeError, OSError):
        return ""
    return path


@functools.cache
def _functions(path: str) -> dict[str, int]:
    """The addresses of our functions in a loaded library, those found; empty where we keep our hands off."""
    supported = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
    if not path or not supported or os.environ.get("TRITONSCOPE_NATIVE") == "0":
        return {}
    try:
        library = ctypes.CDLL(path)
        addresses = {name: address for name in _FUNCTIONS if (address := _exported(library, name))}
        missing = [name for name in _FUNCTIONS if name not in addresses]
        return addresses | (_hidden(path, library, missing) if missing else {})
    except (OSError, ValueError):
        return {}


def _exported(library: ctypes.CDLL, name: str) -> int:
    try:
        return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    except AttributeError:
        return 0


def _hidden(path: str, library: ctypes.CDLL, names: list[str]) -> dict[str, int]:
    """Addresses of functions that the library does not export but lists in .symtab, as Triton 3.4 to 3.6 do."""
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        values = function_values(image, [*names, *_ANCHORS])
    for anchor in _ANCHORS:
        address = _exported(library, anchor)
        if address and anchor in values:
            base = address - values[anchor]
            return {name: base + values[name] for name in names if name in values}
    return {}


def _knows_option(path: str, option: str) -> bool:
    """Whether the option's name stands among the library's read-only data."""
    try:
        with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
            return any(
                image.find(option.encode(), section.offset, section.offset + section.size) >= 0
                for section in read_sections(image)
                if section.name.startswith(".rodata")
            )
    except (OSError, ValueError):
        return False
