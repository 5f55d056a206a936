/* SPDX-License-Identifier: MIT */
/* lists.c — draws lists of passes: rows of the registry, with options from lists.def. */
#include "fuzz/lists.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { MOST_NAMES = 2048, MOST_TEXT = 1024 };

/* ---- decisions */

void fuzz_dice_init(fuzz_dice *dice, const uint8_t *data, size_t size)
{
    *dice = (fuzz_dice){ .data = data, .size = size, .state = prt_hash(data, size, 1) };
}

/* splitmix64 */
static uint64_t roll(fuzz_dice *dice)
{
    uint64_t z = dice->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Two bytes are mixed so that a text of hexadecimal digits chooses as well as any bytes. */
size_t fuzz_below(fuzz_dice *dice, size_t n)
{
    if (n == 0)
        return 0;
    if (dice->size < 2)
        return (size_t)(roll(dice) % n);
    const uint32_t x = (uint32_t)dice->data[0] << 8 | dice->data[1];
    dice->data += 2;
    dice->size -= 2;
    return (x * 2654435761u >> 12) % n;
}

/* ---- names of a model */

typedef PRT_VEC(const char *) names;

typedef struct drawer {
    fuzz_dice *dice;
    prt_arena *arena;
    names nodes, products, sums, values, constants, inputs, outputs, types;
} drawer;

static bool push(drawer *d, names *to, prt_str name)
{
    return name.size == 0 || to->count == MOST_NAMES || PRT_VEC_PUSH(d->arena, to, name.data);
}

static bool gather(drawer *d, const prt_graph *g, uint32_t depth)
{
    bool ok = true;
    for (size_t i = 0; ok && i < g->inputs.count && depth == 0; i++)
        ok = push(d, &d->inputs, g->inputs.data[i]->name);
    for (size_t i = 0; ok && i < g->output_names.count && depth == 0; i++)
        ok = push(d, &d->outputs, g->output_names.data[i]);
    for (size_t i = 0; ok && i < g->constants.count; i++)
        ok = push(d, &d->constants, g->constants.data[i]->name);
    prt_for_each_op (op, g) {
        const prt_str label = prt_str_of(prt_op_label(op));
        if (!ok)
            break;
        ok = push(d, &d->nodes, label) && push(d, &d->types, op->name);
        if (prt_op_is(op, PRT_OP_matmul) || prt_op_is(op, PRT_OP_gemm) ||
            prt_op_is(op, PRT_OP_conv))
            ok = ok && push(d, &d->products, label);
        if (prt_op_is(op, PRT_OP_add))
            ok = ok && push(d, &d->sums, label);
        for (uint32_t i = 0; ok && i < op->n_out; i++)
            ok = push(d, &d->values, op->out[i].name);
        for (uint32_t i = 0; ok && i < op->n_regions && depth < 64; i++)
            ok = gather(d, op->regions[i], depth + 1);
    }
    return ok;
}

/* ---- texts */

/* Excludes the pass that writes a file. */
static const prt_pass_def *draw_pass(drawer *d)
{
    const prt_pass_def *def = prt_pass_of((uint32_t)fuzz_below(d->dice, PRT_PASS_COUNT));
    return strcmp(def->name, "layer_precision_compare") == 0 ? prt_pass_of(0) : def;
}

static const char *one_of(drawer *d, const names *from)
{
    return from->count != 0 ? from->data[fuzz_below(d->dice, from->count)] : "absent";
}

/* Expands a letter after %. */
static const char *expand_word(drawer *d, char letter, char *number)
{
    static const char letters[] = "nmavciotl";
    const names *lists[] = { &d->nodes, &d->products, &d->sums, &d->values, &d->constants,
        &d->inputs, &d->outputs, &d->types, &d->types };
    const char *at = memchr(letters, letter, sizeof(letters) - 1);
    if (letter == 'p')
        return draw_pass(d)->name;
    if (at != NULL)
        return one_of(d, lists[at - letters]);
    (void)snprintf(number, 16, "%zu", fuzz_below(d->dice, 6));
    return number;
}

static const char *fill_in(drawer *d, const char *text)
{
    char to[MOST_TEXT], number[16];
    size_t n = 0;
    for (; *text != '\0' && n + 1 < sizeof(to); text++) {
        if (*text != '%') {
            to[n++] = *text;
            continue;
        }
        const char letter = *++text;
        for (const char *w = expand_word(d, letter, number); *w != '\0' && n + 1 < sizeof(to); w++)
            to[n++] = letter == 'l' ? (char)tolower((unsigned char)*w) : *w;
    }
    return prt_arena_text(d->arena, to, n);
}

typedef struct pool {
    const char *key, *text;
} pool;

static const pool pools[] = {
#define POOL(key, text) { #key, text },
#include "fuzz/lists.def"
};

static const struct {
    uint32_t kind;
    const char *text;
} kinds[] = {
#define KIND(kind, text) { PRT_OPTION_##kind, text },
#include "fuzz/lists.def"
};

/* Draws a value for an option of this name, or of this kind. */
static const char *draw_value(drawer *d, const char *key, uint32_t kind)
{
    size_t first = 0, count = 0;
    for (size_t i = PRT_COUNT_OF(pools); i-- > 0;)
        if (strcmp(pools[i].key, key) == 0) {
            first = i;
            count++;
        }
    if (count != 0)
        return fill_in(d, pools[first + fuzz_below(d->dice, count)].text);
    for (size_t i = PRT_COUNT_OF(kinds); i-- > 0;)
        if (kinds[i].kind == kind) {
            first = i;
            count++;
        }
    return fill_in(d, kinds[first + fuzz_below(d->dice, count)].text);
}

/* Draws a word of a choice, often the default. */
static const char *draw_word(drawer *d, const prt_pass_option *o)
{
    const char *word = o->words;
    for (size_t n = fuzz_below(d->dice, 8); n > 0 && *word != '\0'; n--)
        word += strcspn(word, "|") + (word[strcspn(word, "|")] != '\0');
    return *word != '\0' ? prt_arena_text(d->arena, word, strcspn(word, "|")) : o->initial;
}

/* ---- lists */

static bool draw_item(drawer *d, fuzz_item *item)
{
    *item = (fuzz_item){ .def = draw_pass(d) };
    for (uint32_t i = 0; i < item->def->n_options && item->n_args < FUZZ_MOST_ARGS; i++) {
        const prt_pass_option *o = &item->def->options[i];
        if (fuzz_below(d->dice, 4) == 0)
            continue;
        const prt_pass_arg arg = { o->name,
            o->kind == PRT_OPTION_choice ? draw_word(d, o) : draw_value(d, o->name, o->kind) };
        if (arg.value == NULL)
            return false;
        item->args[item->n_args++] = arg;
    }
    return true;
}

/* Draws keys of the pipeline's steps. */
static bool draw_settings(drawer *d, fuzz_list *out)
{
    const prt_pipeline *p = prt_pipeline_find("convert");
    out->skip = fuzz_below(d->dice, 4) == 0 ? draw_pass(d)->name : NULL;
    for (size_t n = fuzz_below(d->dice, FUZZ_MOST_ARGS); n > 0; n--) {
        size_t i = fuzz_below(d->dice, p->n_steps), past = 0;
        while (past < p->n_steps && (p->steps[i].key == NULL || p->steps[i].key[0] == '\0')) {
            i = (i + 1) % p->n_steps;
            past++;
        }
        const char *key = p->steps[i].key;
        const prt_pass_arg arg = { key, draw_value(d, key, PRT_OPTION_text) };
        if (arg.value == NULL)
            return false;
        out->settings[out->n_settings++] = arg;
    }
    return true;
}

poprt_status fuzz_list_draw(fuzz_dice *dice, const prt_module *module, prt_arena *arena,
    fuzz_list *out)
{
    drawer d = { .dice = dice, .arena = arena };
    *out = (fuzz_list){ .opset = (int64_t)(1 + fuzz_below(dice, FUZZ_NEWEST_OPSET)) };
    if (!gather(&d, module->main, 0))
        return POPRT_E_NOMEM;
    out->converts = fuzz_below(dice, 3) == 0;
    if (out->converts && !draw_settings(&d, out))
        return POPRT_E_NOMEM;
    out->n_items = (uint32_t)(fuzz_below(dice, FUZZ_MOST_PASSES) + !out->converts);
    for (uint32_t i = 0; i < out->n_items; i++)
        if (!draw_item(&d, &out->items[i]))
            return POPRT_E_NOMEM;
    return POPRT_OK;
}

/* Appends; a text that does not fit is truncated. */
static void append_text(char *to, size_t size, const char *a, const char *b, const char *c)
{
    const size_t n = strlen(to);
    (void)snprintf(to + n, size - n, "%s%s%s", a, b, c);
}

static void put_args(char *to, size_t size, uint32_t count, const prt_pass_arg *args)
{
    for (uint32_t i = 0; i < count; i++) {
        append_text(to, size, i == 0 ? "{" : "; ", args[i].key, "=");
        append_text(to, size, args[i].value, i + 1 == count ? "}" : "", "");
    }
}

void fuzz_list_text(const fuzz_list *list, char *to, size_t size)
{
    char opset[24];
    to[0] = '\0';
    if (list->converts) {
        append_text(to, size, "convert", "", "");
        put_args(to, size, list->n_settings, list->settings);
        if (list->skip != NULL)
            append_text(to, size, " without ", list->skip, "");
    }
    for (uint32_t i = 0; i < list->n_items; i++) {
        append_text(to, size, i == 0 && !list->converts ? "" : ", ", list->items[i].def->name, "");
        put_args(to, size, list->items[i].n_args, list->items[i].args);
    }
    (void)snprintf(opset, sizeof(opset), "%lld", (long long)list->opset);
    append_text(to, size, ", opset ", opset, "");
}
