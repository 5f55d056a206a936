/* SPDX-License-Identifier: MIT */
/*
 * noise.c — adds rounding errors to a graph, as ops behind its values: for an element x
 *
 *     y = x + x * 4 unit * sin(c log|x|)
 *
 * where c makes the sine look random. Equal elements get equal errors, as with real rounding.
 */
#include "fuzz/noise.h"

#include <math.h>
#include <float.h>

#include "ir/build.h"
#include "num/dtype.h"

static const double float_unit = 0x1p-24;

static double unit_of(int32_t dtype)
{
    return dtype == PRT_DTYPE_f16 ? 0x1p-11 : dtype == PRT_DTYPE_bf16 ? 0x1p-8 : float_unit;
}

static bool is_noisy(const prt_value *v)
{
    const int32_t dtype = v->type->dtype;
    return v->type->kind == PRT_VALUE_TENSOR && v->uses != NULL &&
        (dtype == PRT_DTYPE_f16 || dtype == PRT_DTYPE_bf16 || dtype == PRT_DTYPE_f32 ||
            dtype == PRT_DTYPE_f64);
}

static prt_value *scaled(prt_build *b, prt_value *x, double by)
{
    return prt_build_binary(b, PRT_OP_mul, x, prt_build_scalar(b, PRT_DTYPE_f32, by));
}

static prt_value *cast(prt_build *b, prt_value *x, int32_t to)
{
    prt_cast_attrs attrs = PRT_ATTRS_OF(cast);
    PRT_ATTR_SET(attrs, cast, to, to);
    return prt_build_op(b, PRT_OP_cast, &attrs, 1, &x);
}

/* Which elements of x become those of y: neither infinite nor NaN, nor a small multiple of 1/4. */
static prt_value *choose(prt_build *b, prt_value *x, prt_value *y)
{
    prt_value *most = prt_build_scalar(b, PRT_DTYPE_f32, FLT_MAX),
              *small = prt_build_scalar(b, PRT_DTYPE_f32, 64), *quarters = scaled(b, x, 4);
    prt_value *finite =
        prt_build_binary(b, PRT_OP_less_or_equal, prt_build_unary(b, PRT_OP_abs, y), most);
    prt_value *large = prt_build_binary(b, PRT_OP_less, small, prt_build_unary(b, PRT_OP_abs, x));
    prt_value *whole =
        prt_build_binary(b, PRT_OP_equal, quarters, prt_build_unary(b, PRT_OP_round, quarters));
    prt_value *other = prt_build_binary(b, PRT_OP_or, large, prt_build_unary(b, PRT_OP_not, whole));
    prt_value *in[3] = { prt_build_binary(b, PRT_OP_and, finite, other), y, x };
    return prt_build_op(b, PRT_OP_where, NULL, 3, in);
}

/* All who read `v` read a noisy copy. */
static poprt_status add(prt_build b, prt_value *v, double unit, uint64_t *state)
{
    const int32_t dtype = v->type->dtype;
    const double own = unit_of(dtype), by = 4 * (unit > own ? unit : own);
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const double frequency = 1000 + (double)(*state >> 48);
    prt_value *x = cast(&b, v, PRT_DTYPE_f32);
    prt_value *phase =
        scaled(&b, prt_build_unary(&b, PRT_OP_log, prt_build_unary(&b, PRT_OP_abs, x)), frequency);
    prt_value *error =
        prt_build_binary(&b, PRT_OP_mul, x, scaled(&b, prt_build_unary(&b, PRT_OP_sin, phase), by));
    prt_value *y = cast(&b, choose(&b, x, prt_build_binary(&b, PRT_OP_add, x, error)), dtype);
    PRT_TRY(prt_build_status(&b));
    prt_value_replace(v, y);
    prt_op_set_input(x->def, 0, v);
    return POPRT_OK;
}

static poprt_status add_to_graph(prt_graph *g, double unit, uint64_t *state)
{
    prt_op *const first = g->first;
    const size_t inputs = unit > float_unit && first != NULL ? g->inputs.count : 0;
    const size_t constants = unit > float_unit && first != NULL ? g->constants.count : 0;
    for (size_t i = 0; i < inputs; i++)
        if (is_noisy(g->inputs.data[i]))
            PRT_TRY(add(prt_build_before(first), g->inputs.data[i], unit, state));
    for (size_t i = 0; i < constants; i++)
        if (is_noisy(g->constants.data[i]))
            PRT_TRY(add(prt_build_before(first), g->constants.data[i], unit, state));
    for (prt_op *op = first, *next; op != NULL; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(add_to_graph(op->regions[i], unit, state));
        const bool computes = op->def == NULL || (op->def->traits & (PRT_MOVES | PRT_VIEW)) == 0;
        for (uint32_t i = 0; i < op->n_out && computes; i++)
            if (is_noisy(&op->out[i]))
                PRT_TRY(add(next != NULL ? prt_build_before(next) : prt_build_at_end(g),
                    &op->out[i], unit, state));
    }
    return POPRT_OK;
}

poprt_status fuzz_add_noise(prt_module *module, double unit, uint64_t seed)
{
    uint64_t state = seed;
    return add_to_graph(module->main, unit, &state);
}

/* ---- distances */

static double number_at(const prt_tensor *t, size_t i)
{
    if (prt_dtype_is_float(t->dtype))
        return prt_load_f64(t->dtype, t->data, i);
    return (double)prt_load_i64(t->dtype, t->data, i);
}

double fuzz_distance(const prt_tensor *a, const prt_tensor *b)
{
    const uint32_t kind = prt_dtype_of(a->dtype)->kind;
    double most = 0, largest = 0;
    if (a->kind != PRT_VALUE_TENSOR || b->kind != PRT_VALUE_TENSOR || a->dtype != b->dtype ||
        a->rank != b->rank || !prt_dims_equal(a->dims, b->dims, a->rank) ||
        kind == PRT_KIND_string || kind == PRT_KIND_complex)
        return INFINITY;
    for (size_t i = 0; i < prt_tensor_count(a); i++) {
        const double x = number_at(a, i), y = number_at(b, i);
        if (isfinite(y))
            largest = fmax(largest, fabs(y));
        if (x == y || (isnan(x) && isnan(y)))
            continue;
        if (!isfinite(x) || !isfinite(y))
            return INFINITY;
        most = fmax(most, fabs(x - y));
    }
    return most > 0 ? most / largest : 0;
}
