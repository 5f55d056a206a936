/* SPDX-License-Identifier: MIT */
/* gradient_check.c — gradients compared with central differences. */
#include "support/gradient_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

#include "ir/interp.h"
#include "train/autodiff.h"

enum { MOST_INPUTS = 10, MOST_ELEMENTS = 512 };

typedef struct point {
    double data[MOST_INPUTS][MOST_ELEMENTS]; /* elements in the type of the input */
    prt_tensor tensors[MOST_INPUTS];
    const prt_tensor *in[MOST_INPUTS];
    uint32_t n;
} point;

static void require_ok(poprt_status status, const char *text)
{
    if (status != POPRT_OK)
        ck_abort_msg("%s: %s: %s\n%s", prt_status_name(status), prt_error_last()->subject,
            prt_error_last()->message, text);
}

/* Fills inputs with distinct values in (low, high) that are not close to a multiple of 1/8,
 * where functions may have kinks. */
static void fill_inputs(point *p, const prt_graph *g, double low, double high)
{
    uint32_t state = 12345;
    p->n = (uint32_t)g->inputs.count;
    ck_assert_uint_le(p->n, MOST_INPUTS);
    for (uint32_t i = 0; i < p->n; i++) {
        const prt_type *type = g->inputs.data[i]->type;
        uint64_t count;
        ck_assert(prt_type_count(type, &count) && count <= MOST_ELEMENTS);
        ck_assert(type->dtype == PRT_DTYPE_f64 || type->dtype == PRT_DTYPE_f32);
        for (uint64_t k = 0; k < count; k++) {
            state = state * 1664525u + 1013904223u;
            const double share = (double)(state >> 8) / 16777216.0;
            const double rough = low + (high - low) * share;
            prt_store_f64(type->dtype, p->data[i], k,
                floor(rough * 8.0) / 8.0 + 0.03 + 0.05 * share);
        }
        ck_assert(prt_tensor_init(&p->tensors[i], type->dtype, (uint32_t)type->rank, type->dims,
            p->data[i]));
        p->in[i] = &p->tensors[i];
    }
}

static double weight(size_t i)
{
    return 0.5 + (double)(i % 5) * 0.25;
}

/* Returns a weighted sum of the elements of the first `n_y` outputs. */
static double loss(const prt_graph *g, const point *p, uint32_t n_y, const char *text)
{
    prt_arena *arena = NULL;
    prt_tensor out[2 * MOST_INPUTS];
    double sum = 0.0;
    require_ok(prt_arena_create(&prt_mem_libc, 0, &arena), text);
    require_ok(prt_ir_run(g, p->n, p->in, g->ret->n_in, out, arena), text);
    for (uint32_t k = 0; k < n_y; k++)
        for (size_t i = 0; i < prt_tensor_count(&out[k]); i++)
            sum += weight(i) * prt_load_f64(out[k].dtype, out[k].data, i);
    prt_arena_release(arena);
    return sum;
}

/* Returns the sum of the elements of `y`, each with its weight. */
static prt_value *weighted(prt_build *b, prt_value *y)
{
    double weights[MOST_ELEMENTS];
    uint64_t count;
    ck_assert(prt_type_is_static(y->type) && prt_type_count(y->type, &count));
    ck_assert_uint_le(count, MOST_ELEMENTS);
    for (size_t i = 0; i < count; i++)
        prt_store_f64(y->type->dtype, weights, i, weight(i));
    prt_value *w =
        prt_build_tensor(b, y->type->dtype, (uint32_t)y->type->rank, y->type->dims, weights);
    prt_reduce_sum_attrs attrs = PRT_ATTRS_OF(reduce_sum);
    PRT_ATTR_SET(attrs, reduce_sum, keepdims, 0);
    prt_value *product = prt_build_binary(b, PRT_OP_mul, y, w);
    return prt_build_op(b, PRT_OP_reduce_sum, &attrs, 1, &product);
}

