/* SPDX-License-Identifier: MIT */
/* feed.c — values for all inputs of an executable. */
#define _DEFAULT_SOURCE
#include "tools/common/feed.h"

#include <unistd.h>

#include "num/dim.h"
#include "num/dtype.h"

static poprt_status input_at(const prt_feed *feed, size_t i, poprt_io_info *out)
{
    *out = (poprt_io_info){ .struct_size = sizeof(*out) };
    return poprt_executable_io_at(feed->exec, POPRT_INPUT, i, out);
}

poprt_status prt_feed_init(prt_feed *feed, prt_tool *tool, const poprt_executable *exec,
    uint64_t seed)
{
    *feed = (prt_feed){ .tool = tool,
        .exec = exec,
        .seed = seed,
        .graph = -1,
        .n_graphs = poprt_executable_graph_count(exec),
        .count = poprt_executable_io_count(exec, POPRT_INPUT) };
    feed->values = PRT_NEW_N(tool->arena, prt_tensor, feed->count);
    feed->given = PRT_NEW_N(tool->arena, bool, feed->count);
    return feed->values != NULL && feed->given != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

void prt_feed_deinit(prt_feed *feed)
{
    prt_files_release(&feed->files);
}

/* ---- fused models */

bool prt_feed_is_index(const prt_feed *feed, size_t i)
{
    return feed->n_graphs != 0 && i == 0;
}

bool prt_feed_is_used(const prt_feed *feed, const poprt_io_info *info)
{
    return info->graph < 0 || info->graph == feed->graph;
}

poprt_status prt_feed_index(prt_feed *feed, int64_t index)
{
    const int64_t one = 1;
    if (feed->n_graphs == 0)
        return prt_fail(POPRT_E_ARG, "index", "this model is not a fused model and has no index");
    if (index < 0 || (uint64_t)index >= feed->n_graphs)
        return prt_fail(POPRT_E_ARG, "index", "there is no graph %lld: the model has %zu",
            (long long)index, feed->n_graphs);
    const uint32_t number = (uint32_t)index;
    void *data = prt_arena_copy(feed->tool->arena, &number, sizeof(number));
    if (data == NULL)
        return POPRT_E_NOMEM;
    (void)prt_tensor_init(&feed->values[0], PRT_DTYPE_u32, 1, &one, data);
    feed->given[0] = true;
    return POPRT_OK;
}

/* Returns the graph that the given inputs select, or -1. The session checks that all of them
 * agree. */
static int32_t selected_graph(const prt_feed *feed)
{
    const prt_tensor *index = feed->values;
    uint32_t number;
    if (feed->n_graphs != 0 && feed->given[0] && index->kind == PRT_VALUE_TENSOR &&
        index->dtype == PRT_DTYPE_u32 && index->size >= sizeof(number)) {
        memcpy(&number, index->data, sizeof(number));
        return number < feed->n_graphs ? (int32_t)number : -1;
    }
    for (size_t i = 0; i < feed->count; i++) {
        poprt_io_info info;
        if (feed->given[i] && input_at(feed, i, &info) == POPRT_OK)
            return info.graph;
    }
    return -1;
}

static poprt_status find_graph(prt_feed *feed, bool say)
{
    feed->graph = selected_graph(feed);
    if (feed->n_graphs == 0 || feed->graph >= 0 || feed->given[0])
        return POPRT_OK;
    feed->graph = 0;
    if (say)
        (void)fprintf(stderr, "graph 0 of %zu runs: --index chooses another\n", feed->n_graphs);
    return prt_feed_index(feed, 0);
}

/* ---- symbolic dimensions */

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
        return prt_fail(POPRT_E_ARG, text, "a dimension must have the form NAME=N");
    const char *name = prt_arena_text(feed->tool->arena, text, (size_t)(equals - text));
    return name != NULL ? add_dim(feed, name, value, true) : POPRT_E_NOMEM;
}

poprt_status prt_feed_derive_dim(prt_feed *feed, const char *name, int64_t value)
{
    return add_dim(feed, name, value, false);
}

/* Sets symbolic dimensions from the dims of a given value. */
static poprt_status derive_dims(prt_feed *feed, const poprt_io_info *info, const prt_tensor *value)
{
    if (value->kind != PRT_VALUE_TENSOR || info->rank != (int32_t)value->rank)
        return POPRT_OK;
    for (uint32_t i = 0; i < value->rank; i++)
        if (info->dims[i] < 0 && strcmp(info->dim_names[i], "?") != 0)
            PRT_TRY(add_dim(feed, info->dim_names[i], value->dims[i], false));
    return POPRT_OK;
}

