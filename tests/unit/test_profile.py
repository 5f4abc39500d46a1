"""`tritonscope profile`: reports read, samples put on lines, what is kept, and what is refused.

tests/data/ncu has the pages that ncu printed of a matmul on an H200, and the capture that was profiled; its README.md
says how they came about. A stand-in for ncu prints them again; the launch below it is tested on a GPU alone.
"""

import csv
import gzip
import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.unit.ncu_pages import raw_page, source_page
from tritonscope import bundled_kernels, gpu, ncu
from tritonscope.cli import main
from tritonscope.errors import CaptureUnreadable, UsageError
from tritonscope.hot_lines import HotLines
from tritonscope.line_links import Links
from tritonscope.model import Capture, Profile, Sampled
from tritonscope.ncu_report import read_metrics, read_samples
from tritonscope.profile_summary import Summary, limit, stall_name, summary_of
from tritonscope.store import profiles, reader

RECORDED = Path(__file__).resolve().parents[1] / "data" / "ncu"
MATMUL = "matmul/sm_90-56080d94b6"
METRICS = {
    "gpu__time_duration.sum": ("ns", "12,345"),
    "gpc__cycles_elapsed.max": ("cycle", "21,000.00"),
    "device__attribute_display_name": ("", "NVIDIA H200"),
    "smsp__nothing.sum": ("", "nan"),
}


def _page(name: str) -> str:
    return gzip.decompress((RECORDED / f"matmul.{name}.csv.gz").read_bytes()).decode()


RAW, SOURCE = _page("raw"), _page("source")


@pytest.fixture
def capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Capture:
    """The matmul that was profiled in a dumps folder of its own, which the commands use by default."""
    with tarfile.open(RECORDED / "matmul.tar.gz") as archive:
        archive.extractall(tmp_path / "dumps", filter="data")
    monkeypatch.setenv("TRITONSCOPE_DUMPS", str(tmp_path / "dumps"))
    return reader.open_capture(tmp_path / "dumps" / MATMUL)


@pytest.fixture
def profiled(capture: Capture) -> Profile:
    """Its profile, kept in it."""
    profile = _profile(read_samples(SOURCE, "matmul"))
    profiles.keep(profile, Path(capture.path))
    return profile


def _profile(instructions: tuple[Sampled, ...]) -> Profile:
    metrics = read_metrics(RAW, "matmul")
    return Profile(
        kernel="matmul",
        size={"M": 1024},
        config={},
        device="NVIDIA H200",
        created="2026-01-02T03:04:05+00:00",
        command=("tritonscope", "profile", "matmul"),
        tool="2025.3.1.0",
        metrics=metrics.values,
        units=metrics.units,
        instructions=instructions,
    )


# -- reading reports


def test_metrics_are_numbers_with_their_units() -> None:
    metrics = read_metrics(raw_page("matmul", METRICS), "matmul")
    assert metrics.values["gpu__time_duration.sum"] == 12345
    assert metrics.values["gpc__cycles_elapsed.max"] == 21000
    assert metrics.units["gpu__time_duration.sum"] == "ns"
    assert not {"device__attribute_display_name", "smsp__nothing.sum"} & metrics.values.keys()


def test_instructions_are_those_of_the_function_in_order() -> None:
    other = source_page("        /*0000*/   NOP ;", "other", {"NOP": 9})
    text = other + source_page("        /*0000*/   LDC R1, c[0x0] ;\n        /*0010*/   EXIT ;", "matmul", {"LDC": 3})
    assert read_samples(text, "matmul") == (
        Sampled(0, "LDC R1, c[0x0]", 3, 3, 8, {"long_sb": 3}),
        Sampled(16, "EXIT", 0, 0, 8, {}),
    )


def test_columns_of_another_version() -> None:
    text = '"#","Address","Source","# Samples","stall_wait"\n"1","7f00","EXIT","1,024","1,000"\n'
    assert read_samples(text, "matmul") == (Sampled(0, "EXIT", 1024, 0, 0, {"wait": 1000, "unnamed": 24}),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "==ERROR== no such file",
        '"Address","Source"\n',
        '"Kernel Name","other"\n"Address","Source"\n"0x10","EXIT"\n',
        '"Kernel Name","matmul"\n"Address","Source"\n"elsewhere","EXIT"\n',
        '"Kernel Name","matmul"\n"Address","Source"\n"0x20","A"\n"0x10","B"\n',
        '"Address","Source"\n"0x10","' + "x" * 200_000 + '"\n',
    ],
)
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"page|table"):
        read_samples(text, "matmul")
    with pytest.raises(ValueError, match=r"page|table"):
        read_metrics(text, "matmul")


