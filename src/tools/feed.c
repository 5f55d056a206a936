/* SPDX-License-Identifier: MIT */
/* feed.c — values for all inputs of an executable. */
#define _DEFAULT_SOURCE
#include "tools/feed.h"

#include <unistd.h>

#include "num/dtype.h"

static poprt_status input_at(const prt_feed *feed, size_t i, poprt_io_info *out)
{
    *out = (poprt_io_info){ .struct_size = sizeof(*out) };
    return poprt_executable_io_at(feed->exec, POPRT_INPUT, i, out);
}

poprt_status prt_feed_init(prt_feed *feed, prt_tool *tool, const poprt_executable *exec,
    uint64_t seed)
{
    *feed = (prt_feed){ .tool = tool, .exec = exec, .seed = seed,
        .count = poprt_executable_io_count(exec, POPRT_INPUT) };
    feed->values = PRT_NEW_N(tool->arena, prt_tensor, feed->count);
    feed->given = PRT_NEW_N(tool->arena, bool, feed->count);
    return feed->values != NULL && feed->given != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

void prt_feed_deinit(prt_feed *feed)
{
    prt_files_release(&feed->files);
}

static const int64_t *find_dim(const prt_feed *feed, const char *name)
{
    for (uint32_t i = 0; i < feed->n_dims; i++)
        if (strcmp(feed->dims[i].name, name) == 0)
            return &feed->dims[i].value;
    return NULL;
}

static poprt_status add_dim(prt_feed *feed, const char *name, int64_t value, bool asked)
{
    if (find_dim(feed, name) != NULL)
        return POPRT_OK;
    if (feed->n_dims == PRT_FEED_DIMS)
        return prt_fail(POPRT_E_LIMIT, name, "more than %d dimensions", PRT_FEED_DIMS);
    feed->dims[feed->n_dims].name = name;
    feed->dims[feed->n_dims].asked = asked;
    feed->dims[feed->n_dims++].value = value;
    return POPRT_OK;
}

poprt_status prt_feed_dim(prt_feed *feed, const char *text)
{
    const char *equals = strrchr(text, '=');
    int64_t value = 0;
    if (equals == NULL || equals == text || !prt_opt_parse_number(equals + 1, &value) || value < 0)
        return prt_fail(POPRT_E_ARG, text, "a dimension is given as NAME=N");
    const char *name = prt_arena_text(feed->tool->arena, text, (size_t)(equals - text));
    return name != NULL ? add_dim(feed, name, value, true) : POPRT_E_NOMEM;
}

/* The dims of a given value say what the symbols are. */
static poprt_status learn_dims(prt_feed *feed, const poprt_io_info *info, const prt_tensor *value)
{
    if (value->kind != PRT_VALUE_TENSOR || info->rank != (int32_t)value->rank)
        return POPRT_OK;
    for (uint32_t i = 0; i < value->rank; i++)
        if (info->dims[i] < 0 && strcmp(info->dim_names[i], "?") != 0)
            PRT_TRY(add_dim(feed, info->dim_names[i], value->dims[i], false));
    return POPRT_OK;
}

static poprt_status give(prt_feed *feed, size_t i, const poprt_io_info *info, const char *path)
{
    PRT_TRY(prt_value_read(feed->tool, &feed->files, path, info, &feed->values[i]));
    feed->given[i] = true;
    return learn_dims(feed, info, &feed->values[i]);
}

/* Names and paths may both contain '=': the split is where an input's name ends. */
poprt_status prt_feed_input(prt_feed *feed, const char *text)
{
    for (size_t i = 0; i < feed->count; i++) {
        poprt_io_info info;
        PRT_TRY(input_at(feed, i, &info));
        const size_t n = strlen(info.name);
        if (strncmp(text, info.name, n) == 0 && text[n] == '=')
            return give(feed, i, &info, text + n + 1);
    }
    if (strchr(text, '=') == NULL)
        return prt_fail(POPRT_E_ARG, text, "an input is given as NAME=FILE");
    char names[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < feed->count && used < sizeof(names); i++) {
        poprt_io_info info;
        PRT_TRY(input_at(feed, i, &info));
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
            info.name);
    }
    return prt_fail(POPRT_E_NOT_FOUND, text, "the model's inputs are: %s", names);
}

