# SPDX-License-Identifier: MIT
"""image.py: recipes of resampling and of regions, computed by onnx.reference on doubles where it
does what the specification says, else from the text."""
import itertools
import math
import struct

import numpy as np

from move import i64
from registry import recipe, reference
from values import NP, is_float, is_int, to, wide

COORDS = ['half_pixel', 'half_pixel_symmetric', 'pytorch_half_pixel', 'align_corners',
          'asymmetric', 'tf_crop_and_resize']


def source(coords, k, n, out, scale):
    """Coordinate in the input of output `k`, as the specification's table has it."""
    width = scale * n
    if coords == 'align_corners':
        return 0.0 if width == 1 else k * (n - 1) / (width - 1)
    if coords == 'asymmetric':
        return k / scale
    if coords == 'pytorch_half_pixel' and out <= 1:
        return 0.0
    shift = n / 2 * (1 - out / width) if coords == 'half_pixel_symmetric' else 0.0
    return shift + (k + 0.5) / scale - 0.5


def along(axis, x, out, scale, a):
    """Linear or cubic along one axis: neighbours beyond the ends are the end itself, or weigh
    nothing; with antialias the filter is as wide as what an output covers."""
    n, f = x.shape[axis], a.get('cubic_coeff_a', -0.75)
    coords = a.get('coordinate_transformation_mode', 'half_pixel')
    by = min(scale, 1.0) if a.get('antialias') else 1.0

    def weigh(d):
        d = abs(d)
        if a['mode'] == 'linear':
            return max(0.0, 1 - d)
        return ((f + 2) * d - (f + 3)) * d * d + 1 if d <= 1 else \
            ((f * d - 5 * f) * d + 8 * f) * d - 4 * f if d < 2 else 0.0
    m = np.zeros([out, n])
    for k in range(out):
        at = source(coords, k, n, out, scale)
        reach = int(np.ceil(2 / by)) + 1
        w = {i: weigh((i - at) * by) for i in range(math.floor(at) - reach,
                                                    math.floor(at) + reach + 1)}
        if a.get('exclude_outside'):
            w = {i: v for i, v in w.items() if 0 <= i < n}
        for i, v in w.items():
            m[k, min(max(i, 0), n - 1)] += v / sum(w.values())
    return np.moveaxis(np.tensordot(m, x, (1, axis)), 0, axis)


