/* SPDX-License-Identifier: MIT */
/*
 * update.c — updates of optimizers and their norms. An item is a block of 4,096 elements, the block
 * of a norm. It walks over its elements in pieces, which stay in the first cache level between
 * conversion and kernel. Weights of float64 are left to the reference kernels.
 */
#include "fast/train/train.h"

/* Tensors of an update: W, G and up to three states; results of an update or norm blocks. */
typedef struct update_work {
    const prt_kern *kern;
    uint32_t op; /* PRT_OP_sgd_update, PRT_OP_adam_update or PRT_OP_adaptive_update */
    union {
        prt_sgd_scalars sgd;
        prt_adam_scalars adam;
        prt_adaptive_scalars adaptive;
    } scalars;
    const prt_tensor *g, *w, *state[PRT_UPDATE_STATES];
    const prt_tensor *w_to, *state_to[PRT_UPDATE_STATES];
    size_t n;
    double *norm, *weight_norm; /* one for each block; NULL for an update */
} update_work;

static void run_kernel(const update_work *j, const prt_update_rows *r)
{
    if (j->op == PRT_OP_sgd_update)
        j->kern->train.sgd(&j->scalars.sgd, r);
    else if (j->op == PRT_OP_adam_update)
        j->kern->train.adam(&j->scalars.adam, r);
    else
        j->kern->train.adaptive(&j->scalars.adaptive, r);
}

static void run_update(const void *user, size_t item, float *scratch)
{
    const update_work *j = user;
    const size_t end = (item + 1) * PRT_NORM_BLOCK < j->n ? (item + 1) * PRT_NORM_BLOCK : j->n;
    prt_train_buffer g, w, s[PRT_UPDATE_STATES];
    (void)scratch;
    for (size_t at = item * PRT_NORM_BLOCK; at < end; at += PRT_TRAIN_PIECE) {
        const size_t n = end - at < PRT_TRAIN_PIECE ? end - at : PRT_TRAIN_PIECE;
        prt_update_rows r = { .n = n,
            .g = prt_train_load(j->g, at, n, &g),
            .w = prt_train_load(j->w, at, n, &w),
            .w_to = prt_train_place(j->w_to, at, &w) };
        for (size_t k = 0; k < PRT_UPDATE_STATES; k++) {
            r.state[k] = prt_train_load(j->state[k], at, n, &s[k]);
            r.state_to[k] = prt_train_place(j->state_to[k], at, &s[k]);
        }
        run_kernel(j, &r);
        prt_train_store(j->w_to, at, n, &w);
        for (size_t k = 0; k < PRT_UPDATE_STATES; k++)
            prt_train_store(j->state_to[k], at, n, &s[k]);
    }
}

static void run_norm(const void *user, size_t item, float *scratch)
{
    const update_work *j = user;
    const size_t end = (item + 1) * PRT_NORM_BLOCK < j->n ? (item + 1) * PRT_NORM_BLOCK : j->n;
    prt_train_buffer g, w, x, s[PRT_UPDATE_STATES];
    double sum = 0.0, weight_sum = 0.0;
    (void)scratch;
    for (size_t at = item * PRT_NORM_BLOCK; at < end; at += PRT_TRAIN_PIECE) {
        const size_t n = end - at < PRT_TRAIN_PIECE ? end - at : PRT_TRAIN_PIECE;
        prt_update_rows r = { .n = n,
            .g = prt_train_load(j->g, at, n, &g),
            .w = prt_train_load(j->w, at, n, &w),
            .x = x.at };
        for (size_t k = 0; k < PRT_UPDATE_STATES; k++)
            r.state[k] = prt_train_load(j->state[k], at, n, &s[k]);
        run_kernel(j, &r);
        sum += j->kern->train.squares(n, x.at);
        if (j->weight_norm != NULL)
            weight_sum += j->kern->train.squares(n, r.w);
    }
    j->norm[item] = sum;
    if (j->weight_norm != NULL)
        j->weight_norm[item] = weight_sum;
}

/* Returns input or output i of a step if it is there and not a scalar of another operator. */
static const prt_tensor *input_of(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) ? c->in[i] : NULL;
}

static const prt_tensor *output_of(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) && prt_eval_wants(c, i) ? c->out[i] : NULL;
}

/* Fills the tensors: W is input 0, `states` states follow, and G is input `g`. */
static void set_tensors(update_work *j, const prt_eval *c, uint32_t states, uint32_t g,
    bool is_norm)
{
    j->w = input_of(c, 0);
    j->g = input_of(c, g);
    j->n = prt_tensor_count(j->w);
    j->w_to = is_norm ? NULL : output_of(c, 0);
    for (uint32_t k = 0; k < states; k++) {
        j->state[k] = input_of(c, 1 + k);
        j->state_to[k] = is_norm ? NULL : output_of(c, 1 + k);
    }
}

