#!/usr/bin/env python3
"""Prints the JSON of bench_gpu as the tables of docs/performance/h200.md: gpu_tables.py bench_gpu.json

What misses its bar is bold. No packages needed.
"""

import json
import pathlib
import sys

from plot_gpu import size_text


def figure(value):
    """Three digits that count."""
    if not value:
        return ""
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def marked(text, row):
    return text if row["met"] else f"**{text}**"


def ratio(row):
    return f"{row['ratio']:.1f}x" if row["ratio"] >= 10 else f"{row['ratio']:.2f}"


def batches(rows):
    yield "| direction | entry | Sampan | batch call | loop | over the best | bar |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for row in rows:
        against_call = row["bar_of"] == "ratio"
        ours, over = figure(row["sampan"]), ratio(row)
        ours, over = (ours, marked(over, row)) if against_call else (marked(ours, row), over)
        entry = size_text(row["bytes"]) + (", against the batch call" if against_call else "")
        bar = f"{row['bar']:.0f}x" if against_call else f"{row['bar']:.0f}"
        yield (f"| {row['direction']} | {entry} | {ours} | {figure(row['driver_call'])} | {figure(row['driver_loop'])} "
               f"| {over} | {bar} |")


def adjacent(rows):
    yield "| direction | entries | Sampan | one copy | loop | ratio to one copy |"
    yield "|---|---|---:|---:|---:|---:|"
    for row in rows:
        yield (f"| {row['direction']} | {row['entries']} of {size_text(row['bytes'])} | {figure(row['sampan'])} "
               f"| {figure(row['driver_call'])} | {figure(row['driver_loop'])} "
               f"| {row['sampan'] / row['driver_call']:.2f} |")


def counts(rows):
    numbers = sorted({row["entries"] for row in rows})
    yield "| direction | entry | " + " | ".join(map(str, numbers)) + " |"
    yield "|---|---|" + "---:|" * len(numbers)
    for direction, size in dict.fromkeys((row["direction"], row["bytes"]) for row in rows):
        cells = {row["entries"]: marked(ratio(row), row) for row in rows
                 if (row["direction"], row["bytes"]) == (direction, size)}
        yield f"| {direction} | {size_text(size)} | " + " | ".join(cells.get(number, "") for number in numbers) + " |"


def compared(rows, head, name_of):
    """One figure of ours beside one of the driver's."""
    yield f"| {head} | ratio | bar |"
    yield "|---|---|---:|---:|---:|---:|"
    for row in rows:
        size = size_text(row["bytes"]) + (", odd pitches" if "odd" in row["group"] else "")
        bar = f"{row['bar']:.2f}" if row["bar"] else ""
        yield (f"| {name_of(row)} | {size} | {figure(row['sampan'])} | {figure(row['driver_call'])} "
               f"| {marked(ratio(row), row)} | {bar} |")


def rows_table(rows):
    return compared(rows, "direction | width | Sampan | `cuMemcpy2DAsync`", lambda row: row["direction"])


def linear(rows):
    return compared(rows, "case | size | Sampan | driver", lambda row: f"{row['group']} {row['direction']}")


def pageable(rows):
    yield "| case | entries or rows | Sampan | driver | ratio |"
    yield "|---|---:|---:|---:|---:|"
    for row in rows:
        yield (f"| {row['group']} {row['direction']}, {size_text(row['bytes'])} | {row['entries']} "
               f"| {figure(row['sampan'])} | {figure(max(row['driver_call'], row['driver_loop']))} | {ratio(row)} |")


def times(rows):
    yield "| case, us each | Sampan | driver | bar |"
    yield "|---|---:|---:|---:|"
    for row in rows:
        yield (f"| {row['group']}, {row['direction']} | {marked(format(row['sampan'], '.2f'), row)} "
               f"| {row['driver_call']:.2f} | {row['bar']:.2f} |")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: gpu_tables.py bench_gpu.json")
    run = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    groups = {}
    for row in run["rows"]:
        kind = ("times" if row["unit"] == "us" else "pageable" if row["group"].startswith("pageable ")
                else "counts" if row["group"] == "batch by count"
                else "adjacent" if row["group"] == "batch, adjacent entries"
                else "batches" if "batch" in row["group"] else "rows" if row["group"].startswith("rows") else "linear")
        groups.setdefault(kind, []).append(row)
    print(run["machine"])
    for kind, table in (("batches", batches), ("counts", counts), ("adjacent", adjacent),
                        ("rows", rows_table), ("linear", linear), ("pageable", pageable), ("times", times)):
        if kind in groups:
            print("", *table(groups[kind]), sep="\n")


if __name__ == "__main__":
    main()