@recipe('resize', 'zero rank8')
def resize(g):
    """Sizes and scales whose quotients are exact in binary where elements are selected, so that no
    tie hangs on a last bit. Elements that are no numbers can only be selected. Empty scales count
    as absent, so that a scalar has no case."""
    t = g.t['T1']
    x = g.value(t, g.shape(1, 4, 30), special=0)
    a, rank = {}, x.ndim
    mode = 'nearest'
    if g.cls != 'zero' and g.chance(0.6):
        mode = g.pick(['linear', 'cubic']) if t in ('f16', 'f32', 'f64', 'bf16') else \
            'linear' if t in ('u8', 'i8', 'i32') else 'nearest'
    if mode != 'nearest' or g.chance(0.3):
        a['mode'] = mode
    coords = g.pick(COORDS) if g.chance(0.8) else 'half_pixel'
    if coords != 'half_pixel' or g.chance(0.2):
        a['coordinate_transformation_mode'] = coords
    if mode == 'nearest' and g.chance(0.6):
        a['nearest_mode'] = g.pick(['round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil'])
    if mode == 'cubic' and g.chance(0.4):
        a['cubic_coeff_a'] = g.pick([-0.5, -0.75])
    if mode != 'nearest' and g.chance(0.2):
        a['exclude_outside'] = 1
    if mode != 'nearest' and coords in ('half_pixel', 'asymmetric') and g.chance(0.25):
        a['antialias'] = 1
        a.pop('exclude_outside', None)
    axes = list(range(rank))
    if rank and g.chance(0.3):
        axes = g.rng.sample(axes, g.int(1, rank))
        a['axes'] = axes
    few = [0.5, 1.0, 1.0, 2.0, 4.0] if mode == 'nearest' or is_int(t) else \
        [0.5, 1.0, 1.5, 2.0, 0.75, 1.25]
    if g.cls == 'rank8':
        few = [0.5, 1.0, 1.0, 2.0]
    scales = [g.pick(few) for _ in axes]
    scales = [max(1.0, s) if x.shape[k] * s < 1 else s for k, s in zip(axes, scales)]
    sizes, roi = None, None
    if coords == 'tf_crop_and_resize':
        starts = [g.int(-2, 3) / 4 for _ in axes]
        roi = np.array(starts + [s + g.int(1, 5) / 4 for s in starts]).astype(NP[g.t['T2']])
        a['extrapolation_value'] = 7.0 if t not in ('bool', 'string') and is_float(t) else 0.0
        g.need(is_float(t), 'extrapolation is by a number')
        g.need(t not in ('f4e2m1', 'f8e8m0'), 'the type cannot hold the number')
        # By the text, length_resized is whole; onnx.reference takes the wished-for fraction.
        g.need(all(x.shape[k] * s % 1 == 0 for k, s in zip(axes, scales)), 'fractions')
    if is_int(t) and mode == 'linear':
        g.need(coords in ('half_pixel', 'asymmetric') and 'antialias' not in a, 'fractions')
    if g.chance(0.4) and rank:
        out = [int(math.floor(x.shape[k] * s)) for k, s in zip(axes, scales)]
        if coords == 'align_corners' or mode == 'nearest':
            g.need(all(x.shape[k] * s == o for k, s, o in zip(axes, scales, out)), 'fractions')
        sizes, given = i64(out), None
        if g.chance(0.3) and mode != 'nearest' and 0 not in x.shape and roi is None:
            a['keep_aspect_ratio_policy'] = g.pick(['not_larger', 'not_smaller'])
    else:
        given = np.array(scales, np.float32)
    if coords == 'align_corners' and mode == 'nearest':
        g.need(False, 'ties hang on the last bit')
    if x.size == 0:
        out = list(x.shape)
        for k, s in zip(axes, scales):
            out[k] = int(math.floor(x.shape[k] * s))
        g.need(sizes is None or 'keep_aspect_ratio_policy' not in a, 'sizes')
        return g.case([x, roi, given, sizes], [x.reshape(out)], a)
    more = [None if roi is None else wide(roi), None if given is None else wide(given), sizes]
    if mode == 'nearest':  # select places, then elements
        places = np.arange(x.size, dtype=np.float64).reshape(x.shape)
        at = reference(g, [places] + more, dict(a, extrapolation_value=-1.0), round_to=False)[0]
        y = x.reshape(-1)[np.maximum(np.rint(at).astype(np.int64), 0)]
        if roi is not None:
            y = np.where(at < 0, np.asarray(a['extrapolation_value']).astype(x.dtype), y)
        if coords == 'pytorch_half_pixel':  # for one element onnx.reference takes -0.5, not 0
            g.need(all(n > 1 or n == m for n, m in zip(y.shape, x.shape)), 'a known difference')
        return g.case([x, roi, given, sizes], [y], a)
    if roi is not None or 'keep_aspect_ratio_policy' in a or is_int(t):
        y = reference(g, [wide(x)] + more, a, round_to=False)[0]  # its ratios are not exact
        return g.case([x, roi, given, sizes], [to(t, y)], a, 'exact' if is_int(t) else 'peer')
    y = wide(x)
    for n, k in enumerate(axes):
        out = int(sizes[n]) if sizes is not None else int(math.floor(x.shape[k] * scales[n]))
        scale = out / x.shape[k] if sizes is not None else scales[n]
        if out != x.shape[k] or scale != 1:
            y = along(k, y, out, scale, a)
    return g.case([x, roi, given, sizes], [to(t, y)], a, 'chain')


