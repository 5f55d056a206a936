/* SPDX-License-Identifier: MIT */
/*
 * options.c — `poprt options`: the options that --set and poprt_config_set know, and the names that
 * other systems have for them, as text or JSON.
 */
#include <stdio.h>
#include <string.h>

#include "api/fixed_options.h"
#include "api/option_names.h"
#include "base/accepts.h"
#include "base/json.h"
#include "tools/commands.h"
#include "tools/common/tool.h"

enum { OPT_HELP, OPT_JSON, OPT_NAMES, OPT_COUNT };

static const prt_opt_def options[OPT_COUNT] = {
    [OPT_HELP] = PRT_OPT("help", 'h', PRT_OPT_FLAG, NULL, "print this and exit"),
    [OPT_JSON] = PRT_OPT("json", 0, PRT_OPT_FLAG, NULL, "an array of JSON objects"),
    [OPT_NAMES] = PRT_OPT("names", 0, PRT_OPT_FLAG, NULL,
        "list the names that PopART, PopRT and PopTorch have for options, and what each does"),
};

static int command_options(int argc, char **argv);

const prt_opt_command prt_options_command = {
    .name = "poprt options",
    .run = command_options,
    .args = "",
    .brief = "list the options of --set and of poprt_config_set",
    .summary = "Lists the options that --set and poprt_config_set accept.",
    .options = options,
    .n_options = OPT_COUNT,
};

static void print_word(void *user, const char *word, size_t size)
{
    bool *first = user;
    (void)printf("%s`%.*s`", *first ? "" : ", ", (int)size, word);
    *first = false;
}

/* Prints the accepted values of an option as a phrase. */
static void print_accepted(const prt_option_row *row)
{
    char expected[256];
    bool first = true;
    if (row->info.type == POPRT_OPTION_BOOL)
        (void)printf("`true` or `false`");
    else if (row->info.type == POPRT_OPTION_INT)
        (void)printf("an integer from %lld to %lld", (long long)row->info.min,
            (long long)row->info.max);
    else if (prt_accepts_words(row->accepts))
        prt_accepts_each_word(row->accepts, print_word, &first);
    else if (row->accepts != NULL) {
        prt_accepts_describe(row->accepts, expected, sizeof(expected));
        (void)printf("%s", expected);
    } else if (row->json != NULL)
        (void)printf("JSON: `%s`", row->json);
    else
        (void)printf("text");
}

/* Prints a paragraph in lines of at most WIDTH columns. */
static void print_paragraph(const char *text)
{
    enum { WIDTH = 98 };
    size_t column = 0;
    while (*text != '\0') {
        const size_t word = strcspn(text, " ");
        if (column != 0 && column + 1 + word > WIDTH) {
            (void)printf("\n");
            column = 0;
        }
        (void)printf("%s%.*s", column != 0 ? " " : "", (int)word, text);
        column += word + (column != 0);
        text += word + strspn(text + word, " ");
    }
}

static void print_text(void)
{
    (void)printf("# Options\n\nKeys of `poprt_config_set` and of `--set KEY=VALUE` of the tool. "
                 "`poprt options` prints this page.\n");
    for (size_t i = 0; i < PRT_OPTION_COUNT; i++) {
        const prt_option_row *row = &prt_option_rows[i];
        const char *initial = row->info.default_value;
        (void)printf("\n## %s\n\n- Accepted: ", row->info.key);
        print_accepted(row);
        if (initial[0] == '\0')
            (void)printf(".\n- Default: empty.\n");
        else
            (void)printf(".\n- Default: `%s`.\n", initial);
        (void)printf("%s\n",
            prt_option_is_fixed(row) ? "- Fixed: an executable keeps the value that it was "
                                       "compiled with.\n"
                                     : "");
        print_paragraph(row->help);
        (void)printf(".\n");
    }
}

static void write_word(void *user, const char *word, size_t size)
{
    prt_json_put_text(user, NULL, (prt_str){ word, (uint32_t)size });
}

static void write_option(prt_json_out *json, const prt_option_row *row)
{
    static const char *const types[] = { [POPRT_OPTION_BOOL] = "bool",
        [POPRT_OPTION_INT] = "int",
        [POPRT_OPTION_TEXT] = "text" };
    const poprt_option_info *o = &row->info;
    prt_json_open(json, NULL, '{');
    prt_json_put_text(json, "key", prt_str_of(o->key));
    prt_json_put_text(json, "type", prt_str_of(types[o->type]));
    prt_json_put_text(json, "default", prt_str_of(o->default_value));
    if (o->type == POPRT_OPTION_INT) {
        prt_json_put_i64(json, "min", o->min);
        prt_json_put_i64(json, "max", o->max);
    }
    if (prt_accepts_words(row->accepts)) {
        prt_json_open(json, "words", '[');
        prt_accepts_each_word(row->accepts, write_word, json);
        prt_json_close(json, ']');
    }
    prt_json_put_bool(json, "fixed", prt_option_is_fixed(row));
    prt_json_put_text(json, "help", prt_str_of(o->help));
    prt_json_close(json, '}');
}

