"""What each pass buys, full screen: filled as it is found out, ended by Escape."""

import threading

from tests.tui.conftest import driven, settled, text_of
from tritonscope import ablation
from tritonscope.ablation import Ablated
from tritonscope.errors import UsageError


def test_it_fills_as_it_goes_and_escape_ends_it(matmul, monkeypatch):
    more, cancelled = threading.Event(), threading.Event()

    def ablate(plan, variants, on_progress):
        assert len(variants) > 10
        yield Ablated(None, None, "baseline", registers=64)
        yield Ablated("tritongpu-coalesce", "8", "differs", registers=255)
        on_progress("compiling: 2 of 40")
        more.wait(20)
        yield Ablated("cse#1", "4", "same", registers=64, identical=True)
        while not plan.asked.cancel.cancelled:
            cancelled.wait(0.01)
        cancelled.set()
        raise KeyboardInterrupt

    monkeypatch.setattr(ablation, "ablate", ablate)

    async def shown(pilot, words):
        for _ in range(500):
            await pilot.pause(0.01)
            if words in (text := "\n".join(text_of(pilot.app))):
                return text
        raise AssertionError(f"{words!r} is not there:\n{text}")

    async def script(pilot):
        await pilot.press("w")
        text = await shown(pilot, "compiling: 2 of 40")
        assert "what each pass of matmul/sm_90" in text
        assert "tritongpu-coalesce" in text
        assert "255" in text
        assert "bought nothing" not in text
        more.set()
        text = await shown(pilot, "bought nothing")
        assert "cse#1" in text
        await pilot.press("escape")
        await settled(pilot)
        assert "what each pass of" not in "\n".join(text_of(pilot.app))
        assert cancelled.wait(20)

    driven(matmul, (120, 40), script)


def test_what_is_wrong_is_said_there(matmul, monkeypatch):
    def ablate(plan, variants, on_progress):
        raise UsageError("this capture is by Triton 1.0")
        yield

    monkeypatch.setattr(ablation, "ablate", ablate)

    async def script(pilot):
        await pilot.press("w")
        for _ in range(500):
            await pilot.pause(0.01)
            if "by Triton 1.0" in "\n".join(text_of(pilot.app)):
                return
        raise AssertionError("nothing was said")

    driven(matmul, (80, 24), script)
