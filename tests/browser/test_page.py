"""`tritonscope export --html`, in a browser: what it shows is the capture, it asks for nothing, and runs nothing."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tritonscope.export.page import page
from tritonscope.ir.locations import strip_debug
from tritonscope.store import reader

ROOT = Path(__file__).resolve().parents[2]
MATMUL = next((ROOT / "dumps" / "reference" / "matmul").iterdir())
HOSTILE = '</script><script>alert("loose")</script><img src="http://127.0.0.1:9/x" onerror="alert(1)">'


def opened(tab: Any, text: str, folder: Path, fragment: str = "") -> None:
    (folder / "page.html").write_text(text, encoding="utf-8")
    tab.goto(f"{(folder / 'page.html').as_uri()}{fragment}")
    tab.wait_for_selector("main > *")


@pytest.fixture(scope="module")
def matmul() -> str:
    return page(reader.open_capture(MATMUL))


def shown(tab: Any) -> list[str]:
    """The lines in sight and out of it, without their numbers."""
    read = """() => [...document.querySelectorAll(".text .row")].map(
        (row) => [...row.childNodes].filter((node) => !["number", "sign"].includes(node.className))
            .map((node) => node.textContent).join(""))"""
    return tab.evaluate(read)


def test_a_stage_is_shown_as_it_is_without_locations(tab: Any, matmul: str, tmp_path: Path) -> None:
    opened(tab, matmul, tmp_path, "#stage=ttgir")
    text = strip_debug(reader.stage_text(reader.open_capture(MATMUL), "ttgir"), "mlir").rstrip("\n")
    tab.wait_for_selector(".text .nb")
    assert shown(tab) == text.split("\n")


def test_a_pass_is_shown_by_what_it_changed_and_by_key(tab: Any, matmul: str, tmp_path: Path) -> None:
    """The words are the compiler's: new in the text after the pass, not in the one before."""
    opened(tab, matmul, tmp_path, "#pass=7")
    tab.keyboard.press("}")
    tab.wait_for_selector(".row.new mark")
    assert "tritongpu-coalesce" in tab.inner_text(".top h2")
    capture = reader.open_capture(MATMUL)
    step = reader.find_step(capture, "8")
    before, after = (strip_debug(read(capture, step), "mlir") for read in (reader.before, reader.after))
    added = tab.locator(".row.new > span:last-child").all_inner_texts()
    gone = tab.locator(".row.gone > span:last-child").all_inner_texts()
    assert added
    assert gone
    assert {line.strip() for line in added} <= {line.strip() for line in after.splitlines()}
    assert {line.strip() for line in gone} <= {line.strip() for line in before.splitlines()}
    tab.keyboard.press("b")
    tab.wait_for_function("document.querySelectorAll('.row.new').length === 0")
    tab.wait_for_selector(".text .nb")
    assert shown(tab) == before.rstrip("\n").split("\n")


def test_the_filter_and_the_keys_move_among_what_is_listed(tab: Any, matmul: str, tmp_path: Path) -> None:
    opened(tab, matmul, tmp_path)
    passes = reader.open_capture(MATMUL).passes
    tab.keyboard.press("/")
    tab.keyboard.type("canonicalize")
    tab.keyboard.press("Enter")
    listed = tab.locator(".list button:visible .name").all_inner_texts()
    assert listed == [step.name for step in passes if "canonicalize" in step.name]
    tab.keyboard.press("c")
    changed = [step for step in passes if "canonicalize" in step.name and step.changed]
    assert tab.locator(".list button:visible").count() == len(changed)
    tab.keyboard.press("j")
    tab.wait_for_selector(".top h2")
    assert changed[0].step in tab.inner_text(".top h2")


def test_it_asks_for_nothing_but_itself(tab: Any, matmul: str, tmp_path: Path) -> None:
    tab.context.set_offline(True)
    opened(tab, matmul, tmp_path)
    for key in ("3", "}", "d", "a", "o"):
        tab.keyboard.press(key)
    tab.wait_for_selector(".cards")
    assert tab.requests == [(tmp_path / "page.html").as_uri()]
    assert tab.trouble == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_colour_can_be_read_on_its_ground(tab: Any, matmul: str, tmp_path: Path, scheme: str) -> None:
    """4.5 to 1 is what WCAG 2.1 asks of text (success criterion 1.4.3)."""
    tab.emulate_media(color_scheme=scheme)
    opened(tab, matmul, tmp_path)
    names = ("ink", "dim", "accent", "bad", "good", "c", "kt", "k", "nv", "nf", "nb", "nl", "nd", "s", "m")
    read = "(names) => names.map((name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`))"
    ground, *colours = tab.evaluate(read, ["ground", *names])
    for name, colour in zip(names, colours, strict=True):
        assert contrast(colour, ground) >= 4.5, (scheme, name, colour)


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two #rrggbb colours, WCAG 2.1."""

    def luminance(colour: str) -> float:
        parts = [int(colour.strip()[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_on_a_phone_nothing_is_cut_off(browser: Any, matmul: str, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    opened(page, matmul, tmp_path)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()


def test_what_a_capture_says_is_text_and_never_runs(tab: Any, tmp_path: Path) -> None:
    """Every text of capture.json, of the IR and of a run is markup that would run if anything took it for such."""
    folder = tmp_path / "matmul" / MATMUL.name
    shutil.copytree(MATMUL, folder)
    summary = json.loads((folder / "capture.json").read_text())
    for each in ("kernel", "target", "created"):
        summary[each] = HOSTILE
    summary["command"], summary["notes"] = [HOSTILE], [HOSTILE]
    summary["versions"] = {HOSTILE: HOSTILE}
    summary["request"]["used"]["signature"] = HOSTILE
    summary["passes"] = summary["passes"][:12]
    for step in summary["passes"]:
        step["name"] = step["options"] = HOSTILE
    summary["failure"] = {"stage": HOSTILE, "pass": HOSTILE, "inner": None, "step": None, "message": HOSTILE,
                          "file": HOSTILE, "line": 1, "source_line": HOSTILE, "diagnostics": HOSTILE}  # fmt: skip
    (folder / "capture.json").write_text(json.dumps(summary))
    for packed in folder.glob("matmul.ttir*"):
        packed.unlink()
    (folder / "matmul.ttir").write_text(f"{HOSTILE}\n// {HOSTILE}\n")
    run = {"size": {HOSTILE: HOSTILE}, "baselines": {HOSTILE: {"ratio": 1}}, "device": {"name": HOSTILE}}
    (folder / "runs.jsonl").write_text(json.dumps(run) + "\n")
    opened(tab, page(reader.open_capture(folder)), tmp_path)
    assert HOSTILE in tab.inner_text("header h1")
    assert tab.inner_text("main").count(HOSTILE) >= 8
    assert tab.locator("main p", has_text=HOSTILE).last.inner_text() == HOSTILE  # the note
    for _ in range(20):
        tab.keyboard.press("j")
    tab.keyboard.press("3")
    tab.wait_for_selector(".text")
    assert HOSTILE in shown(tab)
    assert tab.trouble == []
    assert tab.requests == [(tmp_path / "page.html").as_uri()]
    assert tab.locator("img").count() == 0
    assert tab.locator("script").count() == 2
    # Were markup to get onto the page after all, the policy would still not let it run.
    tab.evaluate("markup => document.body.insertAdjacentHTML('beforeend', markup)", '<img src="x:" onerror="alert(1)">')
    tab.evaluate("""() => { const made = document.createElement("script"); made.textContent = "alert(2)";
        document.body.append(made); }""")
    tab.wait_for_timeout(100)
    assert tab.trouble == []
