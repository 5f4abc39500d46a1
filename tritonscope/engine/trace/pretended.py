"""A GPU that is not there: answers for a program that was written for one, so that its kernels get compiled.

Triton gets a driver that loads and launches nothing. PyTorch's tensors become fake ones, which have shapes, types and a
device and no contents. What only a GPU could say is said to be missing, in a sentence that names the program's line.
"""

import functools
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NoReturn

from tritonscope.engine.trace.uncomputed import NAN, NeedsValue, Say, answers, for_a_kernel, place, taken_to_hold

__all__ = ["install_driver", "install_profiler", "install_torch", "install_viewer"]

#: What a device of an architecture has: (multiprocessors, shared memory in bytes a block may have, memory in GiB).
_DEVICES: Mapping[str, tuple[int, int, int]] = {
    "80": (108, 166912, 80),
    "86": (84, 101376, 48),
    "89": (128, 101376, 24),
    "90": (132, 232448, 80),
    "100": (148, 232448, 180),
    "103": (160, 232448, 268),
    "120": (188, 101376, 96),
    "gfx90a": (104, 65536, 64),
    "gfx942": (304, 65536, 192),
    "gfx950": (256, 163840, 288),
}
_UNKNOWN_DEVICE = (132, 101376, 80)
_REGISTERS = 65536
_THREADS = 2048  # a multiprocessor

#: What a program calls of Triton's profiler between starting it and looking at the profile.
_WHILE_PROFILING = ("activate", "deactivate", "finalize")

#: Where an address would lie, were there memory; every tensor's own is a multiple of what allocators give.
_SOMEWHERE = 1 << 40


def install_driver(target: Mapping[str, Any], say: Say) -> None:
    """Make a driver active in Triton that has `target` and no device, and let its benchmarks measure nothing."""
    import triton.testing
    from triton.backends.compiler import GPUTarget
    from triton.runtime.driver import driver
    from triton.runtime.jit import JITFunction

    arch: int | str = int(target["arch"]) if target["backend"] == "cuda" else target["arch"]
    driver.set_active(_driver(GPUTarget(target["backend"], arch, target["warp_size"])))

    def do_bench(fn: Callable[[], Any], *_: Any, quantiles: Any = None, return_mode: str = "mean", **__: Any) -> Any:
        say(f"{place()}: there is no GPU to time with, so do_bench calls the function once and gives nan")
        fn()
        if quantiles is not None:
            return [NAN] * len(quantiles) if len(quantiles) > 1 else NAN
        return [NAN] if return_mode == "all" else NAN

    triton.testing.do_bench = do_bench
    for name in ("do_bench_cudagraph", "do_bench_proton"):
        if hasattr(triton.testing, name):
            setattr(triton.testing, name, do_bench)
    triton.testing.Mark.run = _without_plots(triton.testing.Mark.run, say)
    JITFunction.run = _with_known_numbers(JITFunction.run, say)
    _leave_out_blas()


def _without_plots(original: Callable[..., Any], say: Say) -> Callable[..., Any]:
    """In the place of a benchmark's run: what would be drawn, and put into tables, is nan."""

    @functools.wraps(original)
    def run(mark: Any, *shown: Any, return_df: bool = False, **given: Any) -> Any:
        if return_df:
            return original(mark, *shown, return_df=True, **given)
        say(f"{place()}: there is no GPU to time with, so perf_report calls the function and draws and writes nothing")
        where_to = ("show_plots", "print_data", "save_path", "diff_col", "save_precision")
        arguments = {name: value for name, value in given.items() if name not in where_to}
        for bench in mark.benchmarks if isinstance(mark.benchmarks, list | tuple) else [mark.benchmarks]:
            for x in bench.x_vals:
                values = x if isinstance(x, list | tuple) else [x] * len(bench.x_names)
                point = dict(zip(bench.x_names, values, strict=True))
                for line in bench.line_vals:
                    mark.fn(**point, **{bench.line_arg: line}, **bench.args, **arguments)
        return None

    return run