@recipe('grid_sample', 'zero')
def grid_sample(g):
    t, spatial = g.t['T1'], g.pick([2, 2, 2, 3, 1])
    n, c = 0 if g.cls == 'zero' else g.int(1, 2), g.int(1, 2)
    mode = g.pick(['linear', 'nearest', 'cubic']) if t in ('f16', 'f32', 'f64', 'bf16') \
        else 'nearest'
    if mode == 'cubic':
        spatial = 2
    x = g.value(t, [n, c] + [g.int(1, 4) for _ in range(spatial)], special=0)
    out = [g.int(1, 3) for _ in range(spatial)]
    a = {}
    if mode != 'linear':
        a['mode'] = mode
    corners = g.int(0, 1)
    if corners:
        a['align_corners'] = 1
    padding = g.pick(['zeros', 'border', 'reflection'])
    g.need(t not in ('f8e8m0',) or padding != 'zeros', 'has no zero')
    if padding != 'zeros':
        a['padding_mode'] = padding
    grid = g.plain(g.t['T2'], [n] + out + [spatial], -1.5, 1.5, 8)
    if mode == 'nearest':  # no coordinate halfway between two elements
        v = (wide(grid) + 1) / 2
        size = np.array(x.shape[2:][::-1], float)
        v = v * (size - 1) if corners else v * size - 0.5
        g.need(np.all(np.abs(v - np.floor(v) - 0.5) > 1e-6), 'ties')
    if mode == 'cubic' and padding != 'zeros':
        # Outside, onnx.reference moves the coordinate before it looks for neighbours; PyTorch and
        # ONNX Runtime, which the library follows, move the neighbours.
        size = np.array(x.shape[2:][::-1], float)
        v = (wide(grid) + 1) / 2
        v = v * (size - 1) if corners else v * size - 0.5
        g.need(np.all((v >= 0) & (v <= size - 1)), 'outside')
    if padding == 'reflection' and corners:
        g.need(min(x.shape[2:]) > 1, 'onnx.reference divides by the distance of the borders')
    if n == 0:
        return g.case([x, grid], [np.zeros([0, c] + out, x.dtype)], a)
    index, data = None, wide(x)
    if not is_float(t):
        index, data = x, np.arange(1.0, x.size + 1).reshape(x.shape)
    y = reference(g, [data, wide(grid)], a, round_to=False)[0]
    if index is not None:
        flat = np.empty(x.size + 1, x.dtype)
        flat[0] = '' if t == 'string' else np.zeros([], x.dtype)
        flat[1:] = x.reshape(-1)
        y = flat[np.asarray(np.rint(y), np.int64)]
    else:
        y = to(t, y)
    return g.case([x, grid], [y], a, 'exact' if mode == 'nearest' else 'chain')


@recipe('affine_grid', 'zero')
def affine_grid(g):
    t, spatial = g.t['T1'], g.int(2, 3)
    n = 0 if g.cls == 'zero' else g.int(1, 2)
    theta = g.plain(t, [n, spatial, spatial + 1])
    size, corners = [g.int(1, 3) for _ in range(spatial)], g.int(0, 1)
    axes = [np.array([0.0]) if s == 1 and corners else np.linspace(-1, 1, s) if corners else
            (2 * np.arange(s) + 1) / s - 1 for s in size]
    if corners and 1 in size:
        g.need(False, 'one element between two corners is read in two ways')
    y = np.zeros([n] + size + [spatial])
    for at in np.ndindex(*size):
        p = np.array([axes[k][at[k]] for k in range(spatial)][::-1] + [1.0])
        for b in range(n):
            y[(b,) + at] = wide(theta)[b] @ p
    return g.case([theta, i64([n, 2] + size)], [to(t, y)], {'align_corners': 1} if corners else {},
                  'sum')


def sample(plane, y, x, mode):
    """RoiAlign's point: clamped into the plane; nothing where it is more than one outside."""
    h, w = plane.shape
    if y < -1 or y > h or x < -1 or x > w:
        return 0.0
    y, x = max(y, 0.0), max(x, 0.0)
    top, left = min(int(y), h - 1), min(int(x), w - 1)
    if top == h - 1:
        y = float(top)
    if left == w - 1:
        x = float(left)
    low, right = min(top + 1, h - 1), min(left + 1, w - 1)
    v, u = y - top, x - left
    parts = [(1 - v) * (1 - u) * plane[top, left], (1 - v) * u * plane[top, right],
             v * (1 - u) * plane[low, left], v * u * plane[low, right]]
    return max(parts) if mode == 'max' else sum(parts)


