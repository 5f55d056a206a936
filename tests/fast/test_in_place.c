/* SPDX-License-Identifier: MIT */
/* test_in_place.c — every operator that may write its result over an input gives the same bits
 * when it does: by the reference kernel, and by its fast operator at each level that the
 * processor has. */
#include <stdio.h>
#include <stdlib.h>

#include "cpu/cpu.h"
#include "op/alias.h"
#include "runtime/session.h"
#include "support/check_main.h"
#include "support/program_text.h"

enum { ROWS = 3, COLUMNS = 30011, COUNT = ROWS * COLUMNS };

static float x[COUNT], z[COUNT];

static void *run_in_place(prt_program *p, const prt_kern *kern)
{
    const prt_session_options options = { .kern = kern };
    const int64_t dims[2] = { ROWS, COLUMNS };
    prt_session *s = NULL;
    prt_tensor in[2], out = { 0 };
    ck_assert(prt_tensor_init(&in[0], PRT_DTYPE_f32, 2, dims, x));
    ck_assert(prt_tensor_init(&in[1], PRT_DTYPE_f32, 2, dims, z));
    ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_OK);
    const poprt_status status = prt_session_run(s, in, &out);
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    ck_assert_uint_eq(out.size, sizeof(x));
    void *copy = malloc(sizeof(x));
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, out.data, sizeof(x));
    prt_session_release(s);
    return copy;
}

static bool shares_memory(const prt_program *p)
{
    for (uint32_t i = 0; i < p->blocks[0].n_buffers; i++)
        if (p->blocks[0].buffers[i].space == PRT_SPACE_VIEW)
            return true;
    return false;
}

static void ck_in_place(const char *op, const char *text)
{
    static const char *const levels[] = { "portable", "avx2", "avx512" };
    prt_program *unshared = program_without_sharing(text), *shared = program_from_text(text);
    ck_assert_msg(!shares_memory(unshared) && shares_memory(shared), "%s", op);
    for (size_t i = 0; i <= PRT_COUNT_OF(levels); i++) {
        const uint64_t want = i > 0 ? prt_cpu_level(levels[i - 1]) : 0;
        if ((want & prt_cpu_features()) != want)
            continue;
        const prt_kern *kern = i > 0 ? prt_kern_of(want) : NULL;
        void *a = run_in_place(unshared, kern), *b = run_in_place(shared, kern);
        ck_assert_msg(memcmp(a, b, sizeof(x)) == 0, "%s, level %zu", op, i);
        free(a);
        free(b);
    }
    prt_program_release(unshared);
    prt_program_release(shared);
}

/* Whether every input and output of the operator accepts float32. */
static bool is_float(const prt_op_def *def)
{
    const prt_slot_def *out = prt_op_out_slot(def, 0);
    bool any = false;
    for (uint32_t i = 0; i < def->n_types; i++) {
        if ((def->types[i].set & PRT_T(f32)) == 0)
            return false;
        any = any || strcmp(def->types[i].var, out->var) == 0;
    }
    return any;
}

/* Attributes that the operator requires. */
static const char *required_attributes(uint32_t id, uint32_t inputs)
{
    if (id == PRT_OP_elementwise) /* |x| and x times that; x y and that plus x */
        return inputs == 1 ? " {program=[7,0,0,0,2,0,1,0]}" : " {program=[2,0,1,0,0,2,0,0]}";
    return id == PRT_OP_cast ? " {to=1}" : id == PRT_OP_mod ? " {fmod=1}" : "";
}

START_TEST(results_in_place_have_the_same_bits)
{
    uint32_t one = 0, two = 0;
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = (float)(i % 1013) / 90.0f - 5.5f;
        z[i] = (float)(i % 211) / 40.0f + 0.25f;
    }
    for (uint32_t id = 0; id < PRT_OP_COUNT; id++) {
        const prt_op_def *def = prt_op_of(id);
        char text[512];
        if (!prt_alias_in_place(def, 1, 0) || !is_float(def))
            continue;
        if (def->min_in <= 1) {
            (void)snprintf(text, sizeof(text),
                "x = input f32[%d,%d]\nz = input f32[%d,%d]\n"
                "a = sigmoid x\nb = softmax a\nc = mul b z\ny = %s c%s\nw = softmax y\n"
                "v = cast w {to=11}\nu = cast v {to=1}\nreturn u\n",
                ROWS, COLUMNS, ROWS, COLUMNS, def->key, required_attributes(id, 1));
            ck_in_place(def->key, text);
            one++;
        }
        for (uint32_t k = 0; k < 6 && def->min_in <= 2 && def->max_in >= 2; k++) {
            static const char *const other[3] = { "z", "r", "s" };
            const bool left = k < 3;
            if (!prt_alias_in_place(def, 2, !left) || (!left && id == PRT_OP_prelu && k > 3) ||
                id == PRT_OP_clip)
                continue;
            (void)snprintf(text, sizeof(text),
                "x = input f32[%d,%d]\nz = input f32[%d,%d]\n"
                "r = const f32[%d,1] {1.5,2,0.25}\ns = const f32[] {2}\na = softmax x\n"
                "c = softmax a\ny = %s %s %s%s\nw = softmax y\nv = cast w {to=11}\n"
                "u = cast v {to=1}\nreturn u\n",
                ROWS, COLUMNS, ROWS, COLUMNS, ROWS, def->key, left ? "c" : other[k % 3],
                left ? other[k % 3] : "c", required_attributes(id, 2));
            ck_in_place(def->key, text);
            two++;
        }
    }
    ck_assert_uint_gt(one, 25);
    ck_assert_uint_gt(two, 30);
}
END_TEST

PRT_TEST_MAIN("fast/in_place", results_in_place_have_the_same_bits)
