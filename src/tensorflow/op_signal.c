/* SPDX-License-Identifier: MIT */
/*
 * op_signal.c — Fourier transforms, spectra, and decoding of sequences. A transform is operator
 * DFT, or, for files of older opsets, the product with a constant matrix of cosines and sines.
 */
#include <math.h>

#include "tensorflow/complex.h"
#include "tensorflow/formulas.h"

static const double pi = 3.14159265358979323846;

enum { DFT_SINCE = 17, MAX_LENGTH = 1 << 22, MAX_MATRIX = 1 << 24 };

/* ---- one axis */

/* A transform of `there` numbers, which zeros extend to `length`, along the axis that is `axis`-th
 * from the end, 1 being the last. */
typedef struct transform {
    int64_t length, there;
    uint32_t axis;
    bool real;    /* the input is real, and length/2 + 1 bins are returned */
    bool inverse; /* returns sums divided by the length */
} transform;

static int64_t bins_of(const transform *t)
{
    return t->real ? t->length / 2 + 1 : t->length;
}

/* Returns the matrix [there · parts, bins · 2] of the transform, in which parts alternate. */
static prt_value *fourier_matrix(prt_tf_call *n, const transform *t, int32_t dtype)
{
    const int64_t parts = t->real ? 1 : 2, bins = bins_of(t);
    const int64_t rows = t->there * parts, columns = bins * 2;
    if (rows > MAX_MATRIX / columns) {
        (void)prt_tf_refuse(n, "a transform of length %lld needs opset %d", (long long)t->length,
            DFT_SINCE);
        return NULL;
    }
    double *m = PRT_NEW_N(n->c->arena, double, (size_t)(rows * columns));
    if (m == NULL)
        n->status = POPRT_E_NOMEM;
    for (int64_t i = 0; i < t->there && m != NULL; i++)
        for (int64_t k = 0; k < bins; k++) {
            const double angle = 2 * pi * (double)(i * k % t->length) / (double)t->length;
            const double scale = t->inverse ? 1.0 / (double)t->length : 1;
            const double re = cos(angle) * scale;
            const double im = (t->inverse ? 1 : -1) * sin(angle) * scale;
            double *at = m + i * parts * columns + 2 * k;
            at[0] = re;
            at[1] = im;
            if (parts == 2) {
                at[columns] = -im;
                at[columns + 1] = re;
            }
        }
    const int64_t dims[] = { rows, columns };
    return m != NULL
        ? prt_build_cast(&n->b, prt_build_tensor(&n->b, PRT_DTYPE_f64, 2, dims, m), dtype)
        : NULL;
}

/* Returns the shape of `x`, all but its last `drop` axes, followed by numbers. */
static prt_value *shape_with(prt_tf_call *n, prt_value *x, int64_t drop, uint32_t count,
    const int64_t *numbers)
{
    prt_value *parts[] = { prt_build_slice(&n->b, prt_build_shape(&n->b, x), 0, 0, -drop, 1),
        prt_build_i64s(&n->b, count, numbers) };
    return prt_build_concat(&n->b, 0, 2, parts);
}

/* Transforms the last axis but that of the parts by a product. */
static prt_value *by_matrix(prt_tf_call *n, const transform *t, prt_value *x)
{
    const int64_t parts = t->real ? 1 : 2;
    const int64_t row = t->there * parts, cells[] = { bins_of(t), 2 };
    prt_value *m = fourier_matrix(n, t, prt_tf_dtype(x));
    if (m == NULL)
        return NULL;
    if (!t->real)
        x = prt_build_reshape_to(&n->b, x, shape_with(n, x, 2, 1, &row));
    prt_value *y = BINARY(matmul, x, m);
    return prt_build_reshape_to(&n->b, y, shape_with(n, y, 1, 2, cells));
}

