/* SPDX-License-Identifier: MIT */
/*
 * convert_yaml.c — reads YAML by libyaml: options of --config_yaml become words of the command line
 * before the given ones, and a sharding file becomes options of the pass manual_sharding.
 */
#include <errno.h>
#include <stdio.h>
#include <yaml.h>

#include "base/json.h"
#include "base/vec.h"
#include "program/program.h"
#include "tools/poprt/convert.h"

enum { MAX_FILE = 16 << 20, MAX_TEXT = 256 << 20 };

/* ---- documents */

static poprt_status open_document(const char *path, yaml_parser_t *parser,
    yaml_document_t *document)
{
    FILE *file = fopen(path, "rb");
    poprt_status status = POPRT_OK;
    if (file == NULL)
        return prt_fail(POPRT_E_IO, path, "%s", strerror(errno));
    if (!yaml_parser_initialize(parser)) {
        (void)fclose(file);
        return prt_fail_nomem(sizeof(*parser));
    }
    if (fseek(file, 0, SEEK_END) != 0 || ftell(file) > MAX_FILE || fseek(file, 0, SEEK_SET) != 0)
        status = prt_fail(POPRT_E_LIMIT, path, "is larger than %d bytes, or not a regular file",
            MAX_FILE);
    yaml_parser_set_input_file(parser, file);
    if (status == POPRT_OK && !yaml_parser_load(parser, document))
        status = prt_fail(POPRT_E_PARSE, path, "line %zu: %s", parser->problem_mark.line + 1,
            parser->problem != NULL ? parser->problem : "not YAML");
    (void)fclose(file);
    if (status != POPRT_OK)
        yaml_parser_delete(parser);
    return status;
}

static void close_document(yaml_parser_t *parser, yaml_document_t *document)
{
    yaml_document_delete(document);
    yaml_parser_delete(parser);
}

static const char *scalar(const yaml_node_t *node)
{
    return node != NULL && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
                                                          : NULL;
}

static poprt_status fail_at(const char *path, const yaml_node_t *node, const char *why)
{
    return prt_fail(POPRT_E_PARSE, path, "line %zu: %s", node->start_mark.line + 1, why);
}

/* ---- --config_yaml */

static const char fusion_key[] = "model_fusion";

/* Builds command lines from a YAML document. */
typedef struct line_builder {
    prt_tool *tool;
    yaml_document_t *document;
    const prt_opts *given;
    const char *path;
    size_t size; /* bytes of all command lines */
    /* Model whose line is being built; NULL: the line for all models. */
    const yaml_node_t *inner;
    bool own[OPT_COUNT]; /* options set inside this model */
    PRT_VEC(char *) list;
} line_builder;

static poprt_status push(line_builder *b, const char *text)
{
    b->size += strlen(text);
    if (b->size > MAX_TEXT)
        return prt_fail(POPRT_E_LIMIT, b->path, "has more than %d bytes of options", MAX_TEXT);
    char *copy = prt_arena_text(b->tool->arena, text, strlen(text));
    return copy != NULL && PRT_VEC_PUSH(b->tool->arena, &b->list, copy) ? POPRT_OK : POPRT_E_NOMEM;
}

static const prt_opt_def *find_option(const char *key, uint32_t *index)
{
    for (*index = 0; *index < OPT_COUNT; ++*index)
        if (strcmp(prt_convert_command.options[*index].name, key) == 0)
            return &prt_convert_command.options[*index];
    return NULL;
}

static bool is_true(const char *text)
{
    return strcmp(text, "True") == 0 || strcmp(text, "true") == 0;
}

static bool is_false(const char *text)
{
    return strcmp(text, "False") == 0 || strcmp(text, "false") == 0;
}

/* Adds the words of a value. A word that begins with a dash is attached to its option. */
static poprt_status push_value(line_builder *b, const prt_opt_def *o, const char *value)
{
    const char *word = prt_tool_text(b->tool->arena, "--%s=%s", o->name, value);
    return word != NULL ? push(b, word) : POPRT_E_NOMEM;
}

static poprt_status push_list(line_builder *b, const prt_opt_def *o, const yaml_node_t *value)
{
    for (yaml_node_item_t *i = value->data.sequence.items.start; i < value->data.sequence.items.top;
         i++) {
        const char *text = scalar(yaml_document_get_node(b->document, *i));
        if (text == NULL)
            return fail_at(b->path, value, "expected a list of plain values");
        PRT_TRY(push_value(b, o, text));
    }
    return POPRT_OK;
}

