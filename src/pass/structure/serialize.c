/* SPDX-License-Identifier: MIT */
/*
 * serialize.c — products in parts.
 *
 * serialize_matmul: marks the named MatMuls with __serialize_matmul_mode, _factor and _precision;
 * the compiler then computes them in parts (parts.c). The factor must divide the dim that the mode
 * selects, if it is known. For X [.., IC, R] and W [.., R, OC]:
 *
 *     input_channels IC   output_channels OC (the default)   reducing_dim R   none
 *
 * The CPU compiler cuts the rows in every mode except for none, since only that saves memory.
 *
 * serialize_matmul_add: splits MatMul and the following Add into parts of the last dim, with slices
 * of the constants and a Concat. Bitwise equal, because the sums of each column have the same
 * terms.
 *
 * Differences from the reference: a value of the first dictionary may also be an array, [factor,
 * mode, keep precision]; unknown names and factors that do not divide are errors.
 */
#include "base/json.h"
#include "ir/not_found.h"
#include "ir/extra.h"
#include "pass/engine/match.h"

static const char *const modes[] = { "output_channels", "input_channels", "reducing_dim", "none" };

static poprt_status read_dict(const prt_pass *p, prt_json **out)
{
    PRT_TRY(prt_pass_json(p, "serialize_dict", out));
    if (*out == NULL) { /* an empty text */
        *out = PRT_NEW(p->arena, prt_json);
        if (*out == NULL)
            return POPRT_E_NOMEM;
        (*out)->kind = PRT_JSON_OBJECT;
    }
    if ((*out)->kind != PRT_JSON_OBJECT)
        return prt_fail(POPRT_E_ARG, "serialize_dict",
            "serialize_dict is an object of node names, like {\"NODE\": 2}");
    return POPRT_OK;
}

/* ---- serialize_matmul */

typedef struct request {
    prt_str name;
    int64_t factor;
    prt_str mode;
    int64_t keep;
} request;

static poprt_status refuse(const request *r, const char *why)
{
    return prt_fail(POPRT_E_ARG, "serialize_dict", "serialize_dict of '%.*s': %s",
        PRT_STR_ARG(r->name), why);
}

/* Returns the part of `text` up to the next '/', and removes both from `text`. */
static prt_str cut(prt_str *text)
{
    prt_str part = *text;
    for (uint32_t i = 0; i < text->size; i++)
        if (text->data[i] == '/') {
            part.size = i;
            *text = (prt_str){ text->data + i + 1, text->size - i - 1 };
            return part;
        }
    *text = PRT_STR("");
    return part;
}

static bool to_number(prt_str text, int64_t *out)
{
    int64_t n = 0;
    if (text.size == 0 || text.size > 18)
        return false;
    for (uint32_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        n = n * 10 + (text.data[i] - '0');
    }
    *out = n;
    return true;
}

static bool to_flag(prt_str text, int64_t *out)
{
    *out = prt_str_is(text, "True") || prt_str_is(text, "true") || prt_str_is(text, "1");
    return *out || text.size == 0 || prt_str_is(text, "False") || prt_str_is(text, "false") ||
        prt_str_is(text, "0");
}

/* Reads FACTOR[/MODE[/KEEP_PRECISION]]. */
static bool read_text(prt_str text, request *r)
{
    if (!to_number(cut(&text), &r->factor))
        return false;
    if (text.size != 0)
        r->mode = cut(&text);
    return to_flag(cut(&text), &r->keep) && text.size == 0;
}

static bool read_array(const prt_json *v, request *r)
{
    bool keep = false;
    prt_str text;
    if (v->count < 1 || v->count > 3)
        return false;
    if (!prt_json_i64(&v->items[0], &r->factor))
        return false;
    if (v->count > 1 && !prt_json_text(&v->items[1], &r->mode))
        return false;
    if (v->count > 2 && prt_json_text(&v->items[2], &text))
        return to_flag(text, &r->keep);
    if (v->count > 2 && !prt_json_bool(&v->items[2], &keep))
        return false;
    r->keep = keep;
    return true;
}

static poprt_status read_request(const prt_json *v, request *r)
{
    prt_str text;
    bool known = false;
    *r = (request){ .name = v->key, .mode = prt_str_of(modes[0]) };
    const bool read = v->kind == PRT_JSON_ARRAY ? read_array(v, r)
        : v->kind == PRT_JSON_STRING            ? prt_json_text(v, &text) && read_text(text, r)
                                                : prt_json_i64(v, &r->factor);
    if (!read)
        return refuse(r, "expected FACTOR[/MODE[/KEEP_PRECISION]]");
    for (size_t i = 0; i < PRT_COUNT_OF(modes); i++)
        known = known || prt_str_is(r->mode, modes[i]);
    if (!known)
        return refuse(r, "modes are input_channels, output_channels, reducing_dim, none");
    return r->factor >= 1 ? POPRT_OK : refuse(r, "the factor must be 1 or more");
}

