/* SPDX-License-Identifier: MIT */
/* popef_weights.c — see popef_weights.h. */
#include "program/popef_weights.h"

#include "num/dtype.h"

/* ---- writing */

static void put_numbers(prt_json_out *j, const char *key, uint32_t count, const int64_t *values)
{
    prt_json_open(j, key, '[');
    for (uint32_t i = 0; i < count; i++)
        prt_json_put_i64(j, NULL, values[i]);
    prt_json_close(j, ']');
}

/* Returns how many entries of `more` a step uses. */
static uint32_t more_of(const prt_weight_step *s)
{
    switch (s->kind) {
    case PRT_WEIGHT_transpose:
        return s->rank;
    case PRT_WEIGHT_part:
        return 3;
    case PRT_WEIGHT_integers:
        return 2;
    default:
        return 0;
    }
}

static void put_weight(prt_json_out *j, const prt_weight_form *f)
{
    prt_json_open(j, NULL, '{');
    prt_json_put_text(j, "name", f->name);
    prt_json_put_text(j, "dtype", prt_str_of(prt_dtype_of(f->type->dtype)->name));
    put_numbers(j, "shape", (uint32_t)f->type->rank, f->type->dims);
    prt_json_open(j, "steps", '[');
    for (uint32_t i = 0; i < f->n_steps; i++) {
        const prt_weight_step *s = &f->steps[i];
        prt_json_open(j, NULL, '[');
        prt_json_put_text(j, NULL, prt_str_of(prt_weight_step_name(s->kind)));
        put_numbers(j, NULL, s->rank, s->dims);
        put_numbers(j, NULL, more_of(s), s->more);
        prt_json_close(j, ']');
    }
    prt_json_close(j, ']');
    prt_json_close(j, '}');
}

void prt_popef_put_weights(prt_json_out *j, const prt_program *p, uint32_t constant)
{
    bool some = false;
    for (uint32_t i = 0; i < p->n_weights; i++) {
        if (p->weights[i].constant != constant)
            continue;
        if (!some)
            prt_json_open(j, "weights", '[');
        some = true;
        put_weight(j, &p->weights[i].form);
    }
    if (some)
        prt_json_close(j, ']');
}

void prt_popef_put_folded(prt_json_out *j, const prt_program *p)
{
    bool some = false;
    for (uint32_t i = 0; i < p->n_weights; i++) {
        if (p->weights[i].constant != PRT_NO_CONSTANT)
            continue;
        if (!some)
            prt_json_open(j, "folded", '[');
        some = true;
        prt_json_open(j, NULL, '[');
        prt_json_put_text(j, NULL, p->weights[i].form.name);
        prt_json_put_text(j, NULL, p->weights[i].pass);
        prt_json_close(j, ']');
    }
    if (some)
        prt_json_close(j, ']');
}

/* ---- reading */

static poprt_status bad(const prt_program *p)
{
    return prt_fail(POPRT_E_PARSE, p->name.data,
        "the file states impossible forms of its weights: it is damaged");
}

static bool get_numbers(const prt_json *from, uint32_t *count, int64_t *to)
{
    if (from == NULL || from->kind != PRT_JSON_ARRAY || from->count > PRT_MAX_RANK)
        return false;
    for (uint32_t i = 0; i < from->count; i++)
        if (!prt_json_i64(&from->items[i], &to[i]))
            return false;
    *count = from->count;
    return true;
}

static bool get_step(const prt_json *from, prt_weight_step *to)
{
    prt_str word;
    uint32_t more;
    if (from->kind != PRT_JSON_ARRAY || from->count != 3 ||
        !prt_json_text(&from->items[0], &word) ||
        !get_numbers(&from->items[1], &to->rank, to->dims) ||
        !get_numbers(&from->items[2], &more, to->more))
        return false;
    to->kind = prt_weight_step_of(word);
    return to->kind != PRT_WEIGHT_STEP_KINDS && more == more_of(to);
}

static bool copy_text(const prt_program *p, prt_str *text)
{
    *text = (prt_str){ prt_arena_text(p->arena, text->data, text->size), text->size };
    return text->data != NULL;
}

static poprt_status get_weight(prt_program *p, const prt_json *from, uint32_t constant,
    prt_weight *to)
{
    const prt_json *steps = prt_json_get(from, "steps");
    prt_str dtype, name;
    int64_t dims[PRT_MAX_RANK];
    uint32_t rank;
    if (!prt_json_text(prt_json_get(from, "name"), &name) || name.size == 0 ||
        !prt_json_text(prt_json_get(from, "dtype"), &dtype) ||
        !get_numbers(prt_json_get(from, "shape"), &rank, dims) || steps == NULL ||
        steps->kind != PRT_JSON_ARRAY || steps->count > PRT_WEIGHT_STEPS)
        return bad(p);
    for (uint32_t i = 0; i < rank; i++)
        if (dims[i] < 0 || !prt_dim_is_number(dims[i]))
            return bad(p);
    prt_weight_step *all = PRT_NEW_N(p->arena, prt_weight_step, steps->count);
    const prt_type *type =
        prt_type_tensor(p->types, prt_dtype_by_name(dtype.data), (int32_t)rank, dims);
    if (all == NULL || type == NULL || !copy_text(p, &name))
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < steps->count; i++)
        if (!get_step(&steps->items[i], &all[i]))
            return bad(p);
    *to = (prt_weight){ .form = { name, type, steps->count, all }, .constant = constant };
    return prt_weight_form_check(&to->form, p->constants[constant].type) ? POPRT_OK : bad(p);
}

static poprt_status get_folded(prt_program *p, const prt_json *from, prt_weight *to)
{
    *to = (prt_weight){ .constant = PRT_NO_CONSTANT };
    if (from->kind != PRT_JSON_ARRAY || from->count != 2 ||
        !prt_json_text(&from->items[0], &to->form.name) ||
        !prt_json_text(&from->items[1], &to->pass) || to->form.name.size == 0)
        return bad(p);
    return copy_text(p, &to->form.name) && copy_text(p, &to->pass) ? POPRT_OK : POPRT_E_NOMEM;
}

/* Returns a member that lists weights; NULL: there is none. */
static const prt_json *list_of(const prt_json *descriptor, const char *key)
{
    const prt_json *list = prt_json_get(descriptor, key);
    return list != NULL && list->kind == PRT_JSON_ARRAY ? list : NULL;
}

poprt_status prt_popef_get_weights(prt_program *p, const prt_json *executable,
    const prt_json *const *tensors)
{
    const prt_json *folded = list_of(executable, "folded");
    size_t count = folded != NULL ? folded->count : 0;
    for (uint32_t i = 0; i < p->n_constants; i++) {
        const prt_json *list = list_of(tensors[i], "weights");
        count += list != NULL ? list->count : 0;
    }
    prt_weight *weights = count <= UINT32_MAX ? PRT_NEW_N(p->arena, prt_weight, count) : NULL;
    if (count == 0)
        return POPRT_OK;
    if (weights == NULL)
        return POPRT_E_NOMEM;
    p->weights = weights;
    for (uint32_t i = 0; i < p->n_constants; i++) {
        const prt_json *list = list_of(tensors[i], "weights");
        for (uint32_t k = 0; list != NULL && k < list->count; k++)
            PRT_TRY(get_weight(p, &list->items[k], i, &weights[p->n_weights++]));
    }
    for (uint32_t k = 0; folded != NULL && k < folded->count; k++)
        PRT_TRY(get_folded(p, &folded->items[k], &weights[p->n_weights++]));
    return POPRT_OK;
}
