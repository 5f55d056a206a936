/* SPDX-License-Identifier: MIT */
/* program_text.c — programs for tests. */
#include "support/program_text.h"

#include <check.h>
#include <stdlib.h>

static prt_program *compile_text(const char *text, bool no_memory_sharing)
{
    prt_module *m = NULL;
    ck_assert_int_eq(prt_module_create(NULL, 0, &m), POPRT_OK);
    poprt_status status = prt_ir_parse(m, prt_str_of(text));
    ck_assert_msg(status == POPRT_OK, "parse: %s", prt_error_last()->message);
    const prt_compile_options options = { .no_memory_sharing = no_memory_sharing };
    prt_program *p = NULL;
    status = prt_compile(m, &options, &p);
    ck_assert_msg(status == POPRT_OK, "compile: %s", prt_error_last()->message);
    prt_module_release(m);
    return p;
}

prt_program *program_from_text(const char *text)
{
    return compile_text(text, false);
}

prt_program *program_without_sharing(const char *text)
{
    return compile_text(text, true);
}

static int32_t append(void *user, const void *bytes, size_t size)
{
    test_bytes *b = user;
    unsigned char *grown = realloc(b->data, b->size + size);
    if (grown == NULL)
        return -1;
    memcpy(grown + b->size, bytes, size);
    b->data = grown;
    b->size += size;
    return 0;
}

poprt_status popef_write(const prt_program *program, test_bytes *out)
{
    *out = (test_bytes){ 0 };
    return prt_popef_write(program, append, out);
}

test_bytes popef_of(const prt_program *program)
{
    test_bytes b;
    ck_assert_int_eq(popef_write(program, &b), POPRT_OK);
    return b;
}

poprt_status program_from_bytes(const void *data, size_t size, bool full, prt_program **out)
{
    prt_blob *blob = NULL;
    PRT_TRY(prt_blob_create(NULL, size, &blob));
    if (size != 0)
        memcpy(prt_blob_bytes(blob), data, size);
    const poprt_status status =
        prt_popef_read(NULL, 0, blob, full ? PRT_POPEF_VERIFY : PRT_POPEF_RUN, NULL, out);
    prt_blob_release(blob);
    return status;
}
