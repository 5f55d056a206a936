/* SPDX-License-Identifier: MIT */
/* optimizer.c — creation of optimizers, their values and settings, and the checks of both. */
#include "train/optimizer.h"

#include <math.h>
#include <stdio.h>

#include "base/accepts.h"
#include "base/nearest.h"
#include "train/optimizer_data.h"

#define NO NAN
static const prt_optimizer_value_row value_rows[PRT_OPTIMIZER_VALUES] = {
#define VALUE(id, key, specific, sgd, adam, adaptive) { key, specific, { sgd, adam, adaptive } },
#include "train/optimizer.def"
};
#undef NO
#define NO -1
static const prt_optimizer_setting_row setting_rows[PRT_OPTIMIZER_SETTINGS] = {
#define SETTING(id, key, words, sgd, adam, adaptive) { key, words, { sgd, adam, adaptive } },
#include "train/optimizer.def"
};
#undef NO
static const prt_optimizer_kind_row kind_rows[PRT_OPTIMIZER_KINDS] = {
#define KIND(name, family, mode) { #name, PRT_OPTIMIZER_##family, mode },
#include "train/optimizer.def"
};

const prt_optimizer_value_row *prt_optimizer_value_row_of(uint32_t id)
{
    return &value_rows[id];
}

const prt_optimizer_setting_row *prt_optimizer_setting_row_of(uint32_t id)
{
    return &setting_rows[id];
}

const prt_optimizer_kind_row *prt_optimizer_kind_row_of(uint32_t kind)
{
    return &kind_rows[kind];
}

prt_optimizer_kind prt_optimizer_kind_of(const prt_optimizer *o)
{
    return (prt_optimizer_kind)o->kind;
}

prt_optimizer_family prt_optimizer_family_of(const prt_optimizer *o)
{
    return (prt_optimizer_family)kind_rows[o->kind].family;
}

bool prt_optimizer_has_value(const prt_optimizer *o, uint32_t id)
{
    return !isnan(value_rows[id].initial[kind_rows[o->kind].family]);
}

bool prt_optimizer_has_setting(const prt_optimizer *o, uint32_t id)
{
    return setting_rows[id].initial[kind_rows[o->kind].family] >= 0;
}

/* ---- creation */

static poprt_status find_kind(const char *kind, uint32_t *out)
{
    const char *names[PRT_OPTIMIZER_KINDS];
    char similar[128];
    for (*out = 0; *out < PRT_OPTIMIZER_KINDS; ++*out) {
        names[*out] = kind_rows[*out].name;
        if (strcmp(kind, names[*out]) == 0)
            return POPRT_OK;
    }
    prt_nearest(kind, names, PRT_OPTIMIZER_KINDS, similar, sizeof(similar));
    return prt_fail(POPRT_E_NOT_FOUND, kind, "there is no such optimizer; similar: %s", similar);
}

static prt_optimizer *create_in(prt_arena *arena, uint32_t kind)
{
    prt_optimizer *o = PRT_NEW(arena, prt_optimizer);
    const uint32_t family = kind_rows[kind].family;
    if (o == NULL)
        return NULL;
    o->arena = arena;
    o->kind = kind;
    o->by_weight = prt_map_in(arena);
    for (uint32_t i = 0; i < PRT_OPTIMIZER_VALUES; i++) {
        const float initial = value_rows[i].initial[family];
        o->values[i].value = isnan(initial) ? 0.0f : initial;
        o->values[i].is_constant = true;
    }
    for (uint32_t i = 0; i < PRT_OPTIMIZER_SETTINGS; i++)
        if (setting_rows[i].initial[family] >= 0)
            o->settings[i] = (uint8_t)setting_rows[i].initial[family];
    return o;
}

poprt_status prt_optimizer_create(const prt_allocator *allocator, const char *kind,
    prt_optimizer **out)
{
    prt_arena *arena = NULL;
    uint32_t k;
    PRT_TRY(find_kind(kind, &k));
    PRT_TRY(prt_arena_create(allocator, 0, &arena));
    prt_optimizer *o = create_in(arena, k);
    if (o == NULL) {
        prt_arena_release(arena);
        return POPRT_E_NOMEM;
    }
    *out = o;
    return POPRT_OK;
}

void prt_optimizer_release(prt_optimizer *o)
{
    if (o != NULL)
        prt_arena_release(o->arena);
}

