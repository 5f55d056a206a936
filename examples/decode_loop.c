/* SPDX-License-Identifier: MIT */
/*
 * decode_loop.c — generates tokens one by one with attention caches that are updated in place. The
 * names and sizes are those of tests/fixtures/decoder.
 *
 *     decode_loop model.onnx
 */
#include <poprt/poprt.h>

#include <stdio.h>

enum { HEADS = 2, SIZE = 8, MOST = 64, TOKENS = 20, VOCABULARY = 24 };

static float keys[HEADS * MOST * SIZE], values[HEADS * MOST * SIZE], history[MOST * 4];
static float logits[VOCABULARY];
static int64_t mask[MOST + 1];

static poprt_status bind(poprt_stepio *io, const char *name, void *data, int64_t count,
    int32_t dtype)
{
    const int64_t dims[] = { 1, count };
    const size_t size = (size_t)count * poprt_dtype_bits(dtype) / 8;
    const poprt_tensor tensor = { data, size, dims, 2, dtype };
    return poprt_stepio_bind(io, name, &tensor);
}

static poprt_status decode(poprt_session *session, poprt_stepio *io)
{
    const int64_t dims[] = { 1, HEADS, MOST, SIZE }, history_dims[] = { 1, MOST, 4 };
    const poprt_tensor key_cache = { keys, sizeof keys, dims, 4, POPRT_DTYPE_FLOAT32 };
    const poprt_tensor value_cache = { values, sizeof values, dims, 4, POPRT_DTYPE_FLOAT32 };
    const poprt_tensor other = { history, sizeof history, history_dims, 3, POPRT_DTYPE_FLOAT32 };
    const poprt_tensor out = { .data = logits,
        .size = sizeof logits,
        .dtype = POPRT_DTYPE_FLOAT32 };
    int64_t token = 1;

    /* Each buffer has space for MOST rows; 0 of them are filled. */
    poprt_status status = poprt_stepio_bind_cache(io, "past_key", "present_key", &key_cache, 0);
    if (status == POPRT_OK)
        status = poprt_stepio_bind_cache(io, "past_value", "present_value", &value_cache, 0);
    if (status == POPRT_OK)
        status = poprt_stepio_bind_cache(io, "history", "history_now", &other, 0);
    if (status == POPRT_OK)
        status = poprt_stepio_bind(io, "logits", &out);

    for (int64_t place = 0; place < TOKENS && status == POPRT_OK; place++) {
        mask[place] = 1;
        status = bind(io, "input_ids", &token, 1, POPRT_DTYPE_INT64);
        if (status == POPRT_OK)
            status = bind(io, "position_ids", &place, 1, POPRT_DTYPE_INT64);
        if (status == POPRT_OK)
            status = bind(io, "attention_mask", mask, place + 1, POPRT_DTYPE_INT64);
        if (status == POPRT_OK)
            status = poprt_session_run(session, io);
        token = 0;
        for (int64_t i = 1; i < VOCABULARY; i++)
            if (logits[i] > logits[token])
                token = i;
        printf("%d ", (int)token);
    }
    return status;
}

int main(int argc, char **argv)
{
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_status status = poprt_model_load_file(NULL, argv[argc - 1], NULL, &model);
    if (status == POPRT_OK)
        status = poprt_compile(model, NULL, &exec);
    if (status == POPRT_OK)
        status = poprt_session_create(exec, NULL, &session);
    if (status == POPRT_OK)
        status = poprt_stepio_create(session, &io);
    if (status == POPRT_OK)
        status = decode(session, io);
    if (status != POPRT_OK)
        fprintf(stderr, "%s\n", poprt_last_error()->message);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_model_release(model);
    return status != POPRT_OK;
}
