"""Limits of a process under test, for preexec_fn and the user of subprocess.run."""

import os
import resource


def limit_memory(size):
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def limit_files(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def unprivileged(scratch):
    """The options of subprocess.run for a case that needs unwritable files: for root, who may write everywhere, another user."""
    if os.geteuid() != 0:
        return {}
    scratch.chmod(0o755)
    return {"user": 65534, "group": 65534, "extra_groups": []}
