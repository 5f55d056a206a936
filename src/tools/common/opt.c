/* SPDX-License-Identifier: MIT */
/* opt.c — parses argv by a table of options, and prints usage errors. */
#include "tools/common/opt.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/accepts.h"
#include "base/nearest.h"

enum { NAMES = 128 };

#define NOT_FOUND UINT32_MAX

/* State of the parser. */
typedef struct parser {
    const prt_opt_command *command;
    char **argv;
    int argc, at;
    prt_opts *out;
} parser;

int prt_opt_usage_error(const prt_opt_command *command, const char *fmt, ...)
{
    (void)fprintf(stderr, "%s: error: ", command->name);
    va_list args;
    va_start(args, fmt);
    (void)vfprintf(stderr, fmt, args);
    va_end(args);
    (void)fprintf(stderr, "\nsee %s --help\n", command->name);
    return PRT_EXIT_USAGE;
}

const prt_opt_command *prt_opt_find_command(const prt_opt_command *command, const char *word)
{
    for (uint32_t i = 0; command->commands[i] != NULL; i++)
        if (strcmp(prt_opt_word(command->commands[i]), word) == 0)
            return command->commands[i];
    return NULL;
}

int prt_opt_unknown_command(const prt_opt_command *command, const char *word)
{
    const char *names[NAMES];
    char nearest[256];
    uint32_t n = 0;
    for (; n < NAMES && command->commands[n] != NULL; n++)
        names[n] = prt_opt_word(command->commands[n]);
    prt_nearest(word, names, n, nearest, sizeof(nearest));
    return prt_opt_usage_error(command, "unknown command '%s' (nearest: %s)", word, nearest);
}

static int fail_unknown(const prt_opt_command *command, const char *word)
{
    const char *names[NAMES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < command->n_options && n < NAMES; i++)
        if (prt_opt_is_shown(&command->options[i]))
            names[n++] = command->options[i].name;
    char nearest[256], bare[64];
    (void)snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(word, "="), word);
    prt_nearest(bare, names, n, nearest, sizeof(nearest));
    return prt_opt_usage_error(command, "unknown option --%s (nearest: %s)", bare, nearest);
}

static int fail_ambiguous(const prt_opt_command *command, const char *word, size_t size)
{
    char names[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < command->n_options && used < sizeof(names); i++)
        if (strncmp(command->options[i].name, word, size) == 0)
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s--%s",
                used != 0 ? ", " : "", command->options[i].name);
    return prt_opt_usage_error(command, "--%.*s is the prefix of several options: %s", (int)size,
        word, names);
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
        *exit_code = fail_ambiguous(command, word, size);
    return ambiguous || size == 0 ? NOT_FOUND : found;
}

static uint32_t find_letter(const prt_opt_command *command, char letter, int *exit_code)
{
    for (uint32_t i = 0; i < command->n_options; i++)
        if (command->options[i].letter == letter)
            return i;
    char letters[64] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < command->n_options && used < sizeof(letters); i++)
        if (command->options[i].letter != 0)
            used += (size_t)snprintf(letters + used, sizeof(letters) - used, "%s-%c",
                used != 0 ? ", " : "", command->options[i].letter);
    *exit_code =
        prt_opt_usage_error(command, "unknown option -%c (short options: %s)", letter, letters);
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
    char buffer[PRT_OPT_ACCEPTS_SIZE], expected[256];
    const char *accepts = prt_opt_accepts(o, buffer);
    const bool empty =
        o->may_be_empty && value != NULL && value[0] == '\0' && prt_accepts_words(accepts);
    if (value != NULL && !empty && !prt_accepts(accepts, value)) {
        prt_accepts_describe(accepts, expected, sizeof(expected));
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

/* Reads the option at p->at and its values. */
static int read_option(parser *p)
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
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--print_man") == 0) {
            prt_opt_print_man(command);
            *exit_code = PRT_EXIT_DONE;
            return false;
        }
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
            *exit_code = read_option(&p);
            if (*exit_code != PRT_EXIT_DONE)
                return false;
        } else {
            out->args[out->n_args++] = argv[p.at++];
        }
    }
    *exit_code = PRT_EXIT_DONE;
    if (prt_opt_has(out, 0)) {
        prt_opt_print_help(command);
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

int64_t prt_opt_number(const prt_opts *opts, uint32_t option, int64_t absent)
{
    const char *text = prt_opt_value(opts, option, NULL);
    int64_t value = absent;
    return text != NULL && prt_opt_parse_number(text, &value) ? value : absent;
}

double prt_opt_real(const prt_opts *opts, uint32_t option, double absent)
{
    const char *text = prt_opt_value(opts, option, NULL);
    return text != NULL ? strtod(text, NULL) : absent;
}
