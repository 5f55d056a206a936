/* SPDX-License-Identifier: MIT */
/*
 * characters.c — StringUpper, StringLower and StringStrip, which know ASCII alone and leave other
 * bytes as they are; StringLength and StringByteLength.
 */
#include "op/share/broadcast.h"
#include "op/share/strings.h"

/* ---- changed copies of the strings ---- */

typedef enum change { TO_UPPER, TO_LOWER, STRIP } change;

/* Writes a string without white space at its ends. */
static poprt_status write_stripped(prt_eval *c, size_t at, poprt_string x)
{
    while (x.size > 0 && prt_is_space(x.data[x.size - 1]))
        x.size--;
    while (x.size > 0 && prt_is_space(x.data[0])) {
        x.data++;
        x.size--;
    }
    return prt_string_write(c, 0, at, x.data, x.size);
}

/* Writes a string whose letters from `first` to `first` + 25 are in the other case. */
static poprt_status write_case(prt_eval *c, size_t at, poprt_string x, char first)
{
    char *to = prt_string_reserve(c, 0, at, x.size);
    if (to == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < x.size; i++) {
        const bool changes = x.data[i] >= first && x.data[i] <= first + ('z' - 'a');
        to[i] = (char)(changes ? x.data[i] ^ ('a' ^ 'A') : x.data[i]);
    }
    return POPRT_OK;
}

static poprt_status change_all(prt_eval *c, change how)
{
    const poprt_string *x = c->in[0]->data;
    for (size_t i = 0; prt_eval_wants(c, 0) && i < prt_tensor_count(c->in[0]); i++) {
        PRT_TRY(c->host->check(c));
        if (how == STRIP)
            PRT_TRY(write_stripped(c, i, x[i]));
        else
            PRT_TRY(write_case(c, i, x[i], how == TO_UPPER ? 'a' : 'A'));
    }
    return POPRT_OK;
}

static poprt_status upper_eval(prt_eval *c)
{
    return change_all(c, TO_UPPER);
}

static poprt_status lower_eval(prt_eval *c)
{
    return change_all(c, TO_LOWER);
}

static poprt_status strip_eval(prt_eval *c)
{
    return change_all(c, STRIP);
}

/* ---- lengths ---- */

/* Writes the number of bytes of each string or, with `characters`, of characters of UTF-8. */
static poprt_status write_lengths(prt_eval *c, bool characters)
{
    const poprt_string *x = c->in[0]->data;
    for (size_t i = 0; prt_eval_wants(c, 0) && i < prt_tensor_count(c->in[0]); i++) {
        size_t length = x[i].size;
        if (characters)
            (void)prt_utf8_prefix(x[i].data, x[i].size, &length);
        ((int64_t *)c->out[0]->data)[i] = (int64_t)length;
    }
    return POPRT_OK;
}

static poprt_status length_eval(prt_eval *c)
{
    return write_lengths(c, true);
}

static poprt_status byte_length_eval(prt_eval *c)
{
    return write_lengths(c, false);
}

const prt_op_hooks prt_op_contrib_string_upper = { .infer = prt_infer_unary, .eval = upper_eval };
const prt_op_hooks prt_op_contrib_string_lower = { .infer = prt_infer_unary, .eval = lower_eval };
const prt_op_hooks prt_op_contrib_string_strip = { .infer = prt_infer_unary, .eval = strip_eval };
const prt_op_hooks prt_op_contrib_string_length = { .infer = prt_infer_unary, .eval = length_eval };
const prt_op_hooks prt_op_text_string_byte_length = { .infer = prt_infer_unary,
    .eval = byte_length_eval };
