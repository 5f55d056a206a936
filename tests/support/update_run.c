/* SPDX-License-Identifier: MIT */
/* update_run.c — updates of one weight. */
#include "support/update_run.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "compiler/compile.h"
#include "cpu/cpu.h"
#include "runtime/session.h"
#include "support/graph_text.h"

enum { MOST = 2 + PRT_OPTIMIZER_MAX_SCALARS + PRT_OPTIMIZER_MAX_STATES };

struct update_run {
    prt_arena *arena;
    prt_optimizer_context context;
    prt_optimizer_plan plan;
    prt_program *program;
    prt_session *session;
    /* Inputs of the program: weight, gradient, states, then the scalars that are variables. */
    uint32_t n_in, n_out;
    prt_tensor in[MOST];
    int32_t scalar_of[MOST]; /* scalar of the plan that an input is, or -1 */
};

const prt_optimizer_context update_run_plain = { .accumulation = 1, .replicas = 1 };

static void require_ok(poprt_status status)
{
    ck_assert_msg(status == POPRT_OK, "%s: %s", prt_error_last()->subject,
        prt_error_last()->message);
}

const prt_kern *update_run_level(const char *name)
{
    const uint64_t level = prt_cpu_level(name);
    return (level & prt_cpu_features()) == level ? prt_kern_of(level) : NULL;
}

prt_optimizer *optimizer_from_text(const char *kind, const char *text)
{
    char copy[512], *rest = copy;
    prt_optimizer *o = NULL;
    require_ok(prt_optimizer_create(&prt_mem_libc, kind, &o));
    ck_assert_uint_lt(strlen(text), sizeof(copy));
    (void)snprintf(copy, sizeof(copy), "%s", text);
    while (*rest != '\0') {
        char *word = rest, *end = strchr(rest, ' ');
        rest = end != NULL ? end + 1 : rest + strlen(rest);
        if (end != NULL)
            *end = '\0';
        char *value = strchr(word, '='), *stop;
        ck_assert_ptr_nonnull(value);
        *value++ = '\0';
        const float number = strtof(value, &stop);
        if (stop == value)
            require_ok(prt_optimizer_set_text(o, word, value));
        else
            require_ok(prt_optimizer_set(o, word, (prt_optimizer_value){ number, *stop != '?' }));
    }
    return o;
}

/* Adds an input of the program with its memory. */
static prt_value *add_input(update_run *r, prt_graph *g, const char *name, int32_t dtype,
    uint32_t rank, const int64_t *dims, int32_t scalar)
{
    prt_tensor *t = &r->in[r->n_in];
    size_t size = 16;
    for (uint32_t i = 0; i < rank; i++)
        size *= (size_t)dims[i];
    ck_assert_uint_lt(r->n_in, MOST);
    r->scalar_of[r->n_in++] = scalar;
    ck_assert(prt_tensor_init(t, dtype, rank, dims, calloc(size + 16, 1)));
    const prt_type *type = prt_type_tensor(g->module->types, dtype, (int32_t)rank, dims);
    prt_value *v = prt_graph_add_input(g, prt_module_str(g->module, prt_str_of(name)), type);
    ck_assert_ptr_nonnull(v);
    return v;
}

static void build(update_run *r, const prt_optimizer *o, prt_graph *g, int32_t dtype, size_t n)
{
    const int64_t dim = (int64_t)n;
    const prt_optimizer_plan *plan = &r->plan;
    prt_optimizer_weight w = { .plan = plan };
    prt_build b = prt_build_at_end(g);
    char name[32];
    w.weight = add_input(r, g, "w", dtype, 1, &dim, -1);
    w.gradient =
        add_input(r, g, "g", r->context.accumulates ? plan->accumulator_type : dtype, 1, &dim, -1);
    for (uint32_t i = 0; i < plan->n_states; i++) {
        (void)snprintf(name, sizeof(name), "state%u", i);
        w.states[i] = add_input(r, g, name, plan->states[i].dtype,
            plan->states[i].is_scalar ? 0 : 1, &dim, -1);
    }
    for (uint32_t i = 0; i < plan->n_scalars; i++) {
        (void)snprintf(name, sizeof(name), "scalar%u", i);
        w.scalars[i] = plan->scalars[i].is_constant
            ? prt_build_scalar(&b, plan->scalar_type, plan->scalars[i].value)
            : add_input(r, g, name, plan->scalar_type, 0, NULL, (int32_t)i);
    }
    prt_value *clip = NULL;
    if (plan->clip_group != UINT32_MAX) {
        prt_value *norm = prt_optimizer_add_norm(&b, &w);
        clip = prt_optimizer_add_clip(&b, o, plan->clip_group, plan->scalar_type, 1, &norm, NULL);
    }
    prt_optimizer_result result;
    prt_optimizer_add(&b, &w, clip, &result);
    require_ok(prt_build_status(&b));
    prt_value *out[1 + PRT_OPTIMIZER_MAX_STATES] = { result.weight };
    prt_str names[1 + PRT_OPTIMIZER_MAX_STATES] = { PRT_STR("w_new"), PRT_STR("a"), PRT_STR("b"),
        PRT_STR("c"), PRT_STR("d") };
    for (uint32_t i = 0; i < plan->n_states; i++)
        out[1 + i] = result.states[i];
    r->n_out = 1 + plan->n_states;
    require_ok(prt_graph_set_outputs(g, r->n_out, out, names));
    require_ok(prt_ir_verify(g->module));
}

