/* SPDX-License-Identifier: MIT */
/* host_concat.c — inputs of requests that are rows of a merged input, as the pass
 * apply_host_concat_split has noted in the metadata of the model. */
#include "base/json.h"
#include "runner/state.h"

#define CONFIG_KEY "HostConcatRunnerConfig"

static poprt_status find_config(const poprt_runner *runner, prt_str *out)
{
    const char *text = prt_config_text(runner->config, PRT_OPTION_host_concat_config);
    const poprt_model_info *info = &runner->exec->io.about;
    if (*text != '\0') {
        *out = prt_str_of(text);
        return POPRT_OK;
    }
    for (size_t i = 0; i < info->property_count; i++)
        if (strcmp(info->properties[i].key, CONFIG_KEY) == 0) {
            *out = prt_str_of(info->properties[i].value);
            return POPRT_OK;
        }
    return prt_fail(POPRT_E_ARG, "host_concat_config",
        "the executable has no metadata " CONFIG_KEY
        ": apply the pass apply_host_concat_split, or set this option");
}

/* Finds the entry of a tensor of the executable. */
static const prt_json *find_entry(const prt_json *root, const char *tensor)
{
    for (uint32_t i = 0; i < root->count; i++) {
        prt_str name = root->items[i].key;
        (void)prt_json_text(prt_json_get(&root->items[i], "tensor_name"), &name);
        if (prt_str_is(name, tensor))
            return &root->items[i];
    }
    return NULL;
}

/* Makes the fields of the parts of a merged tensor from its field. */
static poprt_status split_tensor(poprt_runner *runner, const prt_json *entry,
    const prt_runner_field *merged, prt_runner_list *list)
{
    const prt_json *names = prt_json_get(entry, "input_tensor_names");
    if (names == NULL || names->kind != PRT_JSON_ARRAY || names->count == 0 || merged->rank < 1 ||
        merged->dims[0] != names->count || merged->size % names->count != 0)
        return prt_fail(POPRT_E_ARG, merged->name,
            "input_tensor_names must list an input for each of the %lld rows",
            merged->rank < 1 ? 0 : (long long)merged->dims[0]);
    list->tensors[merged->tensor].field = PRT_NO_FIELD;
    for (uint32_t i = 0; i < names->count; i++) {
        prt_runner_field *f = &list->fields[list->n_fields];
        prt_str name;
        if (!prt_json_text(&names->items[i], &name))
            return prt_fail(POPRT_E_ARG, merged->name,
                "a name in input_tensor_names is not a text");
        *f = *merged;
        f->name = prt_arena_text(runner->arena, name.data, name.size);
        if (f->name == NULL)
            return POPRT_E_NOMEM;
        f->rank--;
        memmove(f->dims, f->dims + 1, f->rank * sizeof(f->dims[0]));
        f->size = f->inner = merged->size / names->count;
        f->offset = i * f->size;
        list->n_fields++;
    }
    return POPRT_OK;
}

static poprt_status check_names(const prt_runner_list *list)
{
    for (uint32_t i = 0; i < list->n_fields; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(list->fields[i].name, list->fields[k].name) == 0)
                return prt_fail(POPRT_E_ARG, list->fields[i].name,
                    "two inputs have this name (host_concat_config)");
    return POPRT_OK;
}

poprt_status prt_runner_split_fields(poprt_runner *runner)
{
    enum { MOST_PARTS = 65536 };
    prt_runner_list *list = &runner->lists[POPRT_INPUT];
    const prt_runner_field *old = list->fields;
    const uint32_t n_old = list->n_fields;
    prt_str text = { NULL, 0 };
    prt_json *root = NULL;
    size_t n = n_old;
    uint32_t n_merged = 0;
    PRT_TRY(find_config(runner, &text));
    PRT_TRY(prt_json_parse(runner->arena, text.data, text.size, &root));
    if (root->kind != PRT_JSON_OBJECT)
        return prt_fail(POPRT_E_ARG, "host_concat_config", "is not an object");
    for (uint32_t i = 0; i < root->count; i++) {
        const prt_json *names = prt_json_get(&root->items[i], "input_tensor_names");
        n += names != NULL ? names->count : 0;
    }
    if (n > MOST_PARTS)
        return prt_fail(POPRT_E_LIMIT, "host_concat_config", "lists more than %d inputs",
            MOST_PARTS);
    list->fields = PRT_NEW_N(runner->arena, prt_runner_field, n);
    if (list->fields == NULL)
        return POPRT_E_NOMEM;
    list->n_fields = 0;
    for (uint32_t i = 0; i < n_old; i++) {
        const prt_json *entry = find_entry(root, old[i].name);
        n_merged += entry != NULL;
        if (entry != NULL) {
            PRT_TRY(split_tensor(runner, entry, &old[i], list));
            continue;
        }
        list->tensors[old[i].tensor].field = list->n_fields;
        list->fields[list->n_fields++] = old[i];
    }
    if (n_merged != root->count)
        return prt_fail(POPRT_E_NOT_FOUND, "host_concat_config",
            "the executable has %u of the %u inputs listed", n_merged, root->count);
    return check_names(list);
}
