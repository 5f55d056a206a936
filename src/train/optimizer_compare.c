/* SPDX-License-Identifier: MIT */
/* optimizer_compare.c — copies of optimizers, replacement in a running program, and identity. */
#include <stdio.h>

#include "train/optimizer_data.h"

/* ---- copy */

static poprt_status copy_records(const prt_optimizer *from, prt_optimizer *to)
{
    for (size_t i = 0; i < from->records.count; i++) {
        const prt_optimizer_record *r = from->records.data[i];
        prt_optimizer_record *copy = prt_arena_copy(to->arena, r, sizeof(*r));
        if (copy == NULL)
            return POPRT_E_NOMEM;
        copy->weight.data = prt_arena_text(to->arena, r->weight.data, r->weight.size);
        if (copy->weight.data == NULL || !PRT_VEC_PUSH(to->arena, &to->records, copy))
            return POPRT_E_NOMEM;
        PRT_TRY(prt_map_set(&to->by_weight, copy->weight, copy));
    }
    return POPRT_OK;
}

static poprt_status copy_groups(const prt_optimizer *from, prt_optimizer *to)
{
    for (size_t i = 0; i < from->groups.count; i++) {
        prt_optimizer_group g = from->groups.data[i];
        prt_str *names = PRT_NEW_N(to->arena, prt_str, g.weights.count);
        if (names == NULL)
            return POPRT_E_NOMEM;
        for (uint32_t k = 0; k < g.weights.count; k++)
            names[k] = prt_optimizer_record_of(to, g.weights.data[k])->weight;
        g.weights.data = names;
        if (!PRT_VEC_PUSH(to->arena, &to->groups, g))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

poprt_status prt_optimizer_copy(const prt_optimizer *from, const prt_allocator *allocator,
    prt_optimizer **out)
{
    prt_optimizer *o = NULL;
    PRT_TRY(prt_optimizer_create(allocator, prt_optimizer_kind_row_of(from->kind)->name, &o));
    memcpy(o->values, from->values, sizeof(o->values));
    memcpy(o->settings, from->settings, sizeof(o->settings));
    o->step = from->step;
    poprt_status status = copy_records(from, o);
    if (status == POPRT_OK)
        status = copy_groups(from, o);
    if (status != POPRT_OK) {
        prt_optimizer_release(o);
        return status;
    }
    *out = o;
    return POPRT_OK;
}

/* ---- replacement */

/* `weight` is empty for the values of all weights. */
static poprt_status check_value(uint32_t id, prt_str weight, prt_optimizer_value old,
    prt_optimizer_value now)
{
    char subject[160];
    (void)snprintf(subject, sizeof(subject), "%s%s%.*s", prt_optimizer_value_row_of(id)->key,
        weight.size != 0 ? " of " : "", (int)(weight.size < 100 ? weight.size : 100),
        weight.size != 0 ? weight.data : "");
    if (old.is_constant != now.is_constant)
        return prt_fail(POPRT_E_ARG, subject, "a %s value cannot replace a %s one",
            now.is_constant ? "constant" : "variable", old.is_constant ? "constant" : "variable");
    if (old.is_constant && old.value != now.value)
        return prt_fail(POPRT_E_ARG, subject,
            "the program was made for the constant %g, which %g cannot replace", (double)old.value,
            (double)now.value);
    /* The program has the operators of one of the two. */
    if (id == PRT_OPTIMIZER_VALUE_nesterov && (old.value != 0.0f) != (now.value != 0.0f))
        return prt_fail(POPRT_E_ARG, subject, "nesterov cannot be switched on or off");
    return POPRT_OK;
}

static poprt_status check_values(const prt_optimizer *o, prt_str weight,
    const prt_optimizer_value *old, const prt_optimizer_value *now)
{
    for (uint32_t i = 0; i < PRT_OPTIMIZER_VALUES; i++)
        if (prt_optimizer_has_value(o, i) &&
            (weight.size == 0 || prt_optimizer_value_row_of(i)->specific[0] != '\0'))
            PRT_TRY(check_value(i, weight, old[i], now[i]));
    return POPRT_OK;
}

/* Fails with `message` if a weight has values of its own in `a` but not in `b`. */
static poprt_status check_specifics(const prt_optimizer *a, const prt_optimizer *b,
    const char *message)
{
    for (size_t i = 0; i < a->records.count; i++) {
        const prt_optimizer_record *r = a->records.data[i];
        if (r->has_values && !prt_optimizer_has_specific(b, r->weight))
            return prt_fail(POPRT_E_ARG, r->weight.data, "%s", message);
    }
    return POPRT_OK;
}

static bool equal_weights(prt_strs a, prt_strs b)
{
    bool equal = a.count == b.count;
    for (uint32_t i = 0; equal && i < a.count; i++)
        equal = prt_str_equal(a.data[i], b.data[i]);
    return equal;
}

static poprt_status check_groups(const prt_optimizer *old, const prt_optimizer *now)
{
    if (old->groups.count != now->groups.count)
        return prt_fail(POPRT_E_ARG, "clipping", "there are %zu groups instead of %zu",
            now->groups.count, old->groups.count);
    for (size_t i = 0; i < old->groups.count; i++) {
        const prt_optimizer_group *a = &old->groups.data[i], *b = &now->groups.data[i];
        if (a->max_norm != b->max_norm)
            return prt_fail(POPRT_E_ARG, "clipping", "group %zu has norm %g instead of %g", i,
                (double)b->max_norm, (double)a->max_norm);
        if (!equal_weights(a->weights, b->weights))
            return prt_fail(POPRT_E_ARG, "clipping", "group %zu has other weights", i);
    }
    return POPRT_OK;
}

static poprt_status check_settings(const prt_optimizer *old, const prt_optimizer *now)
{
    for (uint32_t i = 0; i < PRT_OPTIMIZER_SETTINGS; i++)
        if (old->settings[i] != now->settings[i])
            return prt_fail(POPRT_E_ARG, prt_optimizer_setting_row_of(i)->key,
                "the setting differs from that of the program; accepted words are %s",
                prt_optimizer_setting_row_of(i)->words);
    return POPRT_OK;
}

poprt_status prt_optimizer_check_replacement(const prt_optimizer *old, const prt_optimizer *now)
{
    const prt_optimizer_kind_row *a = prt_optimizer_kind_row_of(old->kind);
    const prt_optimizer_kind_row *b = prt_optimizer_kind_row_of(now->kind);
    if (a->family != b->family || strcmp(a->mode, b->mode) != 0)
        return prt_fail(POPRT_E_ARG, b->name, "the program was made for the optimizer %s", a->name);
    PRT_TRY(check_settings(old, now));
    PRT_TRY(check_groups(old, now));
    PRT_TRY(check_values(old, (prt_str){ NULL, 0 }, old->values, now->values));
    PRT_TRY(check_specifics(old, now, "this weight had values of its own and has none now"));
    PRT_TRY(check_specifics(now, old, "this weight had no values of its own and has some now"));
    for (size_t i = 0; i < old->records.count; i++) {
        const prt_optimizer_record *r = old->records.data[i];
        if (r->has_values)
            PRT_TRY(check_values(old, r->weight, r->values,
                prt_optimizer_record_of(now, r->weight)->values));
    }
    return POPRT_OK;
}

/* ---- identity */

typedef struct text {
    prt_arena *arena;
    PRT_VEC(char) bytes;
    bool failed;
} text;

static void add_bytes(text *t, const void *bytes, size_t size)
{
    t->failed = t->failed ||
        !prt_vec_reserve(t->arena, (void **)&t->bytes.data, &t->bytes.capacity, t->bytes.count,
            size, 1);
    if (t->failed || size == 0)
        return;
    memcpy(t->bytes.data + t->bytes.count, bytes, size);
    t->bytes.count += size;
}

static void add_text(text *t, const char *word)
{
    add_bytes(t, word, strlen(word));
}

/* The size makes names with any characters distinct. */
static void add_name(text *t, prt_str name)
{
    char size[16];
    (void)snprintf(size, sizeof(size), " %u:", name.size);
    add_text(t, size);
    add_bytes(t, name.data, name.size);
}

static void add_number(text *t, const char *name, double value)
{
    char word[96];
    (void)snprintf(word, sizeof(word), " %s=%.9g", name, value);
    add_text(t, word);
}

static void add_values(text *t, const prt_optimizer *o, const prt_optimizer_value *values)
{
    for (uint32_t i = 0; i < PRT_OPTIMIZER_VALUES; i++) {
        const char *key = prt_optimizer_value_row_of(i)->key;
        if (!prt_optimizer_has_value(o, i))
            continue;
        if (values[i].is_constant)
            add_number(t, key, (double)values[i].value);
        else if (i == PRT_OPTIMIZER_VALUE_nesterov)
            add_text(t, values[i].value != 0.0f ? " nesterov=on?" : " nesterov=off?");
        else {
            add_text(t, " ");
            add_text(t, key);
            add_text(t, "=?");
        }
    }
}

static void add_groups(text *t, const prt_optimizer *o)
{
    for (size_t i = 0; i < o->groups.count; i++) {
        const prt_optimizer_group *g = &o->groups.data[i];
        add_number(t, "clip", (double)g->max_norm);
        for (uint32_t k = 0; k < g->weights.count; k++)
            add_name(t, g->weights.data[k]);
    }
}

prt_str prt_optimizer_identity(const prt_optimizer *o, prt_arena *arena)
{
    const prt_optimizer_kind_row *kind = prt_optimizer_kind_row_of(o->kind);
    static const char *const families[] = { "sgd", "adam", "adaptive" };
    text t = { .arena = arena };
    add_text(&t, families[kind->family]);
    add_text(&t, " ");
    add_text(&t, kind->mode);
    for (uint32_t i = 0; i < PRT_OPTIMIZER_SETTINGS; i++)
        if (prt_optimizer_has_setting(o, i))
            add_number(&t, prt_optimizer_setting_row_of(i)->key, o->settings[i]);
    add_values(&t, o, o->values);
    add_number(&t, "step", (double)o->step);
    add_groups(&t, o);
    for (size_t i = 0; i < o->records.count; i++) {
        const prt_optimizer_record *r = o->records.data[i];
        if (!r->has_values && !r->has_step)
            continue;
        add_text(&t, " weight");
        add_name(&t, r->weight);
        if (r->has_values)
            add_values(&t, o, r->values);
        if (r->has_step)
            add_number(&t, "step", (double)r->step);
    }
    if (t.failed)
        return (prt_str){ NULL, 0 };
    return (prt_str){ t.bytes.data, (uint32_t)t.bytes.count };
}
