/* SPDX-License-Identifier: MIT */
/* schedule.c — reads optimizers and schedules from the command line. */
#include "tools/train/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"

static const char rate_key[] = "learning_rate";

/* Reads a finite number that ends at `end`. */
static bool read_number(const char *text, const char *end, double *out)
{
    char *stop = NULL;
    *out = strtod(text, &stop);
    return stop == end && stop != text && isfinite(*out);
}

/* Sets a value or a setting. Values are constant, except for the learning rate. */
static poprt_status set_key(poprt_optimizer *o, const char *key, const char *value)
{
    double number = 0;
    float old;
    int32_t constant;
    const bool is_number = read_number(value, value + strlen(value), &number);
    if (strcmp(key, "clip") == 0)
        return is_number ? poprt_optimizer_clip(o, 0, NULL, (float)number)
                         : prt_fail(POPRT_E_ARG, key, "'%s' is not a number", value);
    if (strcmp(key, "lr") == 0)
        key = rate_key;
    else if (strcmp(key, "wd") == 0)
        key = "weight_decay";
    if (poprt_optimizer_get(o, NULL, key, &old, &constant) != POPRT_OK)
        return poprt_optimizer_set_text(o, key, value);
    if (!is_number)
        return prt_fail(POPRT_E_ARG, key, "'%s' is not a number", value);
    return poprt_optimizer_set(o, key, (float)number, 1);
}

static poprt_status set_keys(prt_tool *tool, const char *list, poprt_optimizer *o)
{
    prt_str item;
    while (prt_list_next(&list, &item)) {
        char *text = prt_arena_text(tool->arena, item.data, item.size);
        if (text == NULL)
            return POPRT_E_NOMEM;
        char *equals = strchr(text, '=');
        if (equals == NULL)
            return prt_fail(POPRT_E_ARG, text, "must have the form KEY=VALUE");
        *equals = '\0';
        PRT_TRY(set_key(o, text, equals + 1));
    }
    return POPRT_OK;
}

/* Lets the schedule change the learning rate, and automatic loss scaling the loss scaling. */
static poprt_status free_values(const char *kind, poprt_optimizer *o)
{
    static const char *const keys[] = { rate_key, "loss_scaling" };
    if (strcmp(kind, "const_sgd") == 0)
        return POPRT_OK;
    for (size_t i = 0; i < PRT_COUNT_OF(keys); i++) {
        float value;
        int32_t constant;
        PRT_TRY(poprt_optimizer_get(o, NULL, keys[i], &value, &constant));
        PRT_TRY(poprt_optimizer_set(o, keys[i], value, 0));
    }
    return POPRT_OK;
}

poprt_status prt_train_optimizer_create(prt_tool *tool, const char *text, poprt_optimizer **out)
{
    const char *colon = strchr(text, ':');
    const size_t size = colon != NULL ? (size_t)(colon - text) : strlen(text);
    const char *kind = prt_arena_text(tool->arena, text, size);
    poprt_optimizer *o = NULL;
    if (kind == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_fail_in_file(poprt_optimizer_create(tool->env, kind, &o), "--optimizer"));
    poprt_status status = colon != NULL ? set_keys(tool, colon + 1, o) : POPRT_OK;
    if (status == POPRT_OK)
        status = free_values(kind, o);
    if (status == POPRT_OK)
        *out = o;
    else
        poprt_optimizer_release(o);
    return prt_fail_in_file(status, "--optimizer");
}

/* ---- schedules */

static double constant_rate(const prt_train_schedule *s, int64_t step, int64_t steps)
{
    (void)step;
    (void)steps;
    return s->base;
}

static double linear_rate(const prt_train_schedule *s, int64_t step, int64_t steps)
{
    return s->base + (s->last - s->base) * (double)step / (double)steps;
}

static double cosine_rate(const prt_train_schedule *s, int64_t step, int64_t steps)
{
    const double pi = 3.14159265358979323846;
    return s->base * 0.5 * (1 + cos(pi * (double)step / (double)steps));
}

static double step_rate(const prt_train_schedule *s, int64_t step, int64_t steps)
{
    (void)steps;
    return s->base * pow(s->factor, (double)(step / s->period));
}

static poprt_status fail_schedule(const char *text)
{
    return prt_fail(POPRT_E_ARG, "--schedule",
        "'%s' is not accepted; expected constant, linear:LAST, cosine, or step:N:FACTOR with N "
        "from "
        "1 and FACTOR from 0",
        text);
}

/* Reads "N:FACTOR". */
static bool read_steps(const char *text, prt_train_schedule *out)
{
    char *end = NULL;
    const long long period = strtoll(text, &end, 10);
    out->period = period;
    return period >= 1 && *end == ':' && read_number(end + 1, end + strlen(end), &out->factor) &&
        out->factor >= 0;
}

poprt_status prt_train_schedule_read(const char *text, int64_t warmup,
    const poprt_optimizer *optimizer, prt_train_schedule *out)
{
    float base;
    int32_t constant;
    bool good = true;
    PRT_TRY(poprt_optimizer_get(optimizer, NULL, rate_key, &base, &constant));
    *out = (prt_train_schedule){ .rate = constant_rate, .base = (double)base, .warmup = warmup };
    if (strcmp(text, "cosine") == 0) {
        out->rate = cosine_rate;
    } else if (strncmp(text, "linear:", 7) == 0) {
        out->rate = linear_rate;
        good = read_number(text + 7, text + strlen(text), &out->last) && out->last >= 0;
    } else if (strncmp(text, "step:", 5) == 0) {
        out->rate = step_rate;
        good = read_steps(text + 5, out);
    } else {
        good = strcmp(text, "constant") == 0;
    }
    if (!good)
        return fail_schedule(text);
    if (constant && (out->rate != constant_rate || warmup != 0))
        return prt_fail(POPRT_E_ARG, "--schedule",
            "the optimizer const_sgd has a constant learning rate; use sgd");
    return POPRT_OK;
}

float prt_train_schedule_rate(const prt_train_schedule *s, int64_t step, int64_t steps)
{
    if (step < s->warmup)
        return (float)(s->base * (double)(step + 1) / (double)(s->warmup + 1));
    return (float)s->rate(s, step - s->warmup, steps > s->warmup ? steps - s->warmup : 1);
}

poprt_status prt_train_schedule_apply(const prt_train_schedule *s, poprt_optimizer *optimizer,
    int64_t step, int64_t steps, poprt_session *session)
{
    if (s->rate == constant_rate && s->warmup == 0)
        return POPRT_OK;
    PRT_TRY(poprt_optimizer_set(optimizer, rate_key, prt_train_schedule_rate(s, step, steps), 0));
    return poprt_session_update_optimizer(session, optimizer);
}