static void fill_states(update_run *r, const double *weight, size_t n)
{
    for (size_t i = 0; i < n; i++)
        prt_store_f64(r->in[0].dtype, r->in[0].data, i, weight[i]);
    for (uint32_t k = 0; k < r->plan.n_states; k++) {
        const prt_optimizer_state *s = &r->plan.states[k];
        for (size_t i = 0; i < (s->is_scalar ? 1 : n); i++)
            prt_store_f64(s->dtype, r->in[2 + k].data, i,
                s->init == PRT_OPTIMIZER_INIT_WEIGHT ? s->value * weight[i] : s->value);
    }
}

update_run *update_run_create(const prt_optimizer *o, int32_t dtype, size_t n,
    const prt_optimizer_context *context, const double *weight, const prt_kern *kern,
    const prt_par *par)
{
    update_run *r = calloc(1, sizeof(*r));
    prt_module *m = NULL;
    r->context = *context;
    require_ok(prt_arena_create(&prt_mem_libc, 0, &r->arena));
    require_ok(prt_optimizer_plan_weight(o, PRT_STR("w"), dtype, context, r->arena, &r->plan));
    require_ok(prt_module_create(&prt_mem_libc, 0, &m));
    m->main = m->main != NULL ? m->main : prt_graph_create(m, NULL);
    build(r, o, m->main, dtype, n);
    const prt_compile_options compile = { .no_memory_sharing = false };
    require_ok(prt_compile(m, &compile, &r->program));
    prt_module_release(m);
    const prt_session_options options = { .kern = kern, .par = par };
    require_ok(prt_session_create(r->program, &options, &r->session));
    fill_states(r, weight, n);
    return r;
}

void update_run_release(update_run *r)
{
    for (uint32_t i = 0; i < r->n_in; i++)
        free(r->in[i].data);
    prt_session_release(r->session);
    prt_program_release(r->program);
    prt_arena_release(r->arena);
    free(r);
}

void update_run_step(update_run *r, const prt_optimizer *o, const double *gradient)
{
    prt_optimizer_plan now;
    prt_tensor out[1 + PRT_OPTIMIZER_MAX_STATES];
    require_ok(
        prt_optimizer_plan_weight(o, PRT_STR("w"), r->in[0].dtype, &r->context, r->arena, &now));
    for (size_t i = 0; i < prt_tensor_count(&r->in[1]); i++)
        prt_store_f64(r->in[1].dtype, r->in[1].data, i, gradient[i]);
    for (uint32_t i = 0; i < r->n_in; i++)
        if (r->scalar_of[i] >= 0)
            prt_store_f64(r->in[i].dtype, r->in[i].data, 0, now.scalars[r->scalar_of[i]].value);
    memset(out, 0, sizeof(out));
    for (uint32_t i = 0; i < r->n_out; i++)
        out[i].kind = PRT_VALUE_ABSENT;
    require_ok(prt_session_run(r->session, r->in, out));
    for (uint32_t i = 0; i < r->n_out; i++) {
        prt_tensor *to = &r->in[i == 0 ? 0 : 1 + i];
        ck_assert_uint_eq(out[i].size, to->size);
        memcpy(to->data, out[i].data, out[i].size);
    }
}

double update_run_weight(const update_run *r, size_t i)
{
    return prt_load_f64(r->in[0].dtype, r->in[0].data, i);
}

double update_run_state(const update_run *r, uint32_t k, size_t i)
{
    return prt_load_f64(r->in[2 + k].dtype, r->in[2 + k].data, i);
}

const prt_optimizer_plan *update_run_plan(const update_run *r)
{
    return &r->plan;
}
