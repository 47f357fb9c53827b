"""Links and file names in pages lead to files that exist, and a page of docs leads to each other one."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[\w-]*)?\)")
# Words in backticks that begin with a folder of the tree: a file or a folder. A part in capitals, as of DATE-GPU.jsonl, stands for others.
SPAN = re.compile(r"`([^`\n]+)`")
NAMED = re.compile(r"[\w.-]+(?:/[\w.-]+)+/?")
PATTERN = re.compile(r"(^|-)[A-Z]{4,}-|-[A-Z]{4,}(\.|$)")
FOLDERS = ("base", "bench", "cmake", "compiler", "data", "dialects", "docs", "examples", "layout", "passes", "runtime", "test", "tools", "training")

COMMON = ("base", "data", "training")  # first words of other paths, too


def tracked(pattern):
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", pattern], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).exists()]


def problems_of(page):
    text, name = page.read_text(), page.relative_to(ROOT)
    for target, _ in LINK.findall(text):
        if "://" not in target and not (page.parent / target).exists():
            yield f"{name}: the link to {target} leads nowhere"
    for target in sorted({word.rstrip(".,;:") for span in SPAN.findall(text) for word in span.split()}):
        known = NAMED.fullmatch(target) and target.split("/")[0] in FOLDERS and not PATTERN.search(pathlib.PurePath(target).name)
        known = known and (target.split("/")[0] not in COMMON or target.endswith((".h", ".cpp")))
        if known and not (ROOT / target).exists():
            yield f"{name}: `{target}` does not exist"


def main():
    problems = [problem for page in tracked("*.md") for problem in problems_of(page)]
    linked = {(page.parent / target).resolve() for page in tracked("*.md") for target, _ in LINK.findall(page.read_text())}
    problems += [f"{page.relative_to(ROOT)}: no page links to it; add it to docs/index.md"
                 for page in tracked("docs/*.md") if page.resolve() not in linked and page.name != "index.md"]
    shown = set(re.findall(r"- ([\w/-]+\.md)$|: ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M))
    shown = {one or other for one, other in shown}
    problems += [f"docs/{name}: is not in mkdocs.yml; add it to a section of the site"
                 for name in sorted({str(page.relative_to(ROOT / "docs")) for page in tracked("docs/*.md")} - shown)]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
