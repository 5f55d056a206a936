/* SPDX-License-Identifier: MIT */
/* options.c — `poprt options`: the options that --set and poprt_config_set know, as text or JSON.
 */
#include <stdio.h>
#include <string.h>

#include "api/handles.h"
#include "base/json.h"
#include "tools/commands.h"
#include "tools/common/tool.h"

enum { OPT_HELP, OPT_JSON, OPT_COUNT };

static const prt_opt_def options[OPT_COUNT] = {
    [OPT_HELP] = PRT_OPT("help", 'h', PRT_OPT_FLAG, NULL, "print this and exit"),
    [OPT_JSON] = PRT_OPT("json", 0, PRT_OPT_FLAG, NULL, "an array of JSON objects"),
};

static const prt_opt_command command = {
    .name = "poprt options",
    .args = "",
    .summary = "Lists the options that --set and poprt_config_set accept.",
    .options = options,
    .n_options = OPT_COUNT,
};

/* Writes the accepted values of option `index` as a phrase. */
static void format_accepted(const poprt_option_info *o, size_t index, char *to, size_t size)
{
    size_t used = 0;
    const char *words = prt_config_words(index);
    to[0] = '\0';
    if (o->type == POPRT_OPTION_BOOL)
        (void)snprintf(to, size, "`true` or `false`");
    else if (o->type == POPRT_OPTION_INT)
        (void)snprintf(to, size, "an integer from %lld to %lld", (long long)o->min,
            (long long)o->max);
    else if (words == NULL)
        (void)snprintf(to, size, "text");
    for (const char *w = words; w != NULL && *w != '\0' && used < size; w += strlen(w) + 1) {
        const int n = snprintf(to + used, size - used, "%s`%s`", used != 0 ? ", " : "", w);
        used += n > 0 ? (size_t)n : 0;
    }
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
    char accepted[1024];
    (void)printf("# Options\n\nKeys of `poprt_config_set` and of `--set KEY=VALUE` of the tool. "
                 "`poprt options` prints this page.\n");
    poprt_option_info o = { .struct_size = sizeof(o) };
    for (size_t i = 0; poprt_config_option_at(i, &o) == POPRT_OK; i++) {
        format_accepted(&o, i, accepted, sizeof(accepted));
        const bool is_empty = o.default_value[0] == '\0';
        (void)printf("\n## %s\n\n- Accepted: %s.\n- Default: %s%s%s.\n\n", o.key, accepted,
            is_empty ? "" : "`", is_empty ? "empty" : o.default_value, is_empty ? "" : "`");
        print_paragraph(o.help);
        (void)printf(".\n");
    }
}

static void put_option(prt_json_out *json, const poprt_option_info *o, size_t index)
{
    static const char *const types[] = { [POPRT_OPTION_BOOL] = "bool",
        [POPRT_OPTION_INT] = "int",
        [POPRT_OPTION_TEXT] = "text" };
    const char *words = prt_config_words(index);
    prt_json_open(json, NULL, '{');
    prt_json_put_text(json, "key", prt_str_of(o->key));
    prt_json_put_text(json, "type", prt_str_of(types[o->type]));
    prt_json_put_text(json, "default", prt_str_of(o->default_value));
    if (o->type == POPRT_OPTION_INT) {
        prt_json_put_i64(json, "min", o->min);
        prt_json_put_i64(json, "max", o->max);
    }
    if (words != NULL) {
        prt_json_open(json, "words", '[');
        for (const char *w = words; *w != '\0'; w += strlen(w) + 1)
            prt_json_put_text(json, NULL, prt_str_of(w));
        prt_json_close(json, ']');
    }
    prt_json_put_text(json, "help", prt_str_of(o->help));
    prt_json_close(json, '}');
}

static poprt_status print_json(prt_arena *arena)
{
    prt_json_out json;
    prt_str text;
    prt_json_out_init(&json, arena, true);
    prt_json_open(&json, NULL, '[');
    poprt_option_info o = { .struct_size = sizeof(o) };
    for (size_t i = 0; poprt_config_option_at(i, &o) == POPRT_OK; i++)
        put_option(&json, &o, i);
    prt_json_close(&json, ']');
    PRT_TRY(prt_json_out_finish(&json, &text));
    (void)printf("%.*s\n", PRT_STR_ARG(text));
    return POPRT_OK;
}

int prt_command_options(int argc, char **argv)
{
    prt_arena *arena = NULL;
    prt_opts opts;
    int code = PRT_EXIT_DONE;
    poprt_status status = prt_arena_create(NULL, 0, &arena);
    if (status == POPRT_OK && prt_opt_parse(arena, &command, argc, argv, &opts, &code)) {
        if (prt_opt_has(&opts, OPT_JSON))
            status = print_json(arena);
        else
            print_text();
    }
    prt_arena_release(arena);
    return status != POPRT_OK ? PRT_EXIT_FAILED : code;
}
