/* SPDX-License-Identifier: MIT */
/*
 * opt.h — command lines from one table of options: parsing, prefixes, usage, help and manual page.
 *
 * A long option has its value as `--opt VAL` or `--opt=VAL`, and may be shortened to an unambiguous
 * prefix. The short form is `-x VAL` or `-xVAL`. `--` ends the options.
 *
 * Every command also has the options --help and --print_man, which prints its manual page.
 */
#ifndef PRT_TOOLS_COMMON_OPT_H
#define PRT_TOOLS_COMMON_OPT_H

#include "api/handles.h"
#include "base/arena.h"

/* Exit codes of every command. */
enum { PRT_EXIT_DONE = 0, PRT_EXIT_FAILED = 1, PRT_EXIT_USAGE = 2 };

typedef enum prt_opt_arity {
    PRT_OPT_FLAG,
    PRT_OPT_ONE,  /* one value; the last one counts */
    PRT_OPT_EACH, /* one value; may be repeated, all values count */
    PRT_OPT_MANY  /* one or more values after the option; may be repeated, all values count */
} prt_opt_arity;

typedef enum prt_opt_takes { PRT_TAKES_ANY, PRT_TAKES_FILE, PRT_TAKES_DIRECTORY } prt_opt_takes;

typedef struct prt_opt_def {
    const char *name;  /* without dashes */
    char letter;       /* 0: no short form */
    uint8_t arity;     /* prt_opt_arity */
    uint8_t takes;     /* prt_opt_takes, for completion */
    bool hidden;       /* accepted, but not shown, like a row without help */
    bool may_be_empty; /* a choice of words also accepts an empty text: as if it was not given */
    const char *value; /* name of the value in help */
    /* Option of a poprt_config that sets the members below which are NULL; or NULL. */
    const prt_option_row *row;
    const char *help;
    const char *accepts; /* accepted values: see base/accepts.h */
    const char *absent;  /* default, for help */
} prt_opt_def;

/* A row that accepts any value. */
#define PRT_OPT(name_, letter_, arity_, value_, help_)                                             \
    {                                                                                              \
        .name = name_, .letter = letter_, .arity = arity_, .value = value_, .help = help_          \
    }

/* A row with one value, which must be an accepted one. */
#define PRT_OPT_OF(name_, value_, accepts_, help_)                                                 \
    {                                                                                              \
        .name = name_, .arity = PRT_OPT_ONE, .value = value_, .accepts = accepts_, .help = help_   \
    }

typedef struct prt_opt_command {
    const char *name; /* "poprt run" */
    int (*run)(int argc, char **argv);
    const char *args;           /* arguments in the usage line: "MODEL", "" */
    const char *brief;          /* the command in a list of commands; begins with a verb */
    const char *summary;        /* one sentence */
    const char *more;           /* paragraph after the options, or NULL */
    const char *examples;       /* command lines, each ended by a newline, or NULL */
    const prt_opt_def *options; /* option 0 is --help */
    uint32_t n_options;
    uint32_t min_args, max_args;
    /* Sub-commands, ended by NULL; or NULL. */
    const struct prt_opt_command *const *commands;
} prt_opt_command;

/* An option on the command line. */
typedef struct prt_opt_item {
    uint32_t option;
    const char *value; /* NULL for flags */
} prt_opt_item;

typedef struct prt_opts {
    const prt_opt_command *command;
    uint32_t n_items, n_args;
    prt_opt_item *items;
    const char **args;
} prt_opts;

/*
 * Parses argv[1..]. Returns false if the command has ended: help or the manual page was printed, or
 * an error. Then `*exit_code` is the exit code.
 */
bool prt_opt_parse(prt_arena *arena, const prt_opt_command *command, int argc, char **argv,
    prt_opts *out, int *exit_code);

/* Finds a sub-command by its word. Returns NULL if it does not exist. */
const prt_opt_command *prt_opt_find_command(const prt_opt_command *command, const char *word);
/* Prints that a word is not a sub-command, with the nearest ones; returns PRT_EXIT_USAGE. */
int prt_opt_unknown_command(const prt_opt_command *command, const char *word);

/* Prints the message and a line that names --help to stderr; returns PRT_EXIT_USAGE. */
int prt_opt_usage_error(const prt_opt_command *command, const char *fmt, ...) PRT_PRINTF(2, 3);

bool prt_opt_has(const prt_opts *opts, uint32_t option);
/* Returns the last value of an option; `absent` if it was not given. */
const char *prt_opt_value(const prt_opts *opts, uint32_t option, const char *absent);
/* Returns the values of an option in order: start with *cursor 0; NULL after the last. */
const char *prt_opt_next(const prt_opts *opts, uint32_t option, uint32_t *cursor);

/* Return the number of an option whose row accepts only numbers; `absent` if it was not given. */
int64_t prt_opt_number(const prt_opts *opts, uint32_t option, int64_t absent);
double prt_opt_real(const prt_opts *opts, uint32_t option, double absent);

/* Parses decimal text. Returns false unless the whole text is a number. */
bool prt_opt_parse_number(const char *text, int64_t *out);

/* ---- opt_help.c: help and accepted values, from the rows */

/* Bytes that hold the accepted values of every option, and its help. */
enum { PRT_OPT_ACCEPTS_SIZE = 256, PRT_OPT_HELP_SIZE = 2048 };

/* Returns whether help, the manual page and completion have the option. */
bool prt_opt_is_shown(const prt_opt_def *o);
/* Returns the accepted values as in base/accepts.h; NULL: any. May write them to `buffer`. */
const char *prt_opt_accepts(const prt_opt_def *o, char buffer[PRT_OPT_ACCEPTS_SIZE]);
/* Writes the help of an option, with its accepted values and its default. */
void prt_opt_help(const prt_opt_def *o, char to[PRT_OPT_HELP_SIZE]);
/* Returns the last word of the command's name. */
const char *prt_opt_word(const prt_opt_command *command);
/* Prints usage and help to stdout. */
void prt_opt_print_help(const prt_opt_command *command);

/* ---- opt_man.c: prints the manual page of a command, in the language of man(7), to stdout */
void prt_opt_print_man(const prt_opt_command *command);

#endif
