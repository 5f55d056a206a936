# SPDX-License-Identifier: MIT
"""Bar charts as SVG, written by hand: grouped horizontal bars on one axis."""
import math
from xml.sax.saxutils import escape

COLOURS = ("#1f6f8b", "#e08e45", "#7a5195", "#6a994e", "#bc4749")
LABEL_W, PLOT_W, RIGHT, BAR, GAP, TOP = 190, 560, 70, 9, 8, 64


class Axis:
    """Where a value lies between 0 and 1, and the lines to draw."""

    def __init__(self, values, kind):
        self.kind = kind
        if kind == "linear":
            self.low, self.high = 0, max(100, math.ceil(max(values) / 20) * 20)
            self.origin = 0
            self.ticks = list(range(0, int(self.high) + 1, 20))
            return
        low, high = math.log10(min(values)), math.log10(max(values))
        if kind == "ratio":
            low, high, self.origin = min(low, -0.1), max(high, 0.1), 1
        else:
            low, high = math.floor(low), math.ceil(high)
            self.origin = 10 ** low
        room = (0.08 if kind == "ratio" else 0.03) * (high - low)
        self.low, self.high = low - room * (kind == "ratio"), high + room
        steps = (1, 2, 5) if high - low > 0.7 else (1, 1.2, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)
        all_ticks = [s * 10.0 ** e for e in range(math.floor(low) - 1, math.ceil(high) + 1)
                     for s in steps]
        self.ticks = [t for t in all_ticks if self.low <= math.log10(t) <= self.high]

    def at(self, value):
        value = value if self.kind == "linear" else math.log10(max(value, 1e-12))
        return (value - self.low) / (self.high - self.low)


def number(x):
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def text(x, y, words, anchor="start", size=11, extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{extra}>'
            f'{escape(words)}</text>')


def bars(path, title, note, rows, series, kind):
    """
    `rows`: (label, {series: value}); a missing value has no bar. `kind`: "ratio" grows from 1 both
    ways, "log" from the lowest power of ten, "linear" from 0.
    """
    values = [v for _, row in rows for v in row.values() if v]
    if not values:
        return False
    axis = Axis(values, kind)
    x_at = lambda v: LABEL_W + PLOT_W * min(max(axis.at(v), 0), 1)
    heights = [GAP + BAR * max(1, sum(bool(row.get(s)) for s in series)) for _, row in rows]
    bottom = TOP + sum(heights) + GAP
    width, height = LABEL_W + PLOT_W + RIGHT, bottom + 24
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-family="sans-serif" fill="#222">',
           f'<title>{escape(title)}</title>',
           f'<rect width="{width}" height="{height}" fill="#fff"/>',
           text(12, 20, title, size=15, extra=' font-weight="bold"'), text(12, 37, note)]
    x = LABEL_W
    for name, colour in zip(series, COLOURS):
        out += [f'<rect x="{x}" y="46" width="10" height="10" fill="{colour}"/>',
                text(x + 14, 55, name)]
        x += 30 + 7 * len(name)
    for t in axis.ticks:
        strong = t == axis.origin or (kind == "linear" and t == 100)
        out += [f'<line x1="{x_at(t):.1f}" x2="{x_at(t):.1f}" y1="{TOP}" y2="{bottom}" '
                f'stroke="{"#555" if strong else "#ddd"}"/>',
                text(x_at(t), bottom + 14, number(t), "middle", 10)]
    y = TOP + GAP
    for (label, row), tall in zip(rows, heights):
        out.append(text(LABEL_W - 8, y + (tall - GAP) / 2 + 4, label, "end"))
        for name, colour in zip(series, COLOURS):
            value = row.get(name)
            if not value:
                continue
            ends = sorted((x_at(axis.origin), x_at(value)))
            out += [f'<rect x="{ends[0]:.1f}" y="{y}" width="{max(ends[1] - ends[0], 1):.1f}" '
                    f'height="{BAR - 1}" fill="{colour}"/>']
            left = value < axis.origin
            out.append(text(ends[0] - 3 if left else ends[1] + 3, y + 8, number(value),
                            "end" if left else "start", 9))
            y += BAR
        if not any(row.get(s) for s in series):
            y += BAR
        y += GAP
    with open(path, "w") as f:
        f.write("\n".join(out) + "\n</svg>\n")
    return True
