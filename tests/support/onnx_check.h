/* SPDX-License-Identifier: MIT */
/* onnx_check.h — reads modules from messages and writes them; a failure fails the test. */
#ifndef PRT_TESTS_SUPPORT_ONNX_CHECK_H
#define PRT_TESTS_SUPPORT_ONNX_CHECK_H

#include "support/check_main.h"
#include "support/onnx_bytes.h"

static inline prt_module *onnx_loaded(const msg *model)
{
    prt_module *m = NULL;
    const poprt_status status = onnx_load(model, NULL, &m);
    ck_assert_msg(status == POPRT_OK, "%s: %s", prt_error_last()->subject, last_error());
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    return m;
}

static inline int32_t onnx_append(void *user, const void *bytes, size_t size)
{
    (void)msg_raw(user, bytes, size);
    return 0;
}

static inline msg *onnx_written(const prt_module *m)
{
    msg *out = msg_new();
    const poprt_status status = prt_onnx_write(m, onnx_append, out);
    ck_assert_msg(status == POPRT_OK, "%s", last_error());
    return out;
}

#endif
