#!/bin/sh
# SPDX-License-Identifier: MIT
# browser.sh POPRT ROOT — opens a page of `poprt report` in headless Chromium without a network, and
# looks for its plots in the document that the browser has built and in the pixels that it draws.
# Ends with 77 where Chromium is missing (Debian: chromium).
. "$2/tests/tools/expect.sh"

command -v chromium >/dev/null || { echo "chromium is missing (Debian: chromium)"; exit 77; }

browse() {
    chromium --headless --no-sandbox --disable-gpu --user-data-dir="$temp/profile" \
        --host-resolver-rules='MAP * ~NOTFOUND' "$@" "file://$temp/page.html" 2>log
}

expect 0 report "$encoder" --output page.html
browse --dump-dom >dom || { echo "FAILED: chromium"; cat log; failed=1; }
has dom '<svg id="memory-over-steps"'
has dom '<svg id="time-by-operator"'
has dom '<polyline points='
has dom '<h2>Largest tensors</h2>'
# Chromium writes what a policy or a parser refuses to its log.
! grep -qi 'CONSOLE.*\(refused\|error\)' log || { echo "FAILED: the browser complains"; cat log; failed=1; }

# The bars of the times and the line of the memory have this colour.
browse --window-size=1200,2000 --screenshot="$temp/page.png" >/dev/null
python3 - page.png <<'PY' || failed=1
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
at, pixels, width, kind = 8, b"", 0, 0
while at < len(data):
    size, name = struct.unpack(">I4s", data[at:at + 8])
    if name == b"IHDR":
        width, height, depth, kind = struct.unpack(">IIBB", data[at + 8:at + 18])
    if name == b"IDAT":
        pixels += data[at + 8:at + 8 + size]
    at += size + 12
n = {2: 3, 6: 4}[kind]
rows, before, found = zlib.decompress(pixels), bytes(width * n), []
for y in range(height):
    row = bytearray(rows[y * (width * n + 1) + 1:(y + 1) * (width * n + 1)])
    how = rows[y * (width * n + 1)]
    for i in range(width * n):
        a = row[i - n] if i >= n else 0
        b, c = before[i], before[i - n] if i >= n else 0
        p = a + b - c
        paeth = min((abs(p - v), k, v) for k, v in enumerate((a, b, c)))[2]
        row[i] = row[i] + (0, a, b, (a + b) // 2, paeth)[how] & 255
    before = bytes(row)
    found.append(sum(before[i:i + 3] == b"\x1f\x6f\xb4" for i in range(0, width * n, n)))
bars = sum(1 for count in found if count > 250)  # rows of the longest bar
line = sum(1 for count in found if 0 < count <= 250)
print("rows of the longest bar: %d, other rows of the plots: %d" % (bars, line))
sys.exit(0 if bars >= 10 and line >= 100 else 1)
PY
exit $failed
