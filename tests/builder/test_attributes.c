/* SPDX-License-Identifier: MIT */
/*
 * test_attributes.c — attributes of nodes, scopes of attributes, and settings in the metadata.
 *
 * Covers: edit.c, marks.c
 */
#include "build.h"

START_TEST(pushed_attributes_are_added_until_pop)
{
    poprt_builder *b = new_builder(11);
    const poprt_id x = FLOATS(b, 2);
    const poprt_attr outer = poprt_attr_int(POPRT_MARK_IPU_NUMBER, 1);
    const poprt_attr inner = poprt_attr_int(POPRT_MARK_IPU_NUMBER, 2);
    const poprt_attr stage = poprt_attr_int(POPRT_MARK_PIPELINE_STAGE, 5);
    poprt_attr got;
    ck_assert_ok(poprt_builder_push(b, &outer));
    ck_assert_ok(poprt_builder_push(b, &stage));
    ck_assert_ok(poprt_builder_push(b, &inner));
    const poprt_id y = poprt_op_relu(b, x, NULL);
    ck_assert_ok(poprt_builder_pop(b));
    const poprt_id z = poprt_op_relu(b, y, NULL);
    ck_assert_ok(poprt_builder_pop(b));
    ck_assert_ok(poprt_builder_pop(b));
    const poprt_id last = poprt_op_relu(b, z, NULL);
    ck_assert_ok(poprt_builder_get(b, y, POPRT_MARK_IPU_NUMBER, POPRT_ATTR_INT, &got));
    ck_assert_int_eq(got.integer, 2);
    ck_assert_ok(poprt_builder_get(b, z, POPRT_MARK_IPU_NUMBER, POPRT_ATTR_INT, &got));
    ck_assert_int_eq(got.integer, 1);
    ck_assert_uint_eq(poprt_builder_attr_count(b, z), 2);
    ck_assert_uint_eq(poprt_builder_attr_count(b, last), 0);
    poprt_builder_release(b);
}
END_TEST

START_TEST(attributes_are_set_read_and_removed)
{
    static const poprt_string names[] = { POPRT_TEXT("A"), POPRT_TEXT("BC") };
    poprt_builder *b = new_builder(11);
    const poprt_lrn_attrs lrn = { .size = poprt_int(3), .alpha = poprt_float(0.5f) };
    const poprt_id y = poprt_op_lrn(b, FLOATS(b, 1, 4, 2, 2), &lrn);
    const poprt_attr patterns = poprt_attr_strings(POPRT_MARK_EXCLUDE_PATTERNS, names, 2);
    const poprt_attr partials = poprt_attr_string(POPRT_MARK_PARTIALS_TYPE, "HALF");
    const float priorities[] = { 1, -2 };
    const poprt_attr inplace = poprt_attr_floats(POPRT_MARK_INPLACE_PRIORITIES, priorities, 2);
    poprt_attr got;
    ck_assert_ok(poprt_builder_set(b, y, &patterns));
    ck_assert_ok(poprt_builder_set(b, y, &partials));
    ck_assert_ok(poprt_builder_set(b, y, &inplace));
    ck_assert_uint_eq(poprt_builder_attr_count(b, y), 5);
    ck_assert_str_eq(poprt_builder_attr_name(b, y, 1), "size");
    ck_assert_ptr_null(poprt_builder_attr_name(b, y, 5));
    ck_assert_ok(poprt_builder_get(b, y, "alpha", POPRT_ATTR_FLOAT, &got));
    ck_assert_float_eq(got.real, 0.5f);
    ck_assert_ok(poprt_builder_get(b, y, POPRT_MARK_EXCLUDE_PATTERNS, 0, &got));
    ck_assert_int_eq(got.kind, POPRT_ATTR_STRINGS);
    ck_assert_uint_eq(got.count, 2);
    ck_assert_str_eq(((const poprt_string *)poprt_attr_object(&got))[1].data, "BC");
    ck_assert_ok(poprt_builder_get(b, y, POPRT_MARK_PARTIALS_TYPE, POPRT_ATTR_STRING, &got));
    ck_assert_str_eq(got.string, "HALF");
    ck_assert_ok(poprt_builder_get(b, y, POPRT_MARK_INPLACE_PRIORITIES, POPRT_ATTR_FLOATS, &got));
    ck_assert_float_eq(got.floats[1], -2);
    ck_assert_int_eq(poprt_builder_has(b, y, "size"), 1);
    ck_assert_ok(poprt_builder_remove(b, y, POPRT_MARK_PARTIALS_TYPE));
    ck_assert_int_eq(poprt_builder_has(b, y, POPRT_MARK_PARTIALS_TYPE), 0);
    ck_assert_fails(poprt_builder_get(b, y, "beta", 0, &got), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_builder_get(b, y, "size", POPRT_ATTR_FLOAT, &got), POPRT_E_TYPE);
    ck_assert_ok(poprt_builder_status(b)); /* questions do not count */
    ck_assert_fails(poprt_builder_remove(b, y, "beta"), POPRT_E_NOT_FOUND);
    assert_failed(b, POPRT_E_NOT_FOUND, "it has: alpha, size");
}
END_TEST