/* Swaps two axes of a complex tensor, counted from the end without the axis of parts. */
static prt_value *swap_axes(prt_tf_call *n, prt_value *x, uint32_t one, uint32_t two)
{
    int64_t perm[PRT_MAX_RANK];
    const int32_t rank = prt_tf_rank(x);
    if (one == two || x == NULL)
        return x;
    if (rank < (int32_t)one + 1 || rank < (int32_t)two + 1) {
        (void)prt_tf_refuse(n, "the rank is not known, or too low");
        return NULL;
    }
    for (int32_t i = 0; i < rank; i++)
        perm[i] = i;
    perm[rank - 1 - (int32_t)one] = rank - 1 - (int32_t)two;
    perm[rank - 1 - (int32_t)two] = rank - 1 - (int32_t)one;
    return prt_build_transpose(&n->b, x, (uint32_t)rank, perm);
}

static bool has_dft(const prt_tf_call *n)
{
    return prt_module_opset(n->c->module, PRT_STR("")) >= DFT_SINCE;
}

/* Transforms one axis of a tensor [.., parts], or of a real one without an axis of parts. Returns a
 * complex tensor. */
static prt_value *transform_axis(prt_tf_call *n, const transform *t, prt_value *x)
{
    static const int64_t first = 0, last = -1;
    if (x == NULL)
        return NULL;
    if (!has_dft(n)) {
        x = by_matrix(n, t, swap_axes(n, x, 1, t->axis));
        return swap_axes(n, x, 1, t->axis);
    }
    const bool vector = prt_tf_rank(x) == (t->real ? 1 : 2); /* DFT expects a batch */
    prt_dft_attrs attrs = PRT_ATTRS_OF(dft);
    if (t->inverse)
        PRT_ATTR_SET(attrs, dft, inverse, 1);
    if (t->real)
        PRT_ATTR_SET(attrs, dft, onesided, 1);
    if (t->real)
        x = prt_build_unsqueeze(&n->b, x, 1, &last);
    if (vector)
        x = prt_build_unsqueeze(&n->b, x, 1, &first);
    prt_value *in[] = { x, t->there != t->length ? I64(t->length) : NULL,
        I64(-1 - (int64_t)t->axis) };
    x = prt_build_op(&n->b, PRT_OP_dft, &attrs, 3, in);
    return vector ? prt_build_squeeze(&n->b, x, 1, &first) : x;
}

/* ---- rows of transforms */

/* Returns the length of an axis of a complex tensor, which DFT need not know; 0, and records it, if
 * a matrix would need it. */
static int64_t length_of(prt_tf_call *n, const prt_value *x, uint32_t axis)
{
    const int64_t rank = prt_tf_rank(x);
    const int64_t length =
        rank >= (int64_t)axis + 1 ? prt_tf_dim(x, (uint32_t)(rank - 1 - axis)) : PRT_DIM_UNKNOWN;
    if ((length > 0 && length <= MAX_LENGTH) || (has_dft(n) && !prt_dim_is_number(length)))
        return length;
    if (x != NULL)
        (void)prt_tf_refuse(n, "the length of the transform is not known, or out of range");
    return 0;
}

/* Transforms `count` axes of a complex tensor, the `first`-th from the end and those before it. The
 * axes have the lengths of the list `lengths`, in order, or NULL. */
static prt_value *complex_axes(prt_tf_call *n, prt_value *x, uint32_t first, uint32_t count,
    bool inverse, const int64_t *lengths)
{
    for (uint32_t axis = first; axis < first + count; axis++) {
        const int64_t length =
            lengths != NULL ? lengths[first + count - 1 - axis] : length_of(n, x, axis);
        const transform t = { .length = length, .there = length, .axis = axis, .inverse = inverse };
        x = length != 0 ? transform_axis(n, &t, x) : NULL;
    }
    return x;
}

static poprt_status fft(prt_tf_call *n, uint32_t axes, bool inverse)
{
    prt_tf_set_complex(n, 0, complex_axes(n, prt_tf_complex_in(n, 0), 1, axes, inverse, NULL));
    return prt_tf_end(n);
}

