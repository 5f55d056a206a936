# SPDX-License-Identifier: MIT
"""values.py: element types in numpy, rounding to them, and their text in cases."""
import ml_dtypes as ml
import numpy as np

# id: numpy type, TensorProto.DataType
TYPES = {
    'f32': (np.float32, 1), 'u8': (np.uint8, 2), 'i8': (np.int8, 3), 'u16': (np.uint16, 4),
    'i16': (np.int16, 5), 'i32': (np.int32, 6), 'i64': (np.int64, 7), 'string': (object, 8),
    'bool': (np.bool_, 9), 'f16': (np.float16, 10), 'f64': (np.float64, 11),
    'u32': (np.uint32, 12), 'u64': (np.uint64, 13), 'c64': (np.complex64, 14),
    'c128': (np.complex128, 15), 'bf16': (ml.bfloat16, 16), 'f8e4m3fn': (ml.float8_e4m3fn, 17),
    'f8e4m3fnuz': (ml.float8_e4m3fnuz, 18), 'f8e5m2': (ml.float8_e5m2, 19),
    'f8e5m2fnuz': (ml.float8_e5m2fnuz, 20), 'u4': (ml.uint4, 21), 'i4': (ml.int4, 22),
    'f4e2m1': (ml.float4_e2m1fn, 23), 'f8e8m0': (ml.float8_e8m0fnu, 24), 'u2': (ml.uint2, 25),
    'i2': (ml.int2, 26), 'f6e2m3': (ml.float6_e2m3fn, 27), 'f6e3m2': (ml.float6_e3m2fn, 28),
}
NP = {key: np.dtype(t) for key, (t, _) in TYPES.items()}
ID = {t: key for key, t in NP.items()}
ONNX = {key: n for key, (_, n) in TYPES.items()}

# Bits of an integer type; its sign is the first letter.
INT_BITS = {k: int(k[1:]) for k in TYPES if k[0] in 'iu' and k[1:].isdigit()}
# fraction bits, least exponent, largest finite number, has infinity
FLOATS = {
    'f64': (52, -1022, np.finfo(np.float64).max, True),
    'f32': (23, -126, float(np.finfo(np.float32).max), True),
    'f16': (10, -14, 65504.0, True), 'bf16': (7, -126, float(ml.finfo(ml.bfloat16).max), True),
    'f8e4m3fn': (3, -6, 448.0, False), 'f8e4m3fnuz': (3, -7, 240.0, False),
    'f8e5m2': (2, -14, 57344.0, True), 'f8e5m2fnuz': (2, -15, 57344.0, False),
    'f4e2m1': (1, 0, 6.0, False), 'f6e2m3': (3, 0, 7.5, False), 'f6e3m2': (2, -2, 28.0, False),
    'f8e8m0': (0, -127, 2.0**127, False),
}


def id_of(array):
    return ID[np.asarray(array).dtype]


def is_float(t):
    return t in FLOATS


def is_int(t):
    return t in INT_BITS


def limits(t):
    bits = INT_BITS[t]
    return (-2**(bits - 1), 2**(bits - 1) - 1) if t[0] == 'i' else (0, 2**bits - 1)


def wide(a):
    """Floats as f64, everything else as it is."""
    a = np.asarray(a)
    return a.astype(np.float64) if id_of(a) in FLOATS else a


def rounded(x, t):
    """Doubles rounded once, half to even, to numbers of float type `t`, still as doubles; what is
    too large becomes infinity."""
    fraction, least, most, _ = FLOATS[t]
    x = np.asarray(x, np.float64)
    with np.errstate(all='ignore'):
        _, e = np.frexp(x)
        step = np.ldexp(1.0, np.maximum(e - 1, least) - fraction)
        y = np.where(np.isfinite(x), np.rint(x / step) * step, x)
        y = np.where(np.isfinite(x) & (x == 0), x, y)
        return np.where(np.abs(y) > most, np.copysign(np.inf, y), y)


def to(t, x):
    """An array of type `t`: doubles rounded once, integers wrapped, anything else converted."""
    x = np.asarray(x)
    with np.errstate(all='ignore'):
        if t in FLOATS:
            if t in ('f64', 'f32', 'f16'):
                return np.asarray(x, np.float64).astype(NP[t])
            return rounded(x, t).astype(NP[t])
        if t in INT_BITS:
            bits = INT_BITS[t]
            if bits >= 8:
                return wrap_ints(x, t)
            low = np.asarray(x).astype(np.int64) & (2**bits - 1)
            return low.astype(np.uint8).astype(NP['u' + str(bits)]).view(NP[t])
    return x.astype(NP[t])


def wrap_ints(x, t):
    """Python integers (in an object array) or integers, modulo two to the bits of `t`."""
    bits = INT_BITS[t]
    out = np.empty(np.shape(x), np.uint64)
    flat, source = out.reshape(-1), np.asarray(x, object).reshape(-1)
    for i, v in enumerate(source):
        flat[i] = int(v) % 2**bits
    unsigned = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[bits]
    return out.astype(unsigned).view(NP[t])


_texts = {}


def _float_text(x, t):
    v = float(x)
    if v != v:
        return 'nan'
    if v in (np.inf, -np.inf):
        return 'inf' if v > 0 else '-inf'
    if v == int(v) and abs(v) < 1e15:
        return ('-' if v == 0 and np.signbit(v) else '') + str(int(v))
    key = (t, v)
    if key not in _texts:
        for digits in range(1, 18):
            word = format(v, '.%dg' % digits)
            if float(to(t, float(word))) == v:
                break
        _texts[key] = word.replace('e+', 'e')
    return _texts[key]


def quoted(s):
    out = '"'
    for c in s:
        if c in '"\\':
            out += '\\' + c
        elif c == '\n':
            out += '\\n'
        elif ord(c) < 32 or ord(c) == 127:
            out += '\\x%02x' % ord(c)
        else:
            out += c
    return out + '"'


def element(x, t):
    if t == 'string':
        return quoted(x)
    if t == 'bool':
        return 'true' if x else 'false'
    if t in INT_BITS:
        return str(int(x))
    if t in ('c64', 'c128'):
        part = 'f32' if t == 'c64' else 'f64'
        return '(%s,%s)' % (_float_text(x.real, part), _float_text(x.imag, part))
    return _float_text(x, t)


def type_text(a):
    return '%s[%s]' % (id_of(a), ','.join(str(d) for d in a.shape))


def data_text(a):
    t, flat = id_of(a), a.reshape(-1)
    words = [element(x, t) for x in flat]
    if len(words) > 7 and len(set(words)) == 1 and t not in ('string', 'c64', 'c128'):
        return 'fill ' + words[0]
    return '{' + ','.join(words) + '}'


def text(a):
    a = np.asarray(a)
    return type_text(a) + ' ' + data_text(a)
