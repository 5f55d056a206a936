/* SPDX-License-Identifier: MIT */
/* check_list.c — runs a list of passes on a model, and compares the model before and after. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compiler/compile.h"
#include "converter/onnx.h"
#include "fuzz/fuzz.h"
#include "fuzz/fuzz_run.h"
#include "fuzz/lists.h"
#include "fuzz/noise.h"
#include "tools/common/compare.h"

enum { MOST_ELEMENTS = 1 << 16, OPEN_DIM = 3, LEAST_NOMEM = FUZZ_MEMORY / 8 };

typedef struct checker {
    prt_module *before, *after; /* two modules; the list runs on `after` */
    const fuzz_list *list;
    const fuzz_check *check;
    prt_arena *arena;
    double bound;  /* how far results may move; negative: not to be compared */
    double unit;   /* unit roundoff of the narrowest type that the passes compute in */
    bool ran;      /* the model as it was runs on the inputs */
    bool reshapes; /* a pass gives inputs the shapes that it is told, which may not fit */
    char *why;
    size_t size;
} checker;

static bool fail(checker *c, const char *what)
{
    const poprt_error *e = prt_error_last();
    (void)snprintf(c->why, c->size, "%s: %s: %s", what, e->subject, e->message);
    return false;
}

/* Refusals for lack of time or memory are not failures. */
static bool is_lack(poprt_status status)
{
    return status == POPRT_E_NOMEM || status == POPRT_E_LIMIT || status == POPRT_E_CANCELLED;
}

/* ---- the list */

static const char *get_setting(void *user, const char *key)
{
    const fuzz_list *list = user;
    for (uint32_t i = 0; i < list->n_settings; i++)
        if (strcmp(list->settings[i].key, key) == 0)
            return list->settings[i].value;
    return NULL;
}

/* Adds the passes; refused passes and options, and passes that write a file, are skipped. */
static void add_all(prt_pass_manager *pm, const fuzz_list *list)
{
    const prt_pass_settings settings = { (void *)(uintptr_t)list, get_setting };
    (void)prt_pass_manager_skip(pm, "layer_precision_compare");
    if (list->skip != NULL)
        (void)prt_pass_manager_skip(pm, list->skip);
    if (list->converts)
        (void)prt_pass_manager_add_pipeline(pm, "convert", &settings);
    for (uint32_t i = 0; i < list->n_items; i++)
        (void)prt_pass_manager_add(pm, list->items[i].def->name, list->items[i].n_args,
            list->items[i].args);
}

/* Unit roundoff of the type that a pass makes a model compute in. */
static double unit_of(const prt_pass_def *def)
{
    if (prt_pass_typical(def) <= 0)
        return 0x1p-24;
    return strcmp(def->name, "float_to_bf16") == 0 ? 0x1p-8 : 0x1p-11;
}

/* Of the passes that the manager holds; those that run others, or whose options ask for less
 * precision, promise nothing. */
static double sum_bounds(checker *c, const prt_pass_manager *pm, bool *runs_model)
{
    static const char *const open[] = { "apply_ir_pass", "double_to_float", "float_to_fp8",
        "float_to_int8", "narrow_weights" };
    static const char *const shapes[] = { "const_input_shape", "const_batch_size",
        "packed_transformer" };
    double sum = 0;
    bool is_open = false;
    const prt_pass_def *def;
    for (size_t i = 0; (def = prt_pass_manager_at(pm, i)) != NULL; i++) {
        for (size_t k = 0; k < PRT_COUNT_OF(open); k++)
            is_open = is_open || strcmp(def->name, open[k]) == 0;
        for (size_t k = 0; k < PRT_COUNT_OF(shapes); k++)
            c->reshapes = c->reshapes || strcmp(def->name, shapes[k]) == 0;
        sum += prt_pass_bound(def);
        c->unit = fmax(c->unit, unit_of(def));
        *runs_model = *runs_model || def->hooks->compares;
    }
    return is_open ? -1 : sum;
}

