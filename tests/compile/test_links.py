"""Lines of SASS against nvdisasm's own tables, for what this Triton compiles."""

import re
import subprocess
from pathlib import Path

from tritonscope.engine import binary
from tritonscope.ir.links import line_map
from tritonscope.line_links import Links
from tritonscope.store import reader

_ADDRESS = re.compile(r"\s*/\*([0-9a-f]{4,})\*/")


def test_sass_comes_from_the_lines_that_nvdisasm_names(capture, tmp_path: Path):
    found = capture("matmul_grouped", "sm_90")
    cubin = tmp_path / "kernel.cubin"
    cubin.write_bytes(reader.stage_bytes(found, "cubin"))
    command = [binary.find_tool("nvdisasm"), "-c", "-gi", str(cubin)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    theirs = _by_address(text.split("\n"), line_map(text, "sass"))
    listing = Links(found).stage("sass")
    ours = _by_address(listing.lines, listing.map)

    assert listing.exact
    assert ours.keys() == theirs.keys()
    named = [address for address, place in ours.items() if place]
    assert len(named) > len(ours) // 2
    # Its table has no line 0, for what the compiler made itself, and keeps the line before there.
    differing = [address for address in named if ours[address] != theirs[address]]
    assert len(differing) <= len(named) // 100, differing


def test_ptx_comes_from_where_llvm_ir_does(capture):
    links = Links(capture("matmul_grouped", "sm_90"))
    chains = {name: {c for each in links.stage(name).map.chains for c in each} for name in ("llir", "ptx", "sass")}
    assert chains["sass"] <= chains["ptx"] <= chains["llir"]
    assert max(map(len, chains["sass"])) > 1


def test_functions_of_other_files_have_their_text(capture):
    found = capture("matmul", "sm_90")
    links = Links(found)
    file = Path(links.kernel_file).with_name("matmul_grouped.py")
    lines = file.read_text().split("\n")
    ((first, last),) = links.spans(str(file))
    assert lines[first - 1].startswith("def tile_of(")
    numbers = range(first, last + 1)
    assert [links.python_line(str(file), number) for number in numbers] == [lines[number - 1] for number in numbers]


def _by_address(lines, found):
    places = {}
    for number, line in enumerate(lines, 1):
        if match := _ADDRESS.match(line):
            chains = found.at(number)
            places[match[1]] = (chains[0][0].file, chains[0][0].line) if chains else None
    return places
