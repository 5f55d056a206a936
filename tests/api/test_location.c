/* SPDX-License-Identifier: MIT */
/*
 * test_location.c — places of nodes in the program that made the model: set in a builder or read
 * from ONNX metadata, named by errors of building, reading, compiling and running, and by steps.
 * Covers: location.c.
 */
#include "api_test.h"

#include "poprt/builder.h"

static const poprt_type pair = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 1, .dims = { 2 } };

static poprt_id add(poprt_builder *builder, const char *op_type, const char *name, uint32_t n,
    const poprt_id *inputs)
{
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .op_type = op_type,
        .name = name,
        .inputs = inputs,
        .n_inputs = n,
        .n_outputs = 1 };
    return poprt_builder_op(builder, &op, NULL);
}

static poprt_builder *begin(void)
{
    poprt_builder *builder = NULL;
    ck_assert_ok(poprt_builder_create(NULL, 17, &builder));
    return builder;
}

/* The graph is y = relu(x * x): "square" at model.c:7, "clamp" at model.c:9. */
static poprt_model *make_model(void)
{
    poprt_builder *builder = begin();
    poprt_model *model = NULL;
    const poprt_id x = poprt_builder_input(builder, "x", &pair, NULL);
    const poprt_id both[] = { x, x };
    ck_assert_ok(poprt_builder_set_location(builder, "src/model.c", 7, "forward"));
    const poprt_id square = add(builder, "Mul", "square", 2, both);
    ck_assert_ok(poprt_builder_set_location(builder, "src/model.c", 9, NULL));
    const poprt_id y = add(builder, "Relu", "clamp", 1, &square);
    ck_assert_ok(poprt_builder_set_location(builder, NULL, 0, NULL));
    ck_assert_ok(poprt_builder_output(builder, add(builder, "Sign", "last", 1, &y)));
    ck_assert_ok(poprt_builder_finish(builder, &model));
    poprt_builder_release(builder);
    return model;
}

typedef struct places {
    char text[1024]; /* "node at place;" of each step */
} places;

static void note_place(void *user, const poprt_step *step)
{
    places *p = user;
    const size_t used = strlen(p->text);
    (void)snprintf(p->text + used, sizeof(p->text) - used, "%s at %s;", step->node, step->location);
}

/* Returns the nodes and places of the steps of a run, with x = {1, 2}. */
static places places_of(poprt_executable *exec)
{
    static const int64_t dims[] = { 2 };
    float x[] = { 1, 2 };
    const poprt_tensor in = { x, sizeof(x), dims, 1, POPRT_DTYPE_FLOAT32 };
    places found = { "" };
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_session_watch(session, note_place, &found));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "x", &in));
    ck_assert_ok(poprt_session_run(session, io));
    poprt_stepio_release(io);
    poprt_session_release(session);
    return found;
}

/* Returns the trace of a run, and behind it the report of the session. */
static const char *trace_of(poprt_executable *exec)
{
    static char kept[16384];
    static const int64_t dims[] = { 2 };
    float x[] = { 1, 2 };
    const poprt_tensor in = { x, sizeof(x), dims, 1, POPRT_DTYPE_FLOAT32 };
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    poprt_trace *trace = NULL;
    buffer text = { NULL, 0 };
    ck_assert_ok(poprt_trace_create(NULL, 0, &trace));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_session_trace(session, trace));
    ck_assert_ok(poprt_session_profile(session, 1));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "x", &in));
    ck_assert_ok(poprt_session_run(session, io));
    ck_assert_ok(poprt_trace_write(trace, buffer_write, &text));
    ck_assert_ok(poprt_session_report(session, POPRT_FORMAT_JSON, buffer_write, &text));
    (void)snprintf(kept, sizeof(kept), "%s", (const char *)text.data);
    free(text.data);
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_trace_release(trace);
    return kept;
}

static poprt_executable *compile(const poprt_model *model, bool optimize)
{
    poprt_config *config = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_config_set(config, "optimize", optimize ? "true" : "false"));
    ck_assert_ok(poprt_compile(model, config, &exec));
    poprt_config_release(config);
    return exec;
}

START_TEST(steps_have_the_places_of_a_builder)
{
    static const char expected[] =
        "square at src/model.c:7, in forward;clamp at src/model.c:9;last at ;";
    poprt_model *model = make_model(), *copy = NULL;
    poprt_executable *exec = compile(model, false), *loaded = NULL;
    buffer onnx = { NULL, 0 }, popef = { NULL, 0 };
    ck_assert_str_eq(places_of(exec).text, expected);

    /* Traces and reports have them. */
    const char *const traced = trace_of(exec);
    ck_assert_ptr_nonnull(strstr(traced, "\"location\":\"src/model.c:7, in forward\""));
    ck_assert_ptr_nonnull(strstr(traced, "\"location\": \"src/model.c:9\""));

    /* PopEF and ONNX files keep them. */
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &popef));
    ck_assert_ok(poprt_executable_load_bytes(NULL, popef.data, popef.size, NULL, &loaded));
    ck_assert_str_eq(places_of(loaded).text, expected);
    poprt_executable_release(loaded);
    poprt_executable_release(exec);
    ck_assert_ok(poprt_model_save(model, buffer_write, &onnx));
    ck_assert_ok(poprt_model_load_bytes(NULL, onnx.data, onnx.size, NULL, &copy));
    exec = compile(copy, false);
    ck_assert_str_eq(places_of(exec).text, expected);
    poprt_executable_release(exec);

    /* Passes may merge nodes; the step of the others keeps a place. */
    exec = compile(copy, true);
    const places found = places_of(exec);
    ck_assert_msg(strstr(found.text, "src/model.c:") != NULL, "%s", found.text);
    poprt_executable_release(exec);
    poprt_model_release(copy);
    poprt_model_release(model);
    free(popef.data);
    free(onnx.data);
}
END_TEST

