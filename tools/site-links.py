"""A hook of mkdocs: links from a page of docs to a file of the sources become the file's name."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUTSIDE = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)#\s]+)(?:#[\w-]*)?\)")


def on_page_markdown(markdown, page, **_):
    folder = (ROOT / "docs" / page.file.src_uri).parent

    def named(match):
        path = (folder / match[2]).resolve()
        if path.is_relative_to(ROOT / "docs"):
            return match[0]
        name = str(path.relative_to(ROOT))
        return f"`{name}`" if match[1].strip("`") in (name, path.name) else f"{match[1]} (`{name}`)"

    return OUTSIDE.sub(named, markdown)