enum {
    ADAM_STATES = 1u << PRT_ADAM_M | 1u << PRT_ADAM_V,
    ADAM_TENSORS = 1u << PRT_ADAM_W | ADAM_STATES | 1u << PRT_ADAM_G,
    SGD_VARIABLES = 1u << PRT_SGD_W | 1u << PRT_SGD_V,
    SGD_TENSORS = SGD_VARIABLES | 1u << PRT_SGD_G,
    ADAPTIVE_VARIABLES =
        1u << PRT_ADAPTIVE_W | 1u << PRT_ADAPTIVE_A1 | 1u << PRT_ADAPTIVE_A2 | 1u << PRT_ADAPTIVE_A3
};

/* Fills the work of an update. Returns false if the reference kernel has to run. */
static bool set_update(const prt_eval *c, const prt_kern *k, uint32_t op, update_work *out)
{
    *out = (update_work){ .kern = k, .op = op };
    if (op == PRT_OP_sgd_update) {
        if (!prt_train_supports(c, SGD_TENSORS, SGD_VARIABLES))
            return false;
        out->scalars.sgd = prt_sgd_scalars_of(c);
        set_tensors(out, c, 1, PRT_SGD_G, false);
    } else if (op == PRT_OP_adam_update) {
        if (!prt_train_supports(c, ADAM_TENSORS, 1u << PRT_ADAM_W | ADAM_STATES))
            return false;
        out->scalars.adam = prt_adam_scalars_of(c);
        set_tensors(out, c, 2, PRT_ADAM_G, false);
    } else {
        if (!prt_train_supports(c, ADAPTIVE_VARIABLES | 1u << PRT_ADAPTIVE_G, ADAPTIVE_VARIABLES))
            return false;
        out->scalars.adaptive = prt_adaptive_scalars_of(c);
        set_tensors(out, c, 3, PRT_ADAPTIVE_G, false);
    }
    return true;
}

poprt_status prt_fast_update(prt_eval *c, const prt_kern *k, bool *done)
{
    update_work j;
    if (!set_update(c, k, c->def->id, &j))
        return prt_fast_use_reference(done);
    PRT_TRY(prt_parallel_for(c, prt_norm_blocks(j.n), 0, run_update, &j));
    if (j.op == PRT_OP_adam_update)
        prt_adam_finish(c);
    return POPRT_OK;
}

/* ---- several updates: an item is a block of one of them */

typedef struct group_work {
    const update_work *updates;
    const size_t *ends; /* the number of blocks of each update and of those before it */
    size_t n;
} group_work;

static void run_group(const void *user, size_t item, float *scratch)
{
    const group_work *j = user;
    size_t low = 0, high = j->n - 1;
    while (low < high) { /* finds the first update that ends behind the item */
        const size_t middle = low + (high - low) / 2;
        if (j->ends[middle] > item)
            high = middle;
        else
            low = middle + 1;
    }
    run_update(&j->updates[low], item - (low != 0 ? j->ends[low - 1] : 0), scratch);
}

poprt_status prt_fast_update_group(prt_eval *c, const prt_kern *k, bool *done)
{
    prt_update_group g;
    prt_update_member member;
    if (!prt_update_group_read(c->def, c->attrs, c->n_in, c->n_out, &g))
        return prt_fast_use_reference(done);
    update_work *updates = prt_eval_scratch_raw(c, g.members, sizeof(*updates));
    size_t *ends = prt_eval_scratch_raw(c, g.members, sizeof(*ends)), end = 0;
    if (updates == NULL || ends == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t m = 0; m < g.members; m++) {
        prt_update_member_of(c, &g, m, &member);
        if (!set_update(&member.eval, k, g.op, &updates[m]))
            return prt_fast_use_reference(done);
        ends[m] = end += prt_norm_blocks(updates[m].n);
    }
    const group_work j = { .updates = updates, .ends = ends, .n = g.members };
    PRT_TRY(prt_parallel_for(c, end, 0, run_group, &j));
    for (uint32_t m = 0; m < g.members && g.op == PRT_OP_adam_update; m++) {
        prt_update_member_of(c, &g, m, &member);
        prt_adam_finish(&member.eval);
    }
    return POPRT_OK;
}

/* ---- norms */

poprt_status prt_fast_sgd_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    if (!prt_train_supports(c, SGD_TENSORS, 0) || !prt_fast_has_output(c))
        return prt_fast_use_reference(done);
    update_work j = { .kern = k,
        .op = PRT_OP_sgd_update,
        .scalars.sgd = prt_sgd_scalars_of(c),
        .norm = c->out[0]->data };
    set_tensors(&j, c, 1, PRT_SGD_G, true);
    return prt_parallel_for(c, prt_norm_blocks(j.n), 0, run_norm, &j);
}

poprt_status prt_fast_lamb_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    if (!prt_train_supports(c, ADAM_TENSORS, 0) || !prt_fast_has_output(c) ||
        !prt_eval_wants(c, 1) || c->out[1]->data == NULL)
        return prt_fast_use_reference(done);
    update_work j = { .kern = k,
        .op = PRT_OP_adam_update,
        .scalars.adam = prt_adam_scalars_of(c),
        .norm = c->out[1]->data,
        .weight_norm = c->out[0]->data };
    set_tensors(&j, c, 2, PRT_ADAM_G, true);
    return prt_parallel_for(c, prt_norm_blocks(j.n), 0, run_norm, &j);
}
