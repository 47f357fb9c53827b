"""Runs one test file of Keras under pytest, for keras_suite.py: writes a line of JSON for each test as it ends. If another such
file is given, only tests with an outcome in it run.

    KERAS_SUITE_RECORD=FILE KERAS_SUITE_EVERY=1 KERAS_SUITE_WANTED=FILE KERAS_SUITE_OUTCOME=passed keras_suite_file.py .../dense_test.py
"""

import json
import os
import sys
import types

import jax
import pytest

# The environment is read before the tests run, as some of Keras' tests clear it.
RECORD, EVERY = os.environ["KERAS_SUITE_RECORD"], int(os.environ["KERAS_SUITE_EVERY"])
BACKEND = os.environ["KERAS_BACKEND"]
MARKERS = ["requires_trainable_backend: for back ends that train", "multi_device: for several devices"]


def write(**line):
    with open(RECORD, "a", encoding="utf-8") as out:
        out.write(json.dumps(line) + "\n")


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def name_of(item):
    """A test without its folder: Class::test, or test."""
    return item.nodeid.partition("::")[2]


def reason_of(report):
    """The message of the exception, from Weft's part on if it has one; at most 1,000 characters."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr)
    return text[text.find("Weft: "):][:1000] if "Weft: " in text else text[:1000]


class Recorder:
    """Skips tests that have an outcome already, and records the others."""

    def __init__(self):
        self.known = {line.get("test") for line in read(RECORD)}
        wanted = os.environ.get("KERAS_SUITE_WANTED")
        outcome = os.environ["KERAS_SUITE_OUTCOME"]
        self.wanted = {line["test"] for line in read(wanted) if line.get("outcome") == outcome} if wanted else None

    def pytest_configure(self, config):
        for marker in MARKERS:
            config.addinivalue_line("markers", marker)

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items[::EVERY] if name_of(item) not in self.known
                    and (self.wanted is None or name_of(item) in self.wanted)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        write(start=name_of(item))
        self.outcome, self.why, self.spent = "passed", "", 0.0
        result = yield
        write(test=name_of(item), outcome=self.outcome, why=self.why, seconds=round(self.spent, 3))
        return result

    def pytest_runtest_logreport(self, report):
        self.spent += report.duration
        if report.failed:
            self.outcome, self.why = "failed", reason_of(report)
        elif report.skipped and self.outcome == "passed":
            self.outcome, self.why = "skipped", str(report.longrepr)[-200:]

    def pytest_collectreport(self, report):
        if report.failed:
            write(test="(file)", outcome="failed", why=str(report.longrepr)[-600:])

    def pytest_sessionfinish(self):
        write(done=EVERY)


def keras_conftest():
    """A replacement of the conftest.py of Keras' repository, which its wheel lacks and test files import."""
    conftest = types.ModuleType("conftest")

    def skip_if_backend(given, reason):
        return pytest.mark.skipif(given == BACKEND, reason=reason)

    conftest.skip_if_backend = skip_if_backend
    return conftest


if __name__ == "__main__":
    jax.devices()
    sys.modules["conftest"] = keras_conftest()
    sys.exit(pytest.main([sys.argv[1], "-q", "-p", "no:cacheprovider",
                          "--rootdir", os.path.dirname(sys.argv[1]), "-c", os.devnull], plugins=[Recorder()]))
