/* SPDX-License-Identifier: MIT */
/*
 * test_stepio.c — callbacks, sequences, optionals, maps, outputs in the session's memory, weights.
 * Covers: stepio_output.c, stepio_run.c.
 */
#include "api_test.h"
#include "models.h"

typedef struct talk {
    float x[2], y[3];
    int64_t dims[2];
    char order[64];
    poprt_status in_answer;
} talk;

static void note_call(talk *t, const char *word, const char *name)
{
    const size_t used = strlen(t->order);
    (void)snprintf(t->order + used, sizeof(t->order) - used, "%s %s;", word, name);
}

static poprt_status provide_input(void *user, const char *name, poprt_tensor *tensor)
{
    talk *t = user;
    note_call(t, "in", name);
    ck_assert_int_eq(tensor->dtype, POPRT_DTYPE_FLOAT32);
    *tensor = (poprt_tensor){ .data = t->x,
        .size = sizeof(t->x),
        .dims = t->dims,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
    return t->in_answer;
}

static void finish_input(void *user, const char *name)
{
    note_call(user, "in_complete", name);
}

static poprt_status provide_output(void *user, const char *name, poprt_tensor *tensor)
{
    talk *t = user;
    note_call(t, "out", name);
    tensor->data = t->y;
    tensor->size = sizeof(t->y);
    return POPRT_OK;
}

static void finish_output(void *user, const char *name)
{
    note_call(user, "out_complete", name);
}

START_TEST(callbacks_come_in_order)
{
    talk t = { .x = { 1, 1 }, .dims = { 1, 2 } };
    const poprt_stepio_callbacks callbacks = { .struct_size = sizeof(callbacks),
        .user = &t,
        .in = provide_input,
        .in_complete = finish_input,
        .out = provide_output,
        .out_complete = finish_output };
    poprt_executable *exec = compile_bytes(NULL, dense_model, sizeof(dense_model));
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create_callbacks(session, &callbacks, &io));
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_str_eq(t.order, "in x;out y;in_complete x;out_complete y;");
    ck_assert_float_eq(t.y[0], 5.5f);
    ck_assert_float_eq(t.y[1], 0);
    ck_assert_float_eq(t.y[2], 9);
    t.order[0] = '\0';
    t.in_answer = POPRT_E_CANCELLED;
    ck_assert_fails(poprt_session_run(session, io), POPRT_E_CANCELLED);
    ck_assert_str_eq(t.order, "in x;");
    ck_assert_fails(poprt_stepio_bind(io, "x", NULL), POPRT_E_STATE);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
}
END_TEST

