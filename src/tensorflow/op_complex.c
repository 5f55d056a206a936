/* SPDX-License-Identifier: MIT */
/* op_complex.c — complex numbers: their parts, their arithmetic, and operators on both parts. */
#include "tensorflow/complex.h"
#include "tensorflow/formulas.h"

/* ---- parts */

int32_t prt_tf_part_type(int32_t dtype)
{
    return dtype == PRT_DTYPE_c64 ? PRT_DTYPE_f32 : dtype == PRT_DTYPE_c128 ? PRT_DTYPE_f64 : 0;
}

prt_value *prt_tf_complex_in(prt_tf_call *n, uint32_t i)
{
    if (i < n->n_in && n->in[i].kind == PRT_TF_complex)
        return n->in[i].value;
    if (n->status == POPRT_OK)
        (void)prt_tf_refuse(n, "input %u is not complex", i);
    return NULL;
}

void prt_tf_set_complex(prt_tf_call *n, uint32_t k, prt_value *value)
{
    if (value != NULL)
        prt_tf_set_value(n, k, (prt_tf_value){ .kind = PRT_TF_complex, .value = value });
}

prt_value *prt_tf_part(prt_build *b, prt_value *x, int64_t part)
{
    return x != NULL ? prt_build_gather(b, x, prt_build_i64(b, part), -1) : NULL;
}

prt_value *prt_tf_join(prt_build *b, prt_value *re, prt_value *im)
{
    static const int64_t last = -1;
    prt_value *parts[] = { prt_build_unsqueeze(b, re, 1, &last),
        prt_build_unsqueeze(b, im, 1, &last) };
    return prt_build_concat(b, -1, 2, parts);
}

/* ---- rows */

