/* SPDX-License-Identifier: MIT */
/*
 * opt.h — command lines from one table of options: parsing, prefixes, usage and help.
 *
 * A long option has its value as `--opt VAL` or `--opt=VAL`, and may be shortened to an unambiguous
 * prefix. The short form is `-x VAL` or `-xVAL`. `--` ends the options.
 */
#ifndef PRT_TOOLS_COMMON_OPT_H
#define PRT_TOOLS_COMMON_OPT_H

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
    const char *value; /* name of the value in help */
    const char *help;  /* NULL: accepted, but not shown */
    /* Accepted values: see accepts.h. A list of words may be left empty. */
    const char *accepts;
    uint8_t takes; /* prt_opt_takes, for completion */
} prt_opt_def;

/* A row that accepts any value. */
#define PRT_OPT(name_, letter_, arity_, value_, help_)                                             \
    {                                                                                              \
        .name = name_, .letter = letter_, .arity = arity_, .value = value_, .help = help_          \
    }

typedef struct prt_opt_command {
    const char *name;           /* "poprt run" */
    const char *args;           /* arguments in the usage line: "MODEL", "" */
    const char *summary;        /* one sentence */
    const char *more;           /* text after the options in --help, or NULL */
    const prt_opt_def *options; /* option 0 is --help */
    uint32_t n_options;
    uint32_t min_args, max_args;
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
 * Parses argv[1..]. Returns false if the command has ended: help was printed, or usage and an
 * error. Then `*exit_code` is the exit code.
 */
bool prt_opt_parse(prt_arena *arena, const prt_opt_command *command, int argc, char **argv,
    prt_opts *out, int *exit_code);

/* Prints usage and the message to stderr; returns PRT_EXIT_USAGE. */
int prt_opt_usage_error(const prt_opt_command *command, const char *fmt, ...) PRT_PRINTF(2, 3);

bool prt_opt_has(const prt_opts *opts, uint32_t option);
/* Returns the last value of an option; `absent` if it was not given. */
const char *prt_opt_value(const prt_opts *opts, uint32_t option, const char *absent);
/* Returns the values of an option in order: start with *cursor 0; NULL after the last. */
const char *prt_opt_next(const prt_opts *opts, uint32_t option, uint32_t *cursor);

/* Reads a number within bounds. Returns false after a usage error and sets the exit code. If the
 * option was not given, `out` is unchanged. */
bool prt_opt_number(const prt_opts *opts, uint32_t option, int64_t min, int64_t max, int64_t *out,
    int *exit_code);
bool prt_opt_real(const prt_opts *opts, uint32_t option, double *out, int *exit_code);

/* Parses decimal text. Returns false unless the whole text is a number. */
bool prt_opt_parse_number(const char *text, int64_t *out);

#endif
