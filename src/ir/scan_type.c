/* SPDX-License-Identifier: MIT */
/*
 * scan_type.c — types as text: the inverse of prt_type_print.
 *
 *     type = "?" | dtype | dtype "[*]" | dtype "[" [ dim { "," dim } ] "]"
 *          | ("seq" | "optional") "(" type ")" | "map" "(" dtype "," type ")"
 *     dim  = "?" | number | symbol | "(" dim ("+"|"-"|"*"|"/"|"%") dim ")"
 *          | ("ceildiv" | "min" | "max") "(" dim "," dim ")"
 */
#include "ir/scan.h"

static bool ident_char(char c)
{
    return prt_text_name_char(c) && c != '-' && c != '/' && c != ':';
}

static prt_str scan_ident(prt_scan *s)
{
    prt_scan_space(s, false);
    const size_t first = s->at;
    while (s->at < s->size && ident_char(s->text[s->at]))
        s->at++;
    return (prt_str){ s->text + first, (uint32_t)(s->at - first) };
}

static poprt_status scan_dim(prt_scan *s, int64_t *out);

static poprt_status scan_operands(prt_scan *s, prt_dim_op op, int64_t *out)
{
    int64_t a, b;
    if (s->type_depth >= PRT_TEXT_DEPTH)
        return prt_scan_fail(s, POPRT_E_LIMIT, "more than %d levels deep", PRT_TEXT_DEPTH);
    s->type_depth++;
    PRT_TRY(scan_dim(s, &a));
    if (op == PRT_DIM_SYMBOL) {
        static const char signs[] = "+-*/%";
        static const prt_dim_op ops[] = { PRT_DIM_ADD, PRT_DIM_SUB, PRT_DIM_MUL, PRT_DIM_FLOORDIV,
            PRT_DIM_MOD };
        const char c = prt_scan_peek(s);
        const char *at = c != '\0' ? strchr(signs, c) : NULL;
        if (at == NULL)
            return prt_scan_fail(s, POPRT_E_PARSE, "expected one of %s", signs);
        s->at++;
        op = ops[at - signs];
    } else {
        PRT_TRY(prt_scan_expect(s, ','));
    }
    PRT_TRY(scan_dim(s, &b));
    PRT_TRY(prt_scan_expect(s, ')'));
    s->type_depth--;
    *out = prt_dim_make(s->module->dims, op, a, b);
    return POPRT_OK;
}