poprt_status prt_tf_row_complex(prt_tf_call *n)
{
    prt_value *re = prt_tf_in(n, 0), *im = prt_tf_in(n, 1);
    if (re == NULL || im == NULL)
        return prt_tf_end(n);
    prt_value *shape = BINARY(add, re, im); /* the parts broadcast to each other */
    if (re->type != im->type || prt_tf_rank(re) < 0) {
        re = prt_build_expand(&n->b, re, prt_build_shape(&n->b, shape));
        im = prt_build_expand(&n->b, im, prt_build_shape(&n->b, shape));
    }
    prt_tf_set_complex(n, 0, prt_tf_join(&n->b, re, im));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_real(prt_tf_call *n)
{
    prt_tf_set(n, 0, prt_tf_part(&n->b, prt_tf_complex_in(n, 0), 0));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_imag(prt_tf_call *n)
{
    prt_tf_set(n, 0, prt_tf_part(&n->b, prt_tf_complex_in(n, 0), 1));
    return prt_tf_end(n);
}

/* Returns the tensor with its imaginary part multiplied by -1. */
static prt_value *conjugate(prt_tf_call *n, prt_value *x)
{
    static const double signs[] = { 1, -1 };
    static const int64_t two = 2;
    prt_value *factors = prt_build_tensor(&n->b, PRT_DTYPE_f64, 1, &two, signs);
    return x != NULL ? BINARY(mul, x, prt_build_cast_as(&n->b, factors, x)) : NULL;
}

poprt_status prt_tf_row_conj(prt_tf_call *n)
{
    prt_tf_set_complex(n, 0, conjugate(n, prt_tf_complex_in(n, 0)));
    return prt_tf_end(n);
}

/* Atan2 of the imaginary and the real part. */
poprt_status prt_tf_row_angle(prt_tf_call *n)
{
    prt_value *x = prt_tf_complex_in(n, 0);
    const prt_tf_value in[] = { { .kind = PRT_TF_tensor, .value = prt_tf_part(&n->b, x, 1) },
        { .kind = PRT_TF_tensor, .value = prt_tf_part(&n->b, x, 0) } };
    PRT_TRY(prt_tf_end(n));
    prt_tf_call parts = *n;
    parts.in = in;
    parts.n_in = 2;
    return prt_tf_row_atan2(&parts);
}

poprt_status prt_tf_row_complex_abs(prt_tf_call *n)
{
    prt_value *x = prt_tf_complex_in(n, 0);
    prt_tf_set(n, 0, prt_build_reduce_axis(&n->b, PRT_OP_reduce_l2, x, -1, false));
    return prt_tf_end(n);
}

/* ---- arithmetic */

typedef struct number {
    prt_value *re, *im;
} number;

static number read_number(prt_tf_call *n, uint32_t i)
{
    prt_value *x = prt_tf_complex_in(n, i);
    return (number){ prt_tf_part(&n->b, x, 0), prt_tf_part(&n->b, x, 1) };
}

/* x·y, or x times the conjugate of y. */
static prt_value *product(prt_tf_call *n, number x, number y, bool conjugate)
{
    prt_value *rr = BINARY(mul, x.re, y.re), *ii = BINARY(mul, x.im, y.im);
    prt_value *ri = BINARY(mul, x.re, y.im), *ir = BINARY(mul, x.im, y.re);
    return prt_tf_join(&n->b, conjugate ? BINARY(add, rr, ii) : BINARY(sub, rr, ii),
        conjugate ? BINARY(sub, ir, ri) : BINARY(add, ir, ri));
}

static poprt_status multiply(prt_tf_call *n)
{
    const number x = read_number(n, 0), y = read_number(n, n->n_in - 1); /* Square has one input */
    prt_tf_set_complex(n, 0, product(n, x, y, false));
    return prt_tf_end(n);
}

static poprt_status divide(prt_tf_call *n)
{
    const number x = read_number(n, 0), y = read_number(n, 1);
    prt_value *square = BINARY(add, BINARY(mul, y.re, y.re), BINARY(mul, y.im, y.im));
    const int64_t last = -1;
    prt_value *above = product(n, x, y, true);
    prt_tf_set_complex(n, 0, BINARY(div, above, prt_build_unsqueeze(&n->b, square, 1, &last)));
    return prt_tf_end(n);
}

static poprt_status exponential(prt_tf_call *n)
{
    const number x = read_number(n, 0);
    prt_value *size = UNARY(exp, x.re);
    prt_tf_set_complex(n, 0,
        prt_tf_join(&n->b, BINARY(mul, size, UNARY(cos, x.im)),
            BINARY(mul, size, UNARY(sin, x.im))));
    return prt_tf_end(n);
}

/* From a real tensor, to one, or between complex types. */
static poprt_status cast(prt_tf_call *n)
{
    const int32_t to = prt_tf_attr_dtype(n, "DstT", PRT_DTYPE_undefined);
    const int32_t part = prt_tf_part_type(to);
    if (n->in[0].kind == PRT_TF_complex) {
        prt_value *x = prt_tf_complex_in(n, 0);
        if (part != 0)
            prt_tf_set_complex(n, 0, prt_build_cast(&n->b, x, part));
        else
            prt_tf_set(n, 0, prt_build_cast(&n->b, prt_tf_part(&n->b, x, 0), to));
        return prt_tf_end(n);
    }
    prt_value *re = prt_build_cast(&n->b, prt_tf_in(n, 0), part);
    prt_value *zero =
        prt_build_expand(&n->b, prt_build_scalar(&n->b, part, 0), prt_build_shape(&n->b, re));
    prt_tf_set_complex(n, 0, prt_tf_join(&n->b, re, zero));
    return prt_tf_end(n);
}

/* ---- operators on both parts */

/* Converts a node once for each of `parts` parts of its complex inputs, and joins the results. */
static poprt_status by_parts(prt_tf_call *n, uint32_t parts)
{
    prt_tf_value *out[2] = { n->out, n->out };
    for (uint32_t part = 0; part < parts; part++) {
        prt_tf_call each = *n;
        prt_tf_value *in = PRT_NEW_N(n->c->arena, prt_tf_value, n->n_in);
        out[part] = PRT_NEW_N(n->c->arena, prt_tf_value, n->n_out);
        if (in == NULL || out[part] == NULL)
            return POPRT_E_NOMEM;
        for (uint32_t i = 0; i < n->n_in; i++) {
            in[i] = n->in[i];
            if (in[i].kind == PRT_TF_complex)
                in[i] =
                    (prt_tf_value){ PRT_TF_tensor, prt_tf_part(&each.b, in[i].value, part), NULL };
        }
        each.in = in;
        each.out = out[part];
        PRT_TRY(prt_build_status(&each.b));
        PRT_TRY(n->node->row->convert(&each));
        n->b = each.b;
    }
    for (uint32_t k = 0; k < n->n_out; k++) {
        if (parts == 1)
            n->out[k] = out[0][k];
        else if (out[0][k].kind == PRT_TF_tensor && out[1][k].kind == PRT_TF_tensor)
            prt_tf_set_complex(n, k, prt_tf_join(&n->b, out[0][k].value, out[1][k].value));
    }
    return prt_tf_end(n);
}

/* Operators that move elements or are linear, and operators that read only the shape. */
static const char *const linear[] = { "Add", "AddN", "AddV2", "BatchToSpaceND", "BroadcastTo",
    "Concat", "ConcatV2", "Cumsum", "DepthToSpace", "DynamicStitch", "ExpandDims", "Fill", "Gather",
    "GatherNd", "GatherV2", "Mean", "MirrorPad", "Neg", "Pack", "Pad", "PadV2", "Reshape",
    "ReverseSequence", "ReverseV2", "Roll", "ScatterNd", "SegmentSum", "Select", "SelectV2",
    "Slice", "SpaceToBatchND", "SpaceToDepth", "Split", "SplitV", "Squeeze", "StridedSlice", "Sub",
    "Sum", "TensorScatterAdd", "TensorScatterSub", "TensorScatterUpdate", "Tile", "Transpose",
    "Unpack", "UnsortedSegmentSum", "ZerosLike" };
static const char *const shapes[] = { "Rank", "Shape", "ShapeN", "Size" };
/* Functions of rows that expect complex numbers, or pass values on. */
static const prt_tf_row_fn own[] = { prt_tf_row_angle, prt_tf_row_branches,
    prt_tf_row_call_function, prt_tf_row_cases, prt_tf_row_complex_abs, prt_tf_row_conj,
    prt_tf_row_exit, prt_tf_row_fft, prt_tf_row_fft2d, prt_tf_row_fft3d, prt_tf_row_identity,
    prt_tf_row_ifft, prt_tf_row_ifft2d, prt_tf_row_ifft3d, prt_tf_row_imag, prt_tf_row_irfft,
    prt_tf_row_irfft2d, prt_tf_row_irfft3d, prt_tf_row_merge, prt_tf_row_nothing, prt_tf_row_real,
    prt_tf_row_switch, prt_tf_row_while };

static bool is_in(prt_str name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (prt_str_is(name, list[i]))
            return true;
    return false;
}

#define IS_IN(name, list) is_in(name, list, PRT_COUNT_OF(list))

static bool knows_complex(const prt_tf_row *row)
{
    for (size_t i = 0; i < PRT_COUNT_OF(own); i++)
        if (row->convert == own[i])
            return true;
    return false;
}

bool prt_tf_is_complex(prt_tf_call *n)
{
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i].kind == PRT_TF_complex)
            return !knows_complex(n->node->row);
    return prt_str_is(n->node->op, "Cast") && n->n_in == 1 && n->in[0].kind == PRT_TF_tensor &&
        prt_tf_part_type(prt_tf_attr_dtype(n, "DstT", PRT_DTYPE_undefined)) != 0;
}

poprt_status prt_tf_convert_complex(prt_tf_call *n)
{
    const prt_str op = n->node->op;
    if (IS_IN(op, linear))
        return by_parts(n, 2);
    if (IS_IN(op, shapes))
        return by_parts(n, 1);
    if (prt_str_is(op, "Mul") || prt_str_is(op, "Square"))
        return multiply(n);
    if (prt_str_is(op, "RealDiv") || prt_str_is(op, "Div"))
        return divide(n);
    if (prt_str_is(op, "Exp"))
        return exponential(n);
    if (prt_str_is(op, "Cast"))
        return cast(n);
    return prt_tf_refuse(n, "complex tensors are not supported by this operator");
}
