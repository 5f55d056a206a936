/* SPDX-License-Identifier: MIT */
/*
 * test_variables.c — programs with variables: text form, copies of modules, and programs from
 * damaged files, which are refused.
 * Covers: variable.c, variables.c.
 */
#include "ir/ir.h"
#include "support/check_main.h"
#include "support/program_text.h"

#define MODEL                                                                                      \
    "x = input f32[2]\ns = variable statistic f32[2] {10,20}\na = variable accumulator f32[2]\n"   \
    "y = add s x\nm = mul y x\ns2 = gc_copy_var_update s m\na2 = gc_copy_var_update a x\n"         \
    "return y, s2\n"

static prt_buffer *named(prt_program *p, const char *name, uint32_t which)
{
    for (uint32_t i = 0; i < p->blocks[0].n_buffers; i++)
        if (prt_str_is(p->blocks[0].buffers[i].name, name) && which-- == 0)
            return &p->blocks[0].buffers[i];
    ck_abort_msg("no buffer %s", name);
    return NULL;
}

static void refused(prt_program *p, const char *why)
{
    ck_assert_int_eq(prt_program_check(p), POPRT_E_PARSE);
    ck_assert_msg(strstr(prt_error_last()->message, why) != NULL, "%s", prt_error_last()->message);
    prt_program_release(p);
}

START_TEST(text_and_copies_keep_variables)
{
    prt_module *m = NULL, *copy = NULL;
    prt_str text, again;
    ck_assert_int_eq(prt_module_create(&prt_mem_libc, 0, &m), POPRT_OK);
    ck_assert_int_eq(prt_ir_parse(m, PRT_STR(MODEL)), POPRT_OK);
    ck_assert_int_eq(prt_ir_infer(m->main), POPRT_OK);
    prt_graph *update = prt_module_entry(m, PRT_ENTRY_update);
    ck_assert_ptr_nonnull(prt_graph_variable(update, prt_module_variable(m, PRT_STR("s"))));
    ck_assert_ptr_eq(prt_module_entry(m, PRT_ENTRY_update), update);
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    ck_assert_int_eq(prt_ir_clone(m, &copy), POPRT_OK);
    ck_assert_int_eq(prt_ir_verify(copy), POPRT_OK);
    ck_assert_int_eq(prt_ir_print(m->main, m->arena, &text), POPRT_OK);
    prt_module_release(m);
    ck_assert_int_eq(prt_ir_print(copy->main, copy->arena, &again), POPRT_OK);
    ck_assert_ptr_nonnull(strstr(again.data, "s = variable statistic f32[2] {10, 20}"));
    ck_assert_ptr_nonnull(strstr(again.data, "a = variable accumulator f32[2]\n"));
    ck_assert_uint_eq(copy->variables.count, 2);
    ck_assert_uint_eq(copy->entries.count, 1);
    ck_assert_uint_eq(copy->entries.data[0].graph->variables.count, 1);
    prt_module_release(copy);
}
END_TEST

START_TEST(a_constant_becomes_a_variable)
{
    prt_module *m = NULL;
    ck_assert_int_eq(prt_module_create(&prt_mem_libc, 0, &m), POPRT_OK);
    ck_assert_int_eq(prt_ir_parse(m,
                         PRT_STR(
                             "x = input f32[2]\nw = const f32[2] {1,2}\ny = add x w\nreturn y\n")),
        POPRT_OK);
    ck_assert_int_eq(prt_ir_infer(m->main), POPRT_OK);
    prt_value *w = prt_map_find(&m->names, PRT_STR("w"));
    const prt_ir_variable *v = prt_value_make_variable(w, PRT_VARIABLE_weight);
    ck_assert_ptr_nonnull(v);
    ck_assert_ptr_eq(w->variable, v);
    ck_assert(!prt_value_is_fixed(w));
    ck_assert_uint_eq(m->main->constants.count, 0);
    ck_f32(((const float *)(const void *)v->init->data)[1], 2);
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    prt_module_release(m);
}
END_TEST