/* ---- records of weights */

const prt_optimizer_record *prt_optimizer_record_of(const prt_optimizer *o, prt_str weight)
{
    return weight.size != 0 ? prt_map_find(&o->by_weight, weight) : NULL;
}

/* Returns the record of a weight, new if it has none; NULL on failure. */
static prt_optimizer_record *make_record(prt_optimizer *o, prt_str weight)
{
    prt_optimizer_record *r = prt_map_find(&o->by_weight, weight);
    if (r != NULL)
        return r;
    if (o->records.count >= PRT_OPTIMIZER_MAX_WEIGHTS) {
        (void)prt_fail(POPRT_E_LIMIT, weight.data, "more than %d weights have their own values",
            PRT_OPTIMIZER_MAX_WEIGHTS);
        return NULL;
    }
    r = PRT_NEW(o->arena, prt_optimizer_record);
    if (r == NULL)
        return NULL;
    r->weight.data = prt_arena_text(o->arena, weight.data, weight.size);
    r->weight.size = weight.size;
    r->group = UINT32_MAX;
    if (r->weight.data == NULL || !PRT_VEC_PUSH(o->arena, &o->records, r))
        return NULL;
    if (prt_map_set(&o->by_weight, r->weight, r) != POPRT_OK) {
        o->records.count--;
        return NULL;
    }
    return r;
}

static poprt_status check_name(const char *weight)
{
    if (weight[0] == '\0')
        return prt_fail(POPRT_E_ARG, "weight", "the name is empty");
    return POPRT_OK;
}

/* ---- values */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Compares names in camel case or snake case. */
static bool is_key(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += *a == '_';
        b += *b == '_';
        if (lower(*a) != lower(*b))
            return false;
        if (*a == '\0')
            return true;
    }
}

/* Returns the text of the accepted keys in `to`. */
static void list_keys(const prt_optimizer *o, bool specific, char *to, size_t size)
{
    size_t at = 0;
    to[0] = '\0';
    for (uint32_t i = 0; i < PRT_OPTIMIZER_VALUES; i++) {
        const char *key = specific ? value_rows[i].specific : value_rows[i].key;
        if (!prt_optimizer_has_value(o, i) || key[0] == '\0' || at >= size)
            continue;
        const int n = snprintf(to + at, size - at, "%s%s", at != 0 ? ", " : "", key);
        at += n > 0 ? (size_t)n : 0;
    }
}

static poprt_status find_value(const prt_optimizer *o, const char *key, bool specific,
    uint32_t *out)
{
    char keys[256];
    for (uint32_t i = 0; i < PRT_OPTIMIZER_VALUES; i++) {
        const prt_optimizer_value_row *row = &value_rows[i];
        const bool named = (row->specific[0] != '\0' && is_key(key, row->specific)) ||
            (!specific && is_key(key, row->key));
        if (!named || !prt_optimizer_has_value(o, i))
            continue;
        *out = i;
        return POPRT_OK;
    }
    list_keys(o, specific, keys, sizeof(keys));
    return prt_fail(POPRT_E_NOT_FOUND, key, "%s has no such value; accepted: %s",
        kind_rows[o->kind].name, keys);
}

poprt_status prt_optimizer_find_value(const prt_optimizer *o, const char *key,
    prt_optimizer_value_id *out)
{
    uint32_t id = 0;
    PRT_TRY(find_value(o, key, false, &id));
    *out = (prt_optimizer_value_id)id;
    return POPRT_OK;
}

static poprt_status refuse(uint32_t id, float value, const char *accepted)
{
    return prt_fail(POPRT_E_ARG, value_rows[id].key, "%g is refused; accepted: %s", (double)value,
        accepted);
}