/* Returns the dim that the mode cuts; false if it is not known. */
static bool dim_of(const prt_op *op, const request *r, int64_t *out)
{
    const bool of_x = prt_str_is(r->mode, "input_channels");
    const int32_t from_last = of_x || prt_str_is(r->mode, "reducing_dim") ? 2 : 1;
    const prt_value *v = prt_op_input(op, of_x ? 0 : 1);
    if (prt_str_is(r->mode, "none") || !prt_type_is_tensor(v->type) || v->type->rank < from_last ||
        !prt_dim_is_number(v->type->dims[v->type->rank - from_last]))
        return false;
    *out = v->type->dims[v->type->rank - from_last];
    return true;
}

static poprt_status mark(const prt_pass *p, prt_op *op, const request *r, bool *changed)
{
    static const char *const mode_key = "__serialize_matmul_mode";
    static const char *const factor_key = "__serialize_matmul_factor";
    static const char *const keep_key = "__serialize_matmul_precision";
    const char *mode = prt_arena_text(p->arena, r->mode.data, r->mode.size);
    prt_str old_mode = PRT_STR("");
    int64_t factor = 0, keep = -1;
    if (mode == NULL)
        return POPRT_E_NOMEM;
    (void)prt_op_mark_text(op, mode_key, &old_mode);
    (void)prt_op_mark_i64(op, factor_key, &factor);
    (void)prt_op_mark_i64(op, keep_key, &keep);
    if (prt_str_equal(old_mode, r->mode) && factor == r->factor && keep == r->keep)
        return POPRT_OK;
    *changed = true;
    PRT_TRY(prt_op_set_mark_text(op, mode_key, mode));
    PRT_TRY(prt_op_set_mark_i64(op, factor_key, r->factor));
    return prt_op_set_mark_i64(op, keep_key, r->keep);
}

static poprt_status run_matmul(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_json *dict;
    PRT_TRY(read_dict(p, &dict));
    for (uint32_t i = 0; i < dict->count; i++) {
        request r;
        int64_t dim;
        PRT_TRY(prt_pass_check(p));
        PRT_TRY(read_request(&dict->items[i], &r));
        prt_op *op = prt_match_node(graph, r.name);
        if (op == NULL)
            return prt_fail_no_node(graph, r.name);
        if (!prt_op_is(op, PRT_OP_matmul))
            return refuse(&r, "the node is not a MatMul");
        if (dim_of(op, &r, &dim) && dim % r.factor != 0)
            return prt_fail(POPRT_E_ARG, "serialize_dict",
                "serialize_dict of '%.*s': %lld does not divide into %lld parts by %.*s",
                PRT_STR_ARG(r.name), (long long)dim, (long long)r.factor, PRT_STR_ARG(r.mode));
        PRT_TRY(mark(p, op, &r, changed));
    }
    return POPRT_OK;
}

/* ---- serialize_matmul_add */

typedef struct pair {
    prt_op *product, *add;
    uint32_t bias_slot;
    int64_t factor, columns;
} pair;

/* Finds the two nodes of MATMUL/ADD; their names may contain '/'. */
static bool find_pair(prt_graph *graph, prt_str key, pair *t)
{
    for (uint32_t i = 1; i + 1 < key.size; i++) {
        if (key.data[i] != '/')
            continue;
        t->product = prt_match_node(graph, (prt_str){ key.data, i });
        t->add = t->product == NULL
            ? NULL
            : prt_match_node(graph, (prt_str){ key.data + i + 1, key.size - i - 1 });
        if (t->add != NULL)
            return true;
    }
    return false;
}

/* Returns whether the last dim is the number of columns or 1, or the rank is 0. */
static bool is_bias(const prt_tensor *t, int64_t columns)
{
    return t->rank == 0 || t->dims[t->rank - 1] == columns || t->dims[t->rank - 1] == 1;
}

