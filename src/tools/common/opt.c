/* SPDX-License-Identifier: MIT */
/* opt.c — parses argv by a table of options, and prints usage and help. */
#include "tools/common/opt.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "tools/common/accepts.h"

enum { HELP_COLUMN = 30, LINE = 96, NAMES = 128 };

#define NOT_FOUND UINT32_MAX

/* State of the parser. */
typedef struct parser {
    const prt_opt_command *command;
    char **argv;
    int argc, at;
    prt_opts *out;
} parser;

static void put_usage(FILE *to, const prt_opt_command *command)
{
    int column = fprintf(to, "usage: %s", command->name);
    for (uint32_t i = 0; i < command->n_options; i++) {
        const prt_opt_def *o = &command->options[i];
        char text[128];
        if (o->help == NULL)
            continue;
        (void)snprintf(text, sizeof(text), " [--%s%s%s%s]", o->name,
            o->arity != PRT_OPT_FLAG ? " " : "", o->arity != PRT_OPT_FLAG ? o->value : "",
            o->arity == PRT_OPT_MANY ? " ..." : "");
        if (column + (int)strlen(text) > LINE)
            column = fprintf(to, "\n           ") - 1;
        column += fprintf(to, "%s", text);
    }
    (void)fprintf(to, "%s%s\n", command->args[0] != '\0' ? " " : "", command->args);
}

/* Prints a text in the help column, wrapped. */
static void put_wrapped(const char *text)
{
    size_t column = HELP_COLUMN;
    while (*text != '\0') {
        const size_t n = strcspn(text, " ");
        if (column > HELP_COLUMN && column + n > LINE)
            column = (size_t)printf("\n%*s", HELP_COLUMN, "") - 1;
        else if (column > HELP_COLUMN)
            column += (size_t)printf(" ");
        column += (size_t)printf("%.*s", (int)n, text);
        text += n + (text[n] == ' ');
    }
    (void)printf("\n");
}

static void put_help(const prt_opt_command *command)
{
    put_usage(stdout, command);
    (void)printf("\n%s\n\noptions:\n", command->summary);
    for (uint32_t i = 0; i < command->n_options; i++) {
        const prt_opt_def *o = &command->options[i];
        char text[128];
        if (o->help == NULL)
            continue;
        int n = o->letter != 0 ? snprintf(text, sizeof(text), "  -%c, --%s", o->letter, o->name)
                               : snprintf(text, sizeof(text), "  --%s", o->name);
        if (o->arity != PRT_OPT_FLAG)
            n += snprintf(text + n, sizeof(text) - (size_t)n, " %s%s", o->value,
                o->arity == PRT_OPT_MANY ? " ..." : "");
        if (n + 2 > HELP_COLUMN)
            (void)printf("%s\n%*s", text, HELP_COLUMN, "");
        else
            (void)printf("%-*s", HELP_COLUMN, text);
        put_wrapped(o->help);
    }
    if (command->more != NULL)
        (void)printf("\n%s", command->more);
}

int prt_opt_usage_error(const prt_opt_command *command, const char *fmt, ...)
{
    put_usage(stderr, command);
    (void)fprintf(stderr, "%s: error: ", command->name);
    va_list args;
    va_start(args, fmt);
    (void)vfprintf(stderr, fmt, args);
    va_end(args);
    (void)fprintf(stderr, "\n");
    return PRT_EXIT_USAGE;
}

static int fail_unknown(const prt_opt_command *command, const char *word)
{
    const char *names[NAMES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < command->n_options && n < NAMES; i++)
        if (command->options[i].help != NULL)
            names[n++] = command->options[i].name;
    char near[256], bare[64];
    (void)snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(word, "="), word);
    prt_nearest(bare, names, n, near, sizeof(near));
    return prt_opt_usage_error(command, "unknown option --%s (nearest: %s)", bare, near);
}

/* Finds an option by its name, or by a prefix that fits only one option. */
static uint32_t find_long(const prt_opt_command *command, const char *word, size_t size,
    int *exit_code)
{
    uint32_t found = NOT_FOUND;
    bool ambiguous = false;
    for (uint32_t i = 0; i < command->n_options; i++) {
        const char *name = command->options[i].name;
        if (strncmp(name, word, size) != 0)
            continue;
        if (name[size] == '\0')
            return i;
        ambiguous = found != NOT_FOUND;
        found = i;
    }
    if (found == NOT_FOUND || size == 0)
        *exit_code = fail_unknown(command, word);
    else if (ambiguous)
        *exit_code = prt_opt_usage_error(command, "--%.*s is the prefix of several options",
            (int)size, word);
    return ambiguous || size == 0 ? NOT_FOUND : found;
}

static uint32_t find_letter(const prt_opt_command *command, char letter, int *exit_code)
{
    for (uint32_t i = 0; i < command->n_options; i++)
        if (command->options[i].letter == letter)
            return i;
    *exit_code = prt_opt_usage_error(command, "unknown option -%c", letter);
    return NOT_FOUND;
}

/* Tells whether a word is an option. "-" and negative numbers are values. */
static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && !(word[1] >= '0' && word[1] <= '9') &&
        !(word[1] == '.' && word[2] >= '0' && word[2] <= '9');
}

/* Adds an option. Returns false after a usage error if the row does not accept the value. */
static bool add_item(parser *p, uint32_t option, const char *value)
{
    const prt_opt_def *o = &p->command->options[option];
    const bool open = value != NULL && value[0] == '\0' && prt_accepts_words(o->accepts);
    if (value != NULL && !open && !prt_accepts(o->accepts, value)) {
        char expected[256];
        prt_accepts_say(o->accepts, expected, sizeof(expected));
        (void)prt_opt_usage_error(p->command, "--%s: '%s' is not accepted; expected %s", o->name,
            value, expected);
        return false;
    }
    p->out->items[p->out->n_items++] = (prt_opt_item){ .option = option, .value = value };
    return true;
}

