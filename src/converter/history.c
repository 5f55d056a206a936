/* SPDX-License-Identifier: MIT */
/* history.c — looks up schemas by name and opset, and compares ops with them. */
#include "converter/history.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#define MANY UINT32_MAX

static const uint64_t type_sets[] = {
#define TYPES(n, ...) [n] = __VA_ARGS__,
#include "converter/history.def"
};

typedef struct schema {
    uint16_t text_at;        /* offset of the texts from the row: see name_of */
    unsigned char types[11]; /* numbers of TYPES rows, inputs first */
    uint8_t n_types;         /* 0: the operator was removed */
    uint32_t since;
    uint32_t min_in, max_in, max_out; /* UINT32_MAX: any number */
} schema;

/* Rows and then their texts: the name, and the names of the attributes, separated by blanks. A
 * pointer in a table of a shared library takes 32 bytes. */
#define ROW(line) ROW_(line)
#define ROW_(line) row_##line
#define SCHEMA(name, since, min_in, max_in, max_out, attrs, ...) ROW(__LINE__),
#define REMOVED(name, since) ROW(__LINE__),
enum {
#include "converter/history.def"
    SCHEMA_COUNT
};
#define SCHEMA(name, since, min_in, max_in, max_out, attrs, ...)                                   \
    char ROW(__LINE__)[sizeof(name "\0" attrs)];
#define REMOVED(name, since) char ROW(__LINE__)[sizeof(name "\0")];
static const struct table {
    schema rows[SCHEMA_COUNT];
#include "converter/history.def"
} table = {
    {
#define TEXT_AT(line) offsetof(struct table, ROW(line)) - offsetof(struct table, rows[ROW(line)])
#define SCHEMA(name, since, min_in, max_in, max_out, attrs, ...)                                   \
    { TEXT_AT(__LINE__), { __VA_ARGS__ }, sizeof((const unsigned char[]){ __VA_ARGS__ }), since,   \
        min_in, max_in, max_out },
#define REMOVED(name, since) { TEXT_AT(__LINE__), { 0 }, 0, since, 0, 0, 0 },
#include "converter/history.def"
    },
#define SCHEMA(name, since, min_in, max_in, max_out, attrs, ...) name "\0" attrs,
#define REMOVED(name, since) name "\0",
#include "converter/history.def"
};

static const char *name_of(const schema *s)
{
    return (const char *)s + s->text_at;
}

static const char *attrs_of(const schema *s)
{
    return name_of(s) + strlen(name_of(s)) + 1;
}

static bool is_removed(const schema *s)
{
    return s->n_types == 0;
}

/* ---- look-up ---- */

static int compare(prt_str name, const char *with)
{
    const size_t size = strlen(with);
    const int order = memcmp(name.data, with, name.size < size ? name.size : size);
    return order != 0 ? order : name.size < size ? -1 : name.size > size;
}

/* Returns the first of the older schemas of a name, and their number in `count`. */
static const schema *find(prt_str name, size_t *count)
{
    size_t low = 0, high = SCHEMA_COUNT;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(name, name_of(&table.rows[middle])) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    *count = 0;
    while (low + *count < SCHEMA_COUNT && prt_str_is(name, name_of(&table.rows[low + *count])))
        ++*count;
    return &table.rows[low < SCHEMA_COUNT ? low : 0];
}

/* Returns the older schema in force; NULL before the first one. */
static const schema *find_at(prt_str name, int64_t opset)
{
    size_t count;
    const schema *all = find(name, &count), *found = NULL;
    for (size_t i = 0; i < count && (int64_t)all[i].since <= opset; i++)
        found = &all[i];
    return found;
}

static const char *const domains[] = { "", PRT_HISTORY_ML, "ai.onnx.preview",
    "ai.onnx.preview.training" };

const char *prt_history_domain(prt_str domain)
{
    for (size_t i = 0; i < PRT_COUNT_OF(domains); i++)
        if (prt_domain_equal(domain, prt_str_of(domains[i])))
            return domains[i];
    return NULL;
}

static const prt_op_def *row_of(prt_str name)
{
    const prt_op_def *row = NULL;
    for (size_t i = 0; i < PRT_COUNT_OF(domains) && row == NULL; i++)
        row = prt_op_find(prt_str_of(domains[i]), name);
    return row;
}

