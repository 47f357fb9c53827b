"""The error that ends weft.trace with its message and status 1."""


class Refusal(Exception):
    """Says the file, both values and how to fix it, as weft's messages do."""