/* Returns the option of a key. A NULL option is an error. */
static poprt_status option_of(const line_builder *b, const yaml_node_t *key, bool inside,
    const prt_opt_def **out, uint32_t *index)
{
    const char *name = scalar(key);
    *out = name != NULL ? find_option(name, index) : NULL;
    if (inside && name != NULL &&
        (strcmp(name, fusion_key) == 0 || (*out != NULL && !prt_convert_is_of_model(*index))))
        return prt_fail(POPRT_E_ARG, name,
            "line %zu of %s: this option is not for one model: move it out of %s",
            key->start_mark.line + 1, b->path, fusion_key);
    if (*out == NULL)
        return prt_fail(POPRT_E_NOT_FOUND, name != NULL ? name : b->path,
            "line %zu of %s: there is no option of this name; poprt --help lists them",
            key->start_mark.line + 1, b->path);
    return POPRT_OK;
}

static poprt_status push_option(line_builder *b, const yaml_node_t *key, const yaml_node_t *value,
    bool inside)
{
    uint32_t index;
    const char *text = scalar(value);
    const prt_opt_def *o = NULL;
    PRT_TRY(option_of(b, key, inside, &o, &index));
    if (prt_opt_has(b->given, index) || (!inside && b->own[index]))
        return POPRT_OK;
    if (value->type == YAML_SEQUENCE_NODE)
        return push_list(b, o, value);
    if (text == NULL)
        return fail_at(b->path, value, "expected a value or a list of values");
    if (o->arity != PRT_OPT_FLAG)
        return push_value(b, o, text);
    if (!is_true(text) && !is_false(text))
        return fail_at(b->path, value, "expected True or False");
    return is_true(text) ? push(b, prt_tool_text(b->tool->arena, "--%s", o->name)) : POPRT_OK;
}

static poprt_status push_options(line_builder *b, const yaml_node_t *mapping, bool inside)
{
    for (yaml_node_pair_t *p = mapping->data.mapping.pairs.start;
         p < mapping->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = yaml_document_get_node(b->document, p->key);
        const char *name = scalar(key);
        if (!inside && name != NULL && strcmp(name, fusion_key) == 0)
            continue;
        PRT_TRY(push_option(b, key, yaml_document_get_node(b->document, p->value), inside));
    }
    return POPRT_OK;
}

static poprt_status find_own(line_builder *b)
{
    for (yaml_node_pair_t *p = b->inner->data.mapping.pairs.start;
         p < b->inner->data.mapping.pairs.top; p++) {
        const prt_opt_def *o = NULL;
        uint32_t index;
        PRT_TRY(option_of(b, yaml_document_get_node(b->document, p->key), true, &o, &index));
        b->own[index] = true;
    }
    return POPRT_OK;
}

/* Builds a command line: options of the file, options of one of its models, then the given
 * words. */
static poprt_status make_line(line_builder *b, const yaml_node_t *root, int argc, char **argv,
    const yaml_node_t *inner, prt_convert_line *out)
{
    memset(b->own, 0, sizeof(b->own));
    memset(&b->list, 0, sizeof(b->list));
    b->inner = inner;
    if (inner != NULL)
        PRT_TRY(find_own(b));
    PRT_TRY(push(b, argv[0]));
    PRT_TRY(push_options(b, root, false));
    if (inner != NULL)
        PRT_TRY(push_options(b, inner, true));
    for (int i = 1; i < argc; i++)
        PRT_TRY(push(b, argv[i]));
    *out = (prt_convert_line){ (int)b->list.count, b->list.data };
    return POPRT_OK;
}

/* Returns the list of models; NULL: the file has none. */
static poprt_status find_models(const line_builder *b, const yaml_node_t *root,
    const yaml_node_t **out)
{
    *out = NULL;
    for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top;
         p++) {
        const char *name = scalar(yaml_document_get_node(b->document, p->key));
        const yaml_node_t *list = yaml_document_get_node(b->document, p->value);
        if (name == NULL || strcmp(name, fusion_key) != 0)
            continue;
        if (*out != NULL)
            return fail_at(b->path, list, "model_fusion occurs twice");
        if (list->type != YAML_SEQUENCE_NODE)
            return fail_at(b->path, list,
                "model_fusion must be a list: '- input_model: FILE' and so on for each model");
        const ptrdiff_t count = list->data.sequence.items.top - list->data.sequence.items.start;
        if (count < 2 || count > PRT_FUSED_MOST)
            return prt_fail(POPRT_E_ARG, fusion_key,
                "line %zu of %s: %td model%s: 2 to %d can be fused", list->start_mark.line + 1,
                b->path, count, count == 1 ? "" : "s", PRT_FUSED_MOST);
        *out = list;
    }
    return POPRT_OK;
}