static const char *find_fault(pair *t)
{
    prt_tensor w, bias;
    const prt_value *y = &t->product->out[0];
    if (!prt_op_is(t->product, PRT_OP_matmul) || !prt_op_is(t->add, PRT_OP_add) ||
        t->add->graph != t->product->graph || !prt_value_used_once(y) || y->uses->user != t->add)
        return "expected a MatMul and an Add that is its only reader";
    t->bias_slot = prt_op_input(t->add, 0) == y ? 1 : 0;
    if (!prt_match_constant(t->product, 1, &w) || w.rank < 2 ||
        !prt_match_constant(t->add, t->bias_slot, &bias))
        return "weight and bias must be constants";
    t->columns = w.dims[w.rank - 1];
    if (!is_bias(&bias, t->columns))
        return "the bias has another last dim than the weight";
    if (t->factor < 1 || t->columns % t->factor != 0)
        return "the factor does not divide the weight's last dim";
    return NULL;
}

/* Returns columns [first, last) of a constant; the constant itself if its last dim broadcasts. */
static prt_value *columns(prt_pass *p, prt_build *b, prt_value *v, int64_t first, int64_t last)
{
    const int64_t axis = -1;
    if (v->type->rank == 0 || v->type->dims[v->type->rank - 1] == 1)
        return v;
    prt_value *in[4] = { v, prt_build_i64s(b, 1, &first), prt_build_i64s(b, 1, &last),
        prt_build_i64s(b, 1, &axis) };
    return in[3] != NULL ? prt_match_compute(p, b, v, PRT_OP_slice, NULL, 4, in) : NULL;
}

static prt_value *part_of(prt_pass *p, prt_build *b, const pair *t, int64_t k)
{
    const int64_t step = t->columns / t->factor, first = k * step;
    prt_value *w = columns(p, b, prt_op_input(t->product, 1), first, first + step);
    prt_value *bias = columns(p, b, prt_op_input(t->add, t->bias_slot), first, first + step);
    if (w == NULL || bias == NULL)
        return NULL;
    prt_value *in[2] = { prt_op_input(t->product, 0), w };
    prt_op *op = prt_match_new(b, t->product, PRT_OP_matmul, NULL, 2, in, 1);
    prt_value *sum[2] = { op != NULL ? &op->out[0] : NULL, bias };
    op = op != NULL ? prt_match_new(b, t->add, PRT_OP_add, NULL, 2, sum, 1) : NULL;
    return op != NULL ? &op->out[0] : NULL;
}

static poprt_status split(prt_pass *p, const pair *t)
{
    prt_build b = prt_build_before(t->add);
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    PRT_ATTR_SET(attrs, concat, axis, -1);
    if (t->factor > UINT16_MAX)
        return prt_fail(POPRT_E_LIMIT, prt_op_label(t->product), "more than %u parts", UINT16_MAX);
    prt_value **parts = PRT_NEW_N(p->arena, prt_value *, (size_t)t->factor);
    for (int64_t k = 0; parts != NULL && k < t->factor; k++) {
        PRT_TRY(prt_pass_check(p));
        if ((parts[k] = part_of(p, &b, t, k)) == NULL)
            return b.status != POPRT_OK
                ? b.status
                : prt_fail(POPRT_E_ARG, prt_op_label(t->product), "constants cannot be sliced");
    }
    if (parts == NULL)
        return POPRT_E_NOMEM;
    prt_value *whole = prt_build_op(&b, PRT_OP_concat, &attrs, (uint32_t)t->factor, parts);
    if (whole != NULL)
        (void)prt_pass_replace(&b, &t->add->out[0], whole);
    return prt_build_status(&b);
}

static poprt_status run_matmul_add(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_json *dict;
    PRT_TRY(read_dict(p, &dict));
    for (uint32_t i = 0; i < dict->count; i++) {
        const prt_json *v = &dict->items[i];
        pair t = { .factor = 0 };
        prt_str text;
        if (!prt_json_i64(v, &t.factor) &&
            (!prt_json_text(v, &text) || !to_number(text, &t.factor)))
            return prt_fail(POPRT_E_ARG, "serialize_dict",
                "serialize_dict of '%.*s': the factor is not an integer", PRT_STR_ARG(v->key));
        if (!find_pair(graph, v->key, &t))
            return prt_fail(POPRT_E_NOT_FOUND, "serialize_dict",
                "'%.*s' does not name two nodes, MATMUL/ADD", PRT_STR_ARG(v->key));
        const char *fault = find_fault(&t);
        if (fault != NULL)
            return prt_fail(POPRT_E_ARG, "serialize_dict", "serialize_dict of '%.*s': %s",
                PRT_STR_ARG(v->key), fault);
        if (t.factor == 1)
            continue;
        PRT_TRY(split(p, &t));
        *changed = true;
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_serialize_matmul = { .run = run_matmul };
const prt_pass_hooks prt_pass_serialize_matmul_add = { .run = run_matmul_add };
