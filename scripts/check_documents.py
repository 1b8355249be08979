#!/usr/bin/env python3
# Checks the documents: links lead somewhere, long pages stay short, the glossary, the picture and the READMEs of
# folders agree with the code, and texts name what acts.

import argparse
import fnmatch
import pathlib
import re
import sys

import draw_layers

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_LINES = {"README.md": 160, "docs/ARCHITECTURE.md": 150}
GLOSSARY_PAGE, GLOSSARY_HEADER = "docs/ARCHITECTURE.md", "src/base/glossary.h"

# A folder below these with more files than this needs a README, which names all of them.
FOLDERS = ("src", "tools", "python", "bench")
MAX_FILES_WITHOUT_README, MAX_README_LINES = 5, 40

# Words that hide what acts: a thread, a process, the caller, the owner of a lock. Alone, in `a_name`, and in `OneName`.
VAGUE_WORDS = ("whoever", "whomever", "somebody", "anybody", "everybody", "nobody", "himself", "herself")
VAGUE = re.compile(f"(?<![a-zA-Z])(?i:{'|'.join(VAGUE_WORDS)})|{'|'.join(map(str.capitalize, VAGUE_WORDS))}")

# Limits are kMax and kMin in names; these turns have a plain word.
UNUSUAL = re.compile(r"\bk(?:Most|Least)(?=[A-Z])|\b(?:MOST|LEAST)_(?=[A-Z])|\banew\b|\bin thought\b|\b[Tt]hose who\b|\bfor who\b")
SPOKEN_FOLDERS = ("src", "include", "tools", "bench", "tests", "examples", "cmake", "python")
SPOKEN_SUFFIXES = {".h", ".c", ".cc", ".cu", ".py", ".js", ".cmake", ".md", ".txt", ".sh"}

NAMED = re.compile(r"`([^`\n]+)`")
SOURCE_NAME = re.compile(r"(?<![\w/.*-])(?:[\w*-]+/)*[\w*-]+\.(?:h|cc|cu|ptx|py|js|css|html|map|\*)(?![\w*-])")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```|^(?: {4}|\t).*?$|`[^`\n]+`", re.M | re.S)


def pages(root):
    """All Markdown files of the project."""
    folders = ("docs", "src", "tools", "bench", "tests", "examples", "python")
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


def heading_findings(path, root):
    """A page that another tool laid out as code has lost its heading."""
    if not re.match(r"# \S|<!--", path.read_text()):
        yield f"{path.relative_to(root).as_posix()}: the first line is no heading"


def merge_findings(path, root):
    """What a merge that was not finished leaves behind."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if re.match(r"<{7} |>{7} ", line):
            yield f"{path.relative_to(root).as_posix()}:{number}: a mark of a merge"


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


def is_named(file, names):
    """Whether a README names the file: by its name, by a pattern, or without its suffix for all files of that stem."""
    return any(fnmatch.fnmatchcase(file.name, name) or file.stem == name for name in names)


def readme_findings(folder, root):
    """What is wrong with the README of a folder, or that it has none."""
    name = folder.relative_to(root).as_posix()
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name not in ("README.md", "CMakeLists.txt")]
    readme = folder / "README.md"
    if not readme.exists():
        if len(files) > MAX_FILES_WITHOUT_README and not all(path.suffix == ".pyi" for path in files):
            yield f"{name} has {len(files)} files and no README.md"
        return
    text = readme.read_text()
    lines = len(text.splitlines())
    if lines > MAX_README_LINES:
        yield f"{name}/README.md has {lines} lines, {MAX_README_LINES} are the limit"
    names = NAMED.findall(text)
    for file in files:
        if not is_named(file, names):
            yield f"{name}/README.md does not name {file.name}"
    below = [path.relative_to(folder).as_posix() for path in folder.rglob("*")]
    for named in sorted(set(SOURCE_NAME.findall(re.sub(r"\]\([^)]*\)", "", text)))):
        elsewhere = any(any((root / start).glob(named)) for start in ("", *FOLDERS))
        if not elsewhere and not any(fnmatch.fnmatchcase(path, named) or fnmatch.fnmatchcase(path, "*/" + named) for path in below):
            yield f"{name}/README.md names {named}, which does not exist"


def folders(root):
    """The folders below FOLDERS, and these themselves."""
    found = [path for start in FOLDERS for path in (root / start).rglob("*") if path.is_dir() and path.name != "__pycache__"]
    return sorted(found + [root / start for start in FOLDERS])


def vague_findings(path, root):
    """Lines that do not say what acts."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        for word in VAGUE.findall(line):
            yield f"{path.relative_to(root).as_posix()}:{number}: '{word}': name what acts"
        for word in UNUSUAL.findall(line):
            yield f"{path.relative_to(root).as_posix()}:{number}: '{word}': use the usual word"


def spoken(root):
    """The files with comments or prose."""
    inside = (path for folder in SPOKEN_FOLDERS for path in sorted((root / folder).rglob("*")))
    files = [path for path in inside if path.suffix in SPOKEN_SUFFIXES and "corpus" not in path.parts]
    return sorted({*files, *pages(root)})


def header_findings(root):
    """The tables of headers in docs/USING.md: the first names what include has, the second folders that it has not."""
    tables = re.findall(r"^\| headers \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", (root / "docs/USING.md").read_text(), re.M)
    if len(tables) != 2:
        yield f"docs/USING.md has {len(tables)} tables of headers, not 2"
        return
    named = [[name for row in table.splitlines() for name in re.findall(r"`([^`]+/[^`]*)`", row.split("|")[1])] for table in tables]
    yield from (f"docs/USING.md names {name}, which include has not" for name in named[0] if not (root / "include" / name).is_file())
    yield from (f"docs/USING.md says that there is no {name}" for name in named[1] if (root / "include" / name).exists())
    offered = {path.relative_to(root / "include").as_posix() for folder in ("acl/ops", "aclnn") for path in (root / "include" / folder).glob("*.h")}
    offered |= {f"acl/{path.name}" for path in (root / "include/acl").glob("*.h") if "Placeholder" in path.read_text()[:20]}
    yield from (f"docs/USING.md does not name {name}" for name in sorted(offered - set(named[0])))


def findings(root):
    for name, limit in MAX_LINES.items():
        lines = len((root / name).read_text().splitlines())
        if lines > limit:
            yield f"{name} has {lines} lines, {limit} are the limit"
    for folder in folders(root):
        yield from readme_findings(folder, root)
    for path in pages(root):
        yield from link_findings(path, root)
        yield from heading_findings(path, root)
        yield from merge_findings(path, root)
    for path in spoken(root):
        yield from vague_findings(path, root)
    yield from glossary_findings(root)
    yield from header_findings(root)
    if draw_layers.PICTURE.read_text() != draw_layers.picture(draw_layers.layers()):
        yield "docs/images/layers.svg is out of date: run scripts/draw_layers.py"


def main():
    parser = argparse.ArgumentParser(description="Checks links, lengths, glossary, picture and the READMEs of folders.")
    parser.parse_args()
    found = list(findings(ROOT))
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