bool prt_history_is_other_domain(prt_str name, const char *domain)
{
    const prt_op_def *row = row_of(name);
    return row != NULL && strcmp(row->domain, domain) != 0;
}

/* Returns the row of ops.def in force; NULL before its version and after the operator was
 * removed. */
static const prt_op_def *row_at(prt_str name, int64_t opset)
{
    const prt_op_def *row = row_of(name);
    const schema *s = find_at(name, opset);
    const bool eliminated = s != NULL && is_removed(s) && row != NULL && s->since > row->since;
    return row != NULL && opset >= (int64_t)row->since && !eliminated ? row : NULL;
}

int64_t prt_history_newest_of(const char *domain)
{
    int64_t newest = 0;
    for (uint32_t id = 0; id < PRT_OP_COUNT; id++) {
        const prt_op_def *def = prt_op_of(id);
        if (strcmp(def->domain, domain) == 0 && (int64_t)def->since > newest)
            newest = def->since;
    }
    return newest;
}

int64_t prt_history_newest(void)
{
    return prt_history_newest_of("");
}

int64_t prt_history_first(prt_str name)
{
    size_t count;
    const schema *all = find(name, &count);
    const prt_op_def *row = row_of(name);
    return count > 0 ? all->since : row != NULL ? row->since : 0;
}

int64_t prt_history_version(prt_str name, int64_t opset)
{
    const prt_op_def *row = row_at(name, opset);
    if (row != NULL)
        return row->since;
    const schema *s = find_at(name, opset);
    return s != NULL && !is_removed(s) ? s->since : 0;
}

/* ---- types ---- */

/* Returns the bit of a type in PRT_T_* sets; 0 if the type is unknown. */
static uint64_t bit_of(const prt_type *type)
{
    if (type == NULL)
        return 0;
    switch (type->kind) {
    case PRT_VALUE_TENSOR:
        return type->dtype != PRT_DTYPE_undefined ? (uint64_t)1 << type->dtype : 0;
    case PRT_VALUE_SEQUENCE:
        return PRT_T_SEQ;
    case PRT_VALUE_OPTIONAL:
        return PRT_T_OPT;
    case PRT_VALUE_MAP:
        return PRT_T_MAP;
    default:
        return 0;
    }
}

/* Returns the number of input slots. A slot that repeats counts once and is the last one. */
static uint32_t in_slots(const schema *s)
{
    return s->n_types - (s->max_out == MANY ? 1 : s->max_out);
}

static uint64_t in_set(const schema *s, uint32_t slot)
{
    const uint32_t slots = in_slots(s);
    return slots == 0 ? 0 : type_sets[s->types[slot < slots ? slot : slots - 1]];
}

static uint64_t out_set(const schema *s, uint32_t slot)
{
    return type_sets[s->types[in_slots(s) + (s->max_out == MANY ? 0 : slot)]];
}

bool prt_history_supports(prt_str name, int64_t opset, uint32_t input, const prt_type *type)
{
    const uint64_t bit = bit_of(type);
    if (bit == 0 || row_at(name, opset) != NULL)
        return true;
    const schema *s = find_at(name, opset);
    return s != NULL && !is_removed(s) && (in_set(s, input) & bit) != 0;
}

/* ---- attributes ---- */

