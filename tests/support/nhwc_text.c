/* SPDX-License-Identifier: MIT */
/* nhwc_text.c — graphs with channels last as text. */
#define _POSIX_C_SOURCE 200809L
#include "support/nhwc_text.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/internal/nhwc.h"

uint32_t nhwc_random(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(*state >> 4) * n) >> 28);
}

/* Numbers in [-1, 1) with few digits. */
static float *random_floats(uint32_t *state, size_t n)
{
    float *p = malloc((n + 1) * sizeof(float));
    for (size_t i = 0; i < n; i++)
        p[i] = (float)((int)nhwc_random(state, 512) - 256) / 256.0f;
    return p;
}

nhwc_window nhwc_random_window(uint32_t *state, int rank, int most_in, int most_kernel)
{
    nhwc_window w = { .in = { 1, 1, 1 },
        .kernel = { 1, 1, 1 },
        .stride = { 1, 1, 1 },
        .dilation = { 1, 1, 1 } };
    for (int i = 0; i < rank - 2; i++) {
        w.kernel[i] = 1 + (int)nhwc_random(state, (uint32_t)most_kernel);
        w.stride[i] = 1 + (int)nhwc_random(state, 3);
        w.dilation[i] = nhwc_random(state, 4) == 0 ? 2 : 1;
        const int span = (w.kernel[i] - 1) * w.dilation[i] + 1;
        w.pads[i] = (int)nhwc_random(state, (uint32_t)span + 1);
        w.pads[rank - 2 + i] = (int)nhwc_random(state, (uint32_t)span + 1);
        const int padded = w.pads[i] + w.pads[rank - 2 + i];
        const int least = span > padded ? span - padded : 1;
        w.in[i] = least + (int)nhwc_random(state, (uint32_t)most_in);
    }
    return w;
}

static void put_list(FILE *to, const char *name, int count, const int *values)
{
    (void)fprintf(to, "%s=[", name);
    for (int i = 0; i < count; i++)
        (void)fprintf(to, "%s%d", i != 0 ? "," : "", values[i]);
    (void)fprintf(to, "]");
}

static void put_window(FILE *to, const nhwc_window *w, int rank)
{
    put_list(to, "kernel_shape", rank - 2, w->kernel);
    put_list(to, ",pads", 2 * (rank - 2), w->pads);
    put_list(to, ",strides", rank - 2, w->stride);
    put_list(to, ",dilations", rank - 2, w->dilation);
}

static size_t product(int rank, const int *dims)
{
    size_t n = 1;
    for (int i = 0; i < rank; i++)
        n *= (size_t)dims[i];
    return n;
}

static void put_type(FILE *to, const char *name, const char *type, int rank, const int *dims)
{
    (void)fprintf(to, "%s = const %s[", name, type);
    for (int i = 0; i < rank; i++)
        (void)fprintf(to, "%s%d", i != 0 ? "," : "", dims[i]);
    (void)fprintf(to, "] {");
}

/* Writes an element as its bits, because most of these texts are elements, and decimal digits
 * are slow to write and read. */
static void put_bits(FILE *to, size_t index, uint32_t bits)
{
    char text[] = ",0x00000000";
    for (size_t at = sizeof(text) - 2; bits != 0; bits >>= 4)
        text[at--] = "0123456789abcdef"[bits & 15];
    (void)fwrite(text + (index == 0), 1, sizeof(text) - 1 - (index == 0), to);
}

static void put_floats(FILE *to, const char *name, int rank, const int *dims, const float *values,
    const char *special)
{
    const size_t n = product(rank, dims);
    put_type(to, name, "f32", rank, dims);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof(bits));
        if (special != NULL && i == n / 2)
            (void)fprintf(to, "%s%s", i != 0 ? "," : "", special);
        else
            put_bits(to, i, bits);
    }
    (void)fprintf(to, "}\n");
}

/* Writes a constant of random numbers. */
static void put_random_constant(FILE *to, uint32_t *state, const char *name, int rank,
    const int *dims, const char *special)
{
    float *values = random_floats(state, product(rank, dims));
    put_floats(to, name, rank, dims, values, special);
    free(values);
}

static prt_nhwc_weights weights_of(const char *form, int group, int channels, int filters, int taps)
{
    prt_nhwc_weights w = { .group = (size_t)group,
        .channels = (size_t)channels,
        .filters = (size_t)filters,
        .taps = (size_t)taps };
    int32_t number;
    ck_assert(prt_attr_set_word(PRT_ATTR_form, prt_str_of(form), &number));
    w.algorithm = (prt_nhwc_algorithm)number;
    return w;
}

