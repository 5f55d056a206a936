/* SPDX-License-Identifier: MIT */
/* passes.c — prints the pass table as a page in Markdown: effect, options and bound of every
 * pass; and the patterns of PopART with the passes that stand for them. */
#include "pass/engine/popart.h"

#include <stdio.h>

#include "tools/commands/passes.h"

static void print_options(const prt_pass_def *def)
{
    static const char *const kinds[] = { [PRT_OPTION_i64] = "integer",
        [PRT_OPTION_f64] = "number",
        [PRT_OPTION_bool] = "true or false",
        [PRT_OPTION_text] = "text",
        [PRT_OPTION_choice] = "one word",
        [PRT_OPTION_list] = "list with commas",
        [PRT_OPTION_json] = "JSON" };
    for (uint32_t i = 0; i < def->n_options; i++) {
        const prt_pass_option *o = &def->options[i];
        (void)printf("- `%s` (%s%s%s%s): %s\n", o->name, kinds[o->kind],
            o->initial[0] != '\0' ? ", `" : "", o->initial, o->initial[0] != '\0' ? "`" : "",
            o->doc);
    }
}

static void print_orders(const prt_pass_def *def)
{
    static const char *const words[] = { "Excludes", "Runs after", "Runs before" };
    for (uint32_t i = 0; i < def->n_orders; i++)
        (void)printf("- %s `%s`.\n", words[def->orders[i].relation], def->orders[i].other);
}

static void print_pass(const prt_pass_def *def)
{
    const double bound = prt_pass_bound(def), typical = prt_pass_typical(def);
    (void)printf("\n## %s\n\n%s\n\n", def->name, def->doc);
    if (def->since[0] != '\0')
        (void)printf("- A pass of PopRT since %s.\n", def->since);
    if (def->kind == PRT_PASS_check)
        (void)printf("- Only reads the model.\n");
    else if (bound == 0)
        (void)printf("- Does not change results.\n");
    else if (typical == 0)
        (void)printf("- Changes results by at most %g of the largest element.\n", bound);
    else
        (void)printf("- Changes results without a bound: by %g of the largest element in the "
                     "median\n  of the trained models of bench/CALIBRATION.md, by %g in the worst "
                     "of them.\n",
            typical, bound);
    print_options(def);
    print_orders(def);
}

/* Prints the passes of a pattern, each in backticks. */
static void print_names(const char *passes)
{
    const char *end = passes;
    for (; *passes != '\0'; passes = *end != '\0' ? end + 1 : end) {
        end = passes;
        while (*end != ',' && *end != '\0')
            end++;
        (void)printf("`%.*s`%s", (int)(end - passes), passes, *end != '\0' ? ", " : "");
    }
}

static void print_patterns(void)
{
    (void)printf(
        "\n# Patterns of PopART\n\nThe options `patterns_level`, `patterns`, `enable_patterns` and "
        "`disable_patterns` switch them. A pass\nthat no pattern names always runs; any other runs "
        "while one of its patterns is on. The attribute\n`__exclude_patterns` of a node lists "
        "patterns that leave the node as it is. Patterns without a pass are\naccepted, and the "
        "table says why they have none. `share_memory` is the sharing of memory, not a pass.\n\n"
        "| pattern | default | mandatory | passes | effect, or reason |\n"
        "| --- | --- | --- | --- | --- |\n");
    for (uint32_t i = 0; prt_popart_of(i) != NULL; i++) {
        const prt_popart_pattern *p = prt_popart_of(i);
        (void)printf("| %s | %s | %s | ", p->name, p->initial ? "on" : "off",
            p->mandatory ? "yes" : "no");
        print_names(p->passes);
        (void)printf("%s| %s |\n", p->passes[0] != '\0' ? " " : "none ", p->doc);
    }
}

void prt_passes_print(void)
{
    (void)printf("# Passes\n\nIn alphabetical order. `poprt --passes A,B` adds them to a "
                 "conversion, with default options;\n`poprt_pass_manager_add` runs any of them "
                 "with the options of a config.\n");
    for (uint32_t i = 0; prt_pass_of(i) != NULL; i++)
        print_pass(prt_pass_of(i));
    print_patterns();
}
