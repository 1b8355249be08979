#!/usr/bin/env python3
"""Draws bandwidth over entry size from the JSON of bench_gpu: plot_gpu.py bench_gpu.json OUTPUT.svg

One panel for each direction; lines for a loop of the driver's copies, its batch call, and Sampan. No packages needed.
"""

import argparse
import json
import math
import pathlib

WIDTH, HEIGHT, MARGIN = 430, 300, 56
SERIES = [("sampan", "Sampan", "#c0392b"), ("driver_call", "driver's batch call", "#2471a3"),
          ("driver_loop", "loop of the driver's copies", "#7d8a92")]


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


def panel(rows, left, title):
    """The lines of SVG of one direction."""
    sizes = [row["bytes"] for row in rows]
    low, high = math.log2(min(sizes)), math.log2(max(sizes))
    figures = [row[key] for row in rows for key, _, _ in SERIES if row[key] > 0]
    floor, ceiling = math.floor(math.log10(min(figures))), math.ceil(math.log10(max(figures)))

    def x(size):
        return left + MARGIN + (math.log2(size) - low) / (high - low) * (WIDTH - 2 * MARGIN)

    def y(figure):
        return HEIGHT - MARGIN - (math.log10(figure) - floor) / (ceiling - floor) * (HEIGHT - 2 * MARGIN)

    yield f'<text x="{left + WIDTH / 2}" y="24" text-anchor="middle" font-weight="bold">{title}</text>'
    for power in range(floor, ceiling + 1):
        at = y(10 ** power)
        yield f'<line x1="{left + MARGIN}" y1="{at:.1f}" x2="{left + WIDTH - MARGIN}" y2="{at:.1f}" stroke="#dddddd"/>'
        yield f'<text x="{left + MARGIN - 6}" y="{at + 4:.1f}" text-anchor="end">{10 ** power:g}</text>'
    for size in sizes:
        yield f'<text x="{x(size):.1f}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">{size_text(size)}</text>'
    yield f'<text x="{left + MARGIN}" y="{MARGIN - 12}">GB/s</text>'
    for key, _, colour in SERIES:
        points = [(x(row["bytes"]), y(row[key])) for row in rows if row[key] > 0]
        if not points:
            continue
        line = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for px, py in points:
            yield f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>'


def draw(result):
    lines = []
    directions = [("H2D", "Host to device"), ("D2H", "Device to host")]
    for index, (direction, title) in enumerate(directions):
        rows = [row for row in result["rows"] if row["group"] == "batch, shuffled" and row["direction"] == direction]
        rows.sort(key=lambda row: row["bytes"])
        lines += panel(rows, index * WIDTH, f"{title}, bandwidth over entry size")
    for index, (_, name, colour) in enumerate(SERIES):
        at = 60 + index * 260
        lines.append(f'<line x1="{at}" y1="{HEIGHT + 4}" x2="{at + 24}" y2="{HEIGHT + 4}" stroke="{colour}" stroke-width="3"/>')
        lines.append(f'<text x="{at + 30}" y="{HEIGHT + 8}">{name}</text>')
    width, height = len(directions) * WIDTH, HEIGHT + 24
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif" font-size="11">')
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="white"/>', *lines, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("json", type=pathlib.Path)
    parser.add_argument("svg", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.svg.write_text(draw(json.loads(arguments.json.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
