/* SPDX-License-Identifier: MIT */
/* test_nesting.c — PopEF files with nested blocks run up to a depth, and are refused above it. */
#include "runtime/session.h"
#include "support/check_main.h"
#include "support/program_text.h"

#define IF(r, n, x)                                                                                \
    r " = if c {\nthen_branch {\n" x "}\nelse_branch {\n" n " = neg x\nreturn " n                  \
      "\n}\n}\nreturn " r "\n"
/* Three nested If. The second body has the buffers of the first one, its parent. */
#define MODEL                                                                                      \
    "c = input bool[]\nx = input f32[2]\n" IF("r0", "n0",                                          \
        IF("r1", "n1", IF("r2", "n2", "e = exp x\nreturn e\n")))

/* Returns the index of the first body of the only If of a block. */
static uint32_t body_of(const prt_program *p, uint32_t block, uint32_t *step)
{
    const prt_block *b = &p->blocks[block];
    for (*step = 0; *step < b->n_steps; ++*step)
        if (p->params[b->steps[*step].params].n_regions == 2)
            return p->params[b->steps[*step].params].regions[0];
    ck_abort_msg("block %u has no If", block);
    return 0;
}

/* Makes the program `more` blocks deeper: the `then` branch of the third body becomes a copy of
 * that body, and so on. The last copy has copies of the branches. */
static void deepen(prt_program *p, uint32_t more)
{
    uint32_t step;
    const uint32_t first = body_of(p, 0, &step), second = body_of(p, first, &step);
    const uint32_t leaf = body_of(p, second, &step);
    const prt_block like = p->blocks[second];
    const prt_eval_params own = p->params[like.steps[step].params];
    prt_block *blocks = PRT_NEW_N(p->arena, prt_block, p->n_blocks + 2 * more);
    prt_eval_params *params = PRT_NEW_N(p->arena, prt_eval_params, p->n_params + more);
    ck_assert(blocks != NULL && params != NULL);
    memcpy(blocks, p->blocks, p->n_blocks * sizeof(blocks[0]));
    memcpy(params, p->params, p->n_params * sizeof(params[0]));
    uint32_t parent = second;
    for (uint32_t i = 0; i < more; i++) {
        const uint32_t body = p->n_blocks + 2 * i;
        uint32_t *regions = PRT_NEW_N(p->arena, uint32_t, 2);
        prt_step *steps = PRT_NEW_N(p->arena, prt_step, like.n_steps);
        ck_assert(regions != NULL && steps != NULL);
        blocks[body] = i + 1 < more ? like : blocks[leaf];
        blocks[body + 1] = blocks[own.regions[1]];
        blocks[body].parent = blocks[body + 1].parent = parent;
        regions[0] = body;
        regions[1] = body + 1;
        params[p->n_params + i] = own;
        params[p->n_params + i].regions = regions;
        memcpy(steps, like.steps, like.n_steps * sizeof(steps[0]));
        steps[step].params = p->n_params + i;
        blocks[parent].steps = steps;
        parent = body;
    }
    p->blocks = blocks;
    p->params = params;
    p->n_blocks += 2 * more;
    p->n_params += more;
}

/* Reads the deepened program from its file, and returns the status; the caller releases it. */
static poprt_status read_deep(uint32_t more, prt_program **out)
{
    prt_program *p = program_from_text(MODEL);
    deepen(p, more);
    const test_bytes bytes = popef_of(p);
    const poprt_status status = program_from_bytes(bytes.data, bytes.size, true, out);
    prt_program_release(p);
    free(bytes.data);
    return status;
}

START_TEST(nested_blocks_run_up_to_the_limit)
{
    static const uint32_t more[] = { 0, 1, 20, PRT_MAX_BLOCK_DEPTH - 2 };
    for (size_t i = 0; i < PRT_COUNT_OF(more); i++) {
        prt_program *p = NULL;
        prt_session *s = NULL;
        float x[2] = { 0, 1 };
        bool c = true;
        const int64_t dims[1] = { 2 };
        prt_tensor in[2], out[1] = { { 0 } };
        ck_assert_int_eq(read_deep(more[i], &p), POPRT_OK);
        ck_assert(prt_tensor_init(&in[0], PRT_DTYPE_bool, 0, NULL, &c));
        ck_assert(prt_tensor_init(&in[1], PRT_DTYPE_f32, 1, dims, x));
        ck_assert_int_eq(prt_session_create(p, &(prt_session_options){ 0 }, &s), POPRT_OK);
        ck_assert_int_eq(prt_session_run(s, in, out), POPRT_OK);
        ck_f32(((const float *)out[0].data)[0], 1);
        prt_session_release(s);
        prt_program_release(p);
    }
}
END_TEST

START_TEST(blocks_nested_deeper_are_refused)
{
    static const uint32_t more[] = { PRT_MAX_BLOCK_DEPTH - 1, 100000 };
    for (size_t i = 0; i < PRT_COUNT_OF(more); i++) {
        prt_program *p = NULL;
        ck_assert_int_eq(read_deep(more[i], &p), POPRT_E_LIMIT);
        ck_assert_str_eq(prt_error_last()->message, "blocks are nested more than 256 deep");
    }
}
END_TEST

/* Reads a program of which the regions of two nodes, at `steps`, became one. */
static poprt_status read_shared(const char *text, const uint32_t steps[2])
{
    prt_program *p = program_from_text(text), *read = NULL;
    const prt_block *b = &p->blocks[0];
    const prt_eval_params *from = &p->params[b->steps[steps[0]].params];
    prt_eval_params *to = &p->params[b->steps[steps[1]].params];
    uint32_t *regions = PRT_NEW_N(p->arena, uint32_t, to->n_regions);
    ck_assert_ptr_nonnull(regions);
    for (uint32_t i = 0; i < to->n_regions; i++)
        regions[i] = from->regions[0];
    to->regions = regions;
    const test_bytes bytes = popef_of(p);
    const poprt_status status = program_from_bytes(bytes.data, bytes.size, true, &read);
    prt_program_release(read);
    prt_program_release(p);
    free(bytes.data);
    return status;
}

/* Only callees of Call have several callers: other operators may still use the results of a body
 * when it runs again. */
START_TEST(only_callees_are_shared)
{
    const char *calls = "x = input f32[2]\n"
                        "y = gc_call x {callee {\na = input f32[2]\nb = neg a\nreturn b\n}}\n"
                        "z = gc_call y {callee {\nd = input f32[2]\ne = exp d\nreturn e\n}}\n"
                        "return z\n";
    const char *branches =
        "c = input bool[]\nx = input f32[2]\n" IF("r", "n", "e = exp x\nreturn e\n");
    ck_assert_int_eq(read_shared(calls, (const uint32_t[]){ 0, 1 }), POPRT_OK);
    ck_assert_int_eq(read_shared(branches, (const uint32_t[]){ 0, 0 }), POPRT_E_PARSE);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "belongs to another step"));
}
END_TEST

PRT_TEST_MAIN("program/nesting", nested_blocks_run_up_to_the_limit,
    blocks_nested_deeper_are_refused, only_callees_are_shared)
