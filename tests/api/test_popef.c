/* SPDX-License-Identifier: MIT */
/*
 * test_popef.c — single blobs of PopEF files, and the model that passes compare with.
 * Covers: api/popef.c.
 */
#include "poprt/popef.h"

#include <unistd.h>

#include "api_test.h"

static buffer digits_popef(void)
{
    buffer bytes = { NULL, 0 };
    poprt_executable *exec = compile_digits(NULL);
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &bytes));
    poprt_executable_release(exec);
    return bytes;
}

static poprt_popef_blob blob_of(int32_t type, const char *descriptor, const void *payload,
    size_t size)
{
    return (poprt_popef_blob){ .struct_size = sizeof(poprt_popef_blob),
        .type = type,
        .descriptor = descriptor,
        .descriptor_size = strlen(descriptor),
        .payload = payload,
        .payload_size = size };
}

START_TEST(blobs_of_an_executable_are_listed)
{
    buffer bytes = digits_popef();
    poprt_popef *file = NULL;
    size_t of_type[POPRT_POPEF_OPAQUE + 1] = { 0 };
    uint64_t at = 0;
    ck_assert_ok(poprt_popef_open_bytes(bytes.data, bytes.size, 1, &file));
    for (size_t i = 0; i < poprt_popef_count(file); i++) {
        poprt_popef_blob b = { .struct_size = sizeof(b) };
        ck_assert_ok(poprt_popef_at(file, i, &b));
        ck_assert_int_le(b.type, POPRT_POPEF_OPAQUE);
        of_type[b.type]++;
        ck_assert_str_eq(b.version, "1.0.0");
        ck_assert_uint_eq(b.offset, at);
        ck_assert_int_eq(b.descriptor[0], '{');
        ck_assert_int_eq(b.descriptor[b.descriptor_size - 1], '}');
        ck_assert((const char *)b.payload + b.payload_size <=
            (const char *)bytes.data + b.offset + b.size);
        at += b.size;
    }
    ck_assert_uint_eq(at, bytes.size);
    ck_assert_uint_eq(of_type[POPRT_POPEF_EXECUTABLE], 1);
    ck_assert_uint_eq(of_type[POPRT_POPEF_METADATA], 1);
    ck_assert_uint_ge(of_type[POPRT_POPEF_TENSOR], 5);
    poprt_popef_blob past = { .struct_size = sizeof(past) };
    ck_assert_fails(poprt_popef_at(file, poprt_popef_count(file), &past), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_popef_at(NULL, 0, &past), POPRT_E_NOT_FOUND);
    poprt_popef_release(file);
    poprt_popef_release(NULL);
    free(bytes.data);
}
END_TEST

START_TEST(opaque_blobs_can_be_appended)
{
    char path[] = "popef-XXXXXX";
    buffer bytes = digits_popef();
    poprt_popef_blob blob = blob_of(POPRT_POPEF_OPAQUE, "{\"name\":\"mine\"}", "hello", 5);
    blob.offset = bytes.size;
    ck_assert_ok(poprt_popef_write(&blob, buffer_write, &bytes));
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes.data, bytes.size), (ssize_t)bytes.size);
    (void)close(fd);

    poprt_popef *file = NULL;
    poprt_popef_blob last = { .struct_size = sizeof(last) };
    ck_assert_ok(poprt_popef_open_file(path, 1, &file));
    ck_assert_ok(poprt_popef_at(file, poprt_popef_count(file) - 1, &last));
    ck_assert_int_eq(last.type, POPRT_POPEF_OPAQUE);
    ck_assert_uint_eq(last.payload_size, 5);
    ck_assert_mem_eq(last.payload, "hello", 5);
    ck_assert_mem_eq(last.descriptor, "{\"name\":\"mine\",\"payloadSize\":5,", 31);
    poprt_popef_release(file);

    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_executable_load_file(NULL, path, NULL, &exec));
    poprt_executable_release(exec);
    (void)unlink(path);
    free(bytes.data);
}
END_TEST

START_TEST(payloads_of_tensors_are_aligned)
{
    buffer bytes = { NULL, 0 };
    static const float numbers[3] = { 1.0f, 2.0f, 3.0f };
    const char *descriptor =
        "{ \"name\": \"w\", \"tensorInfo\": {\"dataType\": \"F32\", \"shape\": [3]} } ";
    for (int i = 0; i < 3; i++) {
        poprt_popef_blob blob = blob_of(POPRT_POPEF_TENSOR, descriptor, numbers, sizeof(numbers));
        blob.offset = bytes.size;
        ck_assert_ok(poprt_popef_write(&blob, buffer_write, &bytes));
    }
    poprt_popef *file = NULL;
    ck_assert_ok(poprt_popef_open_bytes(bytes.data, bytes.size, 1, &file));
    ck_assert_uint_eq(poprt_popef_count(file), 3);
    for (size_t i = 0; i < 3; i++) {
        poprt_popef_blob b = { .struct_size = sizeof(b) };
        ck_assert_ok(poprt_popef_at(file, i, &b));
        ck_assert_uint_eq((size_t)((const char *)b.payload - (const char *)bytes.data) % 64, 0);
        ck_assert_mem_eq(b.payload, numbers, sizeof(numbers));
        ck_assert_uint_eq(b.payload_offset,
            (size_t)((const char *)b.payload - (const char *)bytes.data));
    }
    poprt_popef_release(file);
    free(bytes.data);
}
END_TEST