static bool run_list(checker *c, prt_pass_manager *pm)
{
    const prt_pass_limits limits = { .fold_bytes = c->check->fold_bytes,
        .fold_ns = c->check->fold_ns };
    const size_t used = fuzz_memory_used();
    bool runs_model = false;
    prt_pass_manager_set_limits(pm, &limits);
    add_all(pm, c->list);
    if (prt_pass_manager_sort(pm) != POPRT_OK)
        return true;
    c->bound = sum_bounds(c, pm, &runs_model);
    const poprt_status status = prt_pass_manager_run(pm, c->after, NULL);
    if (status == POPRT_E_INTERNAL)
        return fail(c, "internal error");
    if (status == POPRT_E_NOMEM && used < LEAST_NOMEM && !runs_model)
        return fail(c, "much memory");
    if (status != POPRT_OK)
        c->bound = -1;
    const poprt_status valid = prt_ir_verify(c->after);
    return valid == POPRT_OK || is_lack(valid) || fail(c, "the module is not valid");
}

/* ---- written and read again */

typedef struct sink {
    prt_blob *blob;
    size_t at;
} sink;

static int32_t store_bytes(void *user, const void *bytes, size_t size)
{
    sink *s = user;
    if (size > s->blob->size - s->at)
        return 1;
    if (size != 0)
        memcpy(prt_blob_bytes(s->blob) + s->at, bytes, size);
    s->at += size;
    return 0;
}

static int32_t count_bytes(void *user, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)user += size;
    return 0;
}

static poprt_status read_again(const prt_module *m)
{
    const prt_onnx_limits limits = { .arena = FUZZ_MEMORY / 4 };
    sink s = { .at = 0 };
    size_t size = 0;
    prt_module *again = NULL;
    if (prt_onnx_write(m, count_bytes, &size) != POPRT_OK)
        return POPRT_E_LIMIT;
    PRT_TRY(prt_blob_create(fuzz_allocator(), size, &s.blob));
    poprt_status status = prt_onnx_write(m, store_bytes, &s);
    if (status == POPRT_OK)
        status = prt_onnx_read_bytes(fuzz_allocator(), s.blob, "again", NULL, &limits, &again);
    prt_blob_release(s.blob);
    prt_module_release(again);
    return status;
}

/* A model that does not run may have inconsistent shapes, which a pass exposes. A model that was
 * not readable before the list need not be readable after it. */
static bool reads_again(checker *c, const prt_module *m, const char *what)
{
    const poprt_status status = read_again(m);
    if (status == POPRT_OK || is_lack(status) || c->reshapes || !c->ran)
        return true;
    (void)fail(c, what);
    return read_again(c->before) != POPRT_OK;
}

static bool write_again(checker *c)
{
    prt_module *copy = NULL;
    if (!reads_again(c, c->after, "what is written cannot be read"))
        return false;
    if (prt_ir_clone(c->after, &copy) != POPRT_OK)
        return true;
    const bool done = prt_onnx_downgrade(copy, c->list->opset) != POPRT_OK ||
        reads_again(c, copy, "what is written for an older opset cannot be read");
    prt_module_release(copy);
    return done;
}

/* ---- results */

typedef struct run {
    prt_program *program;
    prt_session *session;
    prt_tensor in[FUZZ_MOST_IO], out[FUZZ_MOST_IO];
} run;

static void end_run(run *r)
{
    if (r->session != NULL)
        prt_session_release(r->session);
    if (r->program != NULL)
        prt_program_release(r->program);
    *r = (run){ .program = NULL };
}

static bool is_repeatable(const prt_graph *g)
{
    prt_for_each_op (op, g) {
        if (op->def == NULL ||
            (op->def->traits & (PRT_RANDOM | PRT_STATEFUL | PRT_COLLECTIVE)) != 0)
            return false;
        for (uint32_t i = 0; i < op->n_regions; i++)
            if (!is_repeatable(op->regions[i]))
                return false;
    }
    return true;
}