/* Reads fft_length, and cuts the axes of `x` to it. Axes are counted from the end, after `parts`.
 */
static prt_value *cut(prt_tf_call *n, prt_value *x, uint32_t axes, uint32_t parts, bool half,
    int64_t *length)
{
    uint32_t count = 0;
    if (x == NULL || !prt_tf_need_ints(n, 1, "fft_length", 3, length, &count))
        return NULL;
    for (uint32_t i = 0; i < axes; i++) {
        if (count != axes || length[i] < 1 || length[i] > MAX_LENGTH) {
            (void)prt_tf_refuse(n, "fft_length is not %u numbers from 1 to %d", axes, MAX_LENGTH);
            return NULL;
        }
        const int64_t axis = (int64_t)i - axes - parts, rank = prt_tf_rank(x);
        const int64_t wanted = half && i + 1 == axes ? length[i] / 2 + 1 : length[i];
        if (rank + axis < 0 || prt_tf_dim(x, (uint32_t)(rank + axis)) != wanted)
            x = prt_build_slice(&n->b, x, axis, 0, wanted, 1);
    }
    return x;
}

static poprt_status rfft(prt_tf_call *n, uint32_t axes)
{
    int64_t length[3];
    prt_value *x = cut(n, prt_tf_in(n, 0), axes, 0, false, length);
    if (x == NULL)
        return prt_tf_end(n);
    const transform t = { .length = length[axes - 1],
        .there = length[axes - 1],
        .axis = 1,
        .real = true };
    x = transform_axis(n, &t, x);
    prt_tf_set_complex(n, 0, complex_axes(n, x, 2, axes - 1, false, length));
    return prt_tf_end(n);
}

/* Extends the last axis, length/2 + 1 bins of a symmetric spectrum, to all bins. The imaginary
 * parts of the first bin and of the bin at the middle do not count. */
static prt_value *mirrored(prt_tf_call *n, prt_value *x, int64_t length)
{
    const int64_t half = length / 2 + 1, dims[] = { length, 2 };
    int64_t *at = PRT_NEW_N(n->c->arena, int64_t, (size_t)length);
    double *sign = PRT_NEW_N(n->c->arena, double, (size_t)length * 2);
    if (at == NULL || sign == NULL) {
        n->status = POPRT_E_NOMEM;
        return NULL;
    }
    for (int64_t i = 0; i < length; i++) {
        at[i] = i < half ? i : length - i;
        sign[2 * i] = 1;
        sign[2 * i + 1] = i == 0 || 2 * i == length ? 0 : i < half ? 1 : -1;
    }
    x = prt_build_gather(&n->b, x, prt_build_i64s(&n->b, (uint32_t)length, at), -2);
    prt_value *signs = prt_build_tensor(&n->b, PRT_DTYPE_f64, 2, dims, sign);
    return BINARY(mul, x, prt_build_cast_as(&n->b, signs, x));
}

static poprt_status irfft(prt_tf_call *n, uint32_t axes)
{
    int64_t length[3];
    prt_value *x = cut(n, prt_tf_complex_in(n, 0), axes, 1, true, length);
    if (x == NULL)
        return prt_tf_end(n);
    const int64_t last = length[axes - 1];
    const transform t = { .length = last, .there = last, .axis = 1, .inverse = true };
    x = complex_axes(n, x, 2, axes - 1, true, length);
    x = x != NULL ? transform_axis(n, &t, mirrored(n, x, last)) : NULL;
    prt_tf_set(n, 0, prt_tf_part(&n->b, x, 0));
    return prt_tf_end(n);
}

#define ROWS(axes, suffix)                                                                         \
    poprt_status prt_tf_row_fft##suffix(prt_tf_call *n)                                            \
    {                                                                                              \
        return fft(n, axes, false);                                                                \
    }                                                                                              \
    poprt_status prt_tf_row_ifft##suffix(prt_tf_call *n)                                           \
    {                                                                                              \
        return fft(n, axes, true);                                                                 \
    }                                                                                              \
    poprt_status prt_tf_row_rfft##suffix(prt_tf_call *n)                                           \
    {                                                                                              \
        return rfft(n, axes);                                                                      \
    }                                                                                              \
    poprt_status prt_tf_row_irfft##suffix(prt_tf_call *n)                                          \
    {                                                                                              \
        return irfft(n, axes);                                                                     \
    }