START_TEST(an_operator_that_does_not_fit_names_its_place)
{
    static const poprt_type three = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 1, .dims = { 3 } };
    poprt_builder *builder = begin();
    poprt_model *model = NULL;
    const poprt_id in[] = { poprt_builder_input(builder, "x", &pair, NULL),
        poprt_builder_input(builder, "z", &three, NULL) };
    ck_assert_ok(poprt_builder_set_location(builder, "wrong.c", 12, "build"));
    ck_assert_uint_eq(add(builder, "Add", "sum", 2, in), 0);
    ck_assert_str_eq(poprt_last_error()->location, "wrong.c:12, in build");
    ck_assert_fails(poprt_builder_finish(builder, &model), POPRT_E_SHAPE);
    ck_assert_str_eq(poprt_last_error()->location, "wrong.c:12, in build");
    poprt_builder_release(builder);
}
END_TEST

START_TEST(long_texts_are_cut)
{
    char file[400], function[400];
    poprt_builder *builder = begin();
    memset(file, 'd', sizeof(file) - 1);
    (void)snprintf(file + 380, sizeof(file) - 380, "/model.c");
    memset(function, 'f', sizeof(function) - 1);
    function[sizeof(function) - 1] = '\0';
    const poprt_id x = poprt_builder_input(builder, "x", &pair, NULL);
    const poprt_id none[] = { x, x, x };
    ck_assert_ok(poprt_builder_set_location(builder, file, UINT32_MAX, function));
    ck_assert_uint_eq(add(builder, "Relu", "r", 3, none), 0);
    const char *location = poprt_last_error()->location;
    ck_assert_uint_le(strlen(location), 255);
    ck_assert_ptr_nonnull(strstr(location, "ddd/model.c:4294967295, in fff"));
    poprt_builder_release(builder);
}
END_TEST

/* ---- ONNX with metadata, written field by field */

typedef struct message {
    unsigned char bytes[2048];
    size_t size;
} message;