@recipe('roi_align', 'zero')
def roi_align(g):
    """As ONNX Runtime does: mode max takes the largest weighted corner of all points."""
    t = g.t['T1']
    n, c, h, w = g.int(1, 2), g.int(1, 2), g.int(2, 5), g.int(2, 5)
    count = 0 if g.cls == 'zero' else g.int(1, 3)
    x = g.plain(t, [n, c, h, w], 0 if g.chance(0.5) else -4)
    rois = []
    for _ in range(count):
        x1, y1 = g.int(-2, 8) / 2, g.int(-2, 8) / 2
        rois.append([x1, y1, x1 + g.int(0, 8) / 2, y1 + g.int(0, 8) / 2])
    rois = np.array(rois, float).reshape(count, 4).astype(NP[t])
    batch = np.array([g.int(0, n - 1) for _ in range(count)], np.int64)
    oh, ow, ratio, by = g.int(1, 3), g.int(1, 3), g.int(0, 2), g.pick([0.5, 1.0, 0.25])
    mode, half = g.pick(['avg', 'max']), g.chance(0.5)
    a = {'output_height': oh, 'output_width': ow, 'sampling_ratio': ratio, 'spatial_scale': by,
         'mode': mode}
    if not half:
        a['coordinate_transformation_mode'] = 'output_half_pixel'
    y = np.zeros([count, c, oh, ow])
    for k, ch, i, j in itertools.product(range(count), range(c), range(oh), range(ow)):
        x1, y1, x2, y2 = wide(rois)[k] * by - (0.5 if half else 0.0)
        rw, rh = x2 - x1, y2 - y1
        if not half:
            rw, rh = max(rw, 1.0), max(rh, 1.0)
        bh, bw = rh / oh, rw / ow
        nh = ratio or int(np.ceil(rh / oh))
        nw = ratio or int(np.ceil(rw / ow))
        points = [sample(wide(x)[batch[k], ch], y1 + i * bh + (p + 0.5) * bh / nh,
                         x1 + j * bw + (q + 0.5) * bw / nw, mode)
                  for p in range(nh) for q in range(nw)]
        if points:
            y[k, ch, i, j] = max(points) if mode == 'max' else sum(points) / max(len(points), 1)
    return g.case([x, rois, batch], [to(t, y)], a, 'chain')


