#!/usr/bin/env python3
# Checks the documents: links lead somewhere, long pages stay short, the glossary and the picture agree with the code.

import argparse
import pathlib
import re
import sys

import draw_layers

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_LINES = {"README.md": 160, "docs/ARCHITECTURE.md": 150}
GLOSSARY_PAGE, GLOSSARY_HEADER = "docs/ARCHITECTURE.md", "src/base/glossary.h"

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```|^(?: {4}|\t).*?$|`[^`\n]+`", re.M | re.S)


def pages(root):
    """All Markdown files of the project."""
    folders = ("docs", "src", "tools", "bench", "tests", "examples")
    return sorted(root.glob("*.md")) + sorted(path for folder in folders for path in (root / folder).rglob("*.md"))


def without_code(text):
    return FENCED.sub("", text)


def anchors(text):
    """The fragments that GitHub makes of the headings."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M):
        plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


def link_findings(path, root):
    name = path.relative_to(root).as_posix()
    for target in LINK.findall(without_code(path.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, fragment = target.partition("#")
        where = (path.parent / file).resolve() if file else path
        if not where.exists():
            yield f"{name}: {target} does not exist"
        elif fragment and where.suffix == ".md" and fragment not in anchors(where.read_text()):
            yield f"{name}: {target}: there is no such heading"


def glossary_of_page(text):
    inside = re.search(r"<!-- glossary -->\n(.*?)<!-- end of glossary -->", text, re.S)
    return [re.sub(r"\*\*|`", "", line).removeprefix("- ") for line in inside[1].splitlines()] if inside else []


def glossary_of_header(text):
    """The entries of the first comment, below its first line."""
    comment = re.match(r"(?://[^\n]*\n)+", text)
    lines = [line[2:].strip() for line in comment[0].splitlines()] if comment else []
    return [line for line in lines[1:] if line]


def glossary_findings(root):
    page = glossary_of_page((root / GLOSSARY_PAGE).read_text())
    header = glossary_of_header((root / GLOSSARY_HEADER).read_text())
    if not page:
        yield f"{GLOSSARY_PAGE}: there is no glossary"
    for line in sorted(set(page) ^ set(header)):
        yield f"{GLOSSARY_PAGE if line in page else GLOSSARY_HEADER} alone has the glossary's line: {line}"
    words = [line.split(":")[0] for line in page]
    if words != sorted(words):
        yield f"{GLOSSARY_PAGE}: the glossary is not in alphabetical order"


def findings(root):
    for name, most in MAX_LINES.items():
        lines = len((root / name).read_text().splitlines())
        if lines > most:
            yield f"{name} has {lines} lines, {most} are the limit"
    for path in pages(root):
        yield from link_findings(path, root)
    yield from glossary_findings(root)
    if draw_layers.PICTURE.read_text() != draw_layers.picture(draw_layers.layers()):
        yield "docs/images/layers.svg is out of date: run scripts/draw_layers.py"


def main():
    parser = argparse.ArgumentParser(description="Checks links, lengths, glossary and picture of the documents.")
    parser.parse_args()
    found = list(findings(ROOT))
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
