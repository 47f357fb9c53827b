"""Messages that calls of the Python package raise: each must be one of docs/errors.md, and each of those must be raised.

    refused(["float64", "astype"], program.run, inputs)
    refused_by_weft(["budget"], weft.explain, f, x, expect="bytes<=1")   # a message of the command line or the runtime
    compare("python-programs")                 # at the end: the section's messages were all raised
"""

import pathlib
import sys

import weft

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
import check_errors

raised = []


def refused_by_weft(words, call, *arguments, **options):
    """Checks that the call raises weft.Error with these words, and returns its message."""
    try:
        call(*arguments, **options)
    except weft.Error as error:
        assert all(word in str(error) for word in words), f"{error} has not all of {words}"
        return str(error)
    sys.exit(f"nothing was refused; expected {words}")


def refused(words, call, *arguments, **options):
    """Checks the same of a message of the package, and records the message for compare()."""
    raised.append(refused_by_weft(words, call, *arguments, **options))


def compare(section):
    """Ends the process if a message is not documented, or a documented one was not raised."""
    documented = check_errors.templates(section)
    met, problems = set(), []
    for message in raised:
        fitting = [template for template, pattern in documented.items() if pattern.match(message)]
        met.update(fitting)
        if not fitting:
            problems.append(f"docs/errors.md, {section}: has not: {message}")
    problems += [f"docs/errors.md, {section}: no case gives `{template}`" for template in documented.keys() - met]
    if problems:
        sys.exit("\n".join(problems))