static bool has_word(const char *words, const char *word)
{
    const size_t size = strlen(word);
    if (size == 0 || strchr(word, ' ') != NULL)
        return false;
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += size)
        if ((at == words || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0'))
            return true;
    return false;
}

bool prt_history_has_attr(prt_str name, int64_t opset, const char *attr)
{
    const prt_op_def *row = row_at(name, opset);
    if (row != NULL)
        return prt_op_attr(row, prt_str_of(attr)) != UINT32_MAX;
    const schema *s = find_at(name, opset);
    return s != NULL && !is_removed(s) && has_word(attrs_of(s), attr);
}

static void append_name(const char *name, size_t length, char *to, size_t size)
{
    const size_t used = strlen(to);
    (void)snprintf(to + used, size - used, "%s%.*s", used != 0 ? ", " : "", (int)length, name);
}

void prt_history_list_attrs(prt_str name, int64_t opset, char *to, size_t size)
{
    const prt_op_def *row = row_at(name, opset);
    const schema *s = find_at(name, opset);
    to[0] = '\0';
    for (uint32_t k = 0; row != NULL && k < row->n_attrs; k++) {
        const char *attr = prt_attr_name(&row->attrs[k]);
        append_name(attr, strlen(attr), to, size);
    }
    for (const char *at = row == NULL && s != NULL ? attrs_of(s) : ""; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        append_name(at, length, to, size);
        at += length + strspn(at + length, " ");
    }
    if (to[0] == '\0')
        append_name("none", 4, to, size);
}

bool prt_history_must_write(const prt_op *op, uint32_t k)
{
    const prt_attr_def *row = &op->def->attrs[k];
    const void *a = (const char *)op->attrs + row->offset;
    const void *b = (const char *)op->def->defaults + row->offset;
    switch (row->kind) {
    case PRT_ATTR_i64:
        return *(const int64_t *)a != *(const int64_t *)b;
    case PRT_ATTR_f32:
        return memcmp(a, b, sizeof(float)) != 0;
    case PRT_ATTR_str:
        return ((const prt_str *)a)->size != ((const prt_str *)b)->size ||
            (((const prt_str *)a)->size != 0 &&
                !prt_str_equal(*(const prt_str *)a, *(const prt_str *)b));
    case PRT_ATTR_i64s:
        return ((const prt_i64s *)a)->count != 0 || ((const prt_i64s *)b)->count != 0;
    case PRT_ATTR_f32s:
        return ((const prt_f32s *)a)->count != 0 || ((const prt_f32s *)b)->count != 0;
    case PRT_ATTR_strs:
        return ((const prt_strs *)a)->count != 0 || ((const prt_strs *)b)->count != 0;
    case PRT_ATTR_graph:
        return *(const uint32_t *)a < op->n_regions;
    case PRT_ATTR_act:
    case PRT_ATTR_form:
    case PRT_ATTR_products:
        return *(const int32_t *)a != *(const int32_t *)b;
    default:
        return *(const void *const *)a != NULL;
    }
}

/* ---- comparison of an op with a schema ---- */

static uint32_t used_inputs(const prt_op *op)
{
    uint32_t n = op->n_in;
    while (n > 0 && op->in[n - 1].value == NULL)
        n--;
    return n;
}

static uint32_t used_outputs(const prt_op *op)
{
    uint32_t n = op->n_out;
    while (n > 0 && op->out[n - 1].name.size == 0 && !prt_value_used(&op->out[n - 1]))
        n--;
    return n;
}

/* Returns the first required input of the schema that the op omits; UINT32_MAX if there is no such
 * input. Only operators with a repeated input (Loop, Scan) have optional inputs before required
 * ones. */
static uint32_t missing_input(const prt_op *op, const schema *s)
{
    for (uint32_t i = 0; s->max_in != MANY && i < s->min_in && i < op->n_in; i++)
        if (op->in[i].value == NULL)
            return i;
    return UINT32_MAX;
}

/* Absent inputs at the end count if the last input repeats: Loop requires its first two. */
static bool fits_counts(const prt_op *op, const schema *s, char *why, size_t size)
{
    const uint32_t n_in = s->max_in == MANY ? op->n_in : used_inputs(op), n_out = used_outputs(op),
                   missing = missing_input(op, s);
    if (missing < n_in)
        (void)snprintf(why, size, "input %" PRIu32 " is missing, but required at that opset",
            missing);
    else if (n_in < s->min_in || n_in > s->max_in)
        (void)snprintf(why, size,
            "it has %" PRIu32 " inputs, but takes %s%" PRIu32 " at that opset", n_in,
            n_in < s->min_in ? "at least " : "at most ", n_in < s->min_in ? s->min_in : s->max_in);
    else if (n_out > s->max_out)
        (void)snprintf(why, size,
            "it has %" PRIu32 " outputs, but at most %" PRIu32 " at that opset", n_out, s->max_out);
    else
        return true;
    return false;
}

static bool fits_attrs(const prt_op *op, const schema *s, char *why, size_t size)
{
    for (uint32_t k = 0; op->def != NULL && k < op->def->n_attrs; k++) {
        if (!prt_history_must_write(op, k) ||
            has_word(attrs_of(s), prt_attr_name(&op->def->attrs[k])))
            continue;
        (void)snprintf(why, size, "attribute '%s' does not exist at that opset",
            prt_attr_name(&op->def->attrs[k]));
        return false;
    }
    return true;
}

static bool fits_type(const prt_type *type, uint64_t set, const char *what, uint32_t slot,
    char *why, size_t size)
{
    const uint64_t bit = bit_of(type);
    if (bit == 0 || (bit & set) != 0)
        return true;
    (void)snprintf(why, size, "%s %" PRIu32 " cannot be %s at that opset", what, slot,
        type->kind == PRT_VALUE_TENSOR         ? prt_dtype_id(type->dtype)
            : type->kind == PRT_VALUE_SEQUENCE ? "a sequence"
            : type->kind == PRT_VALUE_OPTIONAL ? "an optional"
                                               : "a map");
    return false;
}

static bool fits_types(const prt_op *op, const schema *s, char *why, size_t size)
{
    const uint32_t n_in = used_inputs(op), n_out = used_outputs(op);
    for (uint32_t i = 0; i < n_in; i++)
        if (op->in[i].value != NULL &&
            !fits_type(op->in[i].value->type, in_set(s, i), "input", i, why, size))
            return false;
    for (uint32_t i = 0; i < n_out; i++)
        if (!fits_type(op->out[i].type, out_set(s, i), "output", i, why, size))
            return false;
    return true;
}

/* QuantizeLinear and DequantizeLinear got scales per axis with opset 13, together with an attribute
 * for the axis, which may have its default. So the attributes alone cannot tell. */
static bool fits_scale(const prt_op *op, int64_t opset, char *why, size_t size)
{
    enum { SCALE = 1, PER_AXIS = 13 };
    uint64_t count;
    const bool scaled =
        prt_op_is(op, PRT_OP_quantize_linear) || prt_op_is(op, PRT_OP_dequantize_linear);
    if (!scaled || opset >= PER_AXIS || op->n_in <= SCALE || op->in[SCALE].value == NULL ||
        (prt_type_count(op->in[SCALE].value->type, &count) && count == 1))
        return true;
    (void)snprintf(why, size, "input %d must be a single number at that opset", SCALE);
    return false;
}

static bool fits(const prt_op *op, int64_t opset, bool any_types, char *why, size_t size)
{
    if (row_at(op->name, opset) != NULL)
        return true; /* inference has checked it */
    const schema *s = find_at(op->name, opset);
    if (s == NULL || is_removed(s)) {
        const int64_t first = prt_history_first(op->name);
        if (first == 0)
            (void)snprintf(why, size, "the schemas of this operator are not known");
        else if (s != NULL)
            (void)snprintf(why, size, "it does not exist from opset %" PRIu32 " on", s->since);
        else
            (void)snprintf(why, size, "it does not exist before opset %" PRId64, first);
        return false;
    }
    return fits_counts(op, s, why, size) && fits_attrs(op, s, why, size) &&
        (any_types || fits_types(op, s, why, size)) && fits_scale(op, opset, why, size);
}

bool prt_history_fits(const prt_op *op, int64_t opset, char *why, size_t size)
{
    return fits(op, opset, false, why, size);
}

bool prt_history_fits_form(const prt_op *op, int64_t opset, char *why, size_t size)
{
    return fits(op, opset, true, why, size);
}

int64_t prt_history_lowest_opset(const prt_op *op, int64_t from)
{
    char why[256];
    size_t count;
    const schema *all = find(op->name, &count);
    for (size_t i = 0; i < count; i++) {
        const int64_t until = i + 1 < count ? (int64_t)all[i + 1].since
            : op->def != NULL               ? (int64_t)op->def->since
                                            : INT64_MAX;
        const int64_t opset = (int64_t)all[i].since > from ? (int64_t)all[i].since : from;
        if (opset < until && prt_history_fits(op, opset, why, sizeof(why)))
            return opset;
    }
    return op->def == NULL ? 0 : (int64_t)op->def->since > from ? (int64_t)op->def->since : from;
}
