/* SPDX-License-Identifier: MIT */
/*
 * schedule.c — the order of steps and the resulting lifetimes of buffers. There is one sequence, in
 * the graph's order, which is topological. A buffer captured by a body is alive during the step
 * that runs the body, which counts as its reader.
 */
#include "compiler/draft.h"

static void use(prt_buffer *buffer, uint32_t step)
{
    if (step > buffer->last)
        buffer->last = step;
}

/* Counts `step` of block `b` as a reader of the captures of a body, and of bodies inside it. */
static void use_captures(const prt_draft *d, prt_draft_block *b, const prt_draft_step *s,
    uint32_t step)
{
    for (uint32_t r = 0; r < s->op->n_regions; r++) {
        const prt_draft_block *body = d->blocks.data[s->regions[r]];
        for (size_t i = 0; i < body->buffers.count; i++)
            if (body->buffers.data[i].space == PRT_SPACE_CAPTURE)
                use(&b->buffers.data[body->buffers.data[i].ref], step);
    }
}

/* Checks that the readers of a variable's old value stand before the step that writes the new
 * one, and that only one step does. */
static poprt_status check_order(const prt_draft *d, const prt_draft_block *b)
{
    const size_t n = d->module->variables.count;
    uint32_t *writer = PRT_NEW_N(d->arena, uint32_t, n); /* buffer + 1 */
    if (writer == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < b->steps.count; i++) {
        const prt_draft_step *s = &b->steps.data[i];
        for (uint32_t o = 0; o < s->op->n_out; o++) {
            const uint32_t out = s->args[s->op->n_in + o];
            const prt_buffer *y = out != PRT_NO_BUFFER ? &b->buffers.data[out] : NULL;
            if (y == NULL || y->space != PRT_SPACE_VARIABLE)
                continue;
            if (writer[y->ref] != 0)
                return prt_fail(POPRT_E_UNSUPPORTED, d->module->variables.data[y->ref]->name.data,
                    "two nodes write this variable in one run; one may");
            writer[y->ref] = out + 1;
        }
    }
    for (size_t k = 0; k < b->buffers.count; k++) {
        const prt_buffer *x = &b->buffers.data[k];
        if (x->space == PRT_SPACE_VARIABLE && writer[x->ref] != 0 && writer[x->ref] != k + 1 &&
            x->last > b->buffers.data[writer[x->ref] - 1].first)
            return prt_fail(POPRT_E_UNSUPPORTED, d->module->variables.data[x->ref]->name.data,
                "a node reads the old value of this variable after another has written it");
    }
    return POPRT_OK;
}

poprt_status prt_compile_schedule(prt_draft *d)
{
    for (size_t k = 0; k < d->blocks.count; k++) {
        prt_draft_block *b = d->blocks.data[k];
        for (uint32_t i = 0; i < b->steps.count; i++) {
            const prt_draft_step *s = &b->steps.data[i];
            for (uint32_t a = 0; a < s->op->n_in; a++)
                if (s->args[a] != PRT_NO_BUFFER)
                    use(&b->buffers.data[s->args[a]], i);
            for (uint32_t a = 0; a < s->op->n_out; a++) {
                const uint32_t out = s->args[s->op->n_in + a];
                if (out == PRT_NO_BUFFER)
                    continue;
                b->buffers.data[out].first = i;
                use(&b->buffers.data[out], i);
            }
            use_captures(d, b, s, i);
        }
        for (uint32_t i = 0; i < b->n_outputs; i++)
            use(&b->buffers.data[b->outputs[i]], (uint32_t)b->steps.count);
        if (d->module->variables.count != 0)
            PRT_TRY(check_order(d, b));
    }
    return POPRT_OK;
}
