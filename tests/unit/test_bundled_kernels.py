"""What travels with the tool is found, and read without being run."""

from pathlib import Path

import pytest

from tritonscope import bundled_kernels
from tritonscope.errors import KernelFileError, KernelNotFound


def write(folder: Path, text: str) -> Path:
    path = folder / "kernel.py"
    path.write_text(text)
    return path


def test_every_bundled_kernel_is_complete() -> None:
    kernels = {kernel.name: kernel for kernel in bundled_kernels.kernels()}
    assert {"attention", "matmul"} <= set(kernels)
    for kernel in kernels.values():
        assert kernel.summary
        assert f"def {kernel.function}(" in Path(kernel.path).read_text()
        # The signature names the function's parameters, in their order.
        names = [part.partition("=")[0].strip() for part in kernel.signature.split(", ")]
        head = Path(kernel.path).read_text().partition(f"def {kernel.function}(")[2].partition("):")[0]
        assert names == [part.partition(":")[0].strip() for part in head.split(",") if part.strip()]
        assert bundled_kernels.find(kernel.name) == kernel


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(KernelNotFound, match="did you mean matmul"):
        bundled_kernels.find("matmull")
    with pytest.raises(KernelNotFound, match=r"attention, .*matmul, matmul/grouped"):
        bundled_kernels.find("zzz")


def test_nothing_is_executed(tmp_path: Path) -> None:
    text = 'import does_not_exist\nraise SystemExit\nTRITONSCOPE = {"f": {"summary": "s", "signature": "i32"}}\n'
    path = write(tmp_path, text)
    assert bundled_kernels.spec_of(path, "f") == {"summary": "s", "signature": "i32"}
    assert bundled_kernels.spec_of(path, "g") is None


def test_a_file_that_says_nothing(tmp_path: Path) -> None:
    assert bundled_kernels.spec_of(write(tmp_path, "def f(): pass\n"), "f") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\nTRITONSCOPE = make()\n", "line 2: TRITONSCOPE must be a dict"),
        ("TRITONSCOPE = [1]\n", "line 1: TRITONSCOPE must be a dict"),
        ('TRITONSCOPE = {"f": 1}\n', "line 1: TRITONSCOPE must be a dict"),
        ("\n\ndef f(:\n", "line 3: "),
        ("a\0b", "kernel.py"),
    ],
)
def test_a_file_that_cannot_be_read_names_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(KernelFileError, match=said):
        bundled_kernels.spec_of(write(tmp_path, text), "f")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(KernelFileError, match="cannot be read"):
        bundled_kernels.spec_of(tmp_path / "none.py", "f")
