/* SPDX-License-Identifier: MIT */
/* opt_man.c — manual pages of commands, from the same tables as their help. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/opt.h"

/* Prints text for troff: escapes backslashes, dashes as minus signs, and the characters that begin
 * a request at the start of a line. */
static void print_roff(const char *text)
{
    bool start = true;
    for (; *text != '\0'; text++) {
        if (start && (*text == '.' || *text == '\''))
            (void)printf("\\&");
        if (*text == '\\')
            (void)printf("\\e");
        else if (*text == '-')
            (void)printf("\\-");
        else if (*text == '^')
            (void)printf("\\(ha");
        else
            (void)putchar(*text);
        start = *text == '\n';
    }
}

/* Prints the name of a page: "poprt run" is poprt-run. */
static void print_page_name(const prt_opt_command *command, bool upper)
{
    for (const char *p = command->name; *p != '\0'; p++)
        if (*p == ' ')
            (void)printf(upper ? "-" : "\\-");
        else
            (void)putchar(upper ? toupper((unsigned char)*p) : *p);
}

static void print_option(const prt_opt_def *o)
{
    char help[PRT_OPT_HELP_SIZE];
    (void)printf(".TP\n");
    if (o->letter != 0)
        (void)printf("\\fB\\-%c\\fR, ", o->letter);
    (void)printf("\\fB\\-\\-");
    print_roff(o->name);
    (void)printf("\\fR");
    if (o->arity != PRT_OPT_FLAG) {
        (void)printf(" \\fI");
        print_roff(o->value);
        (void)printf("\\fR%s", o->arity == PRT_OPT_MANY ? " ..." : "");
    }
    (void)printf("\n");
    prt_opt_help(o, help);
    print_roff(help);
    (void)printf("\n");
}

static void print_commands(const prt_opt_command *command)
{
    (void)printf(".SH COMMANDS\n");
    for (uint32_t i = 0; command->commands[i] != NULL; i++) {
        const prt_opt_command *c = command->commands[i];
        (void)printf(".TP\n\\fB");
        print_roff(command->name);
        (void)printf(" ");
        print_roff(prt_opt_word(c));
        (void)printf("\\fR ");
        print_roff(c->args);
        (void)printf("\n");
        print_roff(c->brief);
        (void)printf("\n");
    }
}

static void print_see_also(const prt_opt_command *command)
{
    (void)printf(".SH SEE ALSO\n");
    if (command->commands == NULL)
        (void)printf(".BR poprt (1),\n");
    for (uint32_t i = 0; command->commands != NULL && command->commands[i] != NULL; i++) {
        (void)printf(".BR ");
        print_page_name(command->commands[i], false);
        (void)printf(" (1),\n");
    }
    (void)printf(".BR libpoprt (3),\n.BR popef (5)\n");
}

void prt_opt_print_man(const prt_opt_command *command)
{
    (void)printf(".TH ");
    print_page_name(command, true);
    (void)printf(" 1 \"\" \"libpoprt %s\"\n.SH NAME\n", POPRT_VERSION_STRING);
    print_page_name(command, false);
    (void)printf(" \\- ");
    print_roff(command->brief);
    (void)printf("\n.SH SYNOPSIS\n.B %s\n[options]", command->name);
    if (command->args[0] != '\0')
        (void)printf("\n%s", command->args);
    if (command->commands != NULL)
        (void)printf("\n.br\n.B %s\ncommand [options]", command->name);
    (void)printf("\n.SH DESCRIPTION\n");
    print_roff(command->summary);
    if (command->more != NULL) {
        (void)printf("\n.PP\n");
        print_roff(command->more);
    }
    (void)printf("\n");
    if (command->commands != NULL)
        print_commands(command);
    (void)printf(".SH OPTIONS\n");
    for (uint32_t i = 0; i < command->n_options; i++)
        if (prt_opt_is_shown(&command->options[i]))
            print_option(&command->options[i]);
    if (command->examples != NULL) {
        (void)printf(".SH EXAMPLES\n.nf\n");
        print_roff(command->examples);
        (void)printf(".fi\n");
    }
    (void)printf(".SH EXIT STATUS\n0: success; 1: the work failed; 2: the command line is "
                 "wrong.\n");
    print_see_also(command);
}
