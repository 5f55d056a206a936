/* SPDX-License-Identifier: MIT */
/* test_weight_form.c — steps are undone in their reverse order, and impossible ones are refused. */
#include "op/weight_form.h"

#include <stdlib.h>

#include "kern/gemm/gemm.h"
#include "num/dtype.h"
#include "support/check_main.h"

typedef struct fixture {
    prt_arena *arena;
    prt_types *types;
} fixture;

static fixture begin(void)
{
    fixture f;
    ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &f.arena), POPRT_OK);
    ck_assert_int_eq(prt_types_create(f.arena, &f.types), POPRT_OK);
    return f;
}

static const prt_type *type_of(fixture *f, int32_t dtype, int32_t rank, const int64_t *dims)
{
    return prt_type_tensor(f->types, dtype, rank, dims);
}

/* A float16 matrix [2, 3] is transposed, widened, written into columns 1 and 2 of [3, 20], and
 * packed. */
START_TEST(steps_are_undone_in_reverse)
{
    fixture f = begin();
    static const int64_t dims[] = { 2, 3 }, packed = 3 * 32;
    static const uint16_t w[] = { 0x3c00, 0x4000, 0xfe01, 0x8001, 0x7c00, 0x0000 };
    const prt_weight_step steps[] = {
        { PRT_WEIGHT_transpose, 2, { 2, 3 }, { 1, 0 } },
        { PRT_WEIGHT_convert, 2, { PRT_DTYPE_f16, PRT_DTYPE_f32 }, { 0 } },
        { PRT_WEIGHT_part, 2, { 3, 20 }, { 1, 1, 2 } },
        { PRT_WEIGHT_panels, 4, { 1, 3, 20, 0 }, { 0 } },
    };
    const prt_weight_form form = { PRT_STR("w"), type_of(&f, PRT_DTYPE_f16, 2, dims), 4, steps };
    float plain[3][20] = { { 0 } }, panels[3 * 32] = { 0 };
    uint16_t got[6];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            prt_convert(PRT_DTYPE_f16, &w[i * 3 + j], PRT_DTYPE_f32, &plain[j][1 + i], 1);
    prt_gemm_pack_all(3, 20, plain[0], 20, 1, panels);
    ck_assert(prt_weight_form_check(&form, type_of(&f, PRT_DTYPE_f32, 1, &packed)));
    ck_assert_int_eq(prt_weight_form_restore(&form, panels, &prt_mem_libc, got), POPRT_OK);
    ck_assert_mem_eq(got, w, sizeof(w));
    prt_arena_release(f.arena);
}
END_TEST

START_TEST(impossible_steps_are_refused)
{
    static const prt_weight_step bad[] = {
        { PRT_WEIGHT_STEP_KINDS, 2, { 2, 3 }, { 1, 0 } },
        { PRT_WEIGHT_transpose, 2, { 2, 3 }, { 1, 1 } },
        { PRT_WEIGHT_transpose, 2, { 2, 3 }, { 0, 2 } },
        { PRT_WEIGHT_transpose, 2, { 2, 4 }, { 1, 0 } },
        { PRT_WEIGHT_transpose, PRT_MAX_RANK + 1, { 6 }, { 0 } },
        { PRT_WEIGHT_transpose, 2, { -2, -3 }, { 1, 0 } },
        { PRT_WEIGHT_part, 2, { 2, 3 }, { 2, 0, 3 } },
        { PRT_WEIGHT_part, 2, { 2, 3 }, { 1, 1, 3 } },
        { PRT_WEIGHT_part, 2, { 2, 3 }, { 1, INT64_MAX, 3 } },
        { PRT_WEIGHT_part, 2, { 2, INT64_MIN }, { 1, 1, 3 } },
        { PRT_WEIGHT_part, 2, { 1 << 30, 1 << 30 }, { 1, 0, 3 } },
        { PRT_WEIGHT_panels, 4, { 1, 2, 4, 0 }, { 0 } },
        { PRT_WEIGHT_panels, 3, { 1, 2, 3 }, { 0 } },
        { PRT_WEIGHT_panels, 4, { 1, 2, -3, 6 }, { 0 } },
        { PRT_WEIGHT_convert, 2, { PRT_DTYPE_f16, PRT_DTYPE_f32 }, { 0 } },
        { PRT_WEIGHT_convert, 2, { PRT_DTYPE_f32, PRT_DTYPE_f16 }, { 0 } },
        { PRT_WEIGHT_convert, 2, { PRT_DTYPE_f32, PRT_DTYPE_i64 }, { 0 } },
        { PRT_WEIGHT_convert, 2, { PRT_DTYPE_f32, 1000 }, { 0 } },
        { PRT_WEIGHT_integers, 4, { 2, 3, 3, 1 }, { 3, 0 } },
        { PRT_WEIGHT_integers, 4, { 2, 3, 1, 1 }, { 8, 0 } },
        { PRT_WEIGHT_integers, 4, { 2, 3, 3, 1 }, { 8, 0 } },
    };
    fixture f = begin();
    static const int64_t dims[] = { 2, 3 };
    const prt_type *type = type_of(&f, PRT_DTYPE_f32, 2, dims);
    for (size_t i = 0; i < PRT_COUNT_OF(bad); i++) {
        const prt_weight_form form = { PRT_STR("w"), type, 1, &bad[i] };
        ck_assert_msg(!prt_weight_form_check(&form, type), "%zu", i);
    }
    const prt_weight_step good = { PRT_WEIGHT_transpose, 2, { 2, 3 }, { 1, 0 } };
    prt_weight_form form = { PRT_STR("w"), type, 1, &good };
    ck_assert(prt_weight_form_check(&form, type));
    ck_assert(!prt_weight_form_check(&form, type_of(&f, PRT_DTYPE_f64, 2, dims)));
    ck_assert(!prt_weight_form_check(&form, type_of(&f, PRT_DTYPE_f32, 1, dims)));
    form.n_steps = PRT_WEIGHT_STEPS + 1;
    ck_assert(!prt_weight_form_check(&form, type));
    prt_arena_release(f.arena);
}
END_TEST

START_TEST(kinds_have_words)
{
    for (uint32_t i = 0; i < PRT_WEIGHT_STEP_KINDS; i++)
        ck_assert_uint_eq(prt_weight_step_of(prt_str_of(prt_weight_step_name(i))), i);
    ck_assert_uint_eq(prt_weight_step_of(PRT_STR("?")), PRT_WEIGHT_STEP_KINDS);
}
END_TEST

PRT_TEST_MAIN("op/weight_form", steps_are_undone_in_reverse, impossible_steps_are_refused,
    kinds_have_words)