START_TEST(only_saved_variables_may_lack_contents)
{
    static const int64_t no_elements[] = { 0 };
    prt_program *p = program_from_text(MODEL);
    prt_variable *v = (prt_variable *)(uintptr_t)&p->variables[0];
    const prt_type *type = v->type, *none = prt_type_tensor(p->types, PRT_DTYPE_u8, 1, no_elements);
    ck_assert_ptr_nonnull(none);
    ck_assert(!prt_variable_is_empty(p, v));
    p->constants[v->init].type = none;
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    ck_assert(prt_variable_is_empty(p, v));
    v->role = PRT_VARIABLE_scalar;
    ck_assert_int_eq(prt_program_check(p), POPRT_E_PARSE);
    v->role = PRT_VARIABLE_statistic;
    p->constants[v->init].type = prt_type_tensor(p->types, PRT_DTYPE_u8, 1, type->dims);
    refused(p, "begins as a constant of another type");
}
END_TEST

START_TEST(two_writers_of_a_variable_are_refused)
{
    prt_module *m = NULL;
    prt_program *p = NULL;
    ck_assert_int_eq(prt_module_create(&prt_mem_libc, 0, &m), POPRT_OK);
    ck_assert_int_eq(
        prt_ir_parse(m,
            PRT_STR("x = input f32[2]\nw = variable weight f32[2]\na = gc_copy_var_update w x\n"
                    "b = gc_copy_var_update w x\nreturn a, b\n")),
        POPRT_OK);
    ck_assert_int_eq(prt_ir_infer(m->main), POPRT_OK);
    const prt_compile_options options = { .allocator = &prt_mem_libc };
    ck_assert_int_eq(prt_compile(m, &options, &p), POPRT_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "two nodes write"));
    prt_module_release(m);
}
END_TEST

START_TEST(damaged_variables_are_refused)
{
    prt_program *p = program_from_text(MODEL);
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    named(p, "s", 0)->ref = 2;
    refused(p, "refer to a variable");
    p = program_from_text(MODEL);
    named(p, "s", 1)->ref = 1; /* writes a, reads s */
    refused(p, "may not write this variable");
    p = program_from_text(MODEL);
    ((prt_variable *)(uintptr_t)p->variables)[0].role = PRT_VARIABLE_ROLE_COUNT;
    refused(p, "unknown role");
    p = program_from_text(MODEL);
    ((prt_variable *)(uintptr_t)p->variables)[0].init = p->n_constants;
    refused(p, "constant of another type");
    p = program_from_text(MODEL);
    ((prt_variable *)(uintptr_t)p->variables)[1].fill = 1;
    refused(p, "begin as zeros");
}
END_TEST

START_TEST(reads_after_a_write_are_refused)
{
    prt_program *p = program_from_text(MODEL);
    prt_step *steps = (prt_step *)(uintptr_t)p->blocks[0].steps;
    const uint32_t n = p->blocks[0].n_steps;
    const prt_step last = steps[n - 1];
    /* The step that writes a comes first, and reads s there; then a is read. */
    uint32_t *args = (uint32_t *)(uintptr_t)p->args;
    args[steps[0].args + 1] = args[last.args];
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    memmove(steps + 1, steps, (n - 1) * sizeof(*steps));
    steps[0] = last;
    ck_assert_int_eq(prt_program_check(p), POPRT_E_PARSE);
    prt_program_release(p);
}
END_TEST

START_TEST(damaged_entries_are_refused)
{
    static const prt_entry bad[] = { { PRT_ENTRY_KIND_COUNT, 0 }, { PRT_ENTRY_update, 0 },
        { PRT_ENTRY_update, 1 } };
    for (size_t i = 0; i < PRT_COUNT_OF(bad); i++) {
        prt_program *p = program_from_text(MODEL);
        p->entries = &bad[i];
        p->n_entries = 1;
        refused(p, "an entry has");
    }
}
END_TEST

PRT_TEST_MAIN("program/variables", text_and_copies_keep_variables, a_constant_becomes_a_variable,
    two_writers_of_a_variable_are_refused, damaged_variables_are_refused,
    only_saved_variables_may_lack_contents, reads_after_a_write_are_refused,
    damaged_entries_are_refused)
