/* SPDX-License-Identifier: MIT */
/* substr.c — Substr: `len` bytes or characters of each string from `pos` on. */
#include "base/size.h"
#include "op/share/broadcast.h"
#include "op/share/strings.h"

static poprt_status infer(prt_infer *c)
{
    const prt_text_substr_attrs *a = c->attrs;
    if (!prt_str_is(a->unit, "BYTE") && !prt_str_is(a->unit, "UTF8_CHAR"))
        return prt_infer_fail(c, POPRT_E_ARG, "unit is not known; accepted: BYTE, UTF8_CHAR");
    return prt_infer_nary(c);
}

/* Returns the size of the first `count` units of a text. */
static size_t prefix(const char *text, size_t size, size_t count, bool characters)
{
    return characters ? prt_utf8_prefix(text, size, &count) : prt_size_min(count, size);
}

/* Writes one result. A negative position counts from the end; with a negative length, or one beyond
 * the end, the result ends where the string does. */
static poprt_status write_part(prt_eval *c, size_t at, poprt_string x, int64_t pos, int64_t len,
    bool characters)
{
    size_t units = x.size;
    if (characters)
        (void)prt_utf8_prefix(x.data, x.size, &units);
    if (pos < -(int64_t)units || pos > (int64_t)units)
        return prt_eval_fail(c, POPRT_E_ARG, "pos %lld is outside of string %zu, which has %zu %s",
            (long long)pos, at, units, characters ? "characters" : "bytes");
    const size_t first =
        prefix(x.data, x.size, (size_t)(pos < 0 ? pos + (int64_t)units : pos), characters);
    const char *from = first != 0 ? x.data + first : x.data;
    return prt_string_write(c, 0, at, from,
        prefix(from, x.size - first, len < 0 ? SIZE_MAX : (size_t)len, characters));
}

static poprt_status eval(prt_eval *c)
{
    const prt_text_substr_attrs *a = c->attrs;
    const bool characters = prt_str_is(a->unit, "UTF8_CHAR");
    const poprt_string *x = c->in[0]->data;
    prt_rows r;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_rows_init(&r, c->out[0], 3, c->in);
    while (prt_rows_next(&r)) {
        PRT_TRY(c->host->check(c));
        for (size_t i = 0; i < r.count; i++) {
            int64_t range[2];
            for (uint32_t k = 0; k < 2; k++)
                range[k] = prt_load_i64(c->in[k + 1]->dtype, c->in[k + 1]->data,
                    r.from[k + 1] + i * r.step[k + 1]);
            PRT_TRY(write_part(c, r.to + i, x[r.from[0] + i * r.step[0]], range[0], range[1],
                characters));
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_text_substr = { .infer = infer, .eval = eval };
