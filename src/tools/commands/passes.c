/* SPDX-License-Identifier: MIT */
/* passes.c — every pass as a page in Markdown, from the rows: what it does, takes and promises. */
#include "pass/engine/pass.h"

#include <stdio.h>

#include "tools/commands/passes.h"

static void put_options(const prt_pass_def *def)
{
    static const char *const kinds[] = { "integer", "number", "true or false", "text",
        "list with commas", "JSON" };
    for (uint32_t i = 0; i < def->n_options; i++) {
        const prt_pass_option *o = &def->options[i];
        (void)printf("- `%s` (%s%s%s%s): %s\n", o->name, kinds[o->kind],
            o->initial[0] != '\0' ? ", `" : "", o->initial, o->initial[0] != '\0' ? "`" : "",
            o->doc);
    }
}

static void put_orders(const prt_pass_def *def)
{
    static const char *const words[] = { "Excludes", "Runs after", "Runs before" };
    for (uint32_t i = 0; i < def->n_orders; i++)
        (void)printf("- %s `%s`.\n", words[def->orders[i].relation], def->orders[i].other);
}

static void put_pass(const prt_pass_def *def)
{
    const double bound = prt_pass_bound(def), typical = prt_pass_typical(def);
    (void)printf("\n## %s\n\n%s\n\n", def->name, def->doc);
    if (def->since[0] != '\0')
        (void)printf("- A pass of PopRT since %s.\n", def->since);
    if (def->kind == PRT_PASS_check)
        (void)printf("- Looks only; the model stays as it is.\n");
    else if (bound == 0)
        (void)printf("- Results stay the same.\n");
    else if (typical == 0)
        (void)printf("- Results move by %g of the largest element at most.\n", bound);
    else
        (void)printf("- Results move, and nothing bounds how far: by %g of the largest element in "
                     "the median\n  of the trained models of bench/CALIBRATION.md, by %g in the "
                     "worst of them.\n",
            typical, bound);
    put_options(def);
    put_orders(def);
}

void prt_passes_print(void)
{
    (void)printf("# Passes\n\nIn alphabetical order; `poprt --passes A,B` adds them to a "
                 "conversion, with the defaults of\ntheir options, and "
                 "`poprt_pass_manager_add` runs any with options of a config.\n");
    for (uint32_t i = 0; prt_pass_of(i) != NULL; i++)
        put_pass(prt_pass_of(i));
}
