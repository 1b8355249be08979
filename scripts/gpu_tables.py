#!/usr/bin/env python3
"""Prints the JSON of bench_gpu as the tables of docs/performance/h200.md: gpu_tables.py bench_gpu.json...

What misses its bar is bold. No packages needed.
"""

import json
import pathlib
import re
import sys

from plot_disturbance import beside_kernels
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


def pageable_linear(rows):
    """The driver's call may return before its last part has arrived; `awaited` is the call with that wait."""
    met = {(row["direction"], row["bytes"]): row["met"] for row in rows if row["group"].endswith("its end")}
    yield "| direction | size | Sampan | `cuMemcpy` | ratio | with its end awaited | ratio |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for row in rows:
        if row["group"].endswith("its end"):
            continue
        awaited = row["driver_call_awaited"]
        against = f"{row['sampan'] / awaited:.2f}" if awaited else ""
        if not met.get((row["direction"], row["bytes"]), True):
            against = f"**{against}**"
        yield (f"| {row['direction']} | {size_text(row['bytes'])} | {figure(row['sampan'])} | {figure(row['driver_call'])} "
               f"| {marked(ratio(row), row)} | {figure(awaited)} | {against} |")


def both_ways(rows):
    yield "| batches both ways | entries | Sampan | bar |"
    yield "|---|---|---:|---:|"
    for row in rows:
        yield (f"| {row['group'].rpartition(', ')[2]} | {row['entries']} of {size_text(row['bytes'])} "
               f"| {marked(figure(row['sampan']), row)} | {row['bar']:.0f} |")


def sweep(rows):
    """Ratios to the driver's 2D copy: a table for each direction and place of the gaps."""
    cells = {}
    for row in rows:
        pitch, gaps = re.fullmatch(r"rows, pitch (\d+) (.+)", row["group"]).groups()
        cells.setdefault((row["direction"], gaps), {})[row["bytes"], int(pitch)] = row
    missed = [row for row in rows if not row["met"]]
    yield f"{len(rows)} cells, {len(missed)} below their bar; the lowest is {min(row['ratio'] for row in rows):.2f}."
    for (direction, gaps), table in cells.items():
        pitches = sorted({pitch for _, pitch in table})
        yield ""
        yield f"| {direction}, pitch {gaps}: width | " + " | ".join(map(size_or_bytes, pitches)) + " |"
        yield "|---|" + "---:|" * len(pitches)
        for width in sorted({width for width, _ in table}):
            own = [table.get((width, pitch)) for pitch in pitches]
            yield f"| {size_or_bytes(width)} | " + " | ".join(marked(ratio(row), row) if row else "" for row in own) + " |"


def size_or_bytes(size):
    """Sizes that are no whole number of KiB stay in bytes."""
    return size_text(size) if size % 1024 == 0 else f"{size} B"


def beside(rows, head, cells_of):
    """Rate and disturbance: a line for each case. `cells_of` gives the first cells from the group's name."""
    cases = beside_kernels(rows)
    has_call = any("against the batch call" in figures for figures in cases.values())
    yield (f"| {head} | direction | entries | alone | FMA kernel | beside it | memory kernel | beside it |"
           + (" batch call |" if has_call else ""))
    yield "|" + "---|" * (3 + head.count("|")) + "---:|" * (5 + has_call)
    for (name, direction, size, entries), figures in cases.items():
        def cell(which):
            row = figures.get(which)
            if row is None:
                return ""
            return marked(f"{row['sampan']:.2f}x" if row["unit"] == "x" else figure(row["sampan"]), row)
        call = figures.get("against the batch call")
        shown = [cell(which) for which in ("alone", "FMA kernel", "beside FMA", "memory kernel", "beside memory")]
        if has_call:
            shown.append(marked(figure(call["driver_call"]), call) if call else "")
        yield f"| {cells_of(name)} | {direction} | {entries} of {size_text(size)} | " + " | ".join(shown) + " |"


def quiet(rows):
    return beside(rows, "setting | places", lambda name: " | ".join(re.fullmatch(r"quiet \((.+?)\), (.+)", name).groups()))


def knee(rows):
    def cells(name):
        mover = name.removeprefix("knee, ")
        return f"{mover.removeprefix('first, ')} | " + ("high" if mover.startswith("first, ") else "normal")
    return beside(rows, "kernel | priority", cells)


def knee_both_ways(rows):
    """GB/s of both directions together."""
    table = {re.fullmatch(r"knee, both ways: in by (.+), out by (.+)", row["group"]).groups(): row for row in rows}
    outs = list(dict.fromkeys(out for _, out in table))
    yield "| in \\ out | " + " | ".join(outs) + " |"
    yield "|---|" + "---:|" * len(outs)
    for mover in dict.fromkeys(into for into, _ in table):
        own = [table.get((mover, out)) for out in outs]
        yield f"| {mover} | " + " | ".join(figure(row["sampan"]) if row else "" for row in own) + " |"


def times(rows):
    yield "| case, us each | Sampan | driver | bar |"
    yield "|---|---:|---:|---:|"
    for row in rows:
        yield (f"| {row['group']}, {row['direction']} | {marked(format(row['sampan'], '.2f'), row)} "
               f"| {row['driver_call']:.2f} | {row['bar']:.2f} |")


KINDS = (("knee, both ways", "knee both ways"), ("knee, ", "knee"), ("quiet (", "quiet"), ("rows, pitch", "sweep"),
         ("pageable, blocking", "pageable linear"), ("pageable ", "pageable"), ("batches both ways", "both ways"),
         ("batch by count", "counts"), ("batch, adjacent entries", "adjacent"), ("batch", "batches"),
         ("the same against the batch call", "batches"), ("rows", "rows"),
         ("", "linear"))
TABLES = (("quiet", quiet), ("knee", knee), ("knee both ways", knee_both_ways), ("batches", batches), ("counts", counts),
          ("adjacent", adjacent), ("both ways", both_ways), ("rows", rows_table), ("sweep", sweep), ("linear", linear),
          ("pageable linear", pageable_linear), ("pageable", pageable), ("times", times))


def kind_of(row):
    """The table of a row: by its unit, or by the beginning of its group's name."""
    if row["unit"] == "us":
        return "times"
    return next(kind for beginning, kind in KINDS if row["group"].startswith(beginning))


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: gpu_tables.py bench_gpu.json...")
    runs = [json.loads(pathlib.Path(path).read_text(encoding="utf-8")) for path in sys.argv[1:]]
    groups = {}
    for row in (row for run in runs for row in run["rows"]):
        groups.setdefault(kind_of(row), []).append(row)
    print(runs[0]["machine"])
    for kind, table in TABLES:
        if kind in groups:
            print("", *table(groups[kind]), sep="\n")


if __name__ == "__main__":
    main()
