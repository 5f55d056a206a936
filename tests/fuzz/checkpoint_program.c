/* SPDX-License-Identifier: MIT */
/* checkpoint_program.c — see checkpoint_program.h. */
#include "fuzz/checkpoint_program.h"

#include "compiler/compile.h"

static const char text[] = "x = input f32[2]\n"
                           "w = variable weight f32[2] {1,2}\n"
                           "m = variable state f16[2,3]\n"
                           "t = variable state i64[]\n"
                           "e = variable state f32[0]\n"
                           "r = variable scalar f32[]\n"
                           "s = variable statistic f32[2] {10,20}\n"
                           "a = variable accumulator f32[2]\n"
                           "y = mul w x\nz = add y s\nsum = add a y\n"
                           "a2 = gc_copy_var_update a sum\ns2 = gc_copy_var_update s z\nreturn z\n";

static void check(poprt_status status)
{
    if (status != POPRT_OK)
        __builtin_trap();
}

prt_session *fuzz_checkpoint_session(const prt_allocator *allocator, prt_program **program)
{
    const prt_compile_flow flow = { .flow = { 2, 1, 2, 1, 0, 0 },
        .scaling = { PRT_NO_VARIABLE, PRT_NO_VARIABLE, 0, 0 },
        .optimizer = PRT_STR("sgd") };
    const prt_compile_options compiling = { .allocator = allocator, .flow = &flow };
    const prt_session_options running = { .allocator = allocator };
    prt_module *m = NULL;
    prt_session *session = NULL;
    check(prt_module_create(allocator, 0, &m));
    check(prt_ir_parse(m, PRT_STR(text)));
    check(prt_ir_infer(m->main));
    check(prt_compile(m, &compiling, program));
    prt_module_release(m);
    check(prt_session_create(*program, &running, &session));
    return session;
}
