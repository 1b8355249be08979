#!/usr/bin/env python3
# Draws docs/images/layers.svg, the picture of the layers, from the table of check_layers.py.
"""A layer stands above all that it may include. An arrow leads to what it may include, except where a longer way
leads there too. Rows of the table without a folder below src/ are left out."""

import argparse
import html
import pathlib
import sys

import check_layers
import generated_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "layers.svg"

# What each box says below its name. A layer that is not here is an error.
PURPOSE = {
    "base": "status, handles, clock, log, environment",
    "observe": "events, and the observers told of them",
    "summary": "what happened, as data; tables, advice",
    "trace": "the observer that writes traces",
    "backend/api": "tasks, queues, timelines, gates",
    "core": "rules, plans, memory, streams, sharing",
    "backend/emulated": "devices of host memory and threads",
    "backend/cuda": "NVIDIA GPUs, copy paths, kernels",
    "backend/fabric": "memory of peers on other machines",
    "check": "finds hazards while a program runs",
    "process": "the one process object: settings, devices",
    "acl": "public functions: arguments in, code out",
    "hccl": "libhccl_plf: HCCL's platform layer",
    "collectives": "libhccl: collectives of ranks",
    "include/acl": "public C headers",
    "programs": "yours, examples, the sampan command",
}
WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 262, 48, 20, 28, 12
COLOURS = {"public": "#fff3d6", "backend": "#dcefe2", "layer": "#e3ecf8"}


def layers(root=ROOT):
    """Layer to what it may include, for layers that exist; programs and the C headers that they see on top."""
    there = {name for name in check_layers.LAYERS if (root / "src" / name).is_dir()}
    table = {name: set(check_layers.LAYERS[name]) & there for name in there}
    for name in there - {"acl"}:
        if "<acl>" in check_layers.LAYERS[name]:
            table[name] = {"include/acl"}  # what is behind the headers is not its business
    table["include/acl"] = {"acl"}
    table["programs"] = {"include/acl"}
    missing = sorted(table.keys() - PURPOSE.keys())
    if missing:
        raise ValueError("scripts/draw_layers.py does not say what these are for: " + ", ".join(missing))
    return table


def reachable(table, name):
    found, pending = set(), list(table[name])
    while pending:
        each = pending.pop()
        if each not in found:
            found.add(each)
            pending += table[each]
    return found


def arrows(table):
    """(from, to) without those that a longer way replaces."""
    below = {name: reachable(table, name) for name in table}
    return sorted(
        (name, each)
        for name, allowed in table.items()
        for each in allowed
        if not any(each in below[other] for other in allowed if other != each)
    )


def levels(table):
    """Rows of the picture, from the top. A layer stands right above the highest of what it includes."""
    height = {}

    def measure(name):
        if name not in height:
            height[name] = 1 + max((measure(each) for each in table[name]), default=-1)
        return height[name]

    for name in table:
        measure(name)
    top = max(height.values())
    return [sorted(name for name in table if height[name] == level) for level in range(top, -1, -1)]


def colour(name):
    if name in ("include/acl", "programs"):
        return COLOURS["public"]
    return COLOURS["backend"] if name.startswith("backend/") else COLOURS["layer"]


def box(name, x, y):
    middle = x + WIDTH // 2
    return [
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="7" fill="{colour(name)}" stroke="#44556b"/>',
        f'<text class="name" x="{middle}" y="{y + 20}">{html.escape(name)}</text>',
        f'<text class="purpose" x="{middle}" y="{y + 38}">{html.escape(PURPOSE[name])}</text>',
    ]


def picture(table):
    rows = levels(table)
    most = max(len(row) for row in rows)
    width = 2 * MARGIN + most * WIDTH + (most - 1) * GAP_X
    height = 2 * MARGIN + len(rows) * HEIGHT + (len(rows) - 1) * GAP_Y
    at = {}
    for level, row in enumerate(rows):
        used = len(row) * WIDTH + (len(row) - 1) * GAP_X
        for index, name in enumerate(row):
            at[name] = ((width - used) // 2 + index * (WIDTH + GAP_X), MARGIN + level * (HEIGHT + GAP_Y))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        "<!-- The layers. Drawn by scripts/draw_layers.py from the table of scripts/check_layers.py. -->",
        "<style>text { font-family: sans-serif; text-anchor: middle; fill: #1d2733 } "
        ".name { font-size: 15px; font-weight: bold } .purpose { font-size: 11.5px }</style>",
        '<defs><marker id="tip" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
        '<path d="M0,0 L9,4 L0,8 z" fill="#44556b"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for name, each in arrows(table):
        (x1, y1), (x2, y2) = at[name], at[each]
        x1, y1, x2 = x1 + WIDTH // 2, y1 + HEIGHT, x2 + WIDTH // 2
        bend = max(GAP_Y - 8, (y2 - y1) // 2)
        lines.append(
            f'<path d="M{x1},{y1} C{x1},{y1 + bend} {x2},{y2 - bend} {x2},{y2}" fill="none" stroke="#44556b" '
            'stroke-width="1.4" marker-end="url(#tip)"/>'
        )
    for name in sorted(at):
        lines += box(name, *at[name])
    return "\n".join(lines + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail when the picture is out of date")
    arguments = parser.parse_args()
    text = picture(layers())
    if not arguments.check:
        generated_file.write_if_changed(PICTURE, text)
        return 0
    if PICTURE.is_file() and PICTURE.read_text() == text:
        return 0
    print("docs/images/layers.svg is out of date: run scripts/draw_layers.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