/* Fills with reals around zero, small integers, or strings of a few letters. */
static bool make_random_value(checker *c, const prt_type *type, fuzz_dice *dice, prt_tensor *out)
{
    static const poprt_string words[] = { { "a", 1 }, { "", 0 }, { "b c", 3 }, { "3", 1 } };
    int64_t dims[PRT_MAX_RANK] = { 0 };
    if (!prt_type_is_tensor(type) || type->rank < 0 || type->rank > PRT_MAX_RANK)
        return false;
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = prt_dim_is_number(type->dims[i]) ? type->dims[i] : OPEN_DIM;
    if (!prt_tensor_init(out, type->dtype, (uint32_t)type->rank, dims, NULL) ||
        prt_tensor_count(out) > MOST_ELEMENTS)
        return false;
    out->data = prt_arena_alloc(c->arena, out->size);
    for (size_t i = 0; out->data != NULL && i < prt_tensor_count(out); i++)
        if (out->dtype == PRT_DTYPE_string)
            ((poprt_string *)out->data)[i] = words[fuzz_below(dice, 4)];
        else if (out->dtype == PRT_DTYPE_bool)
            ((unsigned char *)out->data)[i] = (unsigned char)fuzz_below(dice, 2);
        else if (prt_dtype_is_float(out->dtype))
            prt_store_f64(out->dtype, out->data, i, (double)fuzz_below(dice, 4096) / 1024 - 2);
        else if (prt_dtype_of(out->dtype)->kind == PRT_KIND_complex)
            return false;
        else
            prt_store_i64(out->dtype, out->data, i, (int64_t)fuzz_below(dice, 4));
    return out->data != NULL;
}

static bool same_type(const prt_type *x, const prt_type *y)
{
    if (x->kind != y->kind || x->dtype != y->dtype || x->rank != y->rank ||
        (x->elem == NULL) != (y->elem == NULL))
        return false;
    if (x->kind != PRT_VALUE_TENSOR)
        return x->elem == NULL || same_type(x->elem, y->elem);
    for (int32_t i = 0; i < x->rank; i++)
        if (prt_dim_is_number(x->dims[i]) != prt_dim_is_number(y->dims[i]) ||
            (prt_dim_is_number(x->dims[i]) && x->dims[i] != y->dims[i]))
            return false;
    return true;
}

static prt_value *find_input(const prt_graph *g, prt_str name)
{
    for (size_t i = 0; i < g->inputs.count; i++)
        if (prt_str_equal(g->inputs.data[i]->name, name))
            return g->inputs.data[i];
    return NULL;
}

/* Makes the inputs of the original model. */
static bool fill_inputs(checker *c, run *r)
{
    const prt_graph *g = c->before->main;
    fuzz_dice dice;
    uint32_t given = 0;
    fuzz_dice_init(&dice, (const uint8_t *)&c->check->seed, 1);
    for (uint32_t i = 0; i < g->inputs.count; i++) {
        const prt_value *v = g->inputs.data[i];
        if (v->constant != NULL            ? !prt_value_aligned(v, c->arena, &r->in[i])
                : c->check->inputs != NULL ? given >= c->check->inputs->count
                                           : !make_random_value(c, v->type, &dice, &r->in[i]))
            return false;
        if (v->constant == NULL && c->check->inputs != NULL)
            r->in[i] = c->check->inputs->values[given++];
    }
    return true;
}

/* The same for the remaining inputs; false if an input differs. */
static bool take_inputs(const checker *c, const run *from, run *to)
{
    const prt_graph *g = c->after->main;
    for (uint32_t i = 0; i < g->inputs.count; i++) {
        const prt_value *v = g->inputs.data[i], *old = find_input(c->before->main, v->name);
        if (old == NULL || !same_type(v->type, old->type))
            return false;
        to->in[i] = from->in[old->slot];
    }
    return true;
}

static poprt_status start_run(const checker *c, const prt_module *m, run *r)
{
    const prt_compile_options options = { .allocator = fuzz_allocator(),
        .memory_limit = FUZZ_MEMORY / 4 };
    const prt_session_options more = { .allocator = fuzz_allocator(),
        .memory_limit = FUZZ_MEMORY / 4 };
    PRT_TRY(prt_compile(m, &options, &r->program));
    PRT_TRY(prt_session_create(r->program, &more, &r->session));
    return fuzz_run_session(r->session, c->check->run_ms, r->in, r->out);
}

/* Values that rounding may change arbitrarily. */
static bool is_unstable(const prt_tensor *t)
{
    if (t->kind != PRT_VALUE_TENSOR || !prt_dtype_is_float(t->dtype))
        return true;
    for (size_t i = 0; i < prt_tensor_count(t); i++)
        if (!isfinite(prt_load_f64(t->dtype, t->data, i)))
            return true;
    return false;
}

/* A bound holds for float32; steps in 16 bits add their own rounding. */
static const double half_rounds = 4e-3;

/* How far output i moved in the noisy run that moved it most. Noise is added where results differ:
 * a bound holds for a model in which a rounding error stays one, and not behind a comparison, a
 * Round or a Cast to integers of a value that is near a step. */