static poprt_status give_from_dir(prt_feed *feed, size_t i, const poprt_io_info *info,
    const char *dir)
{
    static const char *const ends[] = { ".npy", ".pb" };
    prt_arena *arena = feed->tool->arena;
    const char *file = prt_tool_file_name(arena, info->name);
    for (uint32_t k = 0; k < 4 && file != NULL; k++) {
        const char *path =
            k < 2 ? prt_tool_text(arena, "%s/%s%s", dir, file, ends[k])
                  : prt_tool_text(arena, "%s/input_%zu%s", dir, i, ends[k - 2]);
        if (path == NULL)
            return POPRT_E_NOMEM;
        if (access(path, F_OK) == 0)
            return give(feed, i, info, path);
    }
    return file != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_feed_dir(prt_feed *feed, const char *dir)
{
    if (access(dir, R_OK | X_OK) != 0)
        return prt_fail(POPRT_E_NOT_FOUND, dir, "this directory cannot be read");
    for (size_t i = 0; i < feed->count; i++) {
        poprt_io_info info;
        PRT_TRY(input_at(feed, i, &info));
        if (!feed->given[i])
            PRT_TRY(give_from_dir(feed, i, &info, dir));
    }
    return POPRT_OK;
}

static poprt_status close_dims(const prt_feed *feed, const poprt_io_info *info, bool strict,
    int64_t *dims)
{
    if (info->rank < 0 || info->rank > PRT_MAX_RANK)
        return prt_fail(POPRT_E_SHAPE, info->name, "has no known rank: give it as a file");
    for (int32_t i = 0; i < info->rank; i++) {
        dims[i] = info->dims[i];
        if (dims[i] >= 0)
            continue;
        const int64_t *known = find_dim(feed, info->dim_names[i]);
        if (known == NULL && strict)
            return prt_fail(POPRT_E_SHAPE, info->name,
                "dimension %d (%s) is not a number: set it with --input_shape", i,
                info->dim_names[i]);
        dims[i] = known != NULL ? *known : 1;
    }
    return POPRT_OK;
}

static void announce(const prt_feed *feed, const poprt_io_info *info, const int64_t *dims)
{
    (void)fprintf(stderr, "input %s: random %s [", info->name, poprt_dtype_name(info->dtype));
    for (int32_t i = 0; i < info->rank; i++)
        (void)fprintf(stderr, "%s%lld", i > 0 ? ", " : "", (long long)dims[i]);
    (void)fprintf(stderr, "], seed %llu\n", (unsigned long long)feed->seed);
}

poprt_status prt_feed_random(prt_feed *feed, bool say, bool strict)
{
    for (size_t i = 0; i < feed->count; i++) {
        poprt_io_info info;
        int64_t dims[PRT_MAX_RANK];
        PRT_TRY(input_at(feed, i, &info));
        if (feed->given[i])
            continue;
        if (info.value_kind != POPRT_VALUE_TENSOR || info.dtype == POPRT_DTYPE_UNDEFINED)
            return prt_fail(POPRT_E_ARG, info.name,
                "is not a tensor of a known type: give it with --input %s=FILE", info.name);
        PRT_TRY(close_dims(feed, &info, strict, dims));
        PRT_TRY(prt_value_random(feed->tool->arena, info.dtype, (uint32_t)info.rank, dims,
            feed->seed, (uint32_t)i, &feed->values[i]));
        feed->given[i] = true;
        if (say)
            announce(feed, &info, dims);
    }
    return POPRT_OK;
}

poprt_status prt_feed_config(const prt_feed *feed, poprt_config **out)
{
    poprt_config *config = NULL;
    PRT_TRY(poprt_config_create(feed->tool->env, &config));
    poprt_status status = POPRT_OK;
    for (uint32_t i = 0; i < feed->n_dims && status == POPRT_OK; i++) {
        if (!feed->dims[i].asked)
            continue;
        const char *key = prt_tool_text(feed->tool->arena, "dim.%s", feed->dims[i].name);
        const char *value =
            prt_tool_text(feed->tool->arena, "%lld", (long long)feed->dims[i].value);
        status = key != NULL && value != NULL ? poprt_config_set(config, key, value)
                                              : POPRT_E_NOMEM;
    }
    char seed[32];
    (void)snprintf(seed, sizeof(seed), "%llu", (unsigned long long)feed->seed);
    if (status == POPRT_OK)
        status = poprt_config_set(config, "seed", seed);
    if (status == POPRT_OK && feed->cpu != NULL)
        status = poprt_config_set(config, "cpu", feed->cpu);
    if (status != POPRT_OK) {
        poprt_config_release(config);
        return status;
    }
    *out = config;
    return POPRT_OK;
}

poprt_status prt_feed_bind(const prt_feed *feed, poprt_stepio *io)
{
    for (size_t i = 0; i < feed->count; i++)
        PRT_TRY(prt_value_bind(feed->tool->arena, io, i, &feed->values[i]));
    return POPRT_OK;
}
