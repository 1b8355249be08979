#!/usr/bin/env python3
"""Draws rate against disturbance from the JSON of bench_gpu: plot_disturbance.py quiet|knee bench_gpu.json... OUTPUT.svg

Left to right: the time of a program's kernel beside copies, over its time alone. Upwards: GB/s of the copies
meanwhile. A panel for each direction and kernel. quiet: a point for each case and setting. knee: a line for each
kernel and entry, a point for each number of blocks, of streams of high priority. No packages needed.
"""

import argparse
import json
import math
import pathlib
import re

from plot_gpu import size_text

WIDTH, HEIGHT, MARGIN = 470, 300, 52
MAX_RATE = 60
MIN_TIMES = 0.95
TICKS = (1, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 7, 10, 20)
COLOURS = ("#c0392b", "#2471a3", "#1e8449", "#7d3c98", "#b9770e", "#7d8a92", "#d98880", "#7fb3d5", "#7dcea0", "#c39bd3")
KERNELS = (("FMA kernel", "beside FMA"), ("memory kernel", "beside memory"))
# Streams of normal priority are in the tables alone: they would double the points of the knee.
BEGINNINGS = {"quiet": "quiet (", "knee": "knee, first, "}
FIGURES = ("alone", "against the batch call", *(name for kernel in KERNELS for name in kernel))


def beside_kernels(rows):
    """The groups quiet and knee as cases: (group, direction, bytes, entries) -> name of the figure -> row."""
    cases = {}
    for row in rows:
        name, _, which = row["group"].rpartition(": ")
        if name.startswith(("quiet (", "knee, ")) and which in FIGURES:
            cases.setdefault((name, row["direction"], row["bytes"], row["entries"]), {})[which] = row
    return cases


def series_of(kind, name, size):
    """The series of a case, the shape or filling of its point, and the text beside the point."""
    if kind == "quiet":
        setting, places = re.fullmatch(r"quiet \((.+?)\), (.+)", name).groups()
        return setting, places, size_text(size)
    mover, blocks, threads = re.fullmatch(r"knee, first, (.+?), (\d+) blocks?(?: of (\d+))?", name).groups()
    mover += f" of {threads} threads" if threads else ""
    return f"{mover}, {size_text(size)}", "stream of high priority", blocks


def points_of(kind, cases):
    """Panel -> list of (series, mark, text, times, rate)."""
    panels = {}
    for (name, direction, size, _), figures in cases.items():
        if not name.startswith(BEGINNINGS[kind]):
            continue
        series, mark, text = series_of(kind, name, size)
        for kernel, beside in KERNELS:
            if kernel in figures and beside in figures:
                point = (series, mark, text, figures[kernel]["sampan"], figures[beside]["sampan"])
                panels.setdefault((direction, kernel), []).append(point)
    return panels


def shape(mark_index, x, y, colour):
    if mark_index == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    if mark_index == 1:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="white" stroke="{colour}" stroke-width="1.5"/>'
    if mark_index == 2:
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'
    return f'<path d="M{x:.1f} {y - 5:.1f} l5 8.5 h-10 z" fill="{colour}"/>'


