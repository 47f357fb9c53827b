"""Draws comments at random for a review: place and text of each, the same for a seed and a commit.

    python3 tools/check/sample_comments.py --seed 1 --count 200

A comment is a run of comment lines, a comment behind code, or a docstring, of .cpp, .h, .td and .py files outside of
test/fixtures. File banners, `// namespace` and lines that lit or FileCheck read are none.
"""

import argparse
import ast
import pathlib
import random
import re
import subprocess
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARK = {".cpp": r"//+[!<]*", ".h": r"//+[!<]*", ".td": r"//+[!<]*", ".py": r"#:?"}
BANNER = re.compile(r"^//===|^// (?:end )?namespace |^// (?:RUN|CHECK|UNSUPPORTED|REQUIRES)|^#!|# type:|# noqa|^// clang-format|NOLINT")
# Comments without content: ends of namespaces and include guards, and labels of constraints.
CLOSING = re.compile(r"(end )?namespace\b.*|[A-Z][A-Z0-9_]+_[A-Z0-9_]+|\(\w+\)")
STRING = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|R"\((?:.|\n)*?\)"')


def comments_of(path):
    """Yields (line, text) of each comment of a file."""
    mark, run, start = re.compile(rf"^\s*({MARK[path.suffix]})\s?(.*)$"), [], 0
    text = path.read_text()
    for number, line in enumerate([*text.splitlines(), ""], 1):
        alone = mark.match(line)
        if alone and not BANNER.search(line.strip()):
            start, run = start if run else number, [*run, alone.group(2)]
            continue
        if run and re.search(r"[a-z]{2}", " ".join(run)):
            yield start, "\n".join(run).strip()
        run = []
        # Strings become blanks of their length, so that // in an address is no comment.
        behind = None if alone else re.search(rf"\S.*?\s({MARK[path.suffix]})\s(.*)$", STRING.sub(lambda s: "s" * len(s[0]), line))
        if behind and not BANNER.search(line) and not CLOSING.fullmatch(behind.group(2).strip()):
            yield number, line[behind.start(2):].strip()
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
                yield node.body[0].lineno, ast.get_docstring(node)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    options = parser.parse_args()
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    paths = [ROOT / name for name in sorted(names) if pathlib.Path(name).suffix in MARK and not name.startswith("test/fixtures/")]
    every = [(path.relative_to(ROOT), *comment) for path in paths if path.exists() for comment in sorted(comments_of(path))]
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    print(f"seed {options.seed}, {min(options.count, len(every))} of {len(every)} comments, commit {commit}")
    for path, line, text in sorted(random.Random(options.seed).sample(every, min(options.count, len(every)))):
        print(f"\n{path}:{line}\n{textwrap.indent(text, '    ')}")


if __name__ == "__main__":
    main()
