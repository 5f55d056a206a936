/* SPDX-License-Identifier: MIT */
/* ops.h — cases of single operators: a function that builds one, and a run of the model. */
#ifndef PRT_TESTS_BUILDER_OPS_H
#define PRT_TESTS_BUILDER_OPS_H

#include "build.h"

/* Inputs of the case's builder, given their dims. */
#define F(...) INPUT(b, POPRT_DTYPE_FLOAT32, __VA_ARGS__)
#define I32(...) INPUT(b, POPRT_DTYPE_INT32, __VA_ARGS__)
#define I64(...) INPUT(b, POPRT_DTYPE_INT64, __VA_ARGS__)
#define U32(...) INPUT(b, POPRT_DTYPE_UINT32, __VA_ARGS__)
#define B(...) INPUT(b, POPRT_DTYPE_BOOL, __VA_ARGS__)

#define ATTRS(op, ...) (&(poprt_##op##_attrs){ __VA_ARGS__ })
#define LIST(...) ((const poprt_id[]){ __VA_ARGS__ })

struct op_case {
    const char *name;
    poprt_id (*make)(poprt_builder *b);
    bool needs_devices; /* the CPU refuses it when the model is compiled */
};

#define CASE(name, expression)                                                                     \
    static poprt_id make_##name(poprt_builder *b)                                                  \
    {                                                                                              \
        return expression;                                                                         \
    }
#define ROW(id)                                                                                    \
    {                                                                                              \
        .name = #id, .make = make_##id                                                             \
    }
#define BUILD(id)                                                                                  \
    {                                                                                              \
        .name = #id, .make = make_##id, .needs_devices = true                                      \
    }

/* Builds the case for an opset, with all outputs of its last operator, and runs the model. */
static inline void run_case(const struct op_case *c, int64_t opset)
{
    poprt_builder *b = new_builder(opset);
    const poprt_id y = c->make(b);
    const poprt_error *e = poprt_last_error();
    ck_assert_msg(poprt_builder_status(b) == POPRT_OK, "%s of opset %lld: %s: %s", c->name,
        (long long)opset, e->subject, e->message);
    ck_assert_msg(y != 0, "%s has no output", c->name);
    ck_assert_ok(poprt_builder_output(b, y));
    if (c->needs_devices)
        poprt_model_release(finish(b));
    else
        run_model(finish(b), NULL);
}

#endif