/* Checks a complete set of values. */
static poprt_status check_values(const prt_optimizer *o, const prt_optimizer_value *v)
{
    static const uint8_t positive[] = { PRT_OPTIMIZER_VALUE_velocity_scaling,
        PRT_OPTIMIZER_VALUE_eps };
    const uint32_t rate = PRT_OPTIMIZER_VALUE_learning_rate;
    const uint32_t nesterov = PRT_OPTIMIZER_VALUE_nesterov;
    const uint32_t scaling = PRT_OPTIMIZER_VALUE_loss_scaling;
    for (uint32_t i = 0; i < PRT_OPTIMIZER_VALUES; i++) {
        if (!isfinite(v[i].value))
            return refuse(i, v[i].value, "finite numbers");
        if (i != scaling && i != nesterov && v[i].value < 0.0f)
            return refuse(i, v[i].value, "numbers from 0");
    }
    for (uint32_t i = 0; i < PRT_COUNT_OF(positive); i++)
        if (prt_optimizer_has_value(o, positive[i]) && v[positive[i]].value <= 0.0f)
            return refuse(positive[i], v[positive[i]].value, "numbers above 0");
    if (v[rate].value == 0.0f && v[rate].is_constant)
        return refuse(rate, 0.0f, "numbers above 0, or 0 if it is not constant");
    if (v[scaling].value == 0.0f)
        return refuse(scaling, 0.0f, "numbers other than 0");
    if (v[nesterov].value != 0.0f && v[PRT_OPTIMIZER_VALUE_dampening].value > 0.0f)
        return prt_fail(POPRT_E_ARG, "nesterov", "dampening is %g; with nesterov it must be 0",
            (double)v[PRT_OPTIMIZER_VALUE_dampening].value);
    return POPRT_OK;
}

static poprt_status check_const_sgd(const prt_optimizer *o, uint32_t id, bool is_constant)
{
    if (o->kind != PRT_OPTIMIZER_const_sgd)
        return POPRT_OK;
    if (!is_constant)
        return prt_fail(POPRT_E_ARG, value_rows[id].key, "all values of const_sgd are constant");
    if (id != PRT_OPTIMIZER_VALUE_learning_rate && id != PRT_OPTIMIZER_VALUE_weight_decay &&
        id != PRT_OPTIMIZER_VALUE_loss_scaling)
        return prt_fail(POPRT_E_ARG, value_rows[id].key,
            "const_sgd has a learning rate, a weight decay and a loss scaling; use sgd");
    return POPRT_OK;
}

poprt_status prt_optimizer_set(prt_optimizer *o, const char *key, prt_optimizer_value value)
{
    prt_optimizer_value values[PRT_OPTIMIZER_VALUES];
    uint32_t id;
    PRT_TRY(find_value(o, key, false, &id));
    PRT_TRY(check_const_sgd(o, id, value.is_constant));
    memcpy(values, o->values, sizeof(values));
    values[id] = value;
    PRT_TRY(check_values(o, values));
    o->values[id] = value;
    return POPRT_OK;
}

poprt_status prt_optimizer_insert_specific(prt_optimizer *o, const char *weight, size_t count,
    const prt_optimizer_specific *given)
{
    prt_optimizer_value values[PRT_OPTIMIZER_VALUES];
    const prt_str name = prt_str_of(weight);
    uint32_t seen = 0, id;
    PRT_TRY(check_name(weight));
    const prt_optimizer_record *known = prt_optimizer_record_of(o, name);
    if (known != NULL && known->has_values)
        return prt_fail(POPRT_E_ARG, weight,
            "this weight already has values of its own; insert all of them in one call");
    memcpy(values, o->values, sizeof(values));
    for (size_t i = 0; i < count; i++) {
        PRT_TRY(find_value(o, given[i].key, true, &id));
        PRT_TRY(check_const_sgd(o, id, given[i].value.is_constant));
        if ((seen >> id & 1) != 0)
            return prt_fail(POPRT_E_ARG, given[i].key, "the key is in the list twice");
        seen |= 1u << id;
        values[id] = given[i].value;
    }
    PRT_TRY(check_values(o, values));
    prt_optimizer_record *r = make_record(o, name);
    if (r == NULL)
        return prt_error_last()->status;
    memcpy(r->values, values, sizeof(values));
    r->has_values = true;
    return POPRT_OK;
}

prt_optimizer_value prt_optimizer_value_of(const prt_optimizer *o, prt_str weight,
    prt_optimizer_value_id id)
{
    const prt_optimizer_record *r = prt_optimizer_record_of(o, weight);
    if (r != NULL && r->has_values && id != PRT_OPTIMIZER_VALUE_loss_scaling)
        return r->values[id];
    return o->values[id];
}

bool prt_optimizer_has_specific(const prt_optimizer *o, prt_str weight)
{
    const prt_optimizer_record *r = prt_optimizer_record_of(o, weight);
    return r != NULL && r->has_values;
}

/* ---- settings */