@pytest.mark.parametrize("cell", ["-", "", "nan", "inf", "1e400", "-3", "0x10", "1_0", "9" * 50, "\x1b[2J"])
def test_cells_that_are_no_counts_count_nothing(cell: str) -> None:
    text = f'"Address","Source","# Samples"\n"0x10","EXIT","{cell}"\n'
    assert read_samples(text, "matmul")[0].samples == 0


# -- in few numbers


#: What the summary calls a metric, and what Nsight Compute's details page does.
IN_DETAIL = {
    "cycles": "Elapsed Cycles",
    "compute_percent": "Compute (SM) Throughput",
    "memory_percent": "Memory Throughput",
    "dram_percent": "DRAM Throughput",
    "l2_percent": "L2 Cache Throughput",
    "l1_percent": "L1/TEX Cache Throughput",
    "l2_hit_percent": "L2 Hit Rate",
    "occupancy_percent": "Achieved Occupancy",
    "possible_occupancy_percent": "Theoretical Occupancy",
    "registers": "Registers Per Thread",
    "blocks": "Grid Size",
    "threads": "Block Size",
    "waves": "Waves Per SM",
    "instructions_per_cycle": "Executed Ipc Active",
}


def test_the_summary_is_what_ncu_prints_itself(profiled: Profile) -> None:
    with (RECORDED / "matmul.details.csv").open(newline="") as file:
        table = [row for row in csv.DictReader(file) if row["Metric Value"] not in ("", "no data")]
    details = {row["Metric Name"]: row["Metric Value"].replace(",", "") for row in reversed(table)}
    numbers = dict(summary_of(profiled).numbers)
    assert numbers.pop("microseconds") == float(details["Duration"]) / 1000
    assert numbers.pop("tensor_percent") == 37.48
    assert numbers == {ours: float(details[theirs]) for ours, theirs in IN_DETAIL.items()}


def test_samples_and_reasons_to_stall_add_up_to_the_counters_of_the_launch(profiled: Profile) -> None:
    summary, counters = summary_of(profiled), profiled.metrics
    assert summary.samples == counters["smsp__pcsamp_sample_count"] == 671
    prefix = "smsp__pcsamp_warps_issue_stalled_"
    counted = {
        stall_name(name.removeprefix(prefix)): count
        for name, count in counters.items()
        if name.startswith(prefix) and not name.endswith("_not_issued") and count
    }
    counted["unnamed"] = counted.pop("warpgroup_arrive")
    assert summary.stalls == counted


@pytest.mark.parametrize(
    ("compute", "memory", "waves", "words"),
    [
        (90, 40, 3, "compute"),
        (30, 85, 3, "memory"),
        (30, 40, 0.4, "does not fill"),
        (30, 40, 3, "waiting"),
    ],
)
def test_what_limits(compute: float, memory: float, waves: float, words: str) -> None:
    assert words in limit(Summary({"compute_percent": compute, "memory_percent": memory, "waves": waves}, 1, 1, {}))


# -- on lines


def test_samples_lie_on_the_instructions_that_they_were_taken_at(capture: Capture, profiled: Profile) -> None:
    links = Links(capture)
    tallies = HotLines(profiled, links).of_stage("sass")
    seen = {
        line.split("*/")[0].split("/*")[1]: tallies[number].samples
        for number, line in enumerate(links.stage("sass").lines, 1)
        if number in tallies
    }
    rows = [row for row in csv.reader(SOURCE.splitlines()) if row[0].startswith("0x")]
    first = int(rows[0][0], 16)
    # The report ends with padding that disassembly leaves out.
    assert seen == {f"{int(row[0], 16) - first:04x}": int(row[2]) for row in rows[: len(seen)]}
    assert {row[1].split()[0] for row in rows[len(seen) :]} <= {"NOP"}