/* Appends the gradients for all inputs of the loss, which is the weighted sum of all outputs. */
static void differentiate(prt_graph *g, const char *text)
{
    const uint32_t n_y = g->ret->n_in, n = (uint32_t)g->inputs.count;
    prt_value *outs[2 * MOST_INPUTS], *sum = NULL;
    prt_str names[2 * MOST_INPUTS];
    char texts[2 * MOST_INPUTS][16];
    ck_assert_uint_le(n_y, MOST_INPUTS);
    prt_build b = prt_build_at_end(g);
    for (uint32_t i = 0; i < n_y; i++) {
        outs[i] = g->ret->in[i].value;
        prt_value *part = weighted(&b, outs[i]);
        sum = sum == NULL ? part : prt_build_binary(&b, PRT_OP_add, sum, part);
    }
    require_ok(prt_build_status(&b), text);
    require_ok(prt_autodiff(&b, sum, NULL, n, g->inputs.data, 0, NULL, outs + n_y, NULL), text);
    /* A loop with kept states may have replaced an output. */
    for (uint32_t i = 0; i < n_y + n; i++) {
        outs[i] = i < n_y ? g->ret->in[i].value : outs[i];
        (void)snprintf(texts[i], sizeof(texts[i]), "result%u", i);
        names[i] = prt_module_str(g->module, prt_str_of(texts[i]));
    }
    require_ok(prt_graph_set_outputs(g, n_y + n, outs, names), text);
    require_ok(prt_ir_verify(g->module), text);
}

/* Makes the outputs of the graph the sum of the squares of its gradients. */
static void return_squares(prt_graph *g, const char *text)
{
    const uint32_t n = (uint32_t)g->inputs.count;
    prt_value *y = g->ret->in[0].value, *dx[MOST_INPUTS], *sum = NULL;
    prt_build b = prt_build_at_end(g);
    prt_value *of = weighted(&b, y);
    require_ok(prt_build_status(&b), text);
    require_ok(prt_autodiff(&b, of, NULL, n, g->inputs.data, 0, NULL, dx, NULL), text);
    for (uint32_t i = 0; i < n; i++) {
        prt_value *part = weighted(&b, prt_build_binary(&b, PRT_OP_mul, dx[i], dx[i]));
        sum = sum == NULL ? part : prt_build_binary(&b, PRT_OP_add, sum, part);
    }
    require_ok(prt_build_status(&b), text);
    require_ok(prt_graph_set_outputs(g, 1, &sum, (const prt_str[1]){ PRT_STR("sum") }), text);
}

static void check(const char *text, bool second, double low, double high, double h,
    double tolerance)
{
    prt_graph *g = graph_from_text(text);
    point p;
    prt_arena *arena = NULL;
    prt_tensor out[2 * MOST_INPUTS];
    if (second)
        return_squares(g, text);
    const uint32_t n_y = g->ret->n_in;
    fill_inputs(&p, g, low, high);
    differentiate(g, text);
    require_ok(prt_arena_create(&prt_mem_libc, 0, &arena), text);
    require_ok(prt_ir_run(g, p.n, p.in, g->ret->n_in, out, arena), text);
    for (uint32_t i = 0; i < p.n; i++) {
        const prt_tensor *found = &out[n_y + i];
        ck_assert_uint_eq(prt_tensor_count(found), prt_tensor_count(&p.tensors[i]));
        for (size_t k = 0; k < prt_tensor_count(&p.tensors[i]); k++) {
            const int32_t dtype = p.tensors[i].dtype;
            const double at = prt_load_f64(dtype, p.data[i], k);
            prt_store_f64(dtype, p.data[i], k, at + h);
            const double above = loss(g, &p, n_y, text);
            prt_store_f64(dtype, p.data[i], k, at - h);
            const double below = loss(g, &p, n_y, text);
            prt_store_f64(dtype, p.data[i], k, at);
            const double want = (above - below) / (2.0 * h);
            const double is = prt_load_f64(found->dtype, found->data, k);
            if (!(fabs(is - want) <= tolerance * (1.0 + fabs(want))))
                ck_abort_msg("input %u, element %zu: %.9g, by differences %.9g\n%s", i, k, is, want,
                    text);
        }
    }
    prt_arena_release(arena);
    module_free(g);
}