static poprt_status scan_dim(prt_scan *s, int64_t *out)
{
    if (prt_scan_accept(s, '?')) {
        *out = PRT_DIM_UNKNOWN;
        return POPRT_OK;
    }
    if (prt_scan_accept(s, '('))
        return scan_operands(s, PRT_DIM_SYMBOL, out);
    const bool negative = prt_scan_accept(s, '-');
    const char first = prt_scan_peek(s);
    if (negative || (first >= '0' && first <= '9')) {
        int64_t number;
        if (!prt_text_to_element(PRT_DTYPE_i64, scan_ident(s), &number, 0) ||
            !prt_dim_is_number(-number))
            return prt_scan_fail(s, POPRT_E_PARSE, "dimension is not a number, or is out of range");
        *out = negative ? -number : number;
        return POPRT_OK;
    }
    prt_str name;
    if (first == '"')
        PRT_TRY(prt_scan_name(s, &name));
    else
        name = scan_ident(s);
    if (name.size == 0)
        return prt_scan_fail(s, POPRT_E_PARSE, "expected a dimension");
    if (first != '"' && prt_scan_peek(s) == '(') {
        s->at++;
        if (prt_str_is(name, "ceildiv"))
            return scan_operands(s, PRT_DIM_CEILDIV, out);
        if (prt_str_is(name, "min"))
            return scan_operands(s, PRT_DIM_MIN, out);
        if (prt_str_is(name, "max"))
            return scan_operands(s, PRT_DIM_MAX, out);
        if (prt_str_is(name, "broadcast"))
            return scan_operands(s, PRT_DIM_BROADCAST, out);
        if (prt_str_is(name, "bound"))
            return scan_operands(s, PRT_DIM_BOUND, out);
        if (prt_str_is(name, "ratio"))
            return scan_operands(s, PRT_DIM_RATIO, out);
        return prt_scan_fail(s, POPRT_E_PARSE, "no function '%.*s' of dimensions",
            PRT_STR_ARG(name));
    }
    *out = prt_dim_symbol(s->module->dims, name);
    return *out != PRT_DIM_UNKNOWN ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status scan_tensor(prt_scan *s, int32_t dtype, const prt_type **out)
{
    int64_t dims[PRT_MAX_RANK];
    int32_t rank = PRT_RANK_UNKNOWN;
    if (prt_scan_accept(s, '[')) {
        if (prt_scan_accept(s, '*')) {
            PRT_TRY(prt_scan_expect(s, ']'));
        } else {
            rank = 0;
            while (!prt_scan_accept(s, ']')) {
                if (rank == PRT_MAX_RANK)
                    return prt_scan_fail(s, POPRT_E_LIMIT, "more than %d dimensions", PRT_MAX_RANK);
                if (rank != 0)
                    PRT_TRY(prt_scan_expect(s, ','));
                PRT_TRY(scan_dim(s, &dims[rank]));
                if (prt_dim_is_number(dims[rank]) && dims[rank] < 0)
                    return prt_scan_fail(s, POPRT_E_PARSE, "dimension is negative");
                rank++;
            }
        }
    }
    *out = prt_type_tensor(s->module->types, dtype, rank, dims);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status scan_wrapped(prt_scan *s, int32_t kind, const prt_type **out)
{
    int32_t key = PRT_DTYPE_undefined;
    const prt_type *elem = NULL;
    PRT_TRY(prt_scan_expect(s, '('));
    if (kind == PRT_VALUE_MAP) {
        const prt_str id = scan_ident(s);
        key = prt_dtype_by_id(id);
        if (key == PRT_DTYPE_undefined)
            return prt_scan_fail(s, POPRT_E_PARSE, "no element type '%.*s'", PRT_STR_ARG(id));
        PRT_TRY(prt_scan_expect(s, ','));
    }
    const char first = prt_scan_peek(s);
    PRT_TRY(prt_scan_type(s, &elem));
    if (first == '?' && elem->kind == PRT_VALUE_UNKNOWN)
        elem = NULL;
    PRT_TRY(prt_scan_expect(s, ')'));
    *out = prt_type_wrap(s->module->types, kind, key, elem);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_scan_type(prt_scan *s, const prt_type **out)
{
    if (prt_scan_accept(s, '?')) {
        if (prt_scan_peek(s) == '[')
            return scan_tensor(s, PRT_DTYPE_undefined, out);
        *out = prt_type_unknown(s->module->types);
        return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
    }
    const prt_str id = scan_ident(s);
    const int32_t kind = prt_str_is(id, "seq") ? PRT_VALUE_SEQUENCE
        : prt_str_is(id, "optional")           ? PRT_VALUE_OPTIONAL
        : prt_str_is(id, "map")                ? PRT_VALUE_MAP
                                               : PRT_VALUE_TENSOR;
    if (kind == PRT_VALUE_TENSOR) {
        const int32_t dtype = prt_dtype_by_id(id);
        if (dtype == PRT_DTYPE_undefined)
            return prt_scan_fail(s, POPRT_E_PARSE, "no type '%.*s'", PRT_STR_ARG(id));
        return scan_tensor(s, dtype, out);
    }
    if (s->type_depth >= PRT_MAX_TYPE_DEPTH)
        return prt_scan_fail(s, POPRT_E_LIMIT, "type is more than %d levels deep",
            PRT_MAX_TYPE_DEPTH);
    s->type_depth++;
    const poprt_status status = scan_wrapped(s, kind, out);
    s->type_depth--;
    return status;
}
