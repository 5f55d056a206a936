/* SPDX-License-Identifier: MIT */
/* test_half_opset.c — the table of operators that got float16 or bfloat16 late, compared with
 * the history of schemas; the passes keep such operators in float32. */
#include "pass/precision/half_opset.h"

#include "converter/history.h"
#include "support/check_main.h"
#include "support/graph_text.h"

enum { BF16_OPSET = 17 };

static uint64_t set_of(const prt_op_def *def, uint32_t slot)
{
    const prt_slot_def *s = prt_op_in_slot(def, slot);
    for (uint32_t i = 0; i < def->n_types; i++)
        if (strcmp(def->types[i].var, s->var) == 0)
            return def->types[i].set;
    return 0;
}

/* Returns the first opset at which the input takes the type; a number past the newest opset if
 * there is no such opset. */
static int64_t first_of(const prt_op_def *def, uint32_t slot, const prt_type *type)
{
    int64_t opset = prt_history_first(prt_str_of(def->name));
    while (opset <= prt_history_newest() &&
        !prt_history_supports(prt_str_of(def->name), opset, slot, type))
        opset++;
    return opset;
}

static void check_row(prt_types *types, const prt_op_def *def, uint32_t slot, int32_t to)
{
    const prt_type *full = prt_type_tensor(types, PRT_DTYPE_f32, PRT_RANK_UNKNOWN, NULL);
    const prt_type *half = prt_type_tensor(types, to, PRT_RANK_UNKNOWN, NULL);
    const prt_op op = { .def = def };
    const int64_t since = first_of(def, slot, half), least = to == PRT_DTYPE_bf16 ? BF16_OPSET : 0;
    const bool is_newer = since > first_of(def, slot, full) && since > least;
    if ((def->id == PRT_OP_celu && to == PRT_DTYPE_f16) || prt_half_opset_of(&op, to) == INT64_MAX)
        return; /* written as Elu; rows of sequences take more than their schemas */
    ck_assert_msg(prt_half_opset_of(&op, to) == (is_newer ? since : 0) ||
            (!is_newer && prt_half_opset_of(&op, to) <= least),
        "%s takes %s from opset %d on, the table says %d", def->name, prt_dtype_id(to), (int)since,
        (int)prt_half_opset_of(&op, to));
}

START_TEST(the_table_agrees_with_the_history)
{
    static const int32_t halves[] = { PRT_DTYPE_f16, PRT_DTYPE_bf16 };
    prt_arena *arena = NULL;
    prt_types *types = NULL;
    uint32_t checked = 0;
    ck_assert_int_eq(prt_arena_create(NULL, 0, &arena), POPRT_OK);
    ck_assert_int_eq(prt_types_create(arena, &types), POPRT_OK);
    for (uint32_t id = 0; id < PRT_OP_COUNT; id++) {
        const prt_op_def *def = prt_op_of(id);
        if (def->domain[0] != '\0' || def->n_in == 0)
            continue;
        for (size_t k = 0; k < PRT_COUNT_OF(halves); k++)
            if ((set_of(def, 0) >> PRT_DTYPE_f32 & 1) != 0 &&
                (set_of(def, 0) >> halves[k] & 1) != 0) {
                check_row(types, def, 0, halves[k]);
                checked++;
            }
    }
    ck_assert_uint_gt(checked, 200);
    prt_arena_release(arena);
}
END_TEST

START_TEST(late_operators_stay_float32)
{
    assert_pass_rewrites("float_to_half", NULL,
        "x = input f32[4]\nn = input i64[]\na = const i64[] {0}\nz = const f32[] {0}\n"
        "d = const f32[] {0.1}\nc = cumsum x a\nf = cast n {to=1}\nr = range z f d\n"
        "i = isinf x\nm = mul r d\nreturn c, m, i\n",
        "x = input f16[4]\nn = input i64[]\n%0 = cast x {to=1}\na = const i64[] {0}\n"
        "z = const f32[] {0}\nd = const f32[] {0.1}\nd_0 = const f16[] {0.1}\n"
        "%3 = cumsum %0 a\nc = cast %3 {to=10}\nf = cast n {to=1}\nr = range z f d\n"
        "%1 = cast r {to=10}\ni = isinf %0\nm = mul %1 d_0\nreturn c, m, i\n");
    /* cumsum takes bfloat16 from opset 14 on, but sin not before 22 */
    assert_pass_rewrites("float_to_bf16", NULL,
        "x = input f32[4]\na = const i64[] {0}\nc = cumsum x a\ns = sin c\nreturn s\n",
        "x = input bf16[4]\na = const i64[] {0}\nc = cumsum x a\n%0 = cast c {to=1}\n"
        "%1 = sin %0\ns = cast %1 {to=16}\nreturn s\n");
}
END_TEST

START_TEST(layers_are_worth_a_newer_opset)
{
    assert_pass_rewrites("float_to_bf16", NULL,
        "x = input f32[1,1,4,4]\nw = const f32[1,1,1,1] {2}\nn = const i64[1] {2}\nc = conv x w\ns "
        "= sin c\n"
        "k, i = topk s n {axis=-1}\nreturn k, i\n",
        "x = input bf16[1,1,4,4]\nn = const i64[1] {2}\nw = const bf16[1,1,1,1] {2}\nc = conv x "
        "w\ns = sin c\n"
        "%0 = cast s {to=1}\n%1, i = topk %0 n {axis=-1}\nk = cast %1 {to=16}\nreturn k, i\n");
}
END_TEST

START_TEST(sequences_are_never_of_bfloat16)
{
    assert_pass_rewrites("float_to_bf16", NULL,
        "x = input f32[4]\nq = sequence_construct x x\nu = const i64[] {0}\ny = sequence_at q u\n"
        "z = neg y\nreturn z\n",
        "x = input bf16[4]\n%0 = cast x {to=1}\nq = sequence_construct %0 %0\n"
        "u = const i64[] {0}\ny = sequence_at q u\n%1 = cast y {to=16}\nz = neg %1\nreturn z\n");
}
END_TEST

PRT_TEST_MAIN("pass/precision/half_opset", the_table_agrees_with_the_history,
    late_operators_stay_float32, layers_are_worth_a_newer_opset, sequences_are_never_of_bfloat16)
