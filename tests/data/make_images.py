#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the pictures of tests/data/images, which tests/image/test_image.c reads.

    make_images.py [OUT]

Needs numpy and Pillow; 13.0.0 wrote the files that are kept. What Pillow does not write is put
together here by hand.
"""
import os
import struct
import sys
import zlib

import numpy as np
from PIL import Image

H, W = 9, 13
rng = np.random.RandomState(7)
palette = (rng.randint(0, 16, (16, 3)) * 17).astype("u1")
palette[0], palette[1] = 0, 255
index = rng.randint(0, 16, (H, W)).astype("u1")
index[2, 3:11], index[5, :] = 5, 9
colour = palette[index]
grey = (rng.randint(0, 4, (H, W)) * 85).astype("u1")
bits = (rng.randint(0, 2, (H, W)) * 255).astype("u1")
y, x = np.mgrid[0:H, 0:W]
smooth = np.stack([x * 15 + 20, y * 20 + 30, 120 + x * 4 - y * 3], -1).astype("u1")
smooth_grey = (x * 10 + y * 8 + 10).astype("u1")
with_alpha = np.dstack([colour, rng.randint(0, 256, (H, W)).astype("u1")])


def write(name, data):
    with open(name, "wb") as f:
        f.write(data)


def packed(rows, width):
    """Samples of `width` bits, the first highest, each row filled up to bytes."""
    out = b""
    for row in rows:
        word = 0
        for sample in row:
            word = word << width | int(sample)
        fill = -len(row) * width % 8
        out += (word << fill).to_bytes((len(row) * width + fill) // 8, "big")
    return out


# ---- PNM ----

def pnm(name, a):
    head = "P%d\n%d %d\n255\n" % (6 if a.ndim == 3 else 5, a.shape[1], a.shape[0])
    write(name, head.encode() + a.tobytes())


def pnm_text(name, magic, a, most):
    rows = "".join(" ".join(map(str, row)) + "\n" for row in a.reshape(H, -1).tolist())
    write(name, f"{magic}\n# a comment\n{W} {H}\n{most}{rows}".encode())


def make_pnm():
    pnm("colour.ppm", colour)
    pnm("grey.pgm", grey)
    pnm("bits.pgm", bits)
    pnm("smooth.ppm", smooth)
    pnm("smooth.pgm", smooth_grey)
    pnm_text("text.pbm", "P1", 1 - bits // 255, "")
    pnm_text("text.pgm", "P2", grey // 85, "3\n")
    pnm_text("text.ppm", "P3", colour // 17, "15\n")
    Image.fromarray(bits).convert("1").save("bytes.pbm")
    write("wide.pgm", b"P5 %d %d 65535 " % (W, H) + (grey.astype(">u2") * 257).tobytes())


# ---- BMP ----

def bmp(name, width, packing, colours, data, masks=b"", height=H, old=False):
    offset = 14 + (12 if old else 40) + len(masks) + len(colours)
    header = struct.pack("<IHHHH", 12, W, height, 1, width) if old else struct.pack(
        "<IiiHHIIiiII", 40, W, height, 1, width, packing, len(data), 0, 0, len(colours) // 4, 0)
    write(name, b"BM" + struct.pack("<IHHI", offset + len(data), 0, 0, offset) + header + masks +
          colours + data)


def words(rows):
    return b"".join(r + bytes(-len(r) % 4) for r in rows)


def runs(rows, width):
    """Every third row as plain pixels, the others in runs: of 4 bits, of two colours in turn."""
    out = b""
    for k, row in enumerate(rows):
        row = row.tolist()
        i = len(row) if k % 3 == 0 else 0
        if i:
            plain = packed([row], width)
            out += bytes([0, i]) + plain + bytes(len(plain) % 2)
        while i < len(row):
            second = row[i + 1] if width == 4 and i + 1 < len(row) else row[i]
            j = i
            while j < len(row) and row[j] == (second if (j - i) % 2 else row[i]):
                j += 1
            out += bytes([j - i, row[i] if width == 8 else row[i] << 4 | second])
            i = j
        out += b"\0\0"
    return out + b"\0\1"


def make_bmp(picture, palette_picture):
    picture.save("rgb.bmp")
    Image.fromarray(with_alpha, "RGBA").save("rgba.bmp")
    Image.fromarray(bits).convert("1").save("bits.bmp")
    Image.fromarray(grey).save("grey.bmp")
    palette_picture.save("palette.bmp")
    fours = b"".join(bytes([b, g, r, 0]) for r, g, b in palette.tolist())
    threes = b"".join(bytes([b, g, r]) for r, g, b in palette.tolist())
    below = index[::-1]
    rows = words(packed([r], 4) for r in below)
    bmp("four.bmp", 4, 0, fours, rows)
    bmp("old.bmp", 4, 0, threes, rows, old=True)
    nibbles = colour.astype("<u2") // 17
    word = nibbles[..., 0] << 8 | nibbles[..., 1] << 4 | nibbles[..., 2]
    bmp("masks.bmp", 16, 3, b"", words(r.astype("<u2").tobytes() for r in word),
        struct.pack("<III", 0xF00, 0xF0, 0xF), -H)
    bmp("runs8.bmp", 8, 1, fours, runs(below, 8))
    bmp("runs4.bmp", 4, 2, fours, runs(below, 4))


# ---- TIFF ----

def tiff(name, chunks, width, samples, meaning, packing=1, big=False, tags=None, tile=None,
         rows=H):
    order = ">" if big else "<"
    out = bytearray((b"MM" if big else b"II") + struct.pack(order + "HI", 42, 0))
    tags = dict(tags or {})
    tags.update({256: W, 257: H, 258: [width] * samples, 259: packing, 262: meaning, 277: samples})
    tags.update({322: tile[0], 323: tile[1]} if tile else {278: rows})
    offsets = []
    for chunk in chunks:
        offsets.append(len(out))
        out += chunk
    tags[324 if tile else 273], tags[325 if tile else 279] = offsets, [len(c) for c in chunks]
    entries = []
    for tag in sorted(tags):
        values = tags[tag] if isinstance(tags[tag], list) else [tags[tag]]
        kind, code = ("I", 4) if tag in (273, 279, 324, 325) else ("H", 3)
        raw = struct.pack(order + kind * len(values), *values)
        if len(raw) > 4:
            out += bytes(len(out) % 2)
            out, raw = out + raw, struct.pack(order + "I", len(out))
        entries.append(struct.pack(order + "HHI", tag, code, len(values)) + raw.ljust(4, b"\0"))
    out += bytes(len(out) % 2)
    struct.pack_into(order + "I", out, 4, len(out))
    write(name, bytes(out) + struct.pack(order + "H", len(entries)) + b"".join(entries) + bytes(4))


def tiles(width, height):
    for top in range(0, H, height):
        for left in range(0, W, width):
            part = colour[top:top + height, left:left + width]
            room = ((0, height - part.shape[0]), (0, width - part.shape[1]), (0, 0))
            yield zlib.compress(np.pad(part, room).tobytes())


def make_tiff(picture, palette_picture):
    picture.save("plain.tif")
    picture.save("lzw.tif", compression="tiff_lzw")
    picture.save("packbits.tif", compression="packbits")
    picture.save("deflate.tif", compression="tiff_adobe_deflate")
    picture.save("predictor.tif", compression="tiff_lzw", tiffinfo={317: 2})
    palette_picture.save("palette.tif")
    Image.fromarray(bits).convert("1").save("bits.tif")
    Image.fromarray(grey).save("grey.tif")
    Image.fromarray(with_alpha, "RGBA").save("rgba.tif")
    tiff("big.tif", [colour[i:i + 4].tobytes() for i in range(0, H, 4)], 8, 3, 2, big=True, rows=4)
    tiff("planes.tif", [colour[..., k].tobytes() for k in range(3)], 8, 3, 2, tags={284: 2})
    tiff("tiles.tif", list(tiles(8, 4)), 8, 3, 2, 8, tile=(8, 4))
    tiff("two.tif", [packed(3 - grey // 85, 2)], 2, 1, 0)
    wide = grey.astype("u4") * 257
    wide[:, 1:] = (wide[:, 1:] - wide[:, :-1]) % 65536
    tiff("wide.tif", [zlib.compress(wide.astype(">u2").tobytes())], 16, 1, 1, 8, True, {317: 2})
    inks = np.dstack([255 - colour, np.zeros((H, W), "u1")])
    tiff("inks.tif", [inks.tobytes()], 8, 4, 5)
    state, noise = 1, []
    for _ in range(80 * 60):
        state = (state * 1103515245 + 12345) & 0xFFFFFFFF
        noise.append(state >> 16 & 255)
    noise = np.array(noise, "u1").reshape(60, 80)
    Image.fromarray(noise).save("noise.tif", compression="tiff_lzw")


# ---- PNG ----

def png(name, depth, kind, rows, interlace=0):
    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))
    header = struct.pack(">IIBBBBB", W, H, depth, kind, 0, 0, interlace)
    write(name, b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
          chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) + chunk(b"IEND", b""))


def make_png(picture, palette_picture):
    picture.save("rgb.png")
    Image.fromarray(with_alpha, "RGBA").save("rgba.png")
    palette_picture.save("palette.png")
    Image.fromarray(bits).convert("1").save("bits.png")
    Image.fromarray(grey).save("grey.png")
    png("wide.png", 16, 2, [(row.astype(">u2") * 257).tobytes() for row in colour])
    png("two.png", 2, 0, [packed([row], 2) for row in grey // 85])
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
              (0, 1, 1, 2)]
    png("interlaced.png", 8, 2, [row.tobytes() for left, top, dx, dy in passes
                                 for row in colour[top::dy, left::dx] if row.size], 1)


def make_lossy(picture):
    whole, grey_whole = Image.fromarray(smooth), Image.fromarray(smooth_grey)
    whole.save("rgb.jpg", quality=95, subsampling=0)
    whole.save("halved.jpg", quality=95, subsampling=2)
    whole.save("progressive.jpg", quality=95, progressive=True, subsampling=0)
    grey_whole.save("grey.jpg", quality=95)
    inks = np.dstack([255 - smooth, np.zeros((H, W), "u1")])
    Image.fromarray(inks, "CMYK").save("inks.jpg", quality=95, subsampling=0)
    alpha = Image.fromarray(with_alpha, "RGBA")
    whole.save("lossy.webp", quality=95)
    picture.save("lossless.webp", lossless=True)
    alpha.save("rgba.webp", lossless=True, exact=True)
    picture.save("rgb.jp2")
    picture.save("rgb.j2k")
    Image.fromarray(grey).save("grey.jp2")
    Image.fromarray(grey.astype("u2") * 257).save("wide.jp2")
    alpha.save("rgba.jp2")
    whole.save("lossy.jp2", irreversible=True, quality_mode="rates", quality_layers=[4])


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(
        os.path.abspath(__file__)), "images"))
    picture = Image.fromarray(colour)
    palette_picture = Image.fromarray(index, "P")
    palette_picture.putpalette(palette.tobytes())
    make_pnm()
    make_bmp(picture, palette_picture)
    make_tiff(picture, palette_picture)
    make_png(picture, palette_picture)
    make_lossy(picture)


if __name__ == "__main__":
    main()
