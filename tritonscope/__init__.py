"""A terminal explorer for the Triton compiler."""

__version__ = "0.1.0"
