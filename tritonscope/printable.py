"""Text made safe for a terminal."""

__all__ = ["escape"]

_CONTROLS = [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
# C0, DEL and C1 drive the terminal; the bidirectional controls make a line read as what it is not.
_ESCAPES = {code: ascii(chr(code))[1:-1] for code in _CONTROLS if chr(code) not in "\n\t"}


def escape(text: str) -> str:
    """`text` with the characters that would drive a terminal written out, all but newline and tab.

    >>> escape("\\x1b[31m")
    '\\\\x1b[31m'
    """
    return text.translate(_ESCAPES)