def test_samples_lead_to_ptx_ir_and_python(capture: Capture, profiled: Profile) -> None:
    links = Links(capture)
    hot = HotLines(profiled, links)
    sass = links.stage("sass").lines
    tensor = [tally for number, tally in hot.of_stage("sass").items() if "HGMMA" in sass[number - 1]]
    assert [tally.executed for tally in tensor] == [128 * 4 * 16] * 4, "by each of four warps of 128 blocks, 16 times"
    python = hot.of_python()
    (dot,) = [tally for place, tally in python.items() if "tl.dot" in (links.python_line(place.file, place.line) or "")]
    assert dot.samples == 80
    assert sum(tally.samples for tally in python.values()) + hot.nowhere == 671
    for stage, word in (("ttir", " tt.dot "), ("ttgir", " ttng.warp_group_dot ")):
        lines = links.stage(stage).lines
        (of_dot,) = [tally for n, tally in hot.of_stage(stage).items() if word in lines[n - 1]]
        assert of_dot.samples == dot.samples
        assert (of_dot.shared > 1) == (stage == "ttgir"), "its waits are from the same place"


def test_inlined_twice_is_told_apart() -> None:
    """The epilogue stores two halves of a tile by the same line, called from two: each store has its own samples."""
    reference = bundled_kernels.reference_dumps()
    assert reference is not None
    links = Links(reader.open_capture(reference / "matmul" / "sm_90-5f19578c9d"))
    sass = links.stage("sass")
    stores = [n for n, line in enumerate(sass.lines, 1) if "STSM" in line]
    callers = {n: sass.map.at(n)[0][1].line for n in stores}
    assert len(set(callers.values())) == 2
    one = min(stores)
    page = source_page("\n".join(sass.lines), "matmul", {sass.lines[one - 1].split("*/")[1].strip(" ;"): 99})
    tallies = HotLines(_profile(read_samples(page, "matmul")), links).of_stage("ttgir")
    ttgir = links.stage("ttgir")
    hot = [ttgir.map.at(n)[0][1].line for n, tally in tallies.items() if tally.samples]
    assert set(hot) == {
        callers[n] for n in stores if sass.lines[n - 1].split("*/")[1] == sass.lines[one - 1].split("*/")[1]
    }


def test_a_profile_of_another_binary_is_refused(capture: Capture, profiled: Profile) -> None:
    sass = "\n".join(f"        /*{16 * n:04x}*/   FADD R0, R0, R0 ;" for n in range(len(profiled.instructions)))
    other = _profile(read_samples(source_page(sass, "matmul", {}), "matmul"))
    with pytest.raises(UsageError, match="another binary"):
        HotLines(other, Links(capture))


# -- kept


def test_what_is_kept_is_what_was_profiled(capture: Capture, profiled: Profile) -> None:
    assert profiles.profile_of(capture) == profiled
    assert not list(Path(capture.path).glob(".profile*"))


@pytest.mark.parametrize(
    "damage",
    [
        lambda value: {},
        lambda value: [],
        lambda value: value | {"metrics": {"a": "b"}},
        lambda value: value | {"metrics": {"a": True}},
        lambda value: value | {"instructions": []},
        lambda value: value | {"instructions": [1]},
        lambda value: value | {"instructions": [value["instructions"][0] | {"samples": -1}]},
        lambda value: value | {"instructions": [value["instructions"][0] | {"stalls": {"wait": "many"}}]},
        lambda value: value | {"device": None},
        lambda value: value | {"metrics": {"a": 10**400}},
        lambda value: value | {"instructions": [value["instructions"][0] | {"samples": 10**400}]},
    ],
)
def test_a_damaged_profile_is_refused(capture: Capture, profiled: Profile, damage: Callable) -> None:
    path = Path(capture.path) / "profile.json"
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    with pytest.raises(CaptureUnreadable, match=r"profile\.json"):
        profiles.profile_of(capture)


def test_an_infinite_number_is_refused(capture: Capture, profiled: Profile) -> None:
    path = Path(capture.path) / "profile.json"
    path.write_text(path.read_text().replace("14436.0", "1e999"))
    with pytest.raises(CaptureUnreadable, match="no number"):
        profiles.profile_of(capture)