def overlap(one, other):
    """Whether two boxes (left, top, right, bottom) have a point in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def label(text, at, colour, first_x, taken):
    """The text beside a point, right of `first_x` and where nothing else is; nothing if there is no such place."""
    x, y = at
    wide = 5.2 * len(text)
    for down in (3, -5, 11, -13, 19):
        for left in (x + 6, x - 6 - wide):
            box = (left, y + down - 8, left + wide, y + down + 1)
            if left >= first_x and not any(overlap(box, other) for other in taken):
                taken.append(box)
                return f'<text x="{left:.1f}" y="{y + down:.1f}" font-size="9" fill="{colour}">{text}</text>'
    return ""


def panel(points, left, top, title, styles, max_times):
    """The lines of SVG of one panel. `styles` has the series and the marks in their order."""
    series_names, marks = styles
    low, high = math.log(MIN_TIMES), math.log(max_times)

    def x(times):
        return left + MARGIN + (math.log(max(times, MIN_TIMES)) - low) / (high - low) * (WIDTH - 2 * MARGIN)

    def y(rate):
        return top + HEIGHT - MARGIN - min(rate, MAX_RATE) / MAX_RATE * (HEIGHT - 2 * MARGIN)

    yield f'<text x="{left + WIDTH / 2}" y="{top + 24}" text-anchor="middle" font-weight="bold">{title}</text>'
    for rate in range(0, MAX_RATE + 1, 10):
        yield (f'<line x1="{left + MARGIN}" y1="{y(rate):.1f}" x2="{left + WIDTH - MARGIN}" y2="{y(rate):.1f}" stroke="#dddddd"/>'
               f'<text x="{left + MARGIN - 6}" y="{y(rate) + 4:.1f}" text-anchor="end">{rate}</text>')
    last_label = -math.inf
    for tick in TICKS:
        if tick <= max_times and x(tick) - last_label >= 28:
            last_label = x(tick)
            yield (f'<line x1="{x(tick):.1f}" y1="{y(MAX_RATE):.1f}" x2="{x(tick):.1f}" y2="{y(0):.1f}" stroke="#eeeeee"/>'
                   f'<text x="{x(tick):.1f}" y="{y(0) + 16:.1f}" text-anchor="middle">{tick:g}</text>')
    yield f'<text x="{left + MARGIN}" y="{top + MARGIN - 12}">GB/s of the copies</text>'
    yield f'<text x="{left + WIDTH / 2}" y="{y(0) + 32:.1f}" text-anchor="middle">time of the kernel over its time alone</text>'
    taken = [(left, y(0) + 4, left + WIDTH, y(0) + 20)]
    taken += [(x(times) - 5, y(rate) - 5, x(times) + 5, y(rate) + 5) for *_, times, rate in points]
    for series in series_names:
        colour = COLOURS[series_names.index(series) % len(COLOURS)]
        for index, mark in enumerate(marks):
            own = [point for point in points if point[:2] == (series, mark)]
            if len(series_names) > 1 and all(text.isdigit() for _, _, text, _, _ in own) and len(own) > 1:
                path = " ".join(f"{x(times):.1f},{y(rate):.1f}" for *_, times, rate in own)
                yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-opacity="0.5"/>'
            for _, _, text, times, rate in own:
                yield shape(index, x(times), y(rate), colour)
                yield label(text, (x(times), y(rate)), colour, left + MARGIN + 2, taken)


def legend(styles, top):
    series_names, marks = styles
    for index, name in enumerate(series_names):
        x, y = 30 + index % 3 * 310, top + index // 3 * 18
        colour = COLOURS[index % len(COLOURS)]
        yield f'<rect x="{x}" y="{y - 9}" width="18" height="10" fill="{colour}"/><text x="{x + 26}" y="{y}">{name}</text>'
    below = top + (len(series_names) + 2) // 3 * 18
    for index, mark in enumerate(marks):
        x = 40 + index * 230
        yield shape(index, x, below - 4, "#444444") + f'<text x="{x + 16}" y="{below}">{mark}</text>'


def draw(kind, rows):
    panels = points_of(kind, beside_kernels(rows))
    if not panels:
        raise SystemExit(f"the files have no rows of the group {kind}")
    everything = [point for points in panels.values() for point in points]
    styles = (list(dict.fromkeys(point[0] for point in everything)), list(dict.fromkeys(point[1] for point in everything)))
    max_times = 1.1 * max(1.2, *(point[3] for point in everything))
    lines = []
    for row, (kernel, _) in enumerate(KERNELS):
        for column, (direction, title) in enumerate((("H2D", "Host to device"), ("D2H", "Device to host"))):
            lines += panel(panels.get((direction, kernel), []), column * WIDTH, row * HEIGHT,
                           f"{title}, beside a program's {kernel}", styles, max_times)
    top = len(KERNELS) * HEIGHT + 14
    lines += legend(styles, top)
    width, height = 2 * WIDTH, top + (len(styles[0]) + 2) // 3 * 18 + 14
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif" font-size="11">')
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="white"/>', *lines, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=("quiet", "knee"))
    parser.add_argument("json", type=pathlib.Path, nargs="+")
    parser.add_argument("svg", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = [row for path in arguments.json for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]
    arguments.svg.write_text(draw(arguments.kind, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
