"""Every diagnostic of dialects and passes is quoted by a test.

A diagnostic is the statement that calls emitError or emitOpError; a test quotes it
when it contains the longest string literal of that statement.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALL = re.compile(r"emit(?:Op)?Error\(")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def statement(text, start):
    """The code from `start` to the semicolon that ends the statement."""
    end, quoted = start, False
    while end < len(text) and (quoted or text[end] != ";"):
        if text[end] == "\\":
            end += 1
        elif text[end] == '"':
            quoted = not quoted
        end += 1
    return text[start:end]


def diagnostics():
    """Yields (file, the longest literal) of every message with one."""
    for folder in ("dialects", "passes"):
        for path in sorted((ROOT / folder).rglob("*.cpp")):
            text = path.read_text()
            for call in CALL.finditer(text):
                code = re.sub(r'"\s*\n\s*"', "", statement(text, call.end()))
                literals = [m.replace('\\"', '"').strip() for m in LITERAL.findall(code)]
                longest = max(literals, key=len, default="")
                if len(longest) > 2:
                    yield path.relative_to(ROOT), longest


def quoted_text():
    """The text of all tests, with adjacent string literals joined and quotes unescaped."""
    texts = [p.read_text(errors="replace") for p in sorted((ROOT / "test").rglob("*"))
             if p.suffix in {".mlir", ".test", ".cpp", ".py"}]
    return re.sub(r'"\s*\n\s*"', "", "\n".join(texts)).replace('\\"', '"')


def main():
    tests = quoted_text()
    found = list(diagnostics())
    unquoted = [(path, text) for path, text in found if text not in tests]
    for path, text in unquoted:
        print(f"{path}: no test quotes the diagnostic {text!r}; write one")
    if not found:
        print("dialects, passes: no diagnostic found; fix the pattern in tools/check/check_diagnostics.py")
    return 1 if unquoted or not found else 0


if __name__ == "__main__":
    sys.exit(main())