START_TEST(an_edit_changes_the_types_of_later_nodes)
{
    poprt_builder *b = new_builder(11);
    const poprt_transpose_attrs swap = { .perm = POPRT_INTS(1, 0, 2) };
    const poprt_id y = poprt_op_transpose(b, FLOATS(b, 2, 3, 4), &swap);
    const poprt_id z = poprt_op_relu(b, y, NULL);
    assert_type(b, z, POPRT_DTYPE_FLOAT32, DIMS(3, 2, 4));
    const int64_t last[] = { 2, 0, 1 };
    const poprt_attr perm = poprt_attr_ints("perm", last, 3);
    ck_assert_ok(poprt_builder_set(b, y, &perm));
    assert_type(b, z, POPRT_DTYPE_FLOAT32, DIMS(4, 2, 3));
    ck_assert_ok(poprt_builder_remove(b, y, "perm"));
    assert_type(b, z, POPRT_DTYPE_FLOAT32, DIMS(4, 3, 2));
    ck_assert_fails(
        poprt_builder_set(b, y,
            &(poprt_attr){ .name = "perm", .kind = POPRT_ATTR_INTS, .count = 2, .ints = last }),
        POPRT_E_SHAPE);
    poprt_type type; /* of a tensor whose operator was not checked again */
    ck_assert_fails(poprt_builder_type(b, z, &type), POPRT_E_STATE);
    assert_failed(b, POPRT_E_SHAPE, "Transpose");
}
END_TEST

START_TEST(attributes_of_every_kind_are_returned)
{
    static const float fill = 3.0f;
    poprt_builder *b = new_builder(15);
    const poprt_tensor t = { (void *)(uintptr_t)&fill, 4, (const int64_t[]){ 1 }, 1,
        POPRT_DTYPE_FLOAT32 };
    const poprt_constant_of_shape_attrs value = { .value = &t };
    const poprt_id y = poprt_op_constant_of_shape(b, INTEGERS(b, 2, 2), &value);
    const poprt_type type = { .dtype = POPRT_DTYPE_INT32, .rank = 1, .dims = { 3 } };
    const poprt_optional_attrs empty = { .type = &type };
    const poprt_id o = poprt_op_optional(b, 0, &empty);
    poprt_attr got;
    ck_assert_ok(poprt_builder_get(b, y, "value", POPRT_ATTR_TENSOR, &got));
    const poprt_tensor *tensor = poprt_attr_object(&got);
    ck_assert_uint_eq(tensor->rank, 1);
    ck_assert_float_eq(*(const float *)tensor->data, 3.0f);
    ck_assert_ok(poprt_builder_get(b, o, "type", POPRT_ATTR_TYPE, &got));
    const poprt_type *stored = poprt_attr_object(&got);
    ck_assert_int_eq(stored->dtype, POPRT_DTYPE_INT32);
    ck_assert_int_eq(stored->dims[0], 3);
    poprt_builder_release(b);
}
END_TEST

/* Attributes with a value that is refused, and words of the error. */
START_TEST(reserved_attributes_are_checked)
{
    const struct {
        poprt_attr attr;
        poprt_status status;
        const char *words;
    } cases[] = { { poprt_attr_int(POPRT_MARK_IPU_NUMBER, -1), POPRT_E_ARG, "must be from 0" },
        { poprt_attr_float(POPRT_MARK_IPU_NUMBER, 1), POPRT_E_TYPE, "must be INT" },
        { poprt_attr_float(POPRT_MARK_AVAILABLE_MEMORY, 1), POPRT_E_ARG, "below 1" },
        { poprt_attr_float(POPRT_MARK_AVAILABLE_MEMORY, -0.5f), POPRT_E_ARG, "from 0" },
        { poprt_attr_string(POPRT_MARK_PARTIALS_TYPE, "QUARTER"), POPRT_E_ARG, "FLOAT|HALF" },
        { poprt_attr_string(POPRT_MARK_SERIALIZE_MODE, "rows"), POPRT_E_ARG, "output_channels" },
        { poprt_attr_int(POPRT_MARK_SERIALIZE_FACTOR, 0), POPRT_E_ARG, "from 1" },
        { poprt_attr_int(POPRT_MARK_RECOMPUTE, 4), POPRT_E_ARG, "to 3" },
        { poprt_attr_int(POPRT_MARK_EXECUTION_CONTEXT, 6), POPRT_E_ARG, "to 5" },
        { poprt_attr_int(POPRT_MARK_CONV_DITHERING, 2), POPRT_E_ARG, "to 1" } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        poprt_builder *b = new_builder(11);
        const poprt_id y = poprt_op_relu(b, FLOATS(b, 2), NULL);
        ck_assert_fails(poprt_builder_set(b, y, &cases[i].attr), cases[i].status);
        assert_failed(b, cases[i].status, cases[i].words);
        b = new_builder(11);
        ck_assert_fails(poprt_builder_push(b, &cases[i].attr), cases[i].status);
        assert_failed(b, cases[i].status, cases[i].words);
    }
}
END_TEST

