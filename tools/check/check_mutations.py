"""Every deliberate mistake of test/mutation/mutations.json still applies: its text stands exactly once in its file.

A change to such a line has to change the mistake's text as well; docs/mutations.md has the purpose of the list.
"""

import sys

import mutations


def main():
    bad = [p for p in mutations.patches() if mutations.applied(p) is None]
    for patch in bad:
        print(f"{patch['file']}: the mistake '{patch['name']}' no longer applies: its text must stand there once:\n  {patch['find']}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
