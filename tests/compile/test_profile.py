"""The child that Nsight Compute starts, below a stand-in for ncu that starts it and records nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tritonscope import bundled_kernels, gpu
from tritonscope.cli import main

NCU = """\
#!/bin/sh
while [ "$1" != "$PYTHON" ]; do shift; done
exec "$@"
"""


@pytest.mark.skipif(gpu.present() is not None, reason="with a GPU the launch succeeds")
def test_the_child_below_ncu_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reference = bundled_kernels.reference_dumps()
    assert reference is not None
    name = "matmul/sm_90-5f19578c9d"
    shutil.copytree(reference / name, tmp_path / "dumps" / name)
    for tool, text in (("ncu", NCU), ("nvidia-smi", "#!/bin/sh\necho 9.0\n")):
        (tmp_path / tool).write_text(text)
        (tmp_path / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("PYTHON", sys.executable)
    call = ["--call", "a=fp16[64,64], b=fp16[64,64], c=fp16[64,64]"]
    arguments = ["profile", name, "-o", str(tmp_path / "dumps"), "--python", sys.executable, *call]
    assert main(arguments) == 5
    has_torch = subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode == 0
    said = capsys.readouterr().err
    assert ("no GPU here that PyTorch can use" if has_torch else "cannot import torch") in said
    assert said.count("\n") == 1