ROWS(1, )
ROWS(2, 2d)
ROWS(3, 3d)
#undef ROWS

/* ---- spectrograms */

/* Returns a vector of float32 as a constant. */
static prt_value *vector(prt_tf_call *n, int64_t count, const float *data)
{
    return prt_build_tensor(&n->b, PRT_DTYPE_f32, 1, &count, data);
}

/* Returns the frames [channels, frames, window] of signals [samples, channels]. */
static prt_value *frames(prt_tf_call *n, prt_value *x, int64_t window, int64_t stride)
{
    static const int64_t swap[] = { 1, 0 }, zero = 0, one = 1;
    prt_value *end = BINARY(sub, prt_build_size_of(&n->b, x, 0), I64(window - stride));
    prt_value *count = BINARY(max, BINARY(div, end, I64(stride)), I64(0));
    prt_value *first =
        prt_build_range(&n->b, I64(0), prt_build_squeeze(&n->b, count, 1, &zero), I64(1));
    first = prt_build_unsqueeze(&n->b, BINARY(mul, first, I64(stride)), 1, &one);
    prt_value *at = BINARY(add, first, prt_build_range(&n->b, I64(0), I64(window), I64(1)));
    return prt_build_gather(&n->b, prt_build_transpose(&n->b, x, 2, swap), at, 1);
}

/* Frames under a periodic Hann window, the transform of the next power of two, and the magnitude or
 * its square. */
poprt_status prt_tf_row_audio_spectrogram(prt_tf_call *n)
{
    const int64_t window = prt_tf_attr_i64(n, "window_size", 0);
    const int64_t stride = prt_tf_attr_i64(n, "stride", 0);
    transform t = { .length = 1, .there = window, .axis = 1, .real = true };
    prt_value *x = prt_tf_in(n, 0);
    if (x == NULL || window < 2 || window > MAX_LENGTH || stride < 1 || stride > INT32_MAX)
        return x == NULL ? prt_tf_end(n)
                         : prt_tf_refuse(n, "window_size or stride is out of range");
    while (t.length < window)
        t.length *= 2;
    float *hann = PRT_NEW_N(n->c->arena, float, (size_t)window);
    if (hann == NULL)
        return POPRT_E_NOMEM;
    for (int64_t i = 0; i < window; i++)
        hann[i] = (float)(0.5 - 0.5 * cos(2 * pi * (double)i / (double)window));
    x = BINARY(mul, frames(n, x, window, stride), vector(n, window, hann));
    x = transform_axis(n, &t, x);
    const bool squared = prt_tf_attr_bool(n, "magnitude_squared", false);
    prt_tf_set(n, 0,
        prt_build_reduce_axis(&n->b, squared ? PRT_OP_reduce_sum_square : PRT_OP_reduce_l2, x, -1,
            false));
    return prt_tf_end(n);
}

static double mel(double frequency)
{
    return 1127.0 * log1p(frequency / 700.0);
}

/* The triangular filters of Mfcc: each bin between the limits counts for the two bands whose
 * centres are around it, in part. */
static float *mel_matrix(prt_tf_call *n, int64_t bins, int64_t bands, double rate, double from,
    double to)
{
    const double low = mel(from), step = (mel(to) - low) / (double)(bands + 1);
    const double hertz = 0.5 * rate / (double)(bins - 1);
    const double first = 1.5 + from / hertz, last = to / hertz;
    float *m = PRT_NEW_N(n->c->arena, float, (size_t)(bins * bands));
    if (m == NULL)
        n->status = POPRT_E_NOMEM;
    for (int64_t i = 0; i < bins && m != NULL; i++) {
        const double at = mel((double)i * hertz);
        int64_t band = 0;
        if ((double)i < floor(first) || (double)i > floor(last))
            continue;
        while (band < bands && low + step * (double)(band + 1) < at)
            band++;
        const double part = (low + step * (double)(band + 1) - at) / step; /* of the band below */
        if (band > 0)
            m[i * bands + band - 1] = (float)part;
        if (band < bands)
            m[i * bands + band] = (float)(1 - part);
    }
    return m;
}