/* Shape [1] is accepted for a scalar, and a scalar for [1]. */
START_TEST(scalars_and_single_elements_are_equivalent)
{
    poprt_executable *exec = compile_bytes(NULL, loop_model, sizeof(loop_model));
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    const int64_t ones[] = { 1, 1, 1 }, two = 2, none = 0;
    int64_t trips[] = { 3, 3 };
    float start[] = { 0.5f, 0.5f };
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    for (uint32_t rank = 0; rank <= 3; rank++) {
        const poprt_tensor t = { .data = trips,
            .size = sizeof(trips[0]),
            .dims = ones,
            .rank = rank,
            .dtype = POPRT_DTYPE_INT64 };
        const poprt_tensor s = { .data = start,
            .size = sizeof(start[0]),
            .dims = ones,
            .rank = 3 - rank,
            .dtype = POPRT_DTYPE_FLOAT32 };
        poprt_tensor end = { 0 };
        ck_assert_ok(poprt_stepio_bind(io, "trips", &t));
        ck_assert_ok(poprt_stepio_bind(io, "start", &s));
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_ok(poprt_stepio_output(io, 2, &end));
        ck_assert_uint_eq(end.rank, 1);
        ck_assert_int_eq(end.dims[0], 1);
        ck_assert_double_eq((double)*(const float *)end.data, 3.5);
    }
    const poprt_tensor more = { .data = trips,
        .size = sizeof(trips),
        .dims = &two,
        .rank = 1,
        .dtype = POPRT_DTYPE_INT64 };
    const poprt_tensor empty = { .data = trips,
        .size = 0,
        .dims = &none,
        .rank = 1,
        .dtype = POPRT_DTYPE_INT64 };
    const poprt_tensor other = { .data = start,
        .size = sizeof(start[0]),
        .dims = ones,
        .rank = 1,
        .dtype = POPRT_DTYPE_FLOAT32 };
    ck_assert_fails(poprt_stepio_bind(io, "trips", &more), POPRT_E_SHAPE);
    ck_assert_fails(poprt_stepio_bind(io, "trips", &empty), POPRT_E_SHAPE);
    ck_assert_fails(poprt_stepio_bind(io, "trips", &other), POPRT_E_TYPE);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(sequences_are_inputs_and_outputs)
{
    poprt_executable *exec = compile_bytes(NULL, sequence_model, sizeof(sequence_model));
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    float a[] = { 1, 2 }, b[] = { 3 }, c[] = { 4, 5, 6 };
    const int64_t two = 2, one = 1, three = 3;
    const poprt_tensor items[] = {
        { .data = a, .size = sizeof(a), .dims = &two, .rank = 1, .dtype = POPRT_DTYPE_FLOAT32 },
        { .data = b, .size = sizeof(b), .dims = &one, .rank = 1, .dtype = POPRT_DTYPE_FLOAT32 },
    };
    const poprt_tensor more = { .data = c,
        .size = sizeof(c),
        .dims = &three,
        .rank = 1,
        .dtype = POPRT_DTYPE_FLOAT32 };
    poprt_tensor found;
    size_t count = 0;
    int32_t present = 0;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_fails(poprt_stepio_bind(io, "items", &more), POPRT_E_TYPE);
    ck_assert_fails(poprt_stepio_bind_sequence(io, 1, items, 2, 1), POPRT_E_TYPE);
    ck_assert_ok(poprt_stepio_bind_sequence(io, 0, items, 2, 1));
    ck_assert_ok(poprt_stepio_bind(io, "more", &more));
    for (int run = 0; run < 2; run++) {
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_fails(poprt_stepio_output(io, 2, &found), POPRT_E_TYPE);
        ck_assert_ok(poprt_stepio_output_count(io, 2, &count, &present));
        ck_assert_uint_eq(count, 3);
        ck_assert_int_eq(present, 1);
        ck_assert_ok(poprt_stepio_output_item(io, 2, 0, &found));
        ck_assert_mem_eq(found.data, a, sizeof(a));
        ck_assert_ok(poprt_stepio_output_item(io, 2, 2, &found));
        ck_assert_int_eq(found.dims[0], 3);
        ck_assert_mem_eq(found.data, c, sizeof(c));
        ck_assert_fails(poprt_stepio_output_item(io, 2, 3, &found), POPRT_E_NOT_FOUND);
    }
    ck_assert_ok(poprt_stepio_bind_sequence(io, 0, NULL, 0, 1));
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_stepio_output_count(io, 2, &count, NULL));
    ck_assert_uint_eq(count, 1);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(optionals_are_absent_or_hold_one_value)
{
    poprt_executable *exec = compile_bytes(NULL, optional_model, sizeof(optional_model));
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    float a[] = { 1, 2 };
    const int64_t two = 2;
    const poprt_tensor item = { .data = a,
        .size = sizeof(a),
        .dims = &two,
        .rank = 1,
        .dtype = POPRT_DTYPE_FLOAT32 };
    const poprt_tensor items[] = { item, item };
    poprt_tensor found;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_fails(poprt_stepio_bind_sequence(io, 0, items, 2, 1), POPRT_E_ARG);
    ck_assert_ok(poprt_stepio_bind_sequence(io, 0, &item, 1, 1));
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_stepio_output(io, 1, &found));
    ck_assert_int_eq(*(unsigned char *)found.data, 1);
    ck_assert_ok(poprt_stepio_bind_sequence(io, 0, NULL, 0, 0));
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_stepio_output(io, 1, &found));
    ck_assert_int_eq(*(unsigned char *)found.data, 0);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(maps_are_inputs_and_outputs)
{
    poprt_executable *exec = compile_bytes(NULL, map_model, sizeof(map_model));
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_string words[] = { { "a", 1 }, { "x", 1 }, { "a", 1 } };
    float numbers[] = { 1, 9, 1.5f };
    const int64_t three = 3, none = 0;
    const poprt_tensor keys = { .data = words,
        .size = sizeof(words),
        .dims = &three,
        .rank = 1,
        .dtype = POPRT_DTYPE_STRING };
    const poprt_tensor values = { .data = numbers,
        .size = sizeof(numbers),
        .dims = &three,
        .rank = 1,
        .dtype = POPRT_DTYPE_FLOAT32 };
    poprt_tensor empty_keys = keys, empty_values = values, k, v;
    size_t count = 0;
    empty_keys.dims = empty_values.dims = &none;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind_map(io, 0, &keys, &values));
    for (int run = 0; run < 2; run++) {
        ck_assert_ok(poprt_session_run(session, io));
        ck_assert_ok(poprt_stepio_output_count(io, 1, &count, NULL));
        ck_assert_uint_eq(count, 1);
        ck_assert_ok(poprt_stepio_output_map(io, 1, 0, &k, &v));
        ck_assert_int_eq(k.dtype, POPRT_DTYPE_INT64);
        ck_assert_uint_eq(k.rank, 1);
        ck_assert_int_eq(k.dims[0], 2);
        ck_assert_uint_eq(k.size, 16);
        ck_assert_int_eq(((const int64_t *)k.data)[0], -7);
        ck_assert_int_eq(((const int64_t *)k.data)[1], 7);
        ck_assert_int_eq(v.dtype, POPRT_DTYPE_FLOAT32);
        ck_assert_int_eq(v.dims[0], 2);
        ck_assert_float_eq(((const float *)v.data)[0], 1.5f); /* the last of equal keys is used */
        ck_assert_float_eq(((const float *)v.data)[1], 0);
    }
    ck_assert_ok(poprt_stepio_bind_map(io, 0, &empty_keys, &empty_values));
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_stepio_output_map(io, 1, 0, &k, &v));
    ck_assert_float_eq(((const float *)v.data)[0], 0);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
}
END_TEST

