"""The command `weft` of the wheel, which replaces this process by the program of that name."""

import os
import subprocess
import sys

from . import libraries


def main() -> None:
    """Runs the program `weft` with this process's arguments and does not return."""
    try:
        program = libraries.find("bin/weft")
    except FileNotFoundError as error:
        sys.exit(str(error))
    os.execv(program, ["weft", *sys.argv[1:]])


def run(*arguments: object) -> str:
    """The output of `weft ARGUMENTS`. Raises weft.Error with its messages if it fails."""
    from .abi import Error

    command = [str(libraries.find("bin/weft")), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if result.returncode:
        raise Error(result.stderr.strip().removeprefix("weft: error: ") or f"weft ended with {result.returncode}")
    return result.stdout


if __name__ == "__main__":
    main()
