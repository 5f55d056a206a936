/* SPDX-License-Identifier: MIT */
/* op_check.c — operators tested through IR text. */
#include "support/op_check.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

#include "ir/interp.h"
#include "support/op_text.h"

static prt_module *parse(const char *text)
{
    prt_module *m = NULL;
    ck_assert_int_eq(prt_module_create(NULL, 0, &m), POPRT_OK);
    const poprt_status status = prt_ir_parse(m, prt_str_of(text));
    ck_assert_msg(status == POPRT_OK, "%s: %s", text, prt_error_last()->message);
    return m;
}

static prt_tensor run(prt_module *m, const char *text)
{
    prt_tensor out = { .kind = PRT_VALUE_ABSENT };
    const poprt_status status = prt_ir_run(m->main, 0, NULL, 1, &out, m->arena);
    ck_assert_msg(status == POPRT_OK, "%s: %s: %s", text, prt_error_last()->subject,
        prt_error_last()->message);
    return out;
}

static bool same_element(const prt_tensor *a, const prt_tensor *b, size_t i, double tolerance)
{
    if (a->dtype == PRT_DTYPE_string) {
        const poprt_string *s = a->data, *t = b->data;
        return s[i].size == t[i].size && memcmp(s[i].data, t[i].data, s[i].size) == 0;
    }
    if (!prt_dtype_is_float(a->dtype))
        return prt_load_i64(a->dtype, a->data, i) == prt_load_i64(b->dtype, b->data, i);
    const double x = prt_load_f64(a->dtype, a->data, i), y = prt_load_f64(b->dtype, b->data, i);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    if (x == y)
        return signbit(x) == signbit(y) || tolerance > 0.0;
    return fabs(x - y) <= tolerance * (1.0 + fabs(y));
}

void ck_result_within(const char *graph, const char *want, double tolerance)
{
    char text[4096];
    (void)snprintf(text, sizeof(text), "w = const %s\nreturn w\n", want);
    prt_module *m = parse(graph), *n = parse(text);
    const prt_tensor got = run(m, graph), expected = run(n, text);
    ck_assert_int_eq(got.kind, PRT_VALUE_TENSOR);
    ck_assert_msg(got.dtype == expected.dtype, "%s: is %s, not %s", graph,
        prt_dtype_of(got.dtype)->name, want);
    ck_assert_msg(got.rank == expected.rank, "%s: has rank %u, not %s", graph, got.rank, want);
    for (uint32_t i = 0; i < got.rank; i++)
        ck_assert_msg(got.dims[i] == expected.dims[i], "%s: dim %u is %lld, not %s", graph, i,
            (long long)got.dims[i], want);
    for (size_t i = 0; i < prt_tensor_count(&got); i++)
        ck_assert_msg(same_element(&got, &expected, i, tolerance),
            "%s: element %zu is %.17g, not as in %s", graph, i,
            got.dtype == PRT_DTYPE_string ? 0.0 : prt_load_f64(got.dtype, got.data, i), want);
    prt_module_release(m);
    prt_module_release(n);
}

void ck_result(const char *graph, const char *want)
{
    ck_result_within(graph, want, 0.0);
}

void ck_failure(const char *graph, poprt_status status, const char *part)
{
    prt_module *m = NULL;
    prt_tensor out = { .kind = PRT_VALUE_ABSENT };
    ck_assert_int_eq(prt_module_create(NULL, 0, &m), POPRT_OK);
    poprt_status got = prt_ir_parse(m, prt_str_of(graph));
    if (got == POPRT_OK)
        got = prt_ir_infer(m->main);
    if (got == POPRT_OK)
        got = prt_ir_run(m->main, 0, NULL, 1, &out, m->arena);
    ck_assert_msg(got == status, "%s: gives %s (%s)", graph, prt_status_name(got),
        prt_error_last()->message);
    ck_assert_msg(strstr(prt_error_last()->message, part) != NULL, "%s: says %s", graph,
        prt_error_last()->message);
    prt_module_release(m);
}

void ck_type(const char *graph, const char *want)
{
    ck_assert_str_eq(op_type(graph), want);
}

void ck_content(const char *graph, const char *want)
{
    ck_assert_str_eq(op_content(graph), want);
}
