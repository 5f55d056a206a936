/* SPDX-License-Identifier: MIT */
/*
 * completion.c — completion scripts for bash and zsh, from the tables of options: sub-commands,
 * their options, the words that an option accepts, and files.
 */
#include <stdio.h>
#include <string.h>

#include "base/accepts.h"
#include "tools/commands.h"

static void print_word(void *user, const char *word, size_t size)
{
    (void)user;
    (void)printf(" %.*s", (int)size, word);
}

static void print_command_words(const prt_opt_command *command)
{
    for (uint32_t i = 0; command->commands[i] != NULL; i++)
        (void)printf(" %s", prt_opt_word(command->commands[i]));
}

/* ---- bash */

/* Prints the branch that completes the value of an option: a word, a file or a directory. */
static void print_bash_values(const prt_opt_def *o)
{
    char buffer[PRT_OPT_ACCEPTS_SIZE];
    const char *accepts = prt_opt_accepts(o, buffer);
    if (o->arity == PRT_OPT_FLAG || (!prt_accepts_words(accepts) && o->takes == PRT_TAKES_ANY))
        return;
    (void)printf("        --%s", o->name);
    if (o->letter != 0)
        (void)printf("|-%c", o->letter);
    (void)printf(") COMPREPLY=($(compgen -");
    if (prt_accepts_words(accepts)) {
        (void)printf("W '");
        prt_accepts_each_word(accepts, print_word, NULL);
        (void)printf(" '");
    } else {
        (void)printf("%c", o->takes == PRT_TAKES_FILE ? 'f' : 'd');
    }
    (void)printf(" -- \"$word\")); return ;;\n");
}

/* Prints the branch of a command: values of its options, and the list of its options. */
static void print_bash_command(const prt_opt_command *command, const char *pattern)
{
    (void)printf("    %s)\n        case $before in\n", pattern);
    for (uint32_t i = 0; i < command->n_options; i++)
        print_bash_values(&command->options[i]);
    (void)printf("        esac\n        options='");
    for (uint32_t i = 0; i < command->n_options; i++)
        if (prt_opt_is_shown(&command->options[i]))
            (void)printf(" --%s", command->options[i].name);
    (void)printf(" ' ;;\n");
}

static void print_bash(const prt_opt_command *command)
{
    (void)printf("# Completion of poprt for bash: source <(poprt --print_completion bash)\n"
                 "_poprt() {\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    local options\n"
                 "    COMPREPLY=()\n"
                 "    # bash makes three words of --option=value.\n"
                 "    if [[ $word == = ]]; then\n"
                 "        word=\n"
                 "    elif [[ $before == = ]]; then\n"
                 "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
                 "    fi\n"
                 "    case ${COMP_WORDS[1]} in\n");
    for (uint32_t i = 0; command->commands[i] != NULL; i++)
        print_bash_command(command->commands[i], prt_opt_word(command->commands[i]));
    print_bash_command(command, "*");
    (void)printf("    esac\n    if [[ $word == -* ]]; then\n"
                 "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                 "    elif [[ $COMP_CWORD == 1 ]]; then\n"
                 "        COMPREPLY=($(compgen -W '");
    print_command_words(command);
    (void)printf(" ' -- \"$word\"))\n    else\n"
                 "        COMPREPLY=($(compgen -f -- \"$word\"))\n    fi\n}\n"
                 "complete -o filenames -F _poprt poprt\n");
}

/* ---- zsh */

/* Prints text in single quotes, without the characters that are special in a zsh specification. */
static void print_zsh_text(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\'')
            (void)printf("'\\''");
        else if (*text == '[' || *text == ']' || *text == ':')
            (void)printf("\\%c", *text);
        else
            (void)printf("%c", *text);
}

static void print_zsh_option(const prt_opt_def *o)
{
    char buffer[PRT_OPT_ACCEPTS_SIZE], help[PRT_OPT_HELP_SIZE];
    const char *accepts = prt_opt_accepts(o, buffer);
    prt_opt_help(o, help);
    (void)printf(" \\\n        '%s--%s[", o->arity >= PRT_OPT_EACH ? "*" : "", o->name);
    print_zsh_text(help);
    (void)printf("]");
    if (o->arity != PRT_OPT_FLAG) {
        (void)printf(":");
        print_zsh_text(o->value);
        (void)printf(":");
        if (prt_accepts_words(accepts)) {
            (void)printf("(");
            prt_accepts_each_word(accepts, print_word, NULL);
            (void)printf(" )");
        } else if (o->takes != PRT_TAKES_ANY) {
            (void)printf("%s", o->takes == PRT_TAKES_FILE ? "_files" : "_files -/");
        }
    }
    (void)printf("'");
}

/* Prints a call that completes the options of a command, and files as its arguments. */
static void print_zsh_arguments(const prt_opt_command *command)
{
    (void)printf("        _arguments");
    for (uint32_t i = 0; i < command->n_options; i++)
        if (prt_opt_is_shown(&command->options[i]))
            print_zsh_option(&command->options[i]);
    (void)printf(" \\\n        '*:file:_files'\n");
}

static void print_zsh(const prt_opt_command *command)
{
    (void)printf("#compdef poprt\n# Completion of poprt for zsh: poprt --print_completion zsh > "
                 "a folder of $fpath/_poprt\n_poprt() {\n"
                 "    if (( CURRENT == 2 )) && [[ ${words[2]} != -* ]]; then\n"
                 "        compadd");
    print_command_words(command);
    (void)printf("\n        return\n    fi\n    case ${words[2]} in\n");
    for (uint32_t i = 0; command->commands[i] != NULL; i++) {
        (void)printf("    %s)\n        shift words\n        (( CURRENT-- ))\n",
            prt_opt_word(command->commands[i]));
        print_zsh_arguments(command->commands[i]);
        (void)printf("        ;;\n");
    }
    (void)printf("    *)\n");
    print_zsh_arguments(command);
    (void)printf("        ;;\n    esac\n}\n"
                 "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _poprt \"$@\"; "
                 "else compdef _poprt poprt; fi\n");
}

void prt_completion_print(const prt_opt_command *command, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        print_bash(command);
    else
        print_zsh(command);
}
