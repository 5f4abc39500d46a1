"""`tritonscope sweep`: every combination compiled, through any executor, and gone on with."""

import csv
import io
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tritonscope import interpreter, sweep
from tritonscope.cli import main
from tritonscope.model import KernelRef, Request, Target

pytestmark = pytest.mark.any_triton

pytest.importorskip("triton")

WRONG = Path(__file__).resolve().parents[1] / "kernels" / "wrong.py"
COMMAND = ("sweep", f"{WRONG}:right", "-t", "sm_90", "--set", "BLOCK=32,63,64")


def tritonscope(*arguments):
    return subprocess.run([sys.executable, "-m", "tritonscope", *arguments], capture_output=True, text=True)


@pytest.fixture(scope="module")
def dumps(tmp_path_factory):
    return tmp_path_factory.mktemp("sweep")


@pytest.fixture(scope="module")
def swept(dumps):
    return tritonscope(*COMMAND, "-o", str(dumps), "--csv", str(dumps / "table.csv"), "--json")


def test_every_combination_has_a_row_in_order(swept, dumps):
    """A block of 63 is no power of two: one row says so, and the others stand."""
    assert swept.returncode == 3, swept.stderr
    rows = [json.loads(line) for line in swept.stdout.splitlines()]
    assert [row["settings"]["BLOCK"] for row in rows] == ["32", "63", "64"]
    assert [row["status"] for row in rows] == ["ok", "failed", "ok"]
    assert "power of 2" in rows[1]["message"]
    for row in (rows[0], rows[2]):
        shown = json.loads(tritonscope("show", row["path"], "--json").stdout)
        assert row["registers"] == shown["resources"]["registers"]
        assert row["lines"] == next(stage["lines"] for stage in shown["stages"] if stage["stage"] == "ptx")
    with (dumps / "table.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [each["settings"] for each in table] == ["BLOCK=32", "BLOCK=63", "BLOCK=64"]
    assert [each["capture"] for each in table] == [row["capture"] for row in rows]


def test_it_goes_on_where_it_was_cut_off(swept, dumps):
    log = dumps / sweep.FILE
    lines = log.read_text().splitlines(keepends=True)
    kept = next(line for line in lines if '"BLOCK": "64"' in line)
    log.write_text(kept + lines[0][:40])  # killed while it wrote
    again = tritonscope(*COMMAND, "-o", str(dumps), "--resume", "--csv", "-")
    assert again.returncode == 3, again.stderr
    assert "1 of 3 were done before" in again.stderr
    table = list(csv.DictReader(io.StringIO(again.stdout)))
    assert [each["status"] for each in table] == ["ok", "failed", "ok"]
    assert table[2]["seconds"] == str(json.loads(kept)["seconds"])
    once_more = tritonscope(*COMMAND, "-o", str(dumps), "--resume")
    assert "3 of 3 were done before" in once_more.stderr


def test_what_cannot_go_well_is_said_at_once_and_a_suggestion_whole(tmp_path):
    nowhere = tritonscope(*COMMAND, "-o", str(tmp_path), "--csv", str(tmp_path / "gone" / "table.csv"))
    assert nowhere.returncode == 2
    assert "choose another place with --csv" in nowhere.stderr
    assert not list(tmp_path.iterdir())
    (tmp_path / "kernels.py").write_text(
        "import triton\nimport triton.language as tl\n@triton.jit\ndef one(x, n):\n    tl.store(x, n)\n"
    )
    refused = tritonscope("sweep", f"{tmp_path}/kernels.py:one", "-t", "sm_90", "-o", str(tmp_path))
    assert refused.returncode == 3
    assert "sm_90: The types or values of x, n" in refused.stdout
    assert '--signature "x=*fp16:16, n=' in refused.stdout


def points(tmp_path, *blocks):
    kernel = KernelRef("right", str(WRONG), "right")
    target = Target.parse("sm_90")
    return [sweep.Point(Request(kernel, target, constants={"BLOCK": block}), {"BLOCK": block}) for block in blocks]


def rows_by(executor, tmp_path):
    python = interpreter.choose(None)
    found = sweep.sweep(points(tmp_path, "32", "64"), executor, python=python, dumps=tmp_path, command=["test"])
    return {row.settings["BLOCK"]: row for row in found}


def test_any_executor_will_do(tmp_path):
    with ThreadPoolExecutor(2) as executor:
        rows = rows_by(executor, tmp_path)
    assert {block: row.status for block, row in rows.items()} == {"32": "ok", "64": "ok"}


def test_a_cluster_that_is_not_there(tmp_path, capsys):
    pytest.importorskip("distributed")
    assert main([*COMMAND[:4], "-o", str(tmp_path), "--dask", "tcp://127.0.0.1:1"]) == 2
    assert "no Dask scheduler" in capsys.readouterr().err


def test_a_dask_cluster_will_do(tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        rows = rows_by(client.get_executor(), tmp_path)
        address = cluster.scheduler_address
        code = main([*COMMAND[:3], "sm_90", "--set", "BLOCK=128", "-o", str(tmp_path), "--dask", address])
    assert {block: row.status for block, row in rows.items()} == {"32": "ok", "64": "ok"}
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--run",), 5, "there is no GPU here"),
        (("--size", "M"), 2, "not understood"),
        (("--size", "n=64", "-s", "*fp32"), 2, "give one of them"),
        (("--config", "x", "--size", "n=64"), 2, "not understood"),
    ],
)
def test_what_is_refused(arguments, code, says, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tritonscope.gpu.present", lambda: None)
    assert main(["sweep", f"{WRONG}:right", "-o", str(tmp_path), *arguments]) == code
    assert says in capsys.readouterr().err


def test_sizes_come_from_the_spec(tmp_path, capsys):
    pytest.importorskip("torch")
    size = ("-t", "sm_90", "--size", "n=64,1000")
    assert main(["sweep", f"{WRONG}:right", "-o", str(tmp_path), *size, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["size"] for row in rows] == [{"n": 64}, {"n": 1000}]
    assert rows[0]["capture"] != rows[1]["capture"]  # 64 is a multiple of 16, 1000 is not