/* The cosine transform of `bands` numbers to `count`. */
static float *cosine_matrix(prt_tf_call *n, int64_t bands, int64_t count)
{
    float *m = PRT_NEW_N(n->c->arena, float, (size_t)(bands * count));
    if (m == NULL)
        n->status = POPRT_E_NOMEM;
    for (int64_t i = 0; i < bands && m != NULL; i++)
        for (int64_t k = 0; k < count; k++)
            m[i * count + k] = (float)(sqrt(2.0 / (double)bands) *
                cos(pi / (double)bands * (double)k * ((double)i + 0.5)));
    return m;
}

/* The input is a spectrogram of squared magnitudes. */
poprt_status prt_tf_row_mfcc(prt_tf_call *n)
{
    enum { MOST = 4096 };
    int64_t rate = 0;
    prt_value *x = prt_tf_in(n, 0);
    const int64_t bins = prt_tf_dim(x, 2);
    const int64_t bands = prt_tf_attr_i64(n, "filterbank_channel_count", 40);
    const int64_t count = prt_tf_attr_i64(n, "dct_coefficient_count", 13);
    if (x == NULL || !prt_tf_need_int(n, 1, "sample_rate", &rate))
        return prt_tf_end(n);
    const float low = prt_tf_attr_f32(n, "lower_frequency_limit", 20);
    const float high = prt_tf_attr_f32(n, "upper_frequency_limit", 4000);
    if (bins < 2 || bins > MAX_MATRIX / MOST || bands < 1 || bands > MOST || count < 1 ||
        count > bands || rate < 1 || !(low >= 0) || !(high > low) || isinf(high))
        return prt_tf_refuse(n, "the number of bins is not known, or an attribute is out of range");
    const float *filters = mel_matrix(n, bins, bands, (double)rate, (double)low, (double)high);
    const float *cosines = cosine_matrix(n, bands, count);
    PRT_TRY(prt_tf_end(n));
    const int64_t by_band[] = { bins, bands }, by_count[] = { bands, count };
    x = BINARY(matmul, UNARY(sqrt, x), prt_build_tensor(&n->b, PRT_DTYPE_f32, 2, by_band, filters));
    x = UNARY(log, BINARY(max, x, F32(1e-12)));
    prt_tf_set(n, 0,
        BINARY(matmul, x, prt_build_tensor(&n->b, PRT_DTYPE_f32, 2, by_count, cosines)));
    return prt_tf_end(n);
}

/* ---- CTC */

/* Returns whether class [time, batch] is kept: it is no blank, the sequence has not ended, and it
 * differs from the class before if repeated classes are merged. */
static prt_value *kept(prt_tf_call *n, prt_value *class, prt_value *blank)
{
    static const int64_t zero = 0, one = 1;
    prt_value *length = prt_build_cast(&n->b, prt_tf_in(n, 1), PRT_DTYPE_i64);
    prt_value *steps = prt_build_size_of(&n->b, class, 0);
    prt_value *time =
        prt_build_range(&n->b, I64(0), prt_build_squeeze(&n->b, steps, 1, &zero), I64(1));
    prt_value *keep = BINARY(less, prt_build_unsqueeze(&n->b, time, 1, &one), length);
    keep = BINARY(and, keep, UNARY(not, BINARY(equal, class, blank)));
    if (!prt_tf_attr_bool(n, "merge_repeated", false))
        return keep;
    prt_value *minus = prt_build_expand(&n->b, I64(-1),
        prt_build_shape(&n->b, prt_build_slice(&n->b, class, 0, 0, 1, 1)));
    prt_value *both[] = { minus, prt_build_slice(&n->b, class, 0, 0, -1, 1) };
    prt_value *before = prt_build_concat(&n->b, 0, 2, both);
    return BINARY(and, keep, UNARY(not, BINARY(equal, class, before)));
}

