/* SPDX-License-Identifier: MIT */
/* upgrade_ml.c — upgrades LabelEncoder: classes by index, and duplicate keys of which the first
 * counted. */
#include "converter/conversions.h"

#include "converter/onnx_raw.h"

static void mark_given(prt_ml_label_encoder_attrs *a, const prt_op_def *def, const char *name)
{
    a->present |= (uint64_t)1 << prt_op_attr(def, prt_str_of(name));
}

/* Determines the direction, strings to integers or integers to strings, from the input type. If the
 * type is unknown, the default that is given decides. */
static poprt_status direction(prt_upgrade *u, bool *to_ints)
{
    const prt_op *op = u->op;
    const prt_value *x = prt_op_input(op, 0);
    const int32_t dtype =
        x != NULL && prt_type_is_tensor(x->type) ? x->type->dtype : PRT_DTYPE_undefined;
    const bool ints = prt_attr_given(op->attrs, prt_op_attr(op->def, PRT_STR("default_int64")));
    const bool text = prt_attr_given(op->attrs, prt_op_attr(op->def, PRT_STR("default_string")));
    *to_ints = dtype != PRT_DTYPE_undefined ? dtype == PRT_DTYPE_string : ints;
    if (dtype == PRT_DTYPE_undefined && ints == text)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
            "LabelEncoder: if the type of its input is not known, one of default_int64 and "
            "default_string must be given");
    return POPRT_OK;
}

/* Turns classes_strings into keys or values; the other side is the numbers from 0 on. */
poprt_status prt_up_label_encoder_classes(prt_upgrade *u)
{
    const prt_node_attr *classes = prt_upgrade_attr(u, "classes_strings");
    prt_ml_label_encoder_attrs *a = u->op->attrs;
    bool to_ints = false;
    if (classes == NULL || classes->kind != PRT_ONNX_STRINGS)
        return prt_fail(POPRT_E_PARSE, prt_op_label(u->op),
            "LabelEncoder: classes_strings must be a list of strings");
    PRT_TRY(direction(u, &to_ints));
    const uint32_t n = classes->strings.count;
    int64_t *index = PRT_NEW_N(u->op->graph->module->arena, int64_t, n);
    if (index == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        index[i] = i;
    *(to_ints ? &a->keys_strings : &a->values_strings) = classes->strings;
    *(to_ints ? &a->values_int64s : &a->keys_int64s) = (prt_i64s){ index, n };
    mark_given(a, u->op->def, to_ints ? "keys_strings" : "values_strings");
    mark_given(a, u->op->def, to_ints ? "values_int64s" : "keys_int64s");
    return POPRT_OK;
}

/* Replaces a list by its reverse in the module's memory; false if memory runs out. */
#define REVERSE_LIST(arena, list)                                                                  \
    (reverse_list(arena, (list)->data, (list)->count, sizeof(*(list)->data), (void *)&(list)->data))

static bool reverse_list(prt_arena *arena, const void *data, uint32_t count, size_t size, void *to)
{
    char *copy = prt_arena_alloc_n(arena, count, size);
    if (copy == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        memcpy(copy + i * size, (const char *)data + (count - 1 - i) * size, size);
    memcpy(to, &copy, sizeof(copy));
    return true;
}

/* The first of duplicate keys counted, now the last one does, so the lists are reversed. */
poprt_status prt_up_label_encoder_first(prt_upgrade *u)
{
    prt_ml_label_encoder_attrs *a = u->op->attrs;
    prt_arena *arena = u->op->graph->module->arena;
    if (u->version < 2) /* the model itself has no lists of keys */
        return POPRT_OK;
    const bool done = REVERSE_LIST(arena, &a->keys_strings) &&
        REVERSE_LIST(arena, &a->keys_int64s) && REVERSE_LIST(arena, &a->keys_floats) &&
        REVERSE_LIST(arena, &a->values_strings) && REVERSE_LIST(arena, &a->values_int64s) &&
        REVERSE_LIST(arena, &a->values_floats);
    return done ? POPRT_OK : POPRT_E_NOMEM;
}