static poprt_status find_setting(const prt_optimizer *o, const char *key, uint32_t *out)
{
    char keys[256] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < PRT_OPTIMIZER_SETTINGS; i++)
        if (prt_optimizer_has_setting(o, i) && is_key(key, setting_rows[i].key)) {
            *out = i;
            return POPRT_OK;
        }
    for (uint32_t i = 0; i < PRT_OPTIMIZER_SETTINGS && at < sizeof(keys); i++)
        if (prt_optimizer_has_setting(o, i)) {
            const int n = snprintf(keys + at, sizeof(keys) - at, "%s%s", at != 0 ? ", " : "",
                setting_rows[i].key);
            at += n > 0 ? (size_t)n : 0;
        }
    return prt_fail(POPRT_E_NOT_FOUND, key, "%s has no such setting; accepted: %s",
        kind_rows[o->kind].name, keys);
}

typedef struct word_search {
    const char *text;
    uint32_t index, found; /* found: UINT32_MAX until the word is found */
} word_search;

static void visit_word(void *user, const char *word, size_t size)
{
    word_search *s = user;
    bool equal = strlen(s->text) == size;
    for (size_t i = 0; equal && i < size; i++)
        equal = lower(s->text[i]) == lower(word[i]);
    if (equal)
        s->found = s->index;
    s->index++;
}

static poprt_status check_setting(const prt_optimizer *o, uint32_t id, uint32_t word)
{
    const bool is_lamb = o->kind == PRT_OPTIMIZER_lamb || o->kind == PRT_OPTIMIZER_lamb_no_bias;
    const char *key = setting_rows[id].key;
    if (id == PRT_OPTIMIZER_SETTING_rmsprop_tf_variant && word != 0 &&
        o->kind != PRT_OPTIMIZER_rmsprop && o->kind != PRT_OPTIMIZER_centered_rmsprop)
        return prt_fail(POPRT_E_ARG, key, "rmsprop and centered_rmsprop alone have this variant");
    if (id == PRT_OPTIMIZER_SETTING_use_max_weight_norm && word == 0 && !is_lamb)
        return prt_fail(POPRT_E_ARG, key, "lamb and lamb_no_bias alone have a weight norm");
    if (id == PRT_OPTIMIZER_SETTING_weight_decay_mode && word != PRT_OPTIMIZER_DECAY &&
        o->kind == PRT_OPTIMIZER_adamw)
        return prt_fail(POPRT_E_ARG, key, "adamw decouples the decay; use adam for L2");
    if (id == PRT_OPTIMIZER_SETTING_accumulator_and_momentum && word != 0 &&
        o->kind == PRT_OPTIMIZER_const_sgd)
        return prt_fail(POPRT_E_ARG, key, "const_sgd has no momentum; use sgd");
    return POPRT_OK;
}

poprt_status prt_optimizer_set_text(prt_optimizer *o, const char *key, const char *word)
{
    word_search s = { .text = word, .found = UINT32_MAX };
    char expected[256];
    uint32_t id = 0;
    PRT_TRY(find_setting(o, key, &id));
    prt_accepts_each_word(setting_rows[id].words, visit_word, &s);
    if (s.found == UINT32_MAX) {
        prt_accepts_describe(setting_rows[id].words, expected, sizeof(expected));
        return prt_fail(POPRT_E_ARG, key, "'%.100s' is not accepted; expected %s", word, expected);
    }
    PRT_TRY(check_setting(o, id, s.found));
    o->settings[id] = (uint8_t)s.found;
    return POPRT_OK;
}

uint32_t prt_optimizer_setting(const prt_optimizer *o, prt_optimizer_setting_id id)
{
    return o->settings[id];
}

/* ---- clipping */

static poprt_status check_clip(const prt_optimizer *o, size_t count, const char *const *weights,
    float max_norm)
{
    if (prt_optimizer_family_of(o) == PRT_OPTIMIZER_ADAPTIVE)
        return prt_fail(POPRT_E_UNSUPPORTED, kind_rows[o->kind].name,
            "this optimizer does not clip gradients; the SGD and Adam families do");
    if (!isfinite(max_norm) || max_norm <= 0.0f)
        return prt_fail(POPRT_E_ARG, "max_norm", "%g is refused; accepted: numbers above 0",
            (double)max_norm);
    if (o->groups.count != 0 && (count == 0 || o->groups.data[0].weights.count == 0))
        return prt_fail(POPRT_E_ARG, "weights",
            "a clipping group of all weights must be the only group");
    for (size_t i = 0; i < count; i++) {
        PRT_TRY(check_name(weights[i]));
        if (prt_optimizer_clip_group(o, prt_str_of(weights[i])) != UINT32_MAX)
            return prt_fail(POPRT_E_ARG, weights[i], "this weight is in a clipping group already");
    }
    return count <= PRT_OPTIMIZER_MAX_WEIGHTS
        ? POPRT_OK
        : prt_fail(POPRT_E_LIMIT, "weights", "a clipping group has at most %d weights",
              PRT_OPTIMIZER_MAX_WEIGHTS);
}

