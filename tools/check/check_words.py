"""No file has a private word or a sentence of tools/check/words.txt, which names the words of the field.

Words are whole words, also in identifiers' place; sentences may go over lines of a comment or string.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tools" / "check" / "words.txt"
ENDINGS = (".cpp", ".h", ".td", ".def", ".fbs", ".py", ".md", ".mlir", ".test", ".txt", ".cmake", ".cu", ".yml", ".js", ".css")
# Folders of texts that other projects wrote, and the table itself.
OUTSIDE = ("test/fixtures/", "test/stablehlo/Inputs/", "tools/check/words.txt")
# Between two words: blanks, an end of a line, and the comment or string that goes on behind it.
BETWEEN = r'(?:\s*"?\s+(?:(?://+[!<]?|#:?|\*|")\s*)?)'


def pattern_of(words):
    """Returns a regular expression of words that stand by themselves."""
    before = r"(?<![A-Za-z0-9_])" if re.match(r"\w", words) else ""
    behind = r"(?![A-Za-z0-9_])" if re.search(r"\w\Z", words) else ""
    return re.compile(before + BETWEEN.join(map(re.escape, words.split())) + behind)


def read_table(text):
    """Returns [(words, pattern, replacement, folder)] and {(path, words)} of what is allowed."""
    refused, allowed = [], set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(" | ")]
        if line.startswith("allow "):
            path, _, words = fields[0].removeprefix("allow ").partition(": ")
            if len(fields) != 2 or not (ROOT / path).exists():
                sys.exit(f"tools/check/words.txt:{number}: is not 'allow PATH: WORD | REASON' with a file of the tree; write it so")
            allowed.add((path, words))
        elif len(fields) in (2, 3):
            refused.append((fields[0], pattern_of(fields[0]), fields[1], fields[2] if len(fields) == 3 else ""))
        else:
            sys.exit(f"tools/check/words.txt:{number}: is not 'WORD | USE INSTEAD' or 'WORD | USE INSTEAD | FOLDER/'; write it so")
    return refused, allowed


def problems_of(name, text, table):
    """Yields the words of the table that a file has."""
    refused, allowed = table
    for words, pattern, instead, folder in refused:
        if all(word in text for word in words.split()) and name.startswith(folder) and (name, words) not in allowed:
            for found in pattern.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                yield f"{name}:{line}: \"{words}\" is not a word of the field; use: {instead}"


def check_itself(table):
    """Checks that the check finds a word, an identifier, a sentence over two lines, and no part of a word."""
    samples = {"class ConflictSettler {": 1, "// who agreed\n  // follows it": 1, '"takes over "\n      "the memory"': 1,
               "a delay; newscast, amended": 0, "%1 = coll.all_reduce sum %0 because \"x\"": 1}
    for text, count in samples.items():
        if len(list(problems_of("passes/x.cpp", text, table))) != count:
            sys.exit(f"tools/check/check_words.py: judges {text!r} wrongly; fix pattern_of")


def main():
    table = read_table(TABLE.read_text())
    check_itself(table)
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    problems = []
    for name in names:
        path = ROOT / name
        if name.endswith(ENDINGS) and not name.startswith(OUTSIDE) and path.is_file():
            text = path.read_text(errors="replace")
            problems += problems_of(name, text, table)
            problems += problems_of(name, f"{path.stem}\n", table)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