static poprt_status make_lines(line_builder *b, int argc, char **argv, prt_convert_lines *out)
{
    const yaml_node_t *root = yaml_document_get_root_node(b->document), *models = NULL;
    if (root == NULL || root->type != YAML_MAPPING_NODE)
        return prt_fail(POPRT_E_PARSE, b->path, "expected options: 'name: value' lines");
    PRT_TRY(find_models(b, root, &models));
    PRT_TRY(make_line(b, root, argc, argv, NULL, &out->all));
    if (models == NULL)
        return POPRT_OK;
    const yaml_node_item_t *items = models->data.sequence.items.start;
    const uint32_t count = (uint32_t)(models->data.sequence.items.top - items);
    out->models = PRT_NEW_N(b->tool->arena, prt_convert_line, count);
    if (out->models == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const yaml_node_t *model = yaml_document_get_node(b->document, items[i]);
        if (model->type != YAML_MAPPING_NODE)
            return fail_at(b->path, model,
                "a model must be a mapping of options: 'name: value' lines");
        PRT_TRY(make_line(b, root, argc, argv, model, &out->models[i]));
    }
    out->n_models = count;
    return POPRT_OK;
}

poprt_status prt_convert_merge_yaml(prt_tool *tool, const prt_opts *given, int argc, char **argv,
    prt_convert_lines *out)
{
    yaml_parser_t parser;
    yaml_document_t document;
    line_builder b = { .tool = tool,
        .document = &document,
        .given = given,
        .path = prt_opt_value(given, OPT_CONFIG_YAML, NULL) };
    PRT_TRY(open_document(b.path, &parser, &document));
    const poprt_status status = make_lines(&b, argc, argv, out);
    close_document(&parser, &document);
    return status;
}

/* ---- --manual_sharding_config */

typedef struct sharding_points {
    const char *path;
    prt_json_out devices, stages;
    uint32_t n_stages;
} sharding_points;

static poprt_status read_point(sharding_points *c, yaml_document_t *document,
    const yaml_node_t *item)
{
    static const char *const keys[] = { "node", "device", "stage" };
    const char *texts[3] = { NULL, NULL, NULL };
    int64_t device, stage;
    if (item == NULL || item->type != YAML_MAPPING_NODE)
        return prt_fail(POPRT_E_PARSE, c->path,
            "every item must have the keys node, device and stage");
    for (yaml_node_pair_t *p = item->data.mapping.pairs.start; p < item->data.mapping.pairs.top;
         p++) {
        const char *key = scalar(yaml_document_get_node(document, p->key));
        uint32_t k = 0;
        while (k < 3 && (key == NULL || strcmp(key, keys[k]) != 0))
            k++;
        if (k == 3)
            return fail_at(c->path, item, "an item can only have the keys node, device and stage");
        texts[k] = scalar(yaml_document_get_node(document, p->value));
    }
    if (texts[0] == NULL || texts[1] == NULL)
        return fail_at(c->path, item, "node or device is missing");
    if (!prt_opt_parse_number(texts[1], &device) ||
        (texts[2] != NULL && !prt_opt_parse_number(texts[2], &stage)))
        return fail_at(c->path, item, "device and stage must be numbers of at least 0");
    prt_json_put_i64(&c->devices, texts[0], device);
    if (texts[2] != NULL) {
        prt_json_put_i64(&c->stages, texts[0], stage);
        c->n_stages++;
    }
    return POPRT_OK;
}

static poprt_status read_points(sharding_points *c, yaml_document_t *document)
{
    const yaml_node_t *root = yaml_document_get_root_node(document);
    if (root == NULL || root->type != YAML_SEQUENCE_NODE)
        return prt_fail(POPRT_E_PARSE, c->path, "expected a list: '- node: NAME' and so on");
    for (yaml_node_item_t *i = root->data.sequence.items.start; i < root->data.sequence.items.top;
         i++)
        PRT_TRY(read_point(c, document, yaml_document_get_node(document, *i)));
    return POPRT_OK;
}

static poprt_status set_json(prt_tool *tool, prt_json_out *out, const char *key,
    poprt_config *config)
{
    prt_str text;
    prt_json_close(out, '}');
    PRT_TRY(prt_json_out_finish(out, &text));
    const char *copy = prt_arena_text(tool->arena, text.data, text.size);
    return copy != NULL ? poprt_config_set(config, key, copy) : POPRT_E_NOMEM;
}

poprt_status prt_convert_sharding(prt_tool *tool, const char *path, poprt_config *config)
{
    yaml_parser_t parser;
    yaml_document_t document;
    sharding_points c = { .path = path };
    PRT_TRY(open_document(path, &parser, &document));
    prt_json_out_init(&c.devices, tool->arena, false);
    prt_json_out_init(&c.stages, tool->arena, false);
    prt_json_open(&c.devices, NULL, '{');
    prt_json_open(&c.stages, NULL, '{');
    const poprt_status status = read_points(&c, &document);
    close_document(&parser, &document);
    PRT_TRY(status);
    PRT_TRY(set_json(tool, &c.devices, "sharding_info", config));
    return c.n_stages != 0 ? set_json(tool, &c.stages, "pipelining_info", config) : POPRT_OK;
}