/* Sets outputs 0 to 2 to the sparse matrix [batch, time] of the kept classes, moved to the left. */
static void set_sparse(prt_tf_call *n, prt_value *class, prt_value *keep)
{
    static const int64_t swap[] = { 1, 0 }, one = 1;
    keep = prt_build_transpose(&n->b, keep, 2, swap);
    class = prt_build_transpose(&n->b, class, 2, swap);
    prt_value *at = prt_build_transpose(&n->b, UNARY(nonzero, keep), 2, swap);
    prt_value *number = prt_build_cast(&n->b, keep, PRT_DTYPE_i32);
    prt_value *sum = BINARY(cumsum, number, I64(1));
    prt_value *place = prt_build_cast(&n->b,
        BINARY(sub, prt_build_gather_nd(&n->b, sum, at, 0),
            prt_build_scalar(&n->b, PRT_DTYPE_i32, 1)),
        PRT_DTYPE_i64);
    prt_value *index[] = { prt_build_slice(&n->b, at, 1, 0, 1, 1),
        prt_build_unsqueeze(&n->b, place, 1, &one) };
    prt_value *longest = prt_build_reduce(&n->b, PRT_OP_reduce_max,
        prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum, number, 1, false), NULL, true);
    prt_value *shape[] = { prt_build_size_of(&n->b, keep, 0),
        prt_build_cast(&n->b, longest, PRT_DTYPE_i64) };
    prt_tf_set(n, 0, prt_build_concat(&n->b, 1, 2, index));
    prt_tf_set(n, 1, prt_build_gather_nd(&n->b, class, at, 0));
    prt_tf_set(n, 2, prt_build_concat(&n->b, 0, 2, shape));
}

/* Inputs: scores [time, batch, classes] and lengths [batch]. The probability is minus the sum of
 * the largest scores. */
poprt_status prt_tf_row_ctc_greedy_decoder(prt_tf_call *n)
{
    static const int64_t zero = 0, one = 1, last = 2;
    prt_value *x = prt_tf_in(n, 0);
    const int64_t blank = prt_tf_attr_i64(n, "blank_index", -1);
    if (x == NULL)
        return prt_tf_end(n);
    prt_argmax_attrs attrs = PRT_ATTRS_OF(argmax);
    PRT_ATTR_SET(attrs, argmax, axis, last);
    PRT_ATTR_SET(attrs, argmax, keepdims, 0);
    prt_value *class = prt_build_op(&n->b, PRT_OP_argmax, &attrs, 1, &x);
    prt_value *of_blank = I64(blank);
    if (blank < 0)
        of_blank = BINARY(add, of_blank, prt_build_size_of(&n->b, x, last));
    set_sparse(n, class, kept(n, class, of_blank));
    prt_value *best = prt_build_reduce_axis(&n->b, PRT_OP_reduce_max, x, last, false);
    prt_value *steps = prt_build_squeeze(&n->b, prt_build_size_of(&n->b, x, 0), 1, &zero);
    prt_value *time =
        prt_build_unsqueeze(&n->b, prt_build_range(&n->b, I64(0), steps, I64(1)), 1, &one);
    prt_value *inside = BINARY(less, time, prt_build_cast(&n->b, prt_tf_in(n, 1), PRT_DTYPE_i64));
    prt_value *sum = prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum,
        WHERE(inside, best, prt_build_number(&n->b, x, 0)), 0, false);
    prt_tf_set(n, 3, prt_build_unsqueeze(&n->b, UNARY(neg, sum), 1, &one));
    return prt_tf_end(n);
}
