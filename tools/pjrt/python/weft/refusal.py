"""The error that ends weft.trace with its message and status 1."""


class Refusal(Exception):
    """An error with the file, both values and a fix, like weft's messages."""