def _with_known_numbers(original: Callable[..., Any], say: Say) -> Callable[..., Any]:
    """In the place of a kernel's run, for programs that pass what they have read from a GPU."""

    @functools.wraps(original)
    def run(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        named = {name: for_a_kernel(value, say) for name, value in kwargs.items()}
        return original(kernel, *(for_a_kernel(value, say) for value in args), **named)

    return run


def _leave_out_blas() -> None:
    """Triton's own way to the vendors' libraries, which need a GPU, multiplies nothing."""
    from triton._C import libtriton

    for vendor, library, handle in (("nvidia", "cublas", "CublasLt"), ("amd", "hipblas", "HipblasLt")):
        owner = getattr(getattr(libtriton, vendor, None), library, None)
        if owner is not None:
            setattr(owner, handle, _Inert)


def install_profiler(say: Say) -> None:
    """Let Triton's profiler, which has been imported, start nothing."""

    def start(*_: Any, **__: Any) -> int:
        say(f"{place()}: there is no GPU to profile, so triton.profiler records nothing")
        return 0

    for module in ("triton.profiler", "triton.profiler.profile"):
        vars(sys.modules[module]).update(start=start, **dict.fromkeys(_WHILE_PROFILING, _always(None)))


def install_viewer() -> None:
    """Let the viewer of its profiles, which has been imported, find that there is none."""

    def parse(*_: Any, **__: Any) -> NoReturn:
        raise NeedsValue("a profile")

    vars(sys.modules["triton.profiler.viewer"]).update(parse=parse, read=parse)


def _driver(target: Any) -> Any:
    """A driver of Triton's whose device takes every binary and runs none."""
    from tritonscope.engine.compile_only import TargetDriver

    multiprocessors, shared, _ = _DEVICES.get(str(target.arch), _UNKNOWN_DEVICE)

    class Utils:
        @staticmethod
        def get_device_properties(_: int) -> dict[str, Any]:
            return {
                "max_shared_mem": shared,
                "max_num_regs": _REGISTERS,
                "multiprocessor_count": multiprocessors,
                "warpSize": target.warp_size,
                "max_threads_per_sm": _THREADS,
                "sm_clock_rate": 1_500_000,
                "mem_clock_rate": 2_500_000,
                "mem_bus_width": 5120,
            }

        @staticmethod
        def load_binary(name: str, binary: Any, *_: Any) -> tuple[Any, ...]:
            registers = _registers(name, binary, target)
            return object(), 1, registers, 0, 1024

        @staticmethod
        def unload_module(_: Any) -> None: ...

        def __getattr__(self, name: str) -> Any:
            """Descriptors of Hopper's copy engine and their like: an address of nothing."""
            if name.startswith("__"):
                raise AttributeError(name)
            return lambda *_, **__: 0

    class Pretended(TargetDriver):
        utils = Utils()

        @staticmethod
        def launcher_cls(*_: Any) -> Callable[..., None]:
            return lambda *_: None

        def set_current_device(self, _: int) -> None: ...

        def get_device_capability(self, _: int = 0) -> tuple[int, int]:
            return _capability(target)

        def get_active_torch_device(self) -> Any:
            import torch

            return torch.device("cuda", 0)

        def get_device_interface(self) -> Any:
            import torch

            return torch.cuda

        def get_benchmarker(self) -> Callable[..., Any]:
            from triton.testing import do_bench

            return do_bench  # type: ignore[no-any-return]

        def get_empty_cache_for_benchmark(self) -> Any:
            import torch

            return torch.empty(1, dtype=torch.int, device="cuda")

        def clear_cache(self, _: Any) -> None: ...

    Pretended.__abstractmethods__ = frozenset()
    return Pretended(target)


def _capability(target: Any) -> tuple[int, int]:
    if target.backend == "cuda":
        return target.arch // 10, target.arch % 10
    return int(target.arch[3:-2], 16), int(target.arch[-2], 16)


def _registers(name: str, binary: Any, target: Any) -> int:
    """How many registers a thread of the binary takes, where a tool can say it."""
    from tritonscope.engine import binary as machine_code

    known = machine_code.resources({"cubin": binary}, "", "", target, {})["registers"]
    if known is None and target.backend == "cuda":
        for event, fields in machine_code.inspect({"cubin": binary}, "", target, {"name": name}):
            if event == "resources":
                known = fields["resources"]["registers"]
    return int(known or 32)


# -- PyTorch


def install_torch(target: Mapping[str, Any], say: Say) -> None:
    """Let every tensor of the program be a fake one, and torch.cuda speak of a device of `target`."""
    import torch
    from torch._subclasses import fake_tensor

    # Before torch.cuda claims that there is a device; after that too, nothing is to be put on it.
    fake_tensor.FakeTensorMode.avoid_device_init = True
    modes = (fake_tensor.FakeTensorMode(allow_non_fake_inputs=True), _calls(torch, say))
    modes[0].__enter__()
    fake_tensor.FakeTensor.data_ptr = lambda tensor: _SOMEWHERE + tensor.storage_offset() * tensor.element_size()
    fake_tensor.FakeTensor.__format__ = lambda tensor, _: repr(tensor)
    # A PyTorch without CUDA says otherwise.
    fake_tensor.FakeTensor.is_cuda = property(lambda tensor: tensor.device.type == "cuda")
    fake_tensor.FakeTensor.is_cpu = property(lambda tensor: tensor.device.type == "cpu")
    fake_tensor.FakeTensor.get_device = lambda tensor: -1 if tensor.device.index is None else tensor.device.index
    if not torch.backends.cuda.is_built():
        _keep_devices_from_autograd(torch, fake_tensor)
    modes[1].__enter__()
    _enter_in_backward(torch, modes[1])
    _enter_in_threads(fake_tensor.FakeTensorMode, modes)
    torch.nn.Module._apply = _apply_to_module
    torch.compile = _not_compiled(say)
    torch.testing.assert_close = taken_to_hold("torch.testing.assert_close", None, say)
    _install_cuda(torch, target)


def _enter_in_threads(fake_mode: Any, modes: Sequence[Any]) -> None:
    """Let each thread that the program starts begin in `modes`: PyTorch keeps them for each thread."""
    here = threading.local()
    # What a mode notes of the call that is being made belongs to the thread that makes it.
    fake_mode.in_kernel_invocation = property(
        lambda _: getattr(here, "in_kernel_invocation", False),
        lambda _, value: setattr(here, "in_kernel_invocation", value),
    )
    begin = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def begin_in_modes(thread: threading.Thread) -> None:
        for mode in modes:
            mode.__enter__()
        begin(thread)

    threading.Thread._bootstrap_inner = begin_in_modes  # type: ignore[attr-defined]


def _enter_in_backward(torch: Any, mode: Any) -> None:
    """Let the program's own backward functions run in `mode`, which is set aside for the call that starts them."""
    run_backward = torch.autograd._engine_run_backward

    def run_in_mode(*args: Any, **kwargs: Any) -> Any:
        with mode:
            return run_backward(*args, **kwargs)

    torch.autograd._engine_run_backward = run_in_mode


def _keep_devices_from_autograd(torch: Any, fake_tensor: Any) -> None:
    """Autograd asks for a stream of each tensor's device, and a PyTorch without CUDA aborts over that.

    What asks in C++ is told of the CPU; Python, and the fake tensors' own rules, have a property to look at.
    """

    def device(args: Any) -> Any:
        return torch.device("meta" if args[0].fake_mode.in_kernel_invocation else "cpu")

    fake_tensor._DISPATCH_META_HANDLERS[torch.ops.prim.device.default] = device
    find = fake_tensor.FakeTensor._find_common_device

    def find_common_device(*args: Any) -> Any:
        """What C++ has made on the CPU because of that answer goes with the rest, which is on the GPU."""
        try:
            return find(*args)
        except RuntimeError:
            return torch.device("cuda", 0), False

    fake_tensor.FakeTensor._find_common_device = staticmethod(find_common_device)


def _calls(torch: Any, say: Say) -> Any:
    """The mode that sees each call of PyTorch's: devices get a number, and what would compare values does not."""
    device = torch.device("cuda", 0)
    in_place_of = answers(torch, say)

    def numbered(value: Any) -> Any:
        """Without a number, PyTorch asks the driver which device is the current one."""
        if isinstance(value, str) and value == "cuda":
            return device
        return device if isinstance(value, torch.device) and value.type == "cuda" else value

    class Calls(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func in in_place_of:
                return in_place_of[func](*args, **(kwargs or {}))
            if func is torch.Tensor.cuda:
                return args[0].to(device)
            if func is torch.device:
                return func(*args, **(kwargs or {}))
            named = {name: numbered(value) for name, value in (kwargs or {}).items()}
            return func(*map(numbered, args), **named)

    return Calls()


def _not_compiled(say: Say) -> Callable[..., Any]:
    """In the place of torch.compile, as a function and as a decorator with options."""

    def compile(model: Any = None, *_: Any, **__: Any) -> Any:  # noqa: A001
        say(f"{place()}: torch.compile generates no kernels without a GPU, so what it is given runs as it is")
        return (lambda given: given) if model is None else model

    return compile


def _apply_to_module(module: Any, fn: Callable[[Any], Any], recurse: bool = True) -> Any:
    """`Module._apply`, which `.cuda()` and `.half()` call, putting new parameters in place of fake ones."""
    import torch

    for child in module.children() if recurse else ():
        child._apply(fn)
    with torch.no_grad():
        for name, parameter in module._parameters.items():
            if parameter is not None and (applied := fn(parameter)) is not parameter:
                module._parameters[name] = torch.nn.Parameter(applied, parameter.requires_grad)
        for name, buffer in module._buffers.items():
            module._buffers[name] = None if buffer is None else fn(buffer)
    return module


def _install_cuda(torch: Any, target: Mapping[str, Any]) -> None:
    cuda = torch.cuda
    arch = target["arch"]
    multiprocessors, shared, memory = _DEVICES.get(arch, _UNKNOWN_DEVICE)
    triton_target = SimpleNamespace(
        backend=target["backend"],
        arch=int(arch) if target["backend"] == "cuda" else arch,
        warp_size=target["warp_size"],
    )
    major, minor = _capability(triton_target)
    name = f"no GPU, compiling for {'sm_' if target['backend'] == 'cuda' else ''}{arch}"
    properties = SimpleNamespace(
        name=name,
        major=major,
        minor=minor,
        total_memory=memory << 30,
        multi_processor_count=multiprocessors,
        max_threads_per_multi_processor=_THREADS,
        warp_size=target["warp_size"],
        regs_per_multiprocessor=_REGISTERS,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=shared,
        shared_memory_per_multiprocessor=shared + 1024,
        L2_cache_size=50 << 20,
        gcnArchName=arch if target["backend"] == "hip" else "",
        is_integrated=False,
        is_multi_gpu_board=False,
        uuid="",
    )
    answers: dict[str, Any] = {
        "_lazy_init": None,
        "init": None,
        "is_available": True,
        "is_initialized": True,
        "is_bf16_supported": True,
        "device_count": 1,
        "current_device": 0,
        "set_device": None,
        "set_stream": None,
        "get_device_name": name,
        "get_device_capability": (major, minor),
        "get_device_properties": properties,
        "get_arch_list": [f"sm_{arch}"] if target["backend"] == "cuda" else [arch],
        "synchronize": None,
        "empty_cache": None,
        "manual_seed": None,
        "manual_seed_all": None,
        "memory_allocated": 0,
        "max_memory_allocated": 0,
        "memory_reserved": 0,
        "max_memory_reserved": 0,
        "reset_peak_memory_stats": None,
        "mem_get_info": (memory << 30, memory << 30),
        "is_current_stream_capturing": False,
    }
    for question, answer in answers.items():
        setattr(cuda, question, _always(answer))
    stream = _Stream()
    cuda.current_stream = cuda.default_stream = _always(stream)
    cuda.Stream, cuda.Event = _Stream, _Event
    cuda.stream = cuda.device = _Context
    if target["backend"] == "hip":
        torch.version.hip = "0.0"
    else:
        torch.version.cuda = torch.version.cuda or "12.8"


def _always(answer: Any) -> Callable[..., Any]:
    return lambda *_, **__: answer


class _Context:
    """`with torch.cuda.device(0):` and `with torch.cuda.stream(s):`."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __enter__(self) -> "_Context":
        return self

    def __exit__(self, *_: object) -> None: ...


class _Inert(_Context):
    """What does nothing, whatever it is asked to do."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _always(None)


class _Stream(_Inert):
    """A stream on which nothing waits."""

    cuda_stream = 0
    device_index = 0


class _Event(_Stream):
    """An event that has always happened, and between two of which no time can be known."""

    def elapsed_time(self, _: Any) -> float:
        return NAN

    def query(self) -> bool:
        return True
