/* SPDX-License-Identifier: MIT */
/*
 * test_read_weight.c — every initializer of a model is read with its bits from an executable of the
 * default options, in memory and from PopEF, or refused with the pass that used it. Covers:
 * popef_weights.c, weights.c.
 */
#define _GNU_SOURCE
#include "api_test.h"

#define MODEL(name) PRT_TEST_DATA "/" name "/model.onnx"

enum { MOST = 128, BYTES = 1 << 20 };

/* ---- the names of initializers, by the fields of ModelProto, GraphProto and TensorProto */

typedef struct names {
    char *name[MOST];
    size_t count;
} names;

static const unsigned char *varint(const unsigned char *at, uint64_t *value)
{
    *value = 0;
    for (int shift = 0;; shift += 7) {
        *value |= (uint64_t)(*at & 127) << shift;
        if ((*at++ & 128) == 0)
            return at;
    }
}

static void walk(const unsigned char *at, const unsigned char *end, int depth, names *to)
{
    static const uint64_t inner[] = { 7, 5 }; /* graph; initializer */
    while (at < end) {
        uint64_t key, size;
        at = varint(at, &key);
        if ((key & 7) == 0) {
            at = varint(at, &size);
            continue;
        }
        if ((key & 7) != 2) {
            at += (key & 7) == 1 ? 8 : 4;
            continue;
        }
        at = varint(at, &size);
        if (depth < 2 && key >> 3 == inner[depth])
            walk(at, at + size, depth + 1, to);
        if (depth == 2 && key >> 3 == 8 && to->count < MOST)
            to->name[to->count++] = strndup((const char *)at, size);
        at += size;
    }
}

static names names_of(const char *path)
{
    static unsigned char bytes[4 << 20];
    names all = { .count = 0 };
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    const size_t size = fread(bytes, 1, sizeof(bytes), f);
    ck_assert(size < sizeof(bytes));
    (void)fclose(f);
    walk(bytes, bytes + size, 0, &all);
    return all;
}

/* ---- sessions */

static poprt_session *session_of(poprt_executable *exec)
{
    poprt_session *session = NULL;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    poprt_executable_release(exec);
    return session;
}

static poprt_session *compiled(const poprt_model *model, const char *key, const char *value)
{
    poprt_config *config = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_config_create(NULL, &config));
    if (key != NULL)
        ck_assert_ok(poprt_config_set(config, key, value));
    ck_assert_ok(poprt_compile(model, config, &exec));
    poprt_config_release(config);
    return session_of(exec);
}

static poprt_session *reopened(const poprt_model *model, buffer *file)
{
    poprt_executable *exec = NULL, *again = NULL;
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    ck_assert_ok(poprt_executable_save(exec, buffer_write, file));
    poprt_executable_release(exec);
    ck_assert_ok(poprt_executable_load_bytes(NULL, file->data, file->size, NULL, &again));
    return session_of(again);
}

static poprt_status read_into(poprt_session *session, const char *name, unsigned char *data,
    poprt_tensor *out)
{
    *out = (poprt_tensor){ .data = data, .size = BYTES };
    return poprt_session_read_weight(session, name, out);
}

/* Returns how many weights are read; the others must be refused. */
static int read_all(const char *path, poprt_session *plain, poprt_session *session)
{
    static unsigned char bytes[2][BYTES];
    names all = names_of(path);
    int count = 0;
    ck_assert_uint_gt(all.count, 0);
    for (size_t i = 0; i < all.count; i++) {
        poprt_tensor now, model;
        const char *name = all.name[i];
        ck_assert_ok(read_into(plain, name, bytes[0], &model));
        const poprt_status status = read_into(session, name, bytes[1], &now);
        if (status == POPRT_OK) {
            count++;
            ck_assert_uint_eq(now.size, model.size);
            ck_assert_int_eq(now.dtype, model.dtype);
            ck_assert_uint_eq(now.rank, model.rank);
            for (uint32_t k = 0; k < now.rank; k++)
                ck_assert_int_eq(now.dims[k], model.dims[k]);
            ck_assert_msg(memcmp(bytes[0], bytes[1], model.size) == 0, "%s", name);
        } else {
            ck_assert_int_eq(status, POPRT_E_NOT_FOUND);
            ck_assert_str_eq(poprt_last_error()->subject, name);
            ck_assert_msg(strstr(poprt_last_error()->message, "no longer in the executable") !=
                        NULL &&
                    strstr(poprt_last_error()->message, "constant_weights=false") != NULL,
                "%s: %s", name, poprt_last_error()->message);
        }
        free(all.name[i]);
    }
    return count;
}

