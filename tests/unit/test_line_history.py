"""What the passes made of a line, in the reference captures."""

import json

import pytest

from tritonscope import bundled_kernels
from tritonscope.cli import main
from tritonscope.line_history import Entry, history, texts
from tritonscope.line_links import Links
from tritonscope.store import reader

MATMUL = "matmul/sm_90-5f19578c9d"


def links_of(name: str) -> Links:
    folder = bundled_kernels.reference_dumps()
    assert folder is not None
    return Links(reader.resolve(folder, name).capture)


def followed(links: Links, stage: str, words: str) -> list[Entry]:
    listing = links.stage(stage)
    number = next(number for number, line in enumerate(listing.lines, 1) if words in line)
    return list(history(links.capture, listing.map.at(number), words, links.text))


def first_with(links: Links, words: str) -> str | None:
    """The step of the first text, in the order of the pipeline, that has `words`: read as a reader would."""
    for record in links.capture.passes:
        if record.file and not record.scope and words in reader.after(links.capture, record):
            return record.step
    return None


def test_a_product_is_followed_from_ttir_to_the_tensor_cores() -> None:
    links = links_of(MATMUL)
    entries = followed(links, "ttir", "tt.dot")
    assert entries[0].stage == "source"
    made = [entry.step for entry in entries if "ttng.warp_group_dot" in entry.new]
    assert made == [first_with(links, "ttng.warp_group_dot")]
    (there,) = [entry for entry in entries if entry.step in made]
    assert there.gone == {"tt.dot": 1}
    assert there.at is not None
    record = reader.find_step(links.capture, there.step or "")
    assert "ttng.warp_group_dot" in links.after(record).lines[there.at - 1]
    assert entries[-1].stage == "sass"
    assert entries[-1].new["HGMMA.64x256x16.F32"] == 4
    assert entries[-2].new["wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16"] == 4


def test_an_instruction_leads_back_to_the_same_passes() -> None:
    links = links_of(MATMUL)
    forward, back = followed(links, "ttir", "tt.dot"), followed(links, "ptx", "wgmma.mma_async")
    assert [entry.step for entry in back] == [entry.step for entry in forward]


def test_passes_that_only_rename_are_left_out() -> None:
    links = links_of(MATMUL)
    steps = {entry.step for entry in followed(links, "ttir", "tt.dot")}
    changed = [text.step for text in texts(links.capture) if not isinstance(text, str)]
    assert steps < {*changed, None}
    # It changed the loop around the product, and numbered its operands anew.
    assert "21" in changed
    assert "21" not in steps


def test_nested_passes_come_before_the_one_that_they_are_in_and_every_text_once() -> None:
    capture = links_of(MATMUL).capture
    steps = [text if isinstance(text, str) else text.step for text in texts(capture)]
    assert steps[0] == "source"
    assert steps[-1] == "sass"
    assert steps.index("29.1") < steps.index("29.2") < steps.index("29") < steps.index("30")
    assert not any(step.startswith("0.") for step in steps)
    assert len(set(steps)) == len(steps)


def test_of_amd_too() -> None:
    entries = followed(links_of("attention/gfx942"), "ttir", "tt.dot")
    assert entries[-1].stage == "amdgcn"
    assert any("mfma" in name for name in entries[-1].new)


def test_the_command_follows_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["lines", MATMUL, "--stage", "ttir", "--line", "33", "--follow"]
    assert main(asked) == 0
    out = capsys.readouterr().out
    (line,) = [line for line in out.split("\n") if "tritongpu-accelerate-matmul" in line]
    assert line.split() == ["15", *line.split()[1:4], "+ttng.warp_group_dot", "+ttg.convert_layout", "-tt.dot"]
    assert main([*asked, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    (entry,) = [entry for entry in value["history"] if entry["step"] == "15"]
    assert entry["new"] == {"ttng.warp_group_dot": 1, "ttg.convert_layout": 1}
    assert entry["gone"] == {"tt.dot": 1}
    assert entry["by"] == "expression"
    assert entry["at"] in entry["lines"]
    assert "ttng.warp_group_dot" in entry["text"]


def test_a_line_from_nowhere_is_not_followed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lines", MATMUL, "--stage", "ptx", "--line", "1", "--follow"]) == 1
    assert "cannot be followed" in capsys.readouterr().out


def test_follow_needs_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lines", MATMUL, "--stage", "ptx", "--follow"]) == 2
    assert "--line" in capsys.readouterr().err