static const char *const effects[] = { [POPRT_EFFECT_OPTION] = "option",
    [POPRT_EFFECT_ALWAYS] = "always",
    [POPRT_EFFECT_NONE] = "none",
    [POPRT_EFFECT_DEVICES] = "devices" };

/* Prints a name as a row of a table. */
static void print_name(const prt_option_name *row)
{
    char expected[256];
    const bool map = row->accepts != NULL && strcmp(row->accepts, "map") == 0;
    (void)printf("| `%s` | %s | ", row->info.name, row->info.system);
    if (row->info.key != NULL) {
        (void)printf("sets `%s` |\n", row->info.key);
        return;
    }
    prt_accepts_describe(map ? NULL : row->accepts, expected, sizeof(expected));
    if (row->info.effect == POPRT_EFFECT_ALWAYS)
        (void)printf("always: ");
    else if (row->info.effect == POPRT_EFFECT_DEVICES)
        (void)printf("one device: ");
    else
        (void)printf("no effect: ");
    (void)printf("%s. Accepted: %s%s", row->info.help, map ? "KEY=VALUE" : expected,
        row->harmless != NULL ? ", of which only " : "");
    (void)printf("%s%s%s |\n", row->harmless != NULL ? "`" : "",
        row->harmless != NULL ? row->harmless : "", row->harmless != NULL ? "` may be set" : "");
}

static void print_names(void)
{
    (void)printf(
        "# Names of options in other systems\n\n"
        "`poprt_config_set`, `--set`, `--popart_options` and `--compiler_options` accept the\n"
        "names of PopART's SessionOptions, of PopRT's CompilerOptions and of PopTorch's\n"
        "Options. Case and underscores do not count. `poprt options --names` prints this\n"
        "page.\n\n"
        "| name | system | effect |\n| --- | --- | --- |\n");
    for (size_t i = 0; i < PRT_OPTION_NAME_COUNT; i++)
        print_name(&prt_option_names[i]);
}

static void write_name(prt_json_out *json, size_t index)
{
    poprt_option_name name = { .struct_size = sizeof(name) };
    if (poprt_config_name_at(index, &name) != POPRT_OK)
        return;
    prt_json_open(json, NULL, '{');
    prt_json_put_text(json, "name", prt_str_of(name.name));
    prt_json_put_text(json, "system", prt_str_of(name.system));
    prt_json_put_text(json, "effect", prt_str_of(effects[name.effect]));
    if (name.key != NULL)
        prt_json_put_text(json, "key", prt_str_of(name.key));
    prt_json_put_text(json, "default", prt_str_of(name.default_value));
    prt_json_put_text(json, "help", prt_str_of(name.help));
    prt_json_close(json, '}');
}

static poprt_status print_json(prt_arena *arena, bool names)
{
    prt_json_out json;
    prt_str text;
    prt_json_out_init(&json, arena, true);
    prt_json_open(&json, NULL, '[');
    for (size_t i = 0; i < (names ? 0 : PRT_OPTION_COUNT); i++)
        write_option(&json, &prt_option_rows[i]);
    for (size_t i = 0; i < (names ? PRT_OPTION_NAME_COUNT : 0); i++)
        write_name(&json, i);
    prt_json_close(&json, ']');
    PRT_TRY(prt_json_out_finish(&json, &text));
    (void)printf("%.*s\n", PRT_STR_ARG(text));
    return POPRT_OK;
}

static int command_options(int argc, char **argv)
{
    prt_arena *arena = NULL;
    prt_opts opts;
    int code = PRT_EXIT_DONE;
    poprt_status status = prt_arena_create(NULL, 0, &arena);
    if (status == POPRT_OK &&
        prt_opt_parse(arena, &prt_options_command, argc, argv, &opts, &code)) {
        const bool names = prt_opt_has(&opts, OPT_NAMES);
        if (prt_opt_has(&opts, OPT_JSON))
            status = print_json(arena, names);
        else if (names)
            print_names();
        else
            print_text();
    }
    prt_arena_release(arena);
    return status != POPRT_OK ? PRT_EXIT_FAILED : code;
}