static void check(const char *path, int expected)
{
    poprt_model *model = NULL;
    buffer file = { 0 };
    ck_assert_ok(poprt_model_load_file(NULL, path, NULL, &model));
    poprt_session *plain = compiled(model, "optimize", "false");
    poprt_session *sessions[2] = { compiled(model, NULL, NULL), reopened(model, &file) };
    for (int i = 0; i < 2; i++) {
        const int got = read_all(path, plain, sessions[i]);
        ck_assert_msg(got >= expected, "%s: %d", path, got);
        poprt_session_release(sessions[i]);
    }
    poprt_session_release(plain);
    poprt_model_release(model);
    free(file.data);
}

START_TEST(weights_are_read_or_refused)
{
    check(MODEL("charlm"), 9); /* recurrent weights */
    check(MODEL("digits"), 4); /* BatchNormalization is folded into the convolutions */
    check(MODEL("encoder"), 31);
    check(MODEL("symbols_windows"), 27);
    check(MODEL("quantised/encoder_bits4"), 41);
    check(MODEL("quantised/digits_qop_u8s8_channel"), 16);
}
END_TEST

START_TEST(rearranged_weights_are_not_written)
{
    poprt_model *model = NULL;
    ck_assert_ok(poprt_model_load_file(NULL, MODEL("charlm"), NULL, &model));
    poprt_session *session = compiled(model, NULL, NULL);
    static unsigned char bytes[BYTES];
    names all = names_of(MODEL("charlm"));
    for (size_t i = 0; i < all.count; i++) {
        poprt_tensor t;
        ck_assert_ok(read_into(session, all.name[i], bytes, &t));
        ck_assert_int_eq(poprt_session_write_weight(session, all.name[i], &t), POPRT_E_STATE);
        ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "constant_weights=false"));
        t.size = 1;
        ck_assert_int_eq(poprt_session_read_weight(session, all.name[i], &t), POPRT_E_ARG);
        free(all.name[i]);
    }
    poprt_session_release(session);
    poprt_model_release(model);
}
END_TEST

static void scores_of(poprt_session *session, float to[10])
{
    digit d;
    digit_init(&d, 5);
    poprt_stepio *io = digit_bind(&d, session);
    ck_assert_ok(poprt_session_run(session, io));
    memcpy(to, d.scores, sizeof(d.scores));
    poprt_stepio_release(io);
}

/* With constant_weights=false the biases of quantised convolutions are variables too. Until they
 * change, the results are the same. */
START_TEST(quantised_biases_are_written)
{
    static unsigned char bytes[BYTES], again[BYTES];
    poprt_model *model = NULL;
    int biases = 0;
    const char *path = MODEL("quantised/digits_qop_u8s8_channel");
    ck_assert_ok(poprt_model_load_file(NULL, path, NULL, &model));
    poprt_session *session = compiled(model, "constant_weights", "false");
    poprt_session *constant = compiled(model, NULL, NULL);
    float scores[2][10];
    scores_of(session, scores[0]);
    scores_of(constant, scores[1]);
    ck_assert_mem_eq(scores[0], scores[1], sizeof(scores[0]));
    names all = names_of(path);
    for (size_t i = 0; i < all.count; i++) {
        poprt_tensor t;
        const bool found = read_into(session, all.name[i], bytes, &t) == POPRT_OK;
        if (found && t.dtype == POPRT_DTYPE_INT32 && t.rank == 1) {
            biases++;
            bytes[1] ^= 64;
            ck_assert_ok(poprt_session_write_weight(session, all.name[i], &t));
            ck_assert_ok(read_into(session, all.name[i], again, &t));
            ck_assert_mem_eq(again, bytes, t.size);
        }
        free(all.name[i]);
    }
    ck_assert_int_gt(biases, 0);
    scores_of(session, scores[0]);
    ck_assert_mem_ne(scores[0], scores[1], sizeof(scores[0]));
    poprt_session_release(constant);
    poprt_session_release(session);
    poprt_model_release(model);
}
END_TEST

/* Files of models whose weights keep their form have no new members, and files with impossible
 * forms are refused. */
START_TEST(files_state_forms_where_there_are_some)
{
    poprt_model *model = NULL;
    buffer file = { 0 };
    ck_assert_ok(poprt_model_load_file(NULL, MODEL("feed-forward"), NULL, &model));
    poprt_session_release(reopened(model, &file));
    ck_assert_ptr_null(memmem(file.data, file.size, "\"weights\"", 9));
    ck_assert_ptr_null(memmem(file.data, file.size, "\"folded\"", 8));
    poprt_model_release(model);
    free(file.data);
    file = (buffer){ 0 };
    ck_assert_ok(poprt_model_load_file(NULL, MODEL("charlm"), NULL, &model));
    poprt_session_release(reopened(model, &file));
    ck_assert_ptr_nonnull(memmem(file.data, file.size, "\"weights\"", 9));
    poprt_model_release(model);
    free(file.data);
}
END_TEST

PRT_TEST_MAIN("api/read_weight", weights_are_read_or_refused, rearranged_weights_are_not_written,
    quantised_biases_are_written, files_state_forms_where_there_are_some)
