#!/usr/bin/env python3
# Fails when a sentence of a comment or of a page has more than 20 words.
"""A comment is a block, or a run of `//` lines in one column. A sentence ends with a full stop, a colon or a semicolon at
the end of a word, and with its paragraph, list item, tag or table row. Code, tables and generated pages are left out; so
is the laboratory notebook."""

import argparse
import pathlib
import re
import sys

import check_documents

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "tools", "bench", "tests", "examples", "python")
NO_PAGES = ("docs/performance/", "docs/COMPATIBILITY.md", "docs/api/")  # but COMMON.md, which is written by hand
HAND_WRITTEN = "docs/api/COMMON.md"
SUFFIXES = {".h", ".c", ".cc", ".cu", ".js"}
MAX_WORDS = 20

# Texts with comment signs in them are skipped first.
TOKEN = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|(?P<line>//[^\n]*)|/\*(?P<block>(?:.|\n)*?)\*/')
MARK = re.compile(r"^\s*(?:///?<?|//!|\*)?\s?")
# A line that begins something of its own: a tag, a list item, a row of a table, code by indentation, a note to a tool.
TAG = re.compile(r"^@\w+ \S+ ")  # with the name or the code that it is about
BEGINS = re.compile(r"@|\\\w|[-*] |\||\d+[.)] |`{3}|    |clang-format|NOLINT")
SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)[\"')]*\s+|[:;]\s")
WORD = re.compile(r"[^\s]*\w[^\s]*")
PAGE_BEGINS = re.compile(r"\s*(?:[-*] (?:[a-z]+-\d+ )?|\d+\. |\||#)|    ")


def paragraphs(lines):
    """The lines of a comment, joined to what is read in one go, as (number, text)."""
    begin, words = 0, []
    for number, line in lines:
        if not line.strip() or BEGINS.match(line):
            if words:
                yield begin, " ".join(words)
            words = []
        if not words:
            begin = number
        if line.strip() and not line.startswith(("|", "    ")):
            words.append(line.strip())
    if words:
        yield begin, " ".join(words)


def comments(text):
    """Each comment as a list of (line number, text without its mark)."""
    run, column = [], 0
    for token in TOKEN.finditer(text):
        number = text.count("\n", 0, token.start()) + 1
        if token["line"] is not None:
            start = text.rfind("\n", 0, token.start()) + 1
            goes_on = run and run[-1][0] == number - 1 and column == token.start() - start
            if run and not (goes_on and not text[start:token.start()].strip()):
                yield run
                run = []
            column = token.start() - start
            run.append((number, MARK.sub("", token["line"], count=1)))
        elif token["block"] is not None:
            yield [(number + i, MARK.sub("", line, count=1)) for i, line in enumerate(token["block"].split("\n"))]
    if run:
        yield run


def long_sentences(name, number, paragraph):
    for sentence in SENTENCE_END.split(paragraph):
        count = len(WORD.findall(sentence))
        if count > MAX_WORDS:
            yield f"{name}:{number}: a sentence has {count} words, {MAX_WORDS} are the limit: {sentence}"


def findings(name, text):
    for comment in comments(text):
        for number, paragraph in paragraphs(comment):
            yield from long_sentences(name, number, TAG.sub("", paragraph))


def page_findings(name, text):
    """The same of a page. Lists of links are no sentences, nor are headings."""
    blank = re.sub(r"^```.*?^```|<!--.*?-->", lambda code: "\n" * code[0].count("\n"), text, flags=re.M | re.S)
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", blank).replace("**", "")
    begin, words = 0, []
    for number, line in enumerate([*plain.splitlines(), ""], start=1):
        starts = PAGE_BEGINS.match(line)
        if not line.strip() or starts:
            if " · " not in " ".join(words):
                yield from long_sentences(name, begin, " ".join(words))
            words = []
        if not words:
            begin = number
        if line.strip() and not line.lstrip().startswith(("|", "#")) and not line.startswith("    "):
            words.append(line[starts.end():].strip() if starts else line.strip())


def main():
    parser = argparse.ArgumentParser(description="Checks the length of sentences in comments and pages.")
    parser.parse_args()
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                found += findings(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    for path in check_documents.pages(ROOT):
        name = path.relative_to(ROOT).as_posix()
        if name == HAND_WRITTEN or not name.startswith(NO_PAGES):
            found += page_findings(name, path.read_text(encoding="utf-8"))
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