START_TEST(marks_reach_the_model)
{
    poprt_builder *b = new_builder(11), *copy = NULL;
    poprt_model *model = NULL;
    poprt_id kept;
    poprt_attr got;
    const poprt_id y = poprt_op_matmul(b, FLOATS(b, 4, 4), add_weight(b, "w", DIMS(4, 4)), NULL);
    ck_assert_ok(poprt_builder_serialize_matmul(b, y, "output_channels", 2, 1));
    ck_assert_ok(poprt_builder_checkpoint(b, 1, &y, &kept));
    ck_assert_ok(poprt_builder_output(b, kept));
    ck_assert_ok(poprt_builder_finish(b, &model));
    ck_assert_ok(poprt_builder_create_from(model, &copy));
    const poprt_id again = poprt_builder_find(copy, "MatMul:0");
    ck_assert_ok(poprt_builder_get(copy, again, POPRT_MARK_SERIALIZE_MODE, 0, &got));
    ck_assert_str_eq(got.string, "output_channels");
    ck_assert_ok(poprt_builder_get(copy, again, POPRT_MARK_SERIALIZE_FACTOR, 0, &got));
    ck_assert_int_eq(got.integer, 2);
    const poprt_id identity = poprt_builder_find(copy, "Identity:0");
    ck_assert_ok(poprt_builder_get(copy, identity, POPRT_MARK_RECOMPUTE, POPRT_ATTR_INT, &got));
    ck_assert_int_eq(got.integer, 1);
    poprt_builder_release(copy);
    poprt_builder_release(b);
    run_model(model, NULL);
}
END_TEST

static const char *property(const poprt_model_info *info, const char *key)
{
    for (size_t i = 0; i < info->property_count; i++)
        if (strcmp(info->properties[i].key, key) == 0)
            return info->properties[i].value;
    return "";
}

START_TEST(settings_are_metadata)
{
    poprt_builder *b = new_builder(11), *copy = NULL;
    poprt_model *model = NULL;
    poprt_model_info info = { .struct_size = sizeof(info) };
    const poprt_id x = FLOATS(b, 4, 4), w = add_weight(b, "w", DIMS(4, 4));
    const poprt_variable_settings variable = { .group = 1, .size = 2, .retrieval = 2 };
    const poprt_input_settings in = { .tile_set = 1, .exchange = 2, .stream_mode = 0 };
    ck_assert_ok(poprt_builder_variable_settings(b, w, &variable));
    ck_assert_ok(poprt_builder_input_settings(b, x, &in));
    ck_assert_ok(poprt_builder_replication_factor(b, 4));
    ck_assert_ok(poprt_builder_property(b, "note", "first"));
    ck_assert_ok(poprt_builder_property(b, "note", "second"));
    ck_assert_ok(poprt_builder_property(b, "other", "x"));
    ck_assert_ok(poprt_builder_property(b, "other", NULL));
    ck_assert_ok(poprt_builder_output(b, poprt_op_matmul(b, x, w, NULL)));
    ck_assert_ok(poprt_builder_finish(b, &model));
    ck_assert_ok(poprt_builder_create_from(model, &copy)); /* keeps them */
    poprt_model_release(model);
    model = finish(copy);
    ck_assert_ok(poprt_model_get_info(model, &info));
    ck_assert_str_eq(property(&info, "__comm_group_type/w"), "1");
    ck_assert_str_eq(property(&info, "__comm_group_size/w"), "2");
    ck_assert_str_eq(property(&info, "__variable_settings/w"), "2");
    ck_assert_str_eq(property(&info, "__tile_set/input"), "1");
    ck_assert_str_eq(property(&info, "__exchange_strategy/input"), "2");
    ck_assert_str_eq(property(&info, "__replicated_stream_mode/input"), "0");
    ck_assert_str_eq(property(&info, "__replicationFactor"), "4");
    ck_assert_str_eq(property(&info, "note"), "second");
    ck_assert_uint_eq(info.property_count, 8);
    poprt_model_release(model);
    ck_assert_fails(poprt_builder_variable_settings(b, x, &variable), POPRT_E_ARG);
    assert_failed(b, POPRT_E_ARG, "not a weight");
}
END_TEST

PRT_TEST_MAIN("builder/attributes", pushed_attributes_are_added_until_pop,
    attributes_are_set_read_and_removed, an_edit_changes_the_types_of_later_nodes,
    attributes_of_every_kind_are_returned, reserved_attributes_are_checked, marks_reach_the_model,
    settings_are_metadata)