static poprt_status read_input(prt_feed *feed, size_t i, const poprt_io_info *info,
    const char *path)
{
    PRT_TRY(prt_value_read(feed->tool, &feed->files, path, info, &feed->values[i]));
    feed->given[i] = true;
    return derive_dims(feed, info, &feed->values[i]);
}

/* ---- given values */

/* Both the name and the path may contain '=': the text is split where the name of an input ends. */
poprt_status prt_feed_input(prt_feed *feed, const char *text)
{
    for (size_t i = 0; i < feed->count; i++) {
        poprt_io_info info;
        PRT_TRY(input_at(feed, i, &info));
        const size_t n = strlen(info.name);
        if (strncmp(text, info.name, n) == 0 && text[n] == '=')
            return read_input(feed, i, &info, text + n + 1);
    }
    if (strchr(text, '=') == NULL)
        return prt_fail(POPRT_E_ARG, text, "an input must have the form NAME=FILE");
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

/* `file`: file name of the input in the folder, without extension. */
static poprt_status read_from_dir(prt_feed *feed, size_t i, const poprt_io_info *info,
    const char *dir, const char *file)
{
    static const char *const ends[] = { ".npy", ".pb" };
    prt_arena *arena = feed->tool->arena;
    for (uint32_t k = 0; k < 4; k++) {
        const char *path = k < 2 ? prt_tool_text(arena, "%s/%s%s", dir, file, ends[k])
                                 : prt_tool_text(arena, "%s/input_%zu%s", dir, i, ends[k - 2]);
        if (path == NULL)
            return POPRT_E_NOMEM;
        if (access(path, F_OK) == 0)
            return read_input(feed, i, info, path);
    }
    return POPRT_OK;
}

poprt_status prt_feed_dir(prt_feed *feed, const char *dir)
{
    if (access(dir, R_OK | X_OK) != 0)
        return prt_fail(POPRT_E_NOT_FOUND, dir, "cannot read this directory");
    const int32_t graph = selected_graph(feed);
    poprt_io_info info;
    const char **names = PRT_NEW_N(feed->tool->arena, const char *, feed->count);
    const char **files = PRT_NEW_N(feed->tool->arena, const char *, feed->count);
    if (names == NULL || files == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < feed->count; i++) {
        PRT_TRY(input_at(feed, i, &info));
        names[i] = info.name;
    }
    PRT_TRY(prt_tool_file_names(feed->tool->arena, names, feed->count, files));
    for (size_t i = 0; i < feed->count; i++) {
        PRT_TRY(input_at(feed, i, &info));
        if (!feed->given[i] && (graph < 0 || info.graph < 0 || info.graph == graph))
            PRT_TRY(read_from_dir(feed, i, &info, dir, files[i]));
    }
    return POPRT_OK;
}

/* ---- random values */

static int64_t any_symbol(void *user, prt_str name)
{
    return prt_dim_symbol(user, name);
}

/* Returns the value of a dim by its name, or evaluates it if the name is an expression. */
static poprt_status close_dim(const prt_feed *feed, const char *name, bool *known, int64_t *out)
{
    const int64_t *value = find_dim(feed, name);
    *known = value != NULL;
    *out = value != NULL ? *value : 1;
    if (value != NULL)
        return POPRT_OK;
    prt_dims *dims = NULL;
    PRT_TRY(prt_dims_create(feed->tool->arena, &dims));
    int64_t dim = prt_dim_parse(dims, prt_str_of(name), any_symbol, dims);
    if (dim == PRT_DIM_UNKNOWN)
        return POPRT_OK;
    *known = true;
    const size_t n = prt_dims_count(dims);
    for (size_t i = 0; i < n; i++) {
        const prt_dim_node node = *prt_dims_at(dims, i);
        if (node.op != PRT_DIM_SYMBOL)
            continue;
        value = find_dim(feed, node.symbol.data);
        *known = *known && value != NULL;
        dim = prt_dim_replace(dims, dim, prt_dim_of_index(i), value != NULL ? *value : 1);
    }
    *out = prt_dim_is_number(dim) && dim >= 0 ? dim : 1;
    return POPRT_OK;
}

static poprt_status close_dims(const prt_feed *feed, const poprt_io_info *info, bool strict,
    int64_t *dims)
{
    if (info->rank < 0 || info->rank > PRT_MAX_RANK)
        return prt_fail(POPRT_E_SHAPE, info->name, "has an unknown rank: read_input it as a file");
    for (int32_t i = 0; i < info->rank; i++) {
        dims[i] = info->dims[i];
        if (dims[i] >= 0)
            continue;
        bool known = false;
        PRT_TRY(close_dim(feed, info->dim_names[i], &known, &dims[i]));
        if (!known && strict)
            return prt_fail(POPRT_E_SHAPE, info->name,
                "dimension %d (%s) is not a number: set it with --input_shape", i,
                info->dim_names[i]);
    }
    return POPRT_OK;
}

/* Puts the number of blocks that a run with data flow reads before the dims. */
static poprt_status add_blocks(const prt_feed *feed, size_t i, poprt_io_info *info, int64_t *dims)
{
    poprt_batching batching = { .struct_size = sizeof(batching) };
    int64_t blocks;
    PRT_TRY(poprt_executable_get_batching(feed->exec, POPRT_INPUT, i, &batching));
    PRT_TRY(poprt_batching_shape(&batching, 0, NULL, NULL, NULL, &blocks));
    if (blocks == 1)
        return POPRT_OK;
    if (info->rank == PRT_MAX_RANK)
        return prt_fail(POPRT_E_LIMIT, info->name, "with its blocks it has more than %d dimensions",
            PRT_MAX_RANK);
    memmove(dims + 1, dims, (size_t)info->rank * sizeof(int64_t));
    dims[0] = blocks;
    info->rank++;
    return POPRT_OK;
}

static void report_random_input(const prt_feed *feed, const poprt_io_info *info,
    const int64_t *dims)
{
    (void)fprintf(stderr, "input %s: random %s [", info->name, poprt_dtype_name(info->dtype));
    for (int32_t i = 0; i < info->rank; i++)
        (void)fprintf(stderr, "%s%lld", i > 0 ? ", " : "", (long long)dims[i]);
    (void)fprintf(stderr, "], seed %llu\n", (unsigned long long)feed->seed);
}

poprt_status prt_feed_random(prt_feed *feed, bool say, bool strict)
{
    PRT_TRY(find_graph(feed, say));
    for (size_t i = 0; i < feed->count; i++) {
        poprt_io_info info;
        int64_t dims[PRT_MAX_RANK];
        PRT_TRY(input_at(feed, i, &info));
        if (feed->given[i] || prt_feed_is_index(feed, i) || !prt_feed_is_used(feed, &info))
            continue;
        if (info.value_kind != POPRT_VALUE_TENSOR || info.dtype == POPRT_DTYPE_UNDEFINED)
            return prt_fail(POPRT_E_ARG, info.name,
                "is not a tensor of a known type: read_input it with --input %s=FILE", info.name);
        PRT_TRY(close_dims(feed, &info, strict, dims));
        PRT_TRY(add_blocks(feed, i, &info, dims));
        PRT_TRY(prt_value_random(feed->tool->arena, info.dtype, (uint32_t)info.rank, dims,
            feed->seed, (uint32_t)i, &feed->values[i]));
        feed->given[i] = true;
        if (say)
            report_random_input(feed, &info, dims);
    }
    return POPRT_OK;
}

/* ---- config and bindings of a session */

/* Sets the options of --set that differ from their defaults: a session ignores those that it does
 * not read. */
static poprt_status set_tool_options(const prt_tool *tool, poprt_config *config)
{
    poprt_option_info option = { .struct_size = sizeof(option) };
    for (size_t i = 0; tool->config != NULL && poprt_config_option_at(i, &option) == POPRT_OK;
         i++) {
        const char *value;
        PRT_TRY(poprt_config_get(tool->config, option.key, &value));
        if (strcmp(value, option.default_value) != 0)
            PRT_TRY(poprt_config_set(config, option.key, value));
    }
    return POPRT_OK;
}

poprt_status prt_feed_config(const prt_feed *feed, poprt_config **out)
{
    poprt_config *config = NULL;
    PRT_TRY(poprt_config_create(feed->tool->env, &config));
    poprt_status status = set_tool_options(feed->tool, config);
    for (uint32_t i = 0; i < feed->n_dims && status == POPRT_OK; i++) {
        if (!feed->dims[i].asked)
            continue;
        const char *key = prt_tool_text(feed->tool->arena, "dim.%s", feed->dims[i].name);
        const char *value =
            prt_tool_text(feed->tool->arena, "%lld", (long long)feed->dims[i].value);
        status =
            key != NULL && value != NULL ? poprt_config_set(config, key, value) : POPRT_E_NOMEM;
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
        if (feed->given[i])
            PRT_TRY(prt_value_bind(feed->tool->arena, io, i, &feed->values[i]));
    return POPRT_OK;
}