size_t nhwc_weights_count(const char *form, int group, int channels, int filters, int taps)
{
    const prt_nhwc_weights w = weights_of(form, group, channels, filters, taps);
    size_t count;
    ck_assert(prt_nhwc_weights_size(&w, &count));
    return count;
}

/* Writes packed weights as `name` and, with `plain`, the weights of Conv as `name` with the
 * suffix "c". */
static void put_weights(FILE *to, uint32_t *state, const char *name, const prt_nhwc_weights *w,
    int rank, const int *dims, bool plain)
{
    size_t count;
    char other[16];
    ck_assert(prt_nhwc_weights_size(w, &count));
    float *values = random_floats(state, product(rank, dims));
    float *packed = calloc(count + 1, sizeof(float));
    const int size = (int)count;
    prt_nhwc_weights_pack(w, values, packed);
    put_floats(to, name, 1, &size, packed, NULL);
    (void)snprintf(other, sizeof(other), "%sc", name);
    if (plain)
        put_floats(to, other, rank, dims, values, NULL);
    free(values);
    free(packed);
}

static int out_size(const nhwc_window *w, int rank, int i)
{
    const int padded = w->in[i] + w->pads[i] + w->pads[rank - 2 + i];
    return (padded - ((w->kernel[i] - 1) * w->dilation[i] + 1)) / w->stride[i] + 1;
}

static const char *transpose_op(int rank, bool to_last)
{
    if (rank == 3)
        return "{perm=[0,2,1]}";
    if (rank == 5)
        return to_last ? "{perm=[0,2,3,4,1]}" : "{perm=[0,4,1,2,3]}";
    return to_last ? "{perm=[0,2,3,1]}" : "{perm=[0,3,1,2]}";
}

char *nhwc_conv_text(const nhwc_conv_case *c, uint32_t seed, bool plain)
{
    const int spatial = c->rank - 2, channels = c->group * c->channels;
    const int filters = c->group * c->filters;
    prt_nhwc_weights layout =
        weights_of(c->form, c->group, c->channels, c->filters, (int)product(spatial, c->w.kernel));
    layout.transformed = c->transformed;
    int x[5] = { c->n }, y[5] = { c->n }, w[5] = { filters, c->channels };
    int gate[5] = { c->n, 1, 1, 1, 1 };
    uint32_t state = seed;
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    for (int i = 0; i < spatial; i++) {
        x[i + (c->images ? 2 : 1)] = c->w.in[i];
        y[i + 1] = out_size(&c->w, c->rank, i);
        w[i + 2] = c->w.kernel[i];
    }
    x[c->images ? 1 : c->rank - 1] = gate[c->rank - 1] = channels;
    y[c->rank - 1] = filters;
    put_random_constant(to, &state, "x", c->rank, x, c->special);
    put_weights(to, &state, "w", &layout, c->rank, w, plain);
    if (c->bias)
        put_random_constant(to, &state, "b", 1, &filters, NULL);
    if (c->residual)
        put_random_constant(to, &state, "r", c->rank, y, c->special);
    if (c->gate)
        put_random_constant(to, &state, "g", c->rank, gate, NULL);
    (void)fprintf(to,
        "y = nhwc_conv x w %s %s %s {form=\"%s\",transformed=%d,group=%d,"
        "channels=%d,filters=%d,images=%d,activation=\"%s,",
        c->bias ? "b" : "_", c->residual ? "r" : "_", c->gate ? "g" : "_", c->form, c->transformed,
        c->group, c->channels, c->filters, c->images,
        c->activation[0] != '\0' ? c->activation : "\"");
    put_window(to, &c->w, c->rank);
    (void)fprintf(to, "}\n");
    if (plain) {
        (void)fprintf(to, "xg = %s x %s\n", c->gate ? "mul" : "identity", c->gate ? "g" : "");
        (void)fprintf(to, c->images ? "xc = identity xg\n" : "xc = transpose xg %s\n",
            transpose_op(c->rank, false));
        if (c->residual)
            (void)fprintf(to, "rc = transpose r %s\n", transpose_op(c->rank, false));
        (void)fprintf(to, "yc = fused_conv xc wc %s %s {group=%d,activation=\"%s,",
            c->bias ? "b" : "_", c->residual ? "rc" : "_", c->group,
            c->activation[0] != '\0' ? c->activation : "\"");
        put_window(to, &c->w, c->rank);
        (void)fprintf(to, "}\nz = transpose yc %s\n", transpose_op(c->rank, true));
    }
    (void)fprintf(to, plain ? "return y, z\n" : "return y\n");
    (void)fclose(to);
    return text;
}

