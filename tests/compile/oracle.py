"""A plain `triton.compile`, and nothing of ours: what the tests hold captures against. Run with triton alone.

    python oracle.py KERNEL_FILE FUNCTION TARGET OUT

builds the source by hand from the kernel's TRITONSCOPE, as a launch would, and writes each
artefact to OUT/<stage> and the binaries of further runs of the assembler to OUT/cubin.<n>.
"""

import importlib.util
import re
import sys
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend


def source_of(function, signature, hip):
    types, constants, attributes = {}, {}, {}
    for index, (name, text) in enumerate(re.findall(r"(\w+)=((?:[^,<]|<[^>]*>)+)", signature)):
        kind, _, hint = text.strip().partition(":")
        if re.fullmatch(r"-?\d+|True|False", kind):
            types[name] = "constexpr"
            constants[(index,)] = {"True": True, "False": False}.get(kind, kind)
            if isinstance(constants[(index,)], str):
                constants[(index,)] = int(kind)
            continue
        types[name] = kind
        attributes[(index,)] = [["tt.divisibility", 16]] if hint == "16" else []
        if hip and kind.startswith("*"):
            attributes[(index,)] += [["tt.pointer_range", 32]]
    return ASTSource(function, types, constants, attributes)


def main(file, name, target, out):
    sys.path.insert(0, str(Path(file).parent))  # for what the file imports from beside it, as when a script there runs
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    hip = target.startswith("gfx")
    gpu = GPUTarget("hip", target, 64) if hip else GPUTarget("cuda", int(target.removeprefix("sm_")), 32)
    described = module.TRITONSCOPE[name]
    options_for = described.get("options_for", {})
    options = {**described["options"], **(options_for.get("hip", {}) if hip else {}), **options_for.get(target, {})}
    source = source_of(getattr(module, name), described["signature"], hip)
    kernel = triton.compile(source, target=gpu, options=options)
    for stage, content in kernel.asm.items():
        (Path(out) / stage).write_bytes(content if isinstance(content, bytes) else content.encode())
    if target == "sm_100":
        # The ptxas of some releases gives one of several binaries for the same PTX for sm_100.
        backend = make_backend(gpu)
        stages = {}
        backend.add_stages(stages, backend.parse_options(dict(options)), source.language)
        for run in range(12):
            (Path(out) / f"cubin.{run}").write_bytes(stages["cubin"](kernel.asm["ptx"], {}))


if __name__ == "__main__":
    main(*sys.argv[1:])