@recipe('max_roi_pool', 'zero')
def max_roi_pool(g):
    t = g.t['T']
    n, c, h, w = g.int(1, 2), g.int(1, 2), g.int(2, 6), g.int(2, 6)
    count = 0 if g.cls == 'zero' else g.int(1, 3)
    x = g.plain(t, [n, c, h, w])
    rois = []
    for _ in range(count):
        x1, y1 = g.int(0, w - 1), g.int(0, h - 1)
        rois.append([g.int(0, n - 1), x1, y1, g.int(x1, w - 1), g.int(y1, h - 1)])
    by, (ph, pw) = g.pick([1.0, 1.0, 0.5]), (g.int(1, 3), g.int(1, 3))
    a = {'pooled_shape': [ph, pw]}
    if by != 1.0:
        a['spatial_scale'] = by
    rois = np.array(rois, float).reshape(count, 5).astype(NP[t])
    y = np.zeros([count, c, ph, pw])
    for k in range(count):
        b = int(wide(rois)[k, 0])
        x1, y1, x2, y2 = (int(math.floor(v * by + 0.5)) for v in wide(rois)[k, 1:])
        rh, rw = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)
        for ch, i, j in itertools.product(range(c), range(ph), range(pw)):
            r0, r1 = (min(max(v, 0), h) for v in (
                y1 + i * rh // ph, y1 + -(-(i + 1) * rh // ph)))
            c0, c1 = (min(max(v, 0), w) for v in (
                x1 + j * rw // pw, x1 + -(-(j + 1) * rw // pw)))
            part = wide(x)[b, ch, r0:r1, c0:c1]
            y[k, ch, i, j] = part.max() if part.size else 0
    return g.case([x, rois], [to(t, y)], a)


def overlap(p, q):
    """Intersection over union of two boxes [y1, x1, y2, x2] in any order of corners."""
    (a, b, c, d), (e, f, h, k) = ([min(r[0], r[2]), min(r[1], r[3]), max(r[0], r[2]),
                                   max(r[1], r[3])] for r in (p, q))
    if (c - a) * (d - b) <= 0 or (h - e) * (k - f) <= 0:
        return 0.0
    both = max(0, min(c, h) - max(a, e)) * max(0, min(d, k) - max(b, f))
    return both / ((c - a) * (d - b) + (h - e) * (k - f) - both)


@recipe('non_max_suppression', 'zero')
def non_max_suppression(g):
    """Boxes and thresholds whose overlaps are far from the threshold; scores all different."""
    n, classes, count = g.int(1, 2), g.int(1, 2), 0 if g.cls == 'zero' else g.int(1, 6)
    boxes = g.plain('f32', [n, count, 4], 0, 4, 2)
    center, a = g.chance(0.3), {}
    if center:
        a['center_point_box'] = 1
        boxes[..., 2:] += 0.5
    scores = np.array([g.rng.sample(range(-4, 60), count) for _ in range(n * classes)], float)
    scores = (scores.reshape(n, classes, count) / 16).astype(np.float32)
    most = i64([g.int(0, 4)]) if g.chance(0.8) else None
    iou = np.array([g.pick([0.0, 0.3, 0.5, 0.7])], np.float32) if g.chance(0.7) else None
    least = np.array([g.int(0, 20) / 16 + 1 / 32], np.float32) if g.chance(0.5) else None
    limit = 0.0 if iou is None else float(iou[0])
    found = []
    for b, c in itertools.product(range(n), range(classes)):
        kept = []
        order = sorted(range(count), key=lambda k: -scores[b, c, k])
        for k in order:
            if len(kept) == (0 if most is None else int(most[0])) or \
                    least is not None and scores[b, c, k] <= least[0]:
                break
            shape = [corners(boxes[b, j].astype(float), center) for j in range(count)]
            some = [overlap(shape[k], shape[j]) for j in kept]
            g.need(all(abs(v - limit) > 1e-4 or v == limit == 0 for v in some), 'ties')
            if all(v <= limit for v in some):
                kept.append(k)
        found += [[b, c, k] for k in kept]
    return g.case([boxes, scores, most, iou, least], [i64(found).reshape(-1, 3)], a)


def corners(box, center):
    if not center:
        return box
    x, y, w, h = box
    return [y - h / 2, x - w / 2, y + h / 2, x + w / 2]



def bitmap(pixels):
    """A BMP file of 24 bits, rows from below and filled up to words."""
    h, w = pixels.shape[:2]
    rows = b''.join(r[:, ::-1].tobytes() + b'\0' * (-3 * w % 4) for r in pixels[::-1])
    return b'BM' + struct.pack('<IHHI', 54 + len(rows), 0, 0, 54) + struct.pack(
        '<IiiHHIIiiII', 40, w, h, 1, 24, 0, len(rows), 2835, 2835, 0, 0) + rows


@recipe('image_decoder')
def image_decoder(g):
    """Formats that every build reads; a stream that is no picture gives no pixels."""
    h, w, grey = g.int(1, 4), g.int(1, 4), g.chance(0.3)
    pixels = np.array([g.int(0, 255) for _ in range(h * w * 3)], np.uint8).reshape(h, w, 3)
    if grey:
        pixels[:] = pixels[..., :1]
    how = g.pick(['bmp', 'ppm', 'text', 'none'] + (['pgm'] * 2 if grey else []))
    if how == 'bmp':
        data = bitmap(pixels)
    elif how == 'ppm':
        data = b'P6\n%d %d\n255\n' % (w, h) + pixels.tobytes()
    elif how == 'pgm':
        data = b'P5 %d %d 255\n' % (w, h) + pixels[..., 0].tobytes()
    elif how == 'text':
        data = b'P3\n# three\n%d %d 255\n' % (w, h) + b' '.join(b'%d' % v for v in
                                                              pixels.reshape(-1)) + b'\n'
    else:
        data, pixels = bytes(g.int(0, 255) for _ in range(g.int(0, 9))), pixels[:0, :0]
    form = g.pick(['RGB', 'BGR', 'Grayscale']) if grey or how == 'none' else g.pick(['RGB', 'BGR'])
    a = {'pixel_format': form} if form != 'RGB' or g.chance(0.3) else {}
    y = pixels[..., ::-1] if form == 'BGR' else pixels[..., :1] if form == 'Grayscale' else pixels
    return g.case([np.frombuffer(data, np.uint8)], [np.ascontiguousarray(y)], a)
