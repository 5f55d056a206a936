/* SPDX-License-Identifier: MIT */
/* test_sniff.c — files that are not ONNX models are recognised and named. */
#include "converter/sniff.h"
#include "support/check_main.h"
#include "support/onnx_bytes.h"

static poprt_status read_bytes(const void *bytes, size_t size)
{
    prt_blob *blob = NULL;
    prt_module *m = NULL;
    ck_assert_int_eq(prt_blob_create(&prt_mem_libc, size, &blob), POPRT_OK);
    if (size != 0)
        memcpy(prt_blob_bytes(blob), bytes, size);
    const poprt_status status = prt_onnx_read_bytes(&prt_mem_libc, blob, "f", NULL, NULL, &m);
    prt_blob_release(blob);
    return status;
}

START_TEST(other_files_are_named)
{
    static const struct {
        const char *bytes, *says;
        size_t size;
    } files[] = {
        { "POPEF-C\0\1\2\3\4\5", "PopEF", 13 },
        { "version https://git-lfs.github.com/spec/v1\noid sha256:12\n", "git lfs pull", 55 },
        { "PK\3\4\24\0\0\0\10\0", "zip archive", 10 },
        { "\x1f\x8b\10\0\0\0\0\0", "gzip", 8 },
        { "\x89HDF\r\n\x1a\n", "HDF5", 8 },
        { "\x1c\0\0\0TFL3\0\0", "TensorFlow Lite", 10 },
        { "{\"nodes\": []}\n", "a text", 14 },
        { "", "an empty file", 0 },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(files); i++) {
        ck_assert_int_eq(read_bytes(files[i].bytes, files[i].size), POPRT_E_PARSE);
        ck_assert_msg(strstr(prt_error_last()->message, files[i].says) != NULL, "%zu: %s", i,
            prt_error_last()->message);
    }
    ck_assert_ptr_null(prt_onnx_sniff("\xff\xfe\xfd\xfc", 4));
}
END_TEST

PRT_TEST_MAIN("converter/sniff", other_files_are_named)