def test_a_kept_profile_is_shown_without_a_gpu(
    capture: Capture, profiled: Profile, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu, "present", lambda: None)
    assert main(["profile", "matmul", "--last"]) == 0
    out = capsys.readouterr().out
    assert "8.10 us, 14,436 cycles" in out
    assert "compute 28 % of peak, memory 22 % of peak" in out
    assert "does not fill the GPU" in out
    (dot,) = [line for line in out.split("\n") if "tl.dot" in line]
    assert dot.split()[:2] == ["11.9", "%"]
    assert dot.split()[3:6] == ["wait,", "barrier", "matmul.py:128"]
    assert main(["profile", "matmul", "--last", "--stage", "python"]) == 0
    (dot,) = [line for line in capsys.readouterr().out.split("\n") if "tl.dot" in line]
    assert "%" in dot
    assert main(["profile", "matmul", "--last", "--stage", "sass"]) == 0
    shown = capsys.readouterr().out.split("\n")
    main(["dump", "matmul", "sass"])
    assert len(shown) - 1 == len(capsys.readouterr().out.rstrip("\n").split("\n"))


def test_json_of_a_profile(capture: Capture, profiled: Profile, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "matmul", "--last", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["summary"]["cycles"] == 14436
    assert value["metrics"]["gpu__time_duration.sum"] == 8096
    assert sum(line["samples"] for line in value["stages"]["sass"]) == value["samples"]
    assert sum(line["samples"] for line in value["python"]) + value["nowhere"] == value["samples"]
    assert set(value["stages"]) >= {"ttir", "ttgir", "llir", "ptx", "sass"}
    assert main(["profile", "matmul", "--last", "--json", "--stage", "ttgir"]) == 0
    assert list(json.loads(capsys.readouterr().out)["stages"]) == ["ttgir"]


def test_the_heat_map_shows_the_samples(
    capture: Capture, profiled: Profile, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lines", "matmul", "--json"]) == 0
    lines = [line for file in json.loads(capsys.readouterr().out)["files"] for line in file["lines"]]
    main(["profile", "matmul", "--last", "--json"])
    value = json.loads(capsys.readouterr().out)
    assert sum(line["samples"] for line in lines) == value["samples"] - value["nowhere"]
    assert main(["lines", "matmul"]) == 0
    lines = capsys.readouterr().out.split("\n")
    (loop,) = [line for line in lines if "for tile in tl.range(" in line]
    assert "##########" in loop
    (helper,) = [line for line in lines if "within // rows_in_group" in line]
    assert helper.split()[:4] == ["43", "20", "139", "17"], "from another file"
    (Path(capture.path) / "profile.json").write_text("{")
    assert main(["lines", "matmul"]) == 0
    shown = capsys.readouterr()
    assert "samples" not in shown.out
    assert "profile.json" in shown.err


def test_a_capture_without_a_profile_says_how_to_make_one(capture: Capture, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "matmul", "--last"]) == 2
    assert "tritonscope profile matmul/sm_90" in capsys.readouterr().err


# -- running it

NCU = """\
#!/bin/sh
folder={folder}
case " $* " in
*" --version "*) echo "Version 2025.3.1.0 (build 1) (public-release)"; exit 0;;
*" --page raw "*) cat $folder/raw.csv; exit 0;;
*" --page source "*) cat $folder/source.csv; exit 0;;
esac
printf '%s\\n' "$@" > $folder/arguments
while [ $# -gt 0 ]; do
    case $1 in --export) report=$2;; */boot.py) events=$2; request=$3;; esac
    shift
done
read -r line < $request
echo "$line" > $folder/request
{script}
"""
RECORDS = """\
echo '{"event": "device", "name": "NVIDIA H200"}' >> $events
echo '{"event": "launched", "size": {}}' >> $events
echo report > $report"""
CALL = ["--call", "a=fp16[64,64], b=fp16[64,64], c=fp16[64,64]", "--grid", "2"]


@pytest.fixture
def tools(tmp_path: Path, capture: Capture, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put stand-ins for nvidia-smi and ncu on the path; gives the folder with what ncu was told."""

    def tools(script: str | None = RECORDS, capability: str = "9.0", pages: Mapping[str, str] | None = None) -> Path:
        folder = tmp_path / "tools"
        folder.mkdir()
        _program(folder / "nvidia-smi", f"#!/bin/sh\n{f'echo {capability}' if capability else 'exit 9'}\n")
        if script is not None:
            _program(folder / "ncu", NCU.replace("{folder}", str(folder)).replace("{script}", script))
        made = {
            "raw": RAW,
            "source": SOURCE,
            **(pages or {}),
        }
        for name, text in made.items():
            (folder / f"{name}.csv").write_text(text)
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        monkeypatch.setattr(gpu, "KFD_NODES", tmp_path / "nodes")
        monkeypatch.setattr(ncu, "PLACES", ())
        return folder

    return tools


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _profile_it(*arguments: str) -> int:
    return main(["profile", MATMUL, *CALL, *arguments])


def test_ncu_is_run_on_that_one_kernel_and_what_it_says_is_kept(
    tools: Callable[..., Path], capture: Capture, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tools()
    report = tmp_path / "kept.ncu-rep"
    assert _profile_it("--report", str(report)) == 0, capsys.readouterr().err
    assert "NVIDIA H200, by Nsight Compute 2025.3.1.0" in capsys.readouterr().out
    told = (folder / "arguments").read_text().split("\n")
    assert told[told.index("--kernel-name") + 1] == "regex:^matmul$"
    assert told[told.index("--clock-control") + 1] == "none"
    assert told[told.index("--launch-count") + 1] == "1"
    request = json.loads((folder / "request").read_text())
    assert request["launches"] == int(told[told.index("--launch-skip") + 1]) + 1
    assert report.read_text() == "report\n"
    kept = profiles.profile_of(capture)
    assert kept is not None
    assert kept.metrics["gpu__time_duration.sum"] == 8096
    assert main(["profile", "matmul", "--last"]) == 0


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        (
            "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission'; exit 1",
            5,
            "NVreg_RestrictProfilingToAdminUsers=0",
        ),
        ("echo '==ERROR== a driver resource was unavailable'; exit 1", 4, "a driver resource was unavailable"),
        ("echo '==WARNING== No kernels were profiled.'", 4, "No kernels were profiled"),
        ("exit 3", 4, "it printed nothing"),
        ("""echo '{"event": "fault", "message": "misaligned address"}' >> $events""", 4, "misaligned address"),
        (
            """echo '{"event": "error", "kind": "Missing", "message": "cannot import torch"}' >> $events""",
            5,
            "cannot import torch",
        ),
        ("sleep 600", 4, "did not end within 0.5 s"),
    ],
)
def test_what_goes_wrong_below_ncu_is_one_sentence(
    tools: Callable[..., Path],
    capture: Capture,
    capsys: pytest.CaptureFixture[str],
    script: str,
    code: int,
    words: str,
) -> None:
    tools(script)
    assert _profile_it(*(("--timeout", "0.5") if "sleep" in script else ())) == code
    shown = capsys.readouterr()
    assert words in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert profiles.profile_of(capture) is None


@pytest.mark.parametrize("page", ["raw", "source"])
def test_a_report_that_cannot_be_read(
    tools: Callable[..., Path], capsys: pytest.CaptureFixture[str], page: str
) -> None:
    tools(pages={page: "==ERROR== \x1b[2J\n"})
    assert _profile_it() == 4
    assert f"its {page} page" in capsys.readouterr().err


def test_without_ncu_it_is_said_how_to_get_it(
    tools: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tools(None)
    assert _profile_it() == 5
    assert "--ncu PATH" in capsys.readouterr().err
    assert _profile_it("--ncu", str(tmp_path / "nowhere")) == 5
    assert "no program" in capsys.readouterr().err


def test_without_a_gpu_it_is_said_to_profile_elsewhere(
    tools: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    tools(capability="")
    assert _profile_it() == 5
    assert "--last" in capsys.readouterr().err


def test_the_newest_ncu_that_is_installed_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    for version in ("2024.3.2", "2025.3.1", "2025.10.0"):
        (tmp_path / version).mkdir()
        _program(tmp_path / version / "ncu", "#!/bin/sh\n")
    monkeypatch.setattr(ncu, "PLACES", (f"{tmp_path}/*/ncu",))
    assert ncu.find(None) == str(tmp_path / "2025.10.0" / "ncu")
