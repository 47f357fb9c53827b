"""Reads a page of `weft explain --html` as a browser would, and prints its elements and figures.

    check_page.py PAGE [MOST_BYTES]

Fails if an element is not closed, a link leads nowhere, anything would be
loaded from elsewhere, or the page is larger than it may be.
"""

import html.parser
import pathlib
import sys

VOID = {"meta"}


class Page(html.parser.HTMLParser):
    """Elements in order, each with its text."""

    def __init__(self):
        super().__init__()
        self.open, self.elements, self.ids = [], [], set()

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "text": "", "section": None, **dict(attributes)}
        for outer in self.open:
            if outer["tag"] == "section":
                element["section"] = outer["id"]
        self.elements.append(element)
        if "id" in element:
            assert element["id"] not in self.ids, f"id {element['id']} twice"
            self.ids.add(element["id"])
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert tag not in VOID and self.open, f"</{tag}>"
        element = self.open.pop()
        assert element["tag"] == tag, f"<{element['tag']}> ends as </{tag}>"

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, tag, **wanted):
        return [e for e in self.elements if e["tag"] == tag and all(e.get(k) == v for k, v in wanted.items())]


text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
assert len(text.encode()) <= int(sys.argv[2] if len(sys.argv) > 2 else 200_000), f"{len(text.encode())} bytes"
page = Page()
page.feed(text)
page.close()
assert not page.open, f"{page.open[-1]['tag']} is not closed"
assert len(page.all("script")) == 1 and len(page.all("style")) == 1

print("section mesh: buttons", len([e for e in page.all("button") if e["section"] == "mesh"]))
for element in page.elements:
    if element["tag"] == "svg" and element.get("class") == "tensor":
        print("drawn", element["aria-label"])
    elif element["tag"] == "title" and element["section"] == "layouts":
        print("block", element["text"])
marks = page.all("a", **{"class": "mark"})
rows = [e for e in page.all("tbody") if e["section"] == "communication"]
print(f"marks {len(marks)}, rows {len(rows)}")


def cells(row):
    """The texts of a table row's cells."""
    start = page.elements.index(row) + 1
    found = []
    for element in page.elements[start:]:
        if element["tag"] in ("tr", "tbody"):
            break
        if element["tag"] == "td":
            found.append(" ".join(element["text"].split()))
    return found


for row in rows:
    at = page.elements.index(row)
    figures = cells(page.elements[at + 1])
    words = [e for e in page.elements[at:] if e["tag"] == "dd"]
    print("row", figures[1], figures[3], "why", words[1]["text"])
memory = [cells(e) for e in page.all("tr") if e["section"] == "memory"]
figures = {row[0]: row[1] for row in memory if row}
# A program whose arguments have no roles has no batch.
kinds = ("weights", "optimizer", "batch" if "batch" in figures else "arguments", "activations", "temporaries")
assert sum(int(figures[k].replace(",", "")) for k in kinds) == int(figures["total"].replace(",", ""))
print("memory", *(figures[k] for k in kinds), "total", figures["total"])
for section, word in (("budgets", "limit"), ("rules", "rule")):
    for row in page.all("tr"):
        if row["section"] == section and cells(row):
            print(word, *cells(row))

for element in page.elements:
    for name, value in element.items():
        if name == "href":
            assert value.startswith("#") and value[1:] in page.ids, f"link to {value}"
        assert name not in ("src", "srcset", "action") and not name.startswith("on"), name
for outside in ("http:", "https:", "@import", "url(//"):
    assert outside not in text, outside
print("self-contained")
