/* SPDX-License-Identifier: MIT */
/*
 * completion.c — generates completion scripts for bash and zsh, and the manual page, from the
 * options of the main command line.
 */
#include <stdio.h>
#include <string.h>

#include "tools/common/accepts.h"
#include "tools/commands.h"
#include "tools/poprt/convert.h"

static void put_word(void *user, const char *word, size_t size)
{
    (void)user;
    (void)printf(" %.*s", (int)size, word);
}

/* ---- bash */

static void put_bash_case(const prt_opt_def *o)
{
    if (!prt_accepts_words(o->accepts) && o->takes == PRT_TAKES_ANY)
        return;
    (void)printf("    --%s", o->name);
    if (o->letter != 0)
        (void)printf("|-%c", o->letter);
    (void)printf(")\n        ");
    if (prt_accepts_words(o->accepts)) {
        (void)printf("COMPREPLY=($(compgen -W '");
        prt_accepts_each_word(o->accepts, put_word, NULL);
        (void)printf(" ' -- \"$word\"))");
    } else {
        (void)printf("COMPREPLY=($(compgen -%c -- \"$word\"))",
            o->takes == PRT_TAKES_FILE ? 'f' : 'd');
    }
    (void)printf("\n        return\n        ;;\n");
}

static void put_bash(const prt_opt_command *command)
{
    (void)printf("# Completion of poprt for bash: source <(poprt --print_completion bash)\n"
                 "_poprt() {\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    case $before in\n");
    for (uint32_t i = 0; i < command->n_options; i++)
        put_bash_case(&command->options[i]);
    (void)printf("    esac\n    if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W '");
    for (uint32_t i = 0; i < command->n_options; i++)
        if (command->options[i].help != NULL)
            (void)printf(" --%s", command->options[i].name);
    (void)printf(" ' -- \"$word\"))\n    elif [[ $COMP_CWORD == 1 ]]; then\n"
                 "        COMPREPLY=($(compgen -W '");
    for (uint32_t i = 0; prt_command_at(i) != NULL; i++)
        (void)printf(" %s", prt_command_at(i));
    (void)printf(" ' -- \"$word\") $(compgen -f -- \"$word\"))\n    else\n"
                 "        COMPREPLY=($(compgen -f -- \"$word\"))\n    fi\n}\n"
                 "complete -o filenames -F _poprt poprt\n");
}

/* ---- zsh */

/* Prints help in single quotes, without the characters that are special in a zsh specification. */
static void put_zsh_text(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\'')
            (void)printf("'\\''");
        else if (*text == '[' || *text == ']' || *text == ':')
            (void)printf("\\%c", *text);
        else
            (void)printf("%c", *text);
}

static void put_zsh_option(const prt_opt_def *o)
{
    (void)printf("        '%s--%s[", o->arity >= PRT_OPT_EACH ? "*" : "", o->name);
    put_zsh_text(o->help);
    (void)printf("]");
    if (o->arity != PRT_OPT_FLAG) {
        (void)printf(":");
        put_zsh_text(o->value);
        (void)printf(":");
        if (prt_accepts_words(o->accepts)) {
            (void)printf("(");
            prt_accepts_each_word(o->accepts, put_word, NULL);
            (void)printf(" )");
        } else if (o->takes != PRT_TAKES_ANY) {
            (void)printf("%s", o->takes == PRT_TAKES_FILE ? "_files" : "_files -/");
        }
    }
    (void)printf("' \\\n");
}

static void put_zsh(const prt_opt_command *command)
{
    (void)printf("#compdef poprt\n# Completion of poprt for zsh: poprt --print_completion zsh > "
                 "a folder of $fpath/_poprt\n_poprt() {\n    _arguments \\\n");
    for (uint32_t i = 0; i < command->n_options; i++)
        if (command->options[i].help != NULL)
            put_zsh_option(&command->options[i]);
    (void)printf("        '1:command or file:->first' '*:file:_files'\n"
                 "    if [[ $state == first ]]; then\n        compadd");
    for (uint32_t i = 0; prt_command_at(i) != NULL; i++)
        (void)printf(" %s", prt_command_at(i));
    (void)printf("\n        _files\n    fi\n}\n"
                 "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _poprt \"$@\"; "
                 "else compdef _poprt poprt; fi\n");
}

void prt_convert_put_completion(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        put_bash(&prt_convert_command);
    else
        put_zsh(&prt_convert_command);
}

/* ---- the manual page */

/* Prints text for troff: escapes dashes as minus signs, and dots and quotes at the start of a
 * line. */
static void put_roff(const char *text)
{
    bool start = true;
    for (; *text != '\0'; text++) {
        if (start && (*text == '.' || *text == '\''))
            (void)printf("\\&");
        if (*text == '\\')
            (void)printf("\\e");
        else if (*text == '-')
            (void)printf("\\-");
        else
            (void)printf("%c", *text);
        start = *text == '\n';
    }
}

void prt_convert_put_man(void)
{
    const prt_opt_command *command = &prt_convert_command;
    (void)printf(".TH POPRT 1 \"\" \"libpoprt %s\"\n.SH NAME\npoprt \\- ", POPRT_VERSION_STRING);
    put_roff("convert, compile and run ONNX models");
    (void)printf("\n.SH SYNOPSIS\n.B poprt\n[options]\n.br\n.B poprt\ncommand [options]\n"
                 ".SH DESCRIPTION\n");
    put_roff(command->summary);
    (void)printf("\n.PP\n.nf\n");
    put_roff(command->more);
    (void)printf(".fi\n.SH OPTIONS\n");
    for (uint32_t i = 0; i < command->n_options; i++) {
        const prt_opt_def *o = &command->options[i];
        if (o->help == NULL)
            continue;
        (void)printf(".TP\n");
        if (o->letter != 0)
            (void)printf("\\fB\\-%c\\fR, ", o->letter);
        (void)printf("\\fB\\-\\-%s\\fR", o->name);
        if (o->arity != PRT_OPT_FLAG) {
            (void)printf(" \\fI");
            put_roff(o->value);
            (void)printf("\\fR%s", o->arity == PRT_OPT_MANY ? " ..." : "");
        }
        (void)printf("\n");
        put_roff(o->help);
        if (prt_accepts_words(o->accepts)) {
            (void)printf(" One of");
            prt_accepts_each_word(o->accepts, put_word, NULL);
            (void)printf(".");
        }
        (void)printf("\n");
    }
    (void)printf(".SH EXIT STATUS\n0: success; 1: the work failed; 2: the command line is "
                 "wrong.\n");
}