void check_gradients(const char *text, double low, double high)
{
    check(text, false, low, high, 1e-5, 1e-5);
}

void check_gradients_f32(const char *text, double low, double high)
{
    check(text, false, low, high, 1e-2, 4e-3);
}

void check_second_gradients(const char *text, double low, double high)
{
    check(text, true, low, high, 1e-5, 1e-5);
}

/* Makes the outputs of the graph the gradients of the sum of the squares of its first output. */
static void return_gradients(prt_graph *g, const char *text)
{
    static const prt_str names[MOST_INPUTS] = { PRT_STR_INIT("d0"), PRT_STR_INIT("d1"),
        PRT_STR_INIT("d2"), PRT_STR_INIT("d3"), PRT_STR_INIT("d4"), PRT_STR_INIT("d5") };
    const uint32_t n = (uint32_t)g->inputs.count;
    prt_value *dx[MOST_INPUTS], *y = g->ret->in[0].value;
    prt_build b = prt_build_at_end(g);
    prt_reduce_sum_attrs attrs = PRT_ATTRS_OF(reduce_sum);
    PRT_ATTR_SET(attrs, reduce_sum, keepdims, 0);
    ck_assert_uint_le(n, 6);
    prt_value *square = prt_build_binary(&b, PRT_OP_mul, y, y);
    prt_value *sum = prt_build_op(&b, PRT_OP_reduce_sum, &attrs, 1, &square);
    require_ok(prt_build_status(&b), text);
    require_ok(prt_autodiff(&b, sum, NULL, n, g->inputs.data, 0, NULL, dx, NULL), text);
    require_ok(prt_graph_set_outputs(g, n, dx, names), text);
    require_ok(prt_ir_verify(g->module), text);
}

void check_symbolic_gradients(const char *text)
{
    char fixed[2048];
    point p;
    prt_arena *arena = NULL;
    prt_tensor out[2][MOST_INPUTS];
    (void)snprintf(fixed, sizeof(fixed), "%s", text);
    for (char *at = fixed; *at != '\0'; at++)
        if (*at == 'n' && at != fixed && (at[-1] == '[' || at[-1] == ',') &&
            (at[1] == ']' || at[1] == ','))
            *at = '2';
    prt_graph *graphs[2] = { graph_from_text(text), graph_from_text(fixed) };
    fill_inputs(&p, graphs[1], -1, 1);
    require_ok(prt_arena_create(&prt_mem_libc, 0, &arena), text);
    for (uint32_t k = 0; k < 2; k++) {
        return_gradients(graphs[k], text);
        require_ok(prt_ir_run(graphs[k], p.n, p.in, p.n, out[k], arena), text);
    }
    for (uint32_t i = 0; i < p.n; i++) {
        const size_t count = prt_tensor_count(&p.tensors[i]);
        ck_assert_uint_eq(prt_tensor_count(&out[0][i]), count);
        for (size_t k = 0; k < count; k++) {
            const double is = prt_load_f64(out[0][i].dtype, out[0][i].data, k);
            const double want = prt_load_f64(out[1][i].dtype, out[1][i].data, k);
            if (!(fabs(is - want) <= 1e-12 * (1.0 + fabs(want))))
                ck_abort_msg("input %u, element %zu: %.9g, not %.9g\n%s", i, k, is, want, text);
        }
    }
    prt_arena_release(arena);
    module_free(graphs[0]);
    module_free(graphs[1]);
}

const char *gradient_error(const char *text)
{
    prt_graph *g = graph_from_text(text);
    prt_build b = prt_build_at_end(g);
    prt_value *dxs[MOST_INPUTS];
    uint32_t n_ops = 0, n_after = 0;
    prt_for_each_op (op, g)
        n_ops++;
    ck_assert_int_eq(prt_autodiff(&b, g->ret->in[0].value, NULL, (uint32_t)g->inputs.count,
                         g->inputs.data, 0, NULL, dxs, NULL),
        POPRT_E_UNSUPPORTED);
    prt_for_each_op (op, g)
        n_after++;
    ck_assert_uint_eq(n_ops, n_after);
    module_free(g);
    return prt_error_last()->message;
}
