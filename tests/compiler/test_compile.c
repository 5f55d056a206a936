/* SPDX-License-Identifier: MIT */
/*
 * test_compile.c — from graph to program: buffers, captures, lifetimes, plan, errors.
 * Covers: emit.c, place.c, report.c, schedule.c.
 */
#include "support/check_main.h"
#include "support/program_text.h"

static const prt_buffer *buffer_named(const prt_block *b, const char *name)
{
    for (uint32_t i = 0; i < b->n_buffers; i++)
        if (prt_str_is(b->buffers[i].name, name))
            return &b->buffers[i];
    ck_abort_msg("no buffer %s", name);
    return NULL;
}

START_TEST(a_chain_reuses_memory)
{
    prt_program *p =
        program_without_sharing("x = input f32[1024]\n"
                                "a = neg x\nb = neg a\nc = neg b\nd = neg c\ny = neg d\n"
                                "return y\n");
    const prt_block *b = &p->blocks[0];
    ck_assert(b->is_static);
    ck_assert_uint_eq(b->plan_size, 2 * 4096);
    ck_assert_uint_eq(b->plan_peak, 2 * 4096);
    ck_assert_uint_eq(buffer_named(b, "y")->space, PRT_SPACE_OUTPUT);
    ck_assert_uint_eq(buffer_named(b, "x")->space, PRT_SPACE_INPUT);
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    prt_program_release(p);
}
END_TEST

START_TEST(symbolic_buffers_are_planned_by_runs)
{
    prt_program *p = program_from_text("x = input f32[n,4]\na = neg x\ny = neg a\nreturn y\n");
    const prt_block *b = &p->blocks[0];
    ck_assert(!b->is_static);
    ck_assert_uint_eq(buffer_named(b, "a")->space, PRT_SPACE_PLANNED);
    ck_assert_uint_eq(prt_dims_count(p->dims), 1);
    prt_program_release(p);
}
END_TEST

START_TEST(bodies_capture_outer_values)
{
    prt_program *p =
        program_from_text("c = input bool[]\nx = input f32[4]\n"
                          "k = const f32[4] {1,2,3,4}\n"
                          "a = neg x\n"
                          "y = if c {\n"
                          "  then_branch {\n"
                          "    t = if c {\n"
                          "      then_branch {\n        u = add a k\n        return u\n      }\n"
                          "      else_branch {\n        return k\n      }\n"
                          "    }\n"
                          "    return t\n  }\n"
                          "  else_branch {\n    return a\n  }\n"
                          "}\nreturn y\n");
    ck_assert_uint_eq(p->n_blocks, 5);
    const prt_block *inner = &p->blocks[2];
    ck_assert_uint_eq(inner->parent, 1);
    ck_assert_uint_eq(buffer_named(inner, "a")->space, PRT_SPACE_CAPTURE);
    ck_assert_uint_eq(buffer_named(inner, "k")->space, PRT_SPACE_CONSTANT);
    ck_assert_uint_eq(buffer_named(&p->blocks[1], "a")->space, PRT_SPACE_CAPTURE);
    /* `a` is alive in the main block until the step that runs the bodies. */
    ck_assert_uint_eq(buffer_named(&p->blocks[0], "a")->last, 1);
    ck_assert_uint_eq(p->n_constants, 1);
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    prt_program_release(p);
}
END_TEST

/* A damaged file could make a step, a body or the caller read a value that is never computed. */
START_TEST(nothing_is_read_before_it_is_written)
{
    prt_program *p = program_without_sharing("x = input f32[4]\na = neg x\ny = abs a\nreturn y\n");
    const prt_block *b = &p->blocks[0];
    uint32_t *args = (uint32_t *)(uintptr_t)p->args, *outputs = (uint32_t *)(uintptr_t)b->outputs;
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    const uint32_t x = args[b->steps[0].args], y = args[b->steps[1].args + 1];
    args[b->steps[0].args] = y;
    ck_assert_int_eq(prt_program_check(p), POPRT_E_PARSE);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "before it is written"));
    args[b->steps[0].args] = x;
    args[b->steps[1].args + 1] = PRT_NO_BUFFER;
    ck_assert_int_eq(prt_program_check(p), POPRT_E_PARSE);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "an output is never written"));
    args[b->steps[1].args + 1] = y;
    outputs[0] = x; /* and "y", in the caller's memory, is not an output of a step */
    ck_assert_int_eq(prt_program_check(p), POPRT_E_PARSE);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "refers to a missing output"));
    prt_program_release(p);
}
END_TEST

START_TEST(captures_are_computed_before_the_call)
{
    prt_program *p = program_from_text("c = input bool[]\nx = input f32[4]\na = neg x\n"
                                       "y = if c {\n"
                                       "  then_branch {\n    t = abs a\n    return t\n  }\n"
                                       "  else_branch {\n    return a\n  }\n"
                                       "}\nreturn y\n");
    const prt_block *b = &p->blocks[0];
    uint32_t *args = (uint32_t *)(uintptr_t)p->args;
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    args[b->steps[0].args + 1] = PRT_NO_BUFFER;
    ck_assert_int_eq(prt_program_check(p), POPRT_E_PARSE);
    prt_program_release(p);
}
END_TEST