/* Writes convolution `part` of x as `name`. */
static void put_part(FILE *to, const nhwc_separable_case *c, int part, const char *name,
    const char *x)
{
    static const nhwc_window one = { .kernel = { 1, 1 }, .stride = { 1, 1 }, .dilation = { 1, 1 } };
    const char *activation = c->activation[part];
    (void)fprintf(to, "%s = nhwc_conv %s w%d ", name, x, part);
    if (c->bias)
        (void)fprintf(to, "b%d ", part);
    else
        (void)fprintf(to, "_ ");
    (void)fprintf(to, "%s {form=\"%s\",group=%d,channels=%d,filters=%d,activation=\"%s,",
        part == 2 && c->residual ? "r" : "_", part == 1 ? "taps" : "panels",
        part == 1 ? c->hidden : 1,
        part == 0       ? c->channels
            : part == 1 ? 1
                        : c->hidden,
        part == 0       ? c->hidden
            : part == 1 ? 1
                        : c->filters,
        activation[0] != '\0' ? activation : "\"");
    put_window(to, part == 1 ? &c->w : &one, 4);
    (void)fprintf(to, "}\n");
}

static void put_chain(FILE *to, const nhwc_separable_case *c)
{
    if (c->channels != 0)
        put_part(to, c, 0, "h", "x");
    put_part(to, c, 1, "d", c->channels != 0 ? "h" : "x");
    if (c->filters != 0)
        put_part(to, c, 2, "z", "d");
    else
        (void)fprintf(to, "z = identity d\n");
    if (c->mean)
        (void)fprintf(to, "axes = const i64[2] {1,2}\nmz = reduce_mean d axes\n");
}

/* ---- bytes */

static int *random_bytes(uint32_t *state, size_t n, int least)
{
    int *p = malloc((n + 1) * sizeof(int));
    for (size_t i = 0; i < n; i++)
        p[i] = least + (int)nhwc_random(state, 256);
    return p;
}

static void put_ints(FILE *to, const char *name, const char *type, int rank, const int *dims,
    const int *values)
{
    put_type(to, name, type, rank, dims);
    for (size_t i = 0; i < product(rank, dims); i++)
        (void)fprintf(to, "%s%d", i != 0 ? "," : "", values[i]);
    (void)fprintf(to, "}\n");
}

/* Writes W, B and scale of NhwcQConv, or of QLinearConv with the suffix "c". */
static void put_bytes(FILE *to, uint32_t *state, const nhwc_bytes_case *c, int rank,
    const int *dims, const prt_nhwc_weights *form)
{
    const size_t depth = product(rank, dims) / (size_t)dims[0], taps = form->taps;
    int *w = random_bytes(state, product(rank, dims), -128),
        *b = random_bytes(state, (size_t)dims[0], -128),
        *rest = calloc((size_t)dims[0], sizeof(int));
    size_t count;
    ck_assert(prt_nhwc_qconv_size(form, &count));
    int *packed = calloc(count, sizeof(int));
    const int size = (int)count;
    for (size_t f = 0; f < (size_t)dims[0]; f++) {
        b[f] *= 50;
        rest[f] = b[f];
        for (size_t k = 0; k < depth; k++) {
            packed[prt_nhwc_qconv_at(form, f / form->filters, f % form->filters, k / taps,
                k % taps)] = w[f * depth + k];
            rest[f] -= (c->x_zero + (c->x_signed ? 128 : 0)) * w[f * depth + k];
        }
    }
    put_ints(to, "w", "i8", 1, &size, packed);
    put_ints(to, "wc", "i8", rank, dims, w);
    put_ints(to, "b", "i32", 1, dims, rest);
    put_ints(to, "bc", "i32", 1, dims, b);
    for (int i = 0; i < 2; i++) {
        (void)fprintf(to, "s%s = const %s[%d] {", i != 0 ? "c" : "", i != 0 ? "f32" : "f64",
            dims[0]);
        for (int f = 0; f < dims[0]; f++)
            (void)fprintf(to, "%s%.9g", f != 0 ? "," : "",
                (double)(float)(c->scale * (1.0 + 0.01 * f)));
        (void)fprintf(to, "}\n");
    }
    free(w);
    free(b);
    free(rest);
    free(packed);
}

