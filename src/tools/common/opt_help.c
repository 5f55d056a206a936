/* SPDX-License-Identifier: MIT */
/* opt_help.c — help of options and commands, from their tables. */
#include <stdio.h>
#include <string.h>

#include "base/accepts.h"
#include "tools/common/opt.h"

enum { HELP_COLUMN = 30, LINE = 96 };

bool prt_opt_is_shown(const prt_opt_def *o)
{
    return !o->hidden && (o->help != NULL || o->row != NULL);
}

const char *prt_opt_accepts(const prt_opt_def *o, char buffer[PRT_OPT_ACCEPTS_SIZE])
{
    if (o->accepts != NULL || o->row == NULL)
        return o->accepts;
    const poprt_option_info *info = &o->row->info;
    if (info->type == POPRT_OPTION_TEXT)
        return o->row->accepts;
    if (info->type == POPRT_OPTION_BOOL)
        return "bool";
    const int n = snprintf(buffer, PRT_OPT_ACCEPTS_SIZE, "int %lld..", (long long)info->min);
    if (info->max != INT64_MAX)
        (void)snprintf(buffer + n, PRT_OPT_ACCEPTS_SIZE - (size_t)n, "%lld", (long long)info->max);
    return buffer;
}

/* Appends `size` bytes to a text of `*used` bytes, as far as they fit. */
static void append(char *to, size_t *used, const char *text, size_t size)
{
    if (*used + size >= PRT_OPT_HELP_SIZE)
        return;
    memcpy(to + *used, text, size);
    *used += size;
    to[*used] = '\0';
}

static void append_text(char *to, size_t *used, const char *text)
{
    append(to, used, text, strlen(text));
}

/* Appends help. An option in backticks is written as on the command line. */
static void append_help(char *to, size_t *used, const char *help)
{
    while (*help != '\0') {
        const size_t n = strcspn(help, "`"), key = help[n] != '\0' ? strcspn(help + n + 1, "`") : 0;
        append(to, used, help, n);
        help += n;
        if (*help == '\0')
            break;
        append_text(to, used, "--");
        append(to, used, help + 1, key);
        help += key + 1 + (help[key + 1] != '\0');
    }
}

/* Returns the default to show, or NULL. A text that is empty, or that the command line does not
 * accept, is a way to say that the option is not set. */
static const char *shown_default(const prt_opt_def *o, const char *accepts)
{
    if (o->absent != NULL || o->row == NULL || o->help != NULL)
        return o->absent;
    const char *text = o->row->info.default_value;
    return text[0] != '\0' && prt_accepts(accepts, text) ? text : NULL;
}

void prt_opt_help(const prt_opt_def *o, char to[PRT_OPT_HELP_SIZE])
{
    char buffer[PRT_OPT_ACCEPTS_SIZE], expected[256];
    size_t used = 0;
    to[0] = '\0';
    if (o->help == NULL && o->row != NULL) {
        /* The help of a row begins with the call of the library that reads it. */
        const char *colon = strstr(o->row->help, ": ");
        append_help(to, &used, colon != NULL ? colon + 2 : o->row->help);
    } else if (o->help != NULL) {
        append_help(to, &used, o->help);
    }
    if (o->arity == PRT_OPT_FLAG)
        return;
    const char *accepts = prt_opt_accepts(o, buffer), *absent = shown_default(o, accepts);
    if (accepts == NULL && absent == NULL)
        return;
    append_text(to, &used, " (");
    if (accepts != NULL) {
        prt_accepts_describe(accepts, expected, sizeof(expected));
        append_text(to, &used, expected);
    }
    if (absent != NULL) {
        append_text(to, &used, accepts != NULL ? "; default: " : "default: ");
        append_text(to, &used, absent);
    }
    append_text(to, &used, ")");
}

const char *prt_opt_word(const prt_opt_command *command)
{
    const char *space = strrchr(command->name, ' ');
    return space != NULL ? space + 1 : command->name;
}

static void print_usage(const prt_opt_command *command)
{
    int column = printf("usage: %s", command->name);
    for (uint32_t i = 0; i < command->n_options; i++) {
        const prt_opt_def *o = &command->options[i];
        char text[128];
        if (!prt_opt_is_shown(o))
            continue;
        (void)snprintf(text, sizeof(text), " [--%s%s%s%s]", o->name,
            o->arity != PRT_OPT_FLAG ? " " : "", o->arity != PRT_OPT_FLAG ? o->value : "",
            o->arity == PRT_OPT_MANY ? " ..." : "");
        if (column + (int)strlen(text) > LINE)
            column = printf("\n           ") - 1;
        column += printf("%s", text);
    }
    (void)printf("%s%s\n", command->args[0] != '\0' ? " " : "", command->args);
}

/* Prints a text from column `indent` on, wrapped. */
static void print_wrapped(const char *text, size_t indent)
{
    size_t column = indent;
    while (*text != '\0') {
        const size_t n = strcspn(text, " ");
        if (column > indent && column + n > LINE)
            column = (size_t)printf("\n%*s", (int)indent, "") - 1;
        else if (column > indent)
            column += (size_t)printf(" ");
        column += (size_t)printf("%.*s", (int)n, text);
        text += n + (text[n] == ' ');
    }
    (void)printf("\n");
}

/* Prints the first column of help, and the spaces or the new line up to the second one. */
static void print_label(const char *label)
{
    if (strlen(label) + 2 > HELP_COLUMN)
        (void)printf("%s\n%*s", label, HELP_COLUMN, "");
    else
        (void)printf("%-*s", HELP_COLUMN, label);
}

static void print_option(const prt_opt_def *o)
{
    char label[128], help[PRT_OPT_HELP_SIZE];
    int n = o->letter != 0 ? snprintf(label, sizeof(label), "  -%c, --%s", o->letter, o->name)
                           : snprintf(label, sizeof(label), "  --%s", o->name);
    if (o->arity != PRT_OPT_FLAG)
        (void)snprintf(label + n, sizeof(label) - (size_t)n, " %s%s", o->value,
            o->arity == PRT_OPT_MANY ? " ..." : "");
    print_label(label);
    prt_opt_help(o, help);
    print_wrapped(help, HELP_COLUMN);
}

static void print_commands(const prt_opt_command *command)
{
    (void)printf("\ncommands:\n");
    for (uint32_t i = 0; command->commands[i] != NULL; i++) {
        const prt_opt_command *c = command->commands[i];
        char label[128];
        (void)snprintf(label, sizeof(label), "  %s %s%s%s", command->name, prt_opt_word(c),
            c->args[0] != '\0' ? " " : "", c->args);
        print_label(label);
        print_wrapped(c->brief, HELP_COLUMN);
    }
    (void)printf("Each command has its own --help.\n");
}

void prt_opt_print_help(const prt_opt_command *command)
{
    print_usage(command);
    (void)printf("\n%s\n\noptions:\n", command->summary);
    for (uint32_t i = 0; i < command->n_options; i++)
        if (prt_opt_is_shown(&command->options[i]))
            print_option(&command->options[i]);
    if (command->commands != NULL)
        print_commands(command);
    if (command->more != NULL) {
        (void)printf("\n");
        print_wrapped(command->more, 0);
    }
    if (command->examples != NULL)
        (void)printf("\nexamples:\n%s", command->examples);
}