/* Reads the values of the option at p->at. `attached` is its value in the same word, or NULL. */
static int read_values(parser *p, uint32_t option, const char *attached)
{
    const prt_opt_def *o = &p->command->options[option];
    p->at++;
    if (o->arity == PRT_OPT_FLAG) {
        if (attached != NULL)
            return prt_opt_usage_error(p->command, "--%s does not take a value", o->name);
        (void)add_item(p, option, NULL);
        return PRT_EXIT_DONE;
    }
    if (attached != NULL)
        return add_item(p, option, attached) ? PRT_EXIT_DONE : PRT_EXIT_USAGE;
    const uint32_t before = p->out->n_items;
    while (p->at < p->argc && !is_option(p->argv[p->at])) {
        if (!add_item(p, option, p->argv[p->at++]))
            return PRT_EXIT_USAGE;
        if (o->arity != PRT_OPT_MANY)
            break;
    }
    if (p->out->n_items == before)
        return prt_opt_usage_error(p->command, "--%s needs a value: %s", o->name, o->value);
    return PRT_EXIT_DONE;
}

static int take_option(parser *p)
{
    const char *word = p->argv[p->at];
    int exit_code = PRT_EXIT_DONE;
    uint32_t option;
    const char *attached = NULL;
    if (word[1] == '-') {
        const char *equals = strchr(word, '=');
        const size_t size = equals != NULL ? (size_t)(equals - word) - 2 : strlen(word) - 2;
        option = find_long(p->command, word + 2, size, &exit_code);
        attached = equals != NULL ? equals + 1 : NULL;
    } else {
        option = find_letter(p->command, word[1], &exit_code);
        if (option != NOT_FOUND && word[2] != '\0')
            attached = word[2] == '=' ? word + 3 : word + 2;
    }
    return option == NOT_FOUND ? exit_code : read_values(p, option, attached);
}

bool prt_opt_parse(prt_arena *arena, const prt_opt_command *command, int argc, char **argv,
    prt_opts *out, int *exit_code)
{
    *out = (prt_opts){ .command = command };
    out->items = PRT_NEW_N(arena, prt_opt_item, (size_t)argc);
    out->args = PRT_NEW_N(arena, const char *, (size_t)argc);
    *exit_code = PRT_EXIT_FAILED;
    if (out->items == NULL || out->args == NULL)
        return false;
    parser p = { .command = command, .argv = argv, .argc = argc, .at = 1, .out = out };
    bool options = true;
    while (p.at < argc) {
        const char *word = argv[p.at];
        if (options && strcmp(word, "--") == 0) {
            options = false;
            p.at++;
        } else if (options && is_option(word)) {
            *exit_code = take_option(&p);
            if (*exit_code != PRT_EXIT_DONE)
                return false;
        } else {
            out->args[out->n_args++] = argv[p.at++];
        }
    }
    *exit_code = PRT_EXIT_DONE;
    if (prt_opt_has(out, 0)) {
        put_help(command);
        return false;
    }
    if (out->n_args > command->max_args)
        *exit_code =
            prt_opt_usage_error(command, "unexpected argument '%s'", out->args[command->max_args]);
    else if (out->n_args < command->min_args)
        *exit_code = prt_opt_usage_error(command, "%s is missing", command->args);
    return *exit_code == PRT_EXIT_DONE;
}

bool prt_opt_has(const prt_opts *opts, uint32_t option)
{
    uint32_t cursor = 0;
    for (; cursor < opts->n_items; cursor++)
        if (opts->items[cursor].option == option)
            return true;
    return false;
}

const char *prt_opt_value(const prt_opts *opts, uint32_t option, const char *absent)
{
    const char *value = absent;
    for (uint32_t i = 0; i < opts->n_items; i++)
        if (opts->items[i].option == option)
            value = opts->items[i].value;
    return value;
}

const char *prt_opt_next(const prt_opts *opts, uint32_t option, uint32_t *cursor)
{
    while (*cursor < opts->n_items) {
        const prt_opt_item *item = &opts->items[(*cursor)++];
        if (item->option == option)
            return item->value;
    }
    return NULL;
}

bool prt_opt_parse_number(const char *text, int64_t *out)
{
    char *end = NULL;
    if ((*text < '0' || *text > '9') && *text != '-')
        return false;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0')
        return false;
    *out = value;
    return true;
}

bool prt_opt_number(const prt_opts *opts, uint32_t option, int64_t min, int64_t max, int64_t *out,
    int *exit_code)
{
    const char *text = prt_opt_value(opts, option, NULL);
    int64_t value = 0;
    if (text == NULL)
        return true;
    if (!prt_opt_parse_number(text, &value) || value < min || value > max) {
        *exit_code =
            prt_opt_usage_error(opts->command, "--%s: '%s' is not a number from %lld to %lld",
                opts->command->options[option].name, text, (long long)min, (long long)max);
        return false;
    }
    *out = value;
    return true;
}

bool prt_opt_real(const prt_opts *opts, uint32_t option, double *out, int *exit_code)
{
    const char *text = prt_opt_value(opts, option, NULL);
    if (text == NULL)
        return true;
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || value < 0) {
        *exit_code = prt_opt_usage_error(opts->command, "--%s: '%s' is not a number of at least 0",
            opts->command->options[option].name, text);
        return false;
    }
    *out = value;
    return true;
}