START_TEST(wrong_maps_are_refused)
{
    poprt_executable *exec = compile_bytes(NULL, map_model, sizeof(map_model));
    poprt_executable *other = compile_bytes(NULL, dense_model, sizeof(dense_model));
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_io_info info = { .struct_size = sizeof(info) };
    poprt_string words[] = { { "a", 1 }, { "b", 1 } };
    float numbers[3] = { 1, 2, 3 };
    const int64_t two = 2, one = 1, square[] = { 2, 1 };
    const poprt_tensor keys = { .data = words,
        .size = sizeof(words),
        .dims = &two,
        .rank = 1,
        .dtype = POPRT_DTYPE_STRING };
    const poprt_tensor values = { .data = numbers,
        .size = 8,
        .dims = &two,
        .rank = 1,
        .dtype = POPRT_DTYPE_FLOAT32 };
    poprt_tensor bad = values, k, v;
    ck_assert_ok(poprt_executable_io_at(exec, POPRT_INPUT, 0, &info));
    ck_assert_int_eq(info.value_kind, POPRT_VALUE_MAP);
    ck_assert_int_eq(info.key_dtype, POPRT_DTYPE_STRING);
    ck_assert_int_eq(info.dtype, POPRT_DTYPE_FLOAT32);
    ck_assert_ok(poprt_executable_io_at(exec, POPRT_OUTPUT, 0, &info));
    ck_assert_int_eq(info.value_kind, POPRT_VALUE_SEQUENCE);
    ck_assert_int_eq(info.item_kind, POPRT_VALUE_MAP);
    ck_assert_int_eq(info.key_dtype, POPRT_DTYPE_INT64);
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_fails(poprt_session_run(session, io), POPRT_E_STATE);
    ck_assert_fails(poprt_stepio_bind_at(io, 0, &values), POPRT_E_TYPE);
    ck_assert_fails(poprt_stepio_bind_sequence(io, 0, &values, 1, 1), POPRT_E_TYPE);
    ck_assert_fails(poprt_stepio_bind_map(io, 1, &keys, &values), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_stepio_bind_map(io, 0, &values, &values), POPRT_E_TYPE);
    ck_assert_fails(poprt_stepio_bind_map(io, 0, &keys, &keys), POPRT_E_TYPE);
    ck_assert_fails(poprt_stepio_bind_map(io, 0, &keys, NULL), POPRT_E_ARG);
    bad.dims = &one;
    ck_assert_fails(poprt_stepio_bind_map(io, 0, &keys, &bad), POPRT_E_SHAPE);
    bad = values;
    bad.dims = square;
    bad.rank = 2;
    ck_assert_fails(poprt_stepio_bind_map(io, 0, &keys, &bad), POPRT_E_SHAPE);
    bad = values;
    bad.data = (char *)numbers + 1;
    ck_assert_fails(poprt_stepio_bind_map(io, 0, &keys, &bad), POPRT_E_ARG);
    ck_assert_ok(poprt_stepio_bind_map(io, 0, &keys, &values));
    ck_assert_fails(poprt_stepio_output_map(io, 1, 0, &k, &v), POPRT_E_STATE);
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_fails(poprt_stepio_output_map(io, 1, 1, &k, &v), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_stepio_output_item(io, 1, 0, &v), POPRT_E_TYPE);
    ck_assert_fails(poprt_stepio_output(io, 1, &v), POPRT_E_TYPE);
    poprt_stepio_release(io);
    poprt_session_release(session);
    ck_assert_ok(poprt_session_create(other, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_fails(poprt_stepio_bind_map(io, 0, &keys, &values), POPRT_E_TYPE);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(other);
    poprt_executable_release(exec);
}
END_TEST

static float first_y(poprt_session *session)
{
    float x[] = { 1, 1 }, y[3];
    const int64_t dims[] = { 1, 2 };
    const poprt_tensor in = { .data = x,
        .size = sizeof(x),
        .dims = dims,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
    const poprt_tensor out = { .data = y, .size = sizeof(y), .dtype = POPRT_DTYPE_FLOAT32 };
    poprt_stepio *io = NULL;
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "x", &in));
    ck_assert_ok(poprt_stepio_bind(io, "y", &out));
    ck_assert_ok(poprt_session_run(session, io));
    poprt_stepio_release(io);
    return y[0];
}

START_TEST(each_session_has_its_own_weights)
{
    poprt_executable *constant = compile_bytes(NULL, dense_model, sizeof(dense_model)),
                     *exec = NULL;
    poprt_config *config = NULL;
    poprt_model *model = NULL;
    poprt_session *one = NULL, *two = NULL;
    float w[6], small[2];
    poprt_tensor t = { .data = w, .size = sizeof(w) };
    poprt_tensor too_small = { .data = small, .size = sizeof(small) };
    ck_assert_ok(poprt_session_create(constant, NULL, &one));
    ck_assert_ok(poprt_session_read_weight(one, "weight", &t));
    ck_assert_fails(poprt_session_write_weight(one, "weight", &t), POPRT_E_STATE);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "constant_weights=false"));
    poprt_session_release(one);
    poprt_executable_release(constant);
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_config_set(config, "constant_weights", "false"));
    ck_assert_ok(poprt_model_load_bytes(NULL, dense_model, sizeof(dense_model), NULL, &model));
    ck_assert_ok(poprt_compile(model, config, &exec));
    poprt_model_release(model);
    poprt_config_release(config);
    ck_assert_ok(poprt_session_create(exec, NULL, &one));
    ck_assert_ok(poprt_session_create(exec, NULL, &two));
    ck_assert_ok(poprt_session_read_weight(one, "weight", &t));
    ck_assert_int_eq(t.dtype, POPRT_DTYPE_FLOAT32);
    ck_assert_uint_eq(t.rank, 2);
    ck_assert_int_eq(t.dims[1], 3);
    ck_assert_float_eq(w[5], 6);
    ck_assert_fails(poprt_session_read_weight(one, "weight", &too_small), POPRT_E_ARG);
    ck_assert_fails(poprt_session_read_weight(one, "wait", &t), POPRT_E_NOT_FOUND);
    for (int i = 0; i < 6; i++)
        w[i] *= 10;
    ck_assert_ok(poprt_session_write_weight(one, "weight", &t));
    ck_assert_float_eq(first_y(one), 50.5f);
    ck_assert_float_eq(first_y(two), 5.5f);
    memset(w, 0, sizeof(w));
    ck_assert_ok(poprt_session_read_weight(one, "weight", &t));
    ck_assert_float_eq(w[0], 10);
    t.dtype = POPRT_DTYPE_INT32;
    ck_assert_int_ne(poprt_session_write_weight(one, "weight", &t), POPRT_OK);
    poprt_session_release(one);
    poprt_session_release(two);
    poprt_executable_release(exec);
}
END_TEST

PRT_TEST_MAIN("api/stepio", callbacks_come_in_order, scalars_and_single_elements_are_equivalent,
    sequences_are_inputs_and_outputs, optionals_are_absent_or_hold_one_value,
    maps_are_inputs_and_outputs, wrong_maps_are_refused, each_session_has_its_own_weights)
