#!/usr/bin/env python3
# Fails when a sentence of a comment below src, include, tools or bench has more than 20 words.
"""A comment is a block, or a run of `//` lines in one column. A sentence ends with a full stop, a colon or a semicolon at
the end of a word, and with its paragraph, list item, tag or table row."""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "tools", "bench")
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


def findings(name, text):
    for comment in comments(text):
        for number, paragraph in paragraphs(comment):
            for sentence in SENTENCE_END.split(TAG.sub("", paragraph)):
                count = len(WORD.findall(sentence))
                if count > MAX_WORDS:
                    yield f"{name}:{number}: a sentence has {count} words, {MAX_WORDS} are the limit: {sentence}"


def main():
    parser = argparse.ArgumentParser(description="Checks the length of sentences in comments.")
    parser.parse_args()
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                found += findings(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
