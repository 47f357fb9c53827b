"""No comment, message or page has a clause with "what" for a noun: write "the value that it returns", not "what it returns".

Questions, the word alone in quotes and the name of a parameter in backquotes remain.
"""

import io
import pathlib
import re
import subprocess
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = (".cpp", ".h", ".c", ".cu", ".td", ".def", ".fbs", ".inc", ".mlir")
PAGES = (".md", ".test", ".cmake", ".py", ".yml")
SCRIPTS = ("CMakeLists.txt", "tools/test", "tools/try", "tools/setup", "tools/setup-jax", "tools/site", "tools/wheel", "tools/packages.txt", ".clang-tidy")
# Texts that others wrote, samples of bad comments, and this check.
OUTSIDE = ("test/fixtures/", "test/stablehlo/Inputs/", "examples/jax/", "tools/check/words.txt", "tools/check/check_words.py", "tools/check/check_clauses.py",
           "docs/comments-review.md")
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
CLAUSE = re.compile(r"(?<![\"`'])\bwhat\b(?![(]|[^.]*\?)|\bwhat\b(?![\"`'(]|[^.]*\?)", re.IGNORECASE)


def texts_of_code(text):
    """Yields (line, text) of the strings and the comment of each line."""
    for number, line in enumerate(text.splitlines(), 1):
        begin = STRING.sub(lambda string: "s" * len(string[0]), line).find("//")
        code = line if begin < 0 else line[:begin]
        yield number, " ".join([*STRING.findall(code), line[begin:] if begin >= 0 else ""])


def texts_of_python(text):
    """Yields (line, text) of the strings and comments; names in the fields of f-strings are code."""
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds:
            for number, line in enumerate(re.sub(r"\{[^{}]*\}", "", token.string).splitlines(), token.start[0]):
                yield number, line


def clauses_of(name, text):
    """Returns the lines of a file that have such a clause."""
    texts = texts_of_code if name.endswith(CODE) else texts_of_python if name.endswith(".py") else lambda text: enumerate(text.splitlines(), 1)
    return [number for number, line in texts(text) if CLAUSE.search(line)]


def check_itself():
    samples = [("x.cpp", "return what; // the value", 0), ("x.cpp", "f(what); // what it is", 1), ("x.h", 'a = "// " + "what it reads";', 1),
               ("x.h", "/// `what` names it. What is a mesh?", 0), ("x.py", '"""It returns\nwhat it read."""', 1), ("x.py", 'print(f"{what}: {a[what]}")', 0),
               ("x.h", "//===- x.h - the price of what moves ---===//", 1), ("x.md", "See what it does.", 1), ("x.md", 'the word "what"', 0)]
    for name, text, count in samples:
        if len(clauses_of(name, text)) != count:
            sys.exit(f"tools/check/check_clauses.py: judges {text!r} wrongly; fix clauses_of")


def main():
    check_itself()
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    found = False
    for name in names:
        if name.startswith(OUTSIDE) or not (name.endswith(CODE + PAGES) or name.endswith(SCRIPTS)) or not (ROOT / name).is_file():
            continue
        for line in clauses_of(name, (ROOT / name).read_text(errors="replace")):
            print(f"{name}:{line}: has a clause with \"what\"; name the thing: \"the value that ...\", \"the ops behind it\"")
            found = True
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