static int32_t refuse(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return 1;
}

START_TEST(wrong_blobs_and_files_are_refused)
{
    static const char *const descriptors[] = { "[]", "{", "{\"crc\":1}", "{\"payloadSize\":1}", "",
        "{}x" };
    buffer bytes = { NULL, 0 };
    poprt_popef *file = NULL;
    for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++) {
        const poprt_popef_blob blob = blob_of(POPRT_POPEF_OPAQUE, descriptors[i], NULL, 0);
        ck_assert_int_ne(poprt_popef_write(&blob, buffer_write, &bytes), POPRT_OK);
    }
    const poprt_popef_blob unknown = blob_of(5, "{}", NULL, 0), good = blob_of(4, "{}", NULL, 0),
                           no_payload = blob_of(4, "{}", NULL, 3);
    ck_assert_fails(poprt_popef_write(&unknown, buffer_write, &bytes), POPRT_E_ARG);
    ck_assert_fails(poprt_popef_write(&no_payload, buffer_write, &bytes), POPRT_E_ARG);
    ck_assert_fails(poprt_popef_write(&good, refuse, NULL), POPRT_E_IO);
    ck_assert_uint_eq(bytes.size, 0);
    ck_assert_ok(poprt_popef_write(&good, buffer_write, &bytes));
    ck_assert_ok(poprt_popef_open_bytes(bytes.data, bytes.size, 0, &file));
    poprt_popef_release(file);
    ck_assert_fails(poprt_popef_open_bytes(bytes.data, bytes.size - 8, 0, &file), POPRT_E_PARSE);
    ((unsigned char *)bytes.data)[68] ^= 1; /* in the descriptor */
    ck_assert_fails(poprt_popef_open_bytes(bytes.data, bytes.size, 0, &file), POPRT_E_PARSE);
    ck_assert_fails(poprt_popef_open_file("no such file", 0, &file), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_popef_open_file(PRT_TEST_DATA "/digits/model.onnx", 0, &file),
        POPRT_E_PARSE);
    free(bytes.data);
}
END_TEST

static poprt_status compare(const poprt_model *origin, poprt_model *model, const char *data)
{
    poprt_pass_manager *manager = NULL;
    ck_assert_ok(poprt_pass_manager_create(NULL, &manager));
    poprt_status status = poprt_pass_manager_set_reference(manager, origin, data);
    if (status == POPRT_OK)
        status = poprt_pass_manager_add(manager, "check_with_fake_data", NULL);
    if (status == POPRT_OK)
        status = poprt_pass_manager_run(manager, model);
    poprt_pass_manager_release(manager);
    return status;
}

START_TEST(passes_compare_with_a_given_model)
{
    poprt_model *origin = NULL, *model = NULL;
    poprt_pass_manager *manager = NULL;
    const poprt_pass_arg scales = { "fp8_params", "F143,F143,30,30" };
    ck_assert_ok(poprt_model_load_file(NULL, PRT_TEST_DATA "/digits/model.onnx", NULL, &origin));
    ck_assert_ok(poprt_model_clone(origin, &model));
    ck_assert_ok(compare(origin, model, NULL));
    /* Numbers that are rounded to multiples of 2^20 are all 0. */
    ck_assert_ok(poprt_pass_manager_create(NULL, &manager));
    ck_assert_ok(poprt_pass_manager_add_args(manager, "float_to_fp8", &scales, 1));
    ck_assert_ok(poprt_pass_manager_run(manager, model));
    poprt_pass_manager_release(manager);
    ck_assert_ok(compare(NULL, model, NULL));
    ck_assert_int_ne(compare(origin, model, NULL), POPRT_OK);
    ck_assert_int_ne(compare(origin, model, "no such samples"), POPRT_OK);
    ck_assert_fails(poprt_pass_manager_set_reference(NULL, origin, NULL), POPRT_E_ARG);
    poprt_model_release(origin);
    poprt_model_release(model);
}
END_TEST

PRT_TEST_MAIN("api/popef", blobs_of_an_executable_are_listed, opaque_blobs_can_be_appended,
    payloads_of_tensors_are_aligned, wrong_blobs_and_files_are_refused,
    passes_compare_with_a_given_model)