static void put(message *m, const void *bytes, size_t size)
{
    ck_assert_uint_le(m->size + size, sizeof(m->bytes));
    memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

static void put_varint(message *m, uint64_t v)
{
    unsigned char byte;
    for (; v >= 0x80; v >>= 7) {
        byte = (unsigned char)(v | 0x80);
        put(m, &byte, 1);
    }
    byte = (unsigned char)v;
    put(m, &byte, 1);
}

static void put_bytes(message *m, uint32_t field, const void *bytes, size_t size)
{
    put_varint(m, field << 3 | 2);
    put_varint(m, size);
    put(m, bytes, size);
}

static void put_text(message *m, uint32_t field, const char *text)
{
    put_bytes(m, field, text, strlen(text));
}

static void put_message(message *m, uint32_t field, const message *inner)
{
    put_bytes(m, field, inner->bytes, inner->size);
}

static void put_int(message *m, uint32_t field, uint64_t v)
{
    put_varint(m, field << 3);
    put_varint(m, v);
}

/* A ValueInfoProto of float32 with the dims, which end with 0. */
static message value_info(const char *name, const uint64_t *dims)
{
    message shape = { .size = 0 }, tensor = { .size = 0 }, type = { .size = 0 }, m = { .size = 0 };
    for (; *dims != 0; dims++) {
        message dim = { .size = 0 };
        put_int(&dim, 1, *dims);
        put_message(&shape, 1, &dim);
    }
    put_int(&tensor, 1, 1);
    put_message(&tensor, 2, &shape);
    put_message(&type, 1, &tensor);
    put_text(&m, 1, name);
    put_message(&m, 2, &type);
    return m;
}

/* A model of one node OP(x, z) with a doc string and an entry of metadata (may be NULL). */
static message onnx_of(const char *op, const char *doc, const char *key, const char *value)
{
    static const uint64_t two[] = { 2, 0 }, three[] = { 3, 0 };
    message node = { .size = 0 }, entry = { .size = 0 }, graph = { .size = 0 },
            opset = { .size = 0 }, model = { .size = 0 };
    put_text(&node, 1, "x");
    put_text(&node, 1, "z");
    put_text(&node, 2, "y");
    put_text(&node, 3, "node");
    put_text(&node, 4, op);
    if (doc != NULL)
        put_text(&node, 6, doc);
    if (key != NULL) {
        put_text(&entry, 1, key);
        put_text(&entry, 2, value);
        put_message(&node, 9, &entry);
    }
    put_message(&graph, 1, &node);
    put_text(&graph, 2, "g");
    const message x = value_info("x", two), z = value_info("z", three), y = value_info("y", two);
    put_message(&graph, 11, &x);
    put_message(&graph, 11, &z);
    put_message(&graph, 12, &y);
    put_int(&opset, 2, 17);
    put_int(&model, 1, 8);
    put_message(&model, 7, &graph);
    put_message(&model, 8, &opset);
    return model;
}

#define STACK "pkg.torch.onnx.stack_trace"

START_TEST(errors_name_the_place_of_onnx_metadata)
{
    static const struct {
        const char *doc, *key, *value, *location;
    } rows[] = { { NULL, STACK, "  File \"models/net.py\", line 10, in forward\n    return a + b\n",
                     "models/net.py:10, in forward" },
        { NULL, STACK,
            "File \"/a/main.py\", line 3, in <module>\n  m(x)\n  File \"/a/net.py\", line 8, in "
            "forward\n  y\n  File \"/v/site-packages/torch/f.py\", line 9, in add\n  z",
            "/a/net.py:8, in forward" },
        { NULL, STACK, "File \"/v/site-packages/torch/f.py\", line 9, in add",
            "/v/site-packages/torch/f.py:9, in add" },
        { "/v/dist-packages/torch/nn.py(1848): linear\n/a/net.py(12): forward\n/a/main.py(3): "
          "<module>",
            NULL, NULL, "/a/net.py:12, in forward" },
        { "adds two tensors (1): or so", NULL, NULL, "adds two tensors :1, in or so" },
        { "adds two tensors", NULL, NULL, "" }, { "(7): f", NULL, NULL, "" },
        { NULL, "namespace", "encoder/layer.0", "encoder/layer.0" },
        { NULL, STACK, "no frame", "" }, { NULL, STACK, "File \"x", "" },
        { NULL, STACK, "File \"x\", line ", "" }, { NULL, "other", "model.py(1): f", "" },
        { NULL, NULL, NULL, "" } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const message m = onnx_of("Add", rows[i].doc, rows[i].key, rows[i].value);
        poprt_model *model = NULL;
        ck_assert_fails(poprt_model_load_bytes(NULL, m.bytes, m.size, NULL, &model), POPRT_E_SHAPE);
        ck_assert_str_eq(poprt_last_error()->subject, "node");
        ck_assert_str_eq(poprt_last_error()->location, rows[i].location);
        if (rows[i].location[0] != '\0')
            ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, rows[i].location));
    }
}
END_TEST

START_TEST(unsupported_operators_name_their_place)
{
    const message m = onnx_of("Frobnicate", "net.py(4): build", NULL, NULL);
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_model_load_bytes(NULL, m.bytes, m.size, NULL, &model));
    ck_assert_fails(poprt_compile(model, NULL, &exec), POPRT_E_UNSUPPORTED);
    ck_assert_str_eq(poprt_last_error()->location, "net.py:4, in build");
    ck_assert_int_eq(poprt_last_error()->category, POPRT_ERROR_APPLICATION);
    poprt_model_release(model);
}
END_TEST

START_TEST(errors_of_a_run_name_the_place)
{
    static const poprt_type open_pair = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 1, .dims = { -1 } };
    static const poprt_type index = { .dtype = POPRT_DTYPE_INT64, .rank = 1, .dims = { 1 } };
    static const int64_t two = 2, one = 1;
    static const char *const names[] = { "n" };
    float x[] = { 1, 2 };
    int64_t at = 9;
    const poprt_tensor in = { x, sizeof(x), &two, 1, POPRT_DTYPE_FLOAT32 };
    const poprt_tensor where = { &at, sizeof(at), &one, 1, POPRT_DTYPE_INT64 };
    poprt_builder *builder = begin();
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    const poprt_id inputs[] = { poprt_builder_input(builder, "x", &open_pair, names),
        poprt_builder_input(builder, "at", &index, NULL) };
    ck_assert_ok(poprt_builder_set_location(builder, "table.c", 31, "look_up"));
    (void)poprt_builder_output(builder, add(builder, "Gather", "pick", 2, inputs));
    ck_assert_ok(poprt_builder_finish(builder, &model));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "x", &in));
    ck_assert_ok(poprt_stepio_bind(io, "at", &where));
    ck_assert_int_ne(poprt_session_run(session, io), POPRT_OK);
    ck_assert_str_eq(poprt_last_error()->subject, "pick");
    ck_assert_str_eq(poprt_last_error()->location, "table.c:31, in look_up");
    at = 1;
    ck_assert_ok(poprt_session_run(session, io));
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_builder_release(builder);
}
END_TEST

PRT_TEST_MAIN("api/location", steps_have_the_places_of_a_builder,
    an_operator_that_does_not_fit_names_its_place, long_texts_are_cut,
    errors_name_the_place_of_onnx_metadata, unsupported_operators_name_their_place,
    errors_of_a_run_name_the_place)