static bool find_deviation(checker *c, const run *x, uint32_t i, double *deviation)
{
    enum { TRIALS = 16 };
    *deviation = 0;
    for (uint64_t k = 0; k < TRIALS; k++) {
        prt_module *noisy = NULL;
        run r = { .program = NULL };
        memcpy(r.in, x->in, sizeof(r.in));
        bool ran = prt_ir_clone(c->before, &noisy) == POPRT_OK &&
            fuzz_add_noise(noisy, c->unit, k) == POPRT_OK && start_run(c, noisy, &r) == POPRT_OK;
        if (ran)
            *deviation = fmax(*deviation, fuzz_distance(&r.out[i], &x->out[i]));
        end_run(&r);
        prt_module_release(noisy);
        if (!ran)
            return false;
    }
    return true;
}

/* Rounding errors of the same size move the output as far. */
static bool is_explained(checker *c, const run *x, uint32_t i, const prt_tensor *found,
    double share)
{
    double deviation;
    return c->bound > 0 && find_deviation(c, x, i, &deviation) &&
        fuzz_distance(found, &x->out[i]) <= share + deviation;
}

static bool compare_outputs(checker *c, const run *x, const run *y)
{
    const prt_graph *before = c->before->main, *after = c->after->main;
    for (uint32_t i = 0; i < before->ret->n_in; i++)
        for (uint32_t k = 0; k < after->ret->n_in; k++) {
            char what[400];
            const bool half = x->out[i].kind == PRT_VALUE_TENSOR && c->bound > 0 &&
                prt_dtype_bits(x->out[i].dtype) == 16;
            const prt_tolerance tolerance = { .by_share = true,
                .share = half ? c->bound + half_rounds : c->bound };
            if (!prt_str_equal(before->output_names.data[i], after->output_names.data[k]) ||
                x->out[i].dtype != y->out[k].dtype || (c->bound > 0 && is_unstable(&x->out[i])) ||
                !prt_compare_differs(&y->out[k], &x->out[i], tolerance, what, sizeof(what)) ||
                is_explained(c, x, i, &y->out[k], tolerance.share))
                continue;
            (void)snprintf(c->why, c->size, "output %.100s, bound %g: %s",
                before->output_names.data[i].data, c->bound, what);
            return false;
        }
    return true;
}

static bool may_compare(const checker *c)
{
    return c->bound >= 0 && !(c->check->bitwise && c->bound > 0) && is_repeatable(c->before->main);
}

static bool compare(checker *c, run *x, run *y)
{
    c->ran = fill_inputs(c, x) && start_run(c, c->before, x) == POPRT_OK;
    if (!c->ran || !may_compare(c) || !take_inputs(c, x, y))
        return true;
    const poprt_status after = start_run(c, c->after, y);
    if (after != POPRT_OK)
        return is_lack(after) || fail(c, "does not run any more");
    if (c->check->compared != NULL)
        *c->check->compared = true;
    return compare_outputs(c, x, y);
}

static bool compare_results(checker *c)
{
    const prt_graph *before = c->before->main, *after = c->after->main;
    run x = { .program = NULL }, y = { .program = NULL };
    if (c->check->run_ms == 0 || before->inputs.count > FUZZ_MOST_IO ||
        after->inputs.count > FUZZ_MOST_IO || before->ret->n_in > FUZZ_MOST_IO ||
        after->ret->n_in > FUZZ_MOST_IO)
        return true;
    const bool same = compare(c, &x, &y);
    end_run(&x);
    end_run(&y);
    return same;
}

bool fuzz_check_list(prt_module *module, const fuzz_list *list, const fuzz_check *check, char *why,
    size_t size)
{
    checker c = { .before = module,
        .list = list,
        .check = check,
        .bound = -1,
        .why = why,
        .size = size };
    prt_pass_manager *pm = NULL;
    bool holds = true;
    if (prt_arena_create(fuzz_allocator(), FUZZ_MEMORY / 8, &c.arena) == POPRT_OK &&
        prt_ir_clone(module, &c.after) == POPRT_OK &&
        prt_pass_manager_create(fuzz_allocator(), &pm) == POPRT_OK)
        holds = run_list(&c, pm) && compare_results(&c) && write_again(&c);
    prt_pass_manager_release(pm);
    prt_module_release(c.after);
    prt_arena_release(c.arena);
    return holds;
}