/* Puts the weights into the next group, and their names into `g`. */
static poprt_status add_members(prt_optimizer *o, const char *const *weights,
    const prt_optimizer_group *g)
{
    prt_str *names = (prt_str *)g->weights.data;
    for (uint32_t i = 0; i < g->weights.count; i++) {
        prt_optimizer_record *r = make_record(o, prt_str_of(weights[i]));
        if (r == NULL)
            return prt_error_last()->status;
        if (r->group == o->groups.count)
            return prt_fail(POPRT_E_ARG, weights[i], "this weight is in the group twice");
        r->group = (uint32_t)o->groups.count;
        names[i] = r->weight;
    }
    return POPRT_OK;
}

poprt_status prt_optimizer_clip(prt_optimizer *o, size_t count, const char *const *weights,
    float max_norm)
{
    PRT_TRY(check_clip(o, count, weights, max_norm));
    const prt_optimizer_group g = { .max_norm = max_norm,
        .weights = { PRT_NEW_N(o->arena, prt_str, count), (uint32_t)count } };
    if (g.weights.data == NULL)
        return POPRT_E_NOMEM;
    poprt_status status = add_members(o, weights, &g);
    if (status == POPRT_OK && !PRT_VEC_PUSH(o->arena, &o->groups, g))
        status = POPRT_E_NOMEM;
    for (size_t i = 0; status != POPRT_OK && i < o->records.count; i++)
        if (o->records.data[i]->group == o->groups.count)
            o->records.data[i]->group = UINT32_MAX;
    return status;
}

uint32_t prt_optimizer_clip_group(const prt_optimizer *o, prt_str weight)
{
    const prt_optimizer_record *r = prt_optimizer_record_of(o, weight);
    if (o->groups.count == 1 && o->groups.data[0].weights.count == 0)
        return 0;
    return r != NULL ? r->group : UINT32_MAX;
}

uint32_t prt_optimizer_clip_groups(const prt_optimizer *o)
{
    return (uint32_t)o->groups.count;
}

float prt_optimizer_clip_max_norm(const prt_optimizer *o, uint32_t group)
{
    return o->groups.data[group].max_norm;
}

prt_strs prt_optimizer_clip_weights(const prt_optimizer *o, uint32_t group)
{
    return o->groups.data[group].weights;
}

/* ---- step counters */

static bool has_step(const prt_optimizer *o)
{
    return prt_optimizer_family_of(o) == PRT_OPTIMIZER_ADAM &&
        o->kind != PRT_OPTIMIZER_adam_no_bias && o->kind != PRT_OPTIMIZER_lamb_no_bias;
}

poprt_status prt_optimizer_set_step(prt_optimizer *o, const char *weight, int64_t step)
{
    const int64_t most = 1 << 24; /* float32 holds all integers up to this one */
    if (!has_step(o))
        return prt_fail(POPRT_E_UNSUPPORTED, kind_rows[o->kind].name,
            "this optimizer has no step counter; adam, adamw, adamax and lamb have one");
    if (step < 0 || step > most)
        return prt_fail(POPRT_E_ARG, "step", "%lld is not in [0, %lld]", (long long)step,
            (long long)most);
    if (weight == NULL) {
        o->step = step;
        return POPRT_OK;
    }
    PRT_TRY(check_name(weight));
    prt_optimizer_record *r = make_record(o, prt_str_of(weight));
    if (r == NULL)
        return prt_error_last()->status;
    r->has_step = true;
    r->step = step;
    return POPRT_OK;
}

int64_t prt_optimizer_step(const prt_optimizer *o, prt_str weight)
{
    const prt_optimizer_record *r = prt_optimizer_record_of(o, weight);
    return r != NULL && r->has_step ? r->step : o->step;
}