START_TEST(unknown_operators_are_listed_together)
{
    prt_module *m = NULL;
    ck_assert_int_eq(prt_module_create(NULL, 0, &m), POPRT_OK);
    prt_value *x = prt_graph_add_input(m->main, PRT_STR("x"),
        prt_type_tensor(m->types, PRT_DTYPE_f32, 0, NULL));
    static const char *const nodes[] = { "node_a", "node_b", "node_c", "node_d" };
    ck_assert_int_eq(prt_module_set_opset(m, PRT_STR("my.domain"), 3), POPRT_OK);
    for (int i = 0; i < 4; i++) {
        prt_op *op = prt_graph_add_op(m->main, NULL, NULL, 1, 1, 0);
        op->name = i != 1 ? PRT_STR("Frobnicate") : PRT_STR("Twiddle");
        op->domain = PRT_STR("my.domain");
        op->origin = prt_str_of(nodes[i]);
        prt_op_set_input(op, 0, x);
    }
    const prt_compile_options options = { 0 };
    prt_program *p = NULL;
    ck_assert_int_eq(prt_compile(m, &options, &p), POPRT_E_UNSUPPORTED);
    ck_assert_str_eq(prt_error_last()->subject, "node_a");
    ck_assert_str_eq(prt_error_last()->message,
        "Frobnicate: is not an operator of this library, here and in 2 more: node_c, node_d "
        "(my.domain, opset 3)\n"
        "node_b: Twiddle: is not an operator of this library (my.domain, opset 3)");
    prt_module_release(m);
}
END_TEST

static int32_t cancel_compilation(void *user, const char *stage, uint64_t done, uint64_t total)
{
    (void)stage;
    (void)total;
    return done >= *(const uint64_t *)user;
}

START_TEST(progress_can_cancel)
{
    for (uint64_t stop = 0; stop < 7; stop++) {
        prt_module *m = NULL;
        ck_assert_int_eq(prt_module_create(NULL, 0, &m), POPRT_OK);
        ck_assert_int_eq(prt_ir_parse(m, PRT_STR("x = input f32[4]\ny = neg x\nreturn y\n")),
            POPRT_OK);
        const prt_compile_options options = { .progress = cancel_compilation,
            .progress_user = &stop };
        prt_program *p = NULL;
        ck_assert_int_eq(prt_compile(m, &options, &p), POPRT_E_CANCELLED);
        ck_assert_ptr_null(p);
        prt_module_release(m);
    }
}
END_TEST

static void ck_refused(const char *text, const prt_compile_flow *flow, const char *const *words)
{
    prt_module *m = NULL;
    prt_program *p = NULL;
    ck_assert_int_eq(prt_module_create(NULL, 0, &m), POPRT_OK);
    ck_assert_int_eq(prt_ir_parse(m, prt_str_of(text)), POPRT_OK);
    const prt_compile_options options = { .flow = flow };
    ck_assert_int_eq(prt_compile(m, &options, &p), POPRT_E_DEVICE);
    const char *said = prt_error_last()->message;
    for (; *words != NULL; words++)
        ck_assert_msg(strstr(said, *words) != NULL, "'%s' not in '%s'", *words, said);
    prt_module_release(m);
}

/* Nodes for several devices load and have types. A compiler for one device lists them all. */
START_TEST(multi_device_nodes_are_refused)
{
    const prt_compile_flow two = { .flow = { 1, 1, 2, 1, 0, 0 } };
    ck_refused("x = input f32[2]\n= gc_remote_store x @ first\nb = gc_remote_load x @ second\n"
               "return b\n",
        NULL,
        (const char *const[]){ "RemoteStore: reads or writes a remote buffer",
            "second: RemoteLoad: ", "RemoteBuffer___<bufferid>", "(ai.graphcore, opset 0)", NULL });
    ck_refused("x = input f32[2]\na = gc_replicated_all_reduce x @ first\nb = "
               "gc_replicated_reduce_scatter a @ second\nc = gc_replicated_all_gather b @ third\n"
               "return c\n",
        &two,
        (const char *const[]){ "ReplicatedAllReduce: exchanges data between replicas",
            "second: ReplicatedReduceScatter: ", "third: ReplicatedAllGather: ", NULL });
}
END_TEST

PRT_TEST_MAIN("compiler/compile", a_chain_reuses_memory, symbolic_buffers_are_planned_by_runs,
    bodies_capture_outer_values, nothing_is_read_before_it_is_written,
    captures_are_computed_before_the_call, unknown_operators_are_listed_together,
    progress_can_cancel, multi_device_nodes_are_refused)