char *nhwc_bytes_text(const nhwc_bytes_case *c, uint32_t seed, bool plain)
{
    const nhwc_conv_case *a = &c->of;
    const int spatial = a->rank - 2;
    const prt_nhwc_weights layout =
        weights_of(a->form, a->group, a->channels, a->filters, (int)product(spatial, a->w.kernel));
    int x[5] = { a->n }, w[5] = { a->group * a->filters, a->channels };
    uint32_t state = seed;
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    for (int i = 0; i < spatial; i++) {
        x[i + (a->images ? 2 : 1)] = a->w.in[i];
        w[i + 2] = a->w.kernel[i];
    }
    x[a->images ? 1 : a->rank - 1] = a->group * a->channels;
    int *bytes = random_bytes(&state, product(a->rank, x), c->x_signed ? -128 : 0);
    put_ints(to, "x", c->x_signed ? "i8" : "u8", a->rank, x, bytes);
    free(bytes);
    put_bytes(to, &state, c, a->rank, w, &layout);
    (void)fprintf(to,
        "xz = const %s[] {%d}\nyz = const %s[] {%d}\n"
        "y = nhwc_qconv x w b s xz yz {form=\"%s\",group=%d,channels=%d,filters=%d,images=%d,",
        c->x_signed ? "i8" : "u8", c->x_zero, c->y_signed ? "i8" : "u8", c->y_zero, a->form,
        a->group, a->channels, a->filters, a->images);
    put_window(to, &a->w, a->rank);
    (void)fprintf(to, "}\n");
    if (plain) {
        (void)fprintf(to,
            "one = const f32[] {1}\nwz = const i8[] {0}\nt = %s x %s\n"
            "q = qlinear_conv t one xz wc sc wz one yz bc {group=%d,",
            a->images ? "identity" : "transpose", a->images ? "" : transpose_op(a->rank, false),
            a->group);
        put_window(to, &a->w, a->rank);
        (void)fprintf(to, "}\nz = transpose q %s\nreturn y, z\n", transpose_op(a->rank, true));
    } else {
        (void)fprintf(to, "f = cast y {to=1}\nreturn f\n");
    }
    (void)fclose(to);
    return text;
}

char *nhwc_separable_text(const nhwc_separable_case *c, uint32_t seed, bool plain)
{
    const int x[4] = { c->n, c->w.in[0], c->w.in[1], c->channels != 0 ? c->channels : c->hidden };
    const int y[4] = { c->n, out_size(&c->w, 4, 0), out_size(&c->w, 4, 1), c->filters };
    const int taps[4] = { c->hidden, 1, c->w.kernel[0], c->w.kernel[1] };
    const int first[4] = { c->hidden, c->channels, 1, 1 };
    const int last[4] = { c->filters, c->hidden, 1, 1 };
    const prt_nhwc_weights form[3] = { weights_of("panels", 1, c->channels, c->hidden, 1),
        weights_of("taps", c->hidden, 1, 1, taps[2] * taps[3]),
        weights_of("panels", 1, c->hidden, c->filters, 1) };
    static const char *const attrs[3] = { "activation0=\"", ",activation1=\"", ",activation2=\"" };
    uint32_t state = seed;
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    put_random_constant(to, &state, "x", 4, x, NULL);
    put_weights(to, &state, "w1", &form[1], 4, taps, false);
    if (c->channels != 0)
        put_weights(to, &state, "w0", &form[0], 4, first, false);
    if (c->filters != 0)
        put_weights(to, &state, "w2", &form[2], 4, last, false);
    if (c->bias) {
        put_random_constant(to, &state, "b0", 1, &c->hidden, NULL);
        put_random_constant(to, &state, "b1", 1, &c->hidden, NULL);
        put_random_constant(to, &state, "b2", 1, &c->filters, NULL);
    }
    if (c->residual)
        put_random_constant(to, &state, "r", 4, y, NULL);
    (void)fprintf(to, "y%s = nhwc_separable x w1 %s %s %s %s %s %s {", c->mean ? ", m" : "",
        c->bias ? "b1" : "_", c->channels != 0 ? "w0" : "_",
        c->bias && c->channels != 0 ? "b0" : "_", c->filters != 0 ? "w2" : "_",
        c->bias && c->filters != 0 ? "b2" : "_", c->residual ? "r" : "_");
    for (int i = 0; i < 3; i++) {
        /* "Clip\",alpha=1": each part has its own attributes */
        const char *at = c->activation[i];
        (void)fprintf(to, "%s", attrs[i]);
        for (; *at != '\0'; at++)
            if (*at == '=')
                (void)fprintf(to, "%d=", i);
            else
                (void)fputc(*at, to);
        if (c->activation[i][0] == '\0')
            (void)fputc('"', to);
    }
    (void)fprintf(to, ",hidden=%d,filters=%d,", c->hidden, c->filters);
    put_window(to, &c->w, 4);
    (void)fprintf(to, "}\n");
    if (plain)
        put_chain(to, c);
    if (plain)
        (void)fprintf(to, "return y, z%s\n", c->mean ? ", m, mz" : "");
    else
        (void)fprintf(to, c->mean ? "s = add y m\nreturn s\n" : "return y\n");
    (void)fclose(to);
    return text;
}
