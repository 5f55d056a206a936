/* SPDX-License-Identifier: MIT */
/*
 * test_large.c — weights in data files: those that the caller chooses, and those of a model of more
 * than 2 GiB. The weights of the large model are borrowed from one mapping of zeros, which takes no
 * memory. It writes 2.4 GB, so that it is skipped where the disk has no room.
 *
 * Covers: external.c, model_external.c
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "build.h"

enum { SIDE = 14200 }; /* three matrices of SIDE x SIDE floats have 2.4 GB */

static char folder[32];

static void enter_folder(void)
{
    memcpy(folder, "poprt-builder-XXXXXX", sizeof("poprt-builder-XXXXXX"));
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void leave_folder(void)
{
    ck_assert_int_eq(chdir(".."), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static off_t size_of(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? about.st_size : -1;
}

static void is_three(const poprt_tensor *out)
{
    for (size_t i = 0; i < out->size / sizeof(float); i++)
        ck_assert_float_eq(((const float *)out->data)[i], 3.0f);
}

START_TEST(chosen_weights_are_in_a_data_file)
{
    poprt_model *model = NULL, *again = NULL;
    poprt_builder *b = new_builder(13), *copy = NULL;
    const poprt_id x = FLOATS(b, 2, 2), w = add_weight(b, "w", DIMS(2, 2));
    const poprt_id v = add_weight(b, "v", DIMS(2));
    ck_assert_ok(poprt_builder_output(b, poprt_op_add(b, poprt_op_matmul(b, x, w, NULL), v, NULL)));
    enter_folder();
    ck_assert_ok(poprt_builder_save_externally(b, 2, (const poprt_id[]){ v, w }, "weights.bin"));
    ck_assert_int_eq(size_of("weights.bin"), 64 + 16); /* aligned to 64 bytes */
    model = finish(b);
    ck_assert_ok(poprt_model_save_file(model, "model.onnx"));
    ck_assert_ok(poprt_model_load_file(NULL, "model.onnx", NULL, &again));
    run_model(again, is_three);
    ck_assert_ok(poprt_builder_create_from(model, &copy)); /* keeps the references */
    poprt_model_release(model);
    model = finish(copy);
    const off_t size = size_of("model.onnx");
    ck_assert_ok(poprt_model_save_file(model, "copy.onnx"));
    ck_assert_int_eq(size_of("copy.onnx"), size);
    ck_assert_int_eq(unlink("weights.bin"), 0);
    ck_assert_int_ne(poprt_model_load_file(NULL, "model.onnx", NULL, &again), POPRT_OK);
    run_model(model, is_three); /* its weights are in memory */
    ck_assert_int_eq(unlink("model.onnx") + unlink("copy.onnx"), 0);
    leave_folder();
}
END_TEST

START_TEST(data_files_are_renamed)
{
    static const char *const wrong[] = { "", "/x.bin", "../x.bin", "a/../x.bin", ".." };
    poprt_model *model = NULL, *again = NULL;
    poprt_builder *b = new_builder(13);
    const poprt_id x = FLOATS(b, 2, 2), w = add_weight(b, "w", DIMS(2, 2));
    const poprt_id v = add_weight(b, "v", DIMS(2));
    ck_assert_ok(poprt_builder_output(b, poprt_op_add(b, poprt_op_matmul(b, x, w, NULL), v, NULL)));
    enter_folder();
    ck_assert_ok(poprt_builder_save_externally(b, 1, &w, "w.bin"));
    ck_assert_ok(poprt_builder_save_externally(b, 1, &v, "v.bin"));
    model = finish(b);
    ck_assert_fails(poprt_model_relocate_external(model, "other.bin", "x.bin"), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_model_relocate_external(model, "w.bin", "v.bin"), POPRT_E_ARG);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ck_assert_fails(poprt_model_relocate_external(model, "w.bin", wrong[i]), POPRT_E_ARG);
    ck_assert_ok(poprt_model_relocate_external(model, "w.bin", "new.bin"));
    ck_assert_fails(poprt_model_relocate_external(model, "w.bin", "x.bin"), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(rename("w.bin", "new.bin"), 0);
    ck_assert_ok(poprt_model_save_file(model, "model.onnx"));
    ck_assert_ok(poprt_model_load_file(NULL, "model.onnx", NULL, &again));
    run_model(again, is_three);
    poprt_model_release(model);
    ck_assert_int_eq(unlink("new.bin") + unlink("v.bin") + unlink("model.onnx"), 0);
    leave_folder();
}
END_TEST

START_TEST(only_numbers_are_in_data_files)
{
    poprt_builder *b = new_builder(13);
    const poprt_id x = FLOATS(b, 2);
    ck_assert_fails(poprt_builder_save_externally(b, 1, &x, "x.bin"), POPRT_E_ARG);
    assert_failed(b, POPRT_E_ARG, "weights and constants");
    b = new_builder(13);
    const poprt_id w = add_weight(b, "w", DIMS(2));
    ck_assert_fails(poprt_builder_save_externally(b, 1, &w, "no-such-folder/x.bin"),
        POPRT_E_NOT_FOUND);
    poprt_builder_release(b);
}
END_TEST

static int32_t refuse(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return 1;
}

START_TEST(a_model_of_more_than_2_gib_has_a_data_file)
{
    struct statvfs disk;
    const size_t size = (size_t)SIDE * SIDE * sizeof(float);
    ck_assert_int_eq(statvfs(".", &disk), 0);
    if ((double)disk.f_bavail * (double)disk.f_frsize < 4e9) {
        printf("skipped: less than 4 GB are free\n");
        return;
    }
    void *zeros = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(zeros != MAP_FAILED);
    const int64_t dims[] = { SIDE, SIDE };
    const poprt_tensor t = { zeros, size, dims, 2, POPRT_DTYPE_FLOAT32 };
    poprt_builder *b = new_builder(13);
    poprt_id x = FLOATS(b, 1, SIDE);
    for (int i = 0; i < 3; i++)
        x = poprt_op_matmul(b, x, poprt_builder_weight(b, "w", &t, POPRT_BUILDER_BORROW), NULL);
    ck_assert_ok(poprt_builder_output(b, x));
    poprt_model *model = finish(b), *again = NULL;
    enter_folder();
    ck_assert_fails(poprt_model_save(model, refuse, NULL), POPRT_E_LIMIT);
    ck_assert_ok(poprt_model_save_file(model, "big.onnx"));
    ck_assert_int_lt(size_of("big.onnx"), 10000);
    ck_assert_int_eq(size_of("big.onnx.data"), 3 * (off_t)size);
    poprt_model_release(model);
    ck_assert_ok(poprt_model_load_file(NULL, "big.onnx", NULL, &again));
    ck_assert_ok(poprt_builder_create_from(again, &b));
    ck_assert_uint_eq(poprt_builder_count(b, POPRT_BUILDER_TRAINABLE), 3);
    poprt_builder_release(b);
    poprt_model_release(again);
    munmap(zeros, size);
    ck_assert_int_eq(unlink("big.onnx") + unlink("big.onnx.data"), 0);
    leave_folder();
}
END_TEST

PRT_TEST_MAIN("builder/large", chosen_weights_are_in_a_data_file, data_files_are_renamed,
    only_numbers_are_in_data_files, a_model_of_more_than_2_gib_has_a_data_file)
