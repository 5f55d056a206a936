/* SPDX-License-Identifier: MIT */
/*
 * test_inspect.c — inspection of sessions: the list of tensors, the operators of an executable as
 * JSON, profile and report, and traces with spans of the caller.
 * Covers: inspect.c, attrs.c, blocks.c, session_report.c, watch.c, trace.c.
 */
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "lesson.h"

#include "poprt/builder.h"

/* Returns the number after `"key": ` from `from` on; -1 without it. */
static long long number_of(const char *from, const char *key)
{
    char quoted[64];
    (void)snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    const char *at = strstr(from, quoted);
    return at != NULL ? atoll(at + strlen(quoted)) : -1;
}

static int count_of(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

static char *report_of(poprt_session *session, int32_t format)
{
    buffer text = { NULL, 0 };
    ck_assert_ok(poprt_session_report(session, format, buffer_write, &text));
    return (char *)text.data;
}

static void run_digits(poprt_session *session, int runs)
{
    digit d;
    digit_init(&d, 3);
    poprt_stepio *io = digit_bind(&d, session);
    for (int i = 0; i < runs; i++)
        ck_assert_ok(poprt_session_run(session, io));
    poprt_stepio_release(io);
}

static poprt_session *digits_session(void)
{
    poprt_executable *exec = compile_digits(NULL);
    poprt_session *session = NULL;
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    poprt_executable_release(exec);
    return session;
}

/* ---- tensors */

/* Finds a tensor by name and kind. */
static bool find_tensor(poprt_session *session, const char *name, int32_t kind,
    poprt_tensor_info *out)
{
    for (size_t i = 0; i < poprt_session_tensor_count(session); i++) {
        *out = (poprt_tensor_info){ .struct_size = sizeof(*out) };
        ck_assert_ok(poprt_session_tensor_at(session, i, out));
        if (out->kind == kind && strcmp(out->name, name) == 0)
            return true;
    }
    return false;
}

START_TEST(all_tensors_of_a_session_are_listed)
{
    poprt_session *session = digits_session();
    poprt_tensor_info info, first = { .struct_size = sizeof(first) };
    size_t weights = 0, values = 0;
    ck_assert(find_tensor(session, "image", POPRT_TENSOR_INPUT, &info));
    ck_assert_int_eq(info.dtype, POPRT_DTYPE_FLOAT32);
    ck_assert_int_eq(info.value_kind, POPRT_VALUE_TENSOR);
    ck_assert_int_eq(info.rank, 4);
    ck_assert_int_eq(info.dims[0], -1); /* not known before the first run */
    ck_assert_int_eq(info.dims[3], 8);
    ck_assert_uint_eq(info.size, 0);
    run_digits(session, 1);
    ck_assert(find_tensor(session, "image", POPRT_TENSOR_INPUT, &info));
    ck_assert_int_eq(info.dims[0], 1);
    ck_assert_uint_eq(info.size, 256);
    ck_assert(find_tensor(session, "logits", POPRT_TENSOR_OUTPUT, &info));
    ck_assert_int_eq(info.dims[1], 10);
    ck_assert_uint_eq(info.size, 40);
    const size_t n = poprt_session_tensor_count(session);
    for (size_t i = 0; i < n; i++) {
        ck_assert_ok(poprt_session_tensor_at(session, i, &info));
        weights += info.kind == POPRT_TENSOR_CONSTANT ? info.size : 0;
        values += info.kind == POPRT_TENSOR_VALUE;
    }
    ck_assert_uint_gt(weights, 10000);
    ck_assert_uint_gt(values, 1);
    /* In any order. */
    ck_assert_ok(poprt_session_tensor_at(session, 0, &first));
    ck_assert_int_eq(first.kind, POPRT_TENSOR_CONSTANT);
    ck_assert_ok(poprt_session_tensor_at(session, n - 1, &info));
    ck_assert_ok(poprt_session_tensor_at(session, 0, &info));
    ck_assert_ptr_eq(info.name, first.name);
    ck_assert_fails(poprt_session_tensor_at(session, n, &info), POPRT_E_NOT_FOUND);
    ck_assert_fails(poprt_session_tensor_at(session, SIZE_MAX, &info), POPRT_E_NOT_FOUND);
    ck_assert_uint_eq(poprt_session_tensor_count(NULL), 0);
    poprt_session_release(session);
}
END_TEST

START_TEST(variables_of_training_are_listed)
{
    lesson *l = lesson_begin("adam", 1);
    poprt_session *session = lesson_session(l);
    poprt_tensor_info info;
    ck_assert(find_tensor(session, "w", POPRT_TENSOR_VARIABLE, &info));
    ck_assert_int_eq(info.rank, 2);
    ck_assert_uint_eq(info.size, sizeof(float) * IN * OUT);
    ck_assert(find_tensor(session, "Accl1___w", POPRT_TENSOR_VARIABLE, &info));
    ck_assert(find_tensor(session, "x", POPRT_TENSOR_INPUT, &info));
    poprt_session_release(session);
    lesson_end(l);
}
END_TEST

/* ---- operators as JSON */

static poprt_id add_op(poprt_builder *builder, const char *op_type, const char *name, poprt_id x,
    const poprt_attr *attr)
{
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .op_type = op_type,
        .name = name,
        .inputs = &x,
        .attrs = attr,
        .n_inputs = 1,
        .n_attrs = attr != NULL,
        .n_outputs = 1 };
    return poprt_builder_op(builder, &op, NULL);
}

START_TEST(operators_of_an_executable_are_json)
{
    const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 2, .dims = { 2, 3 } };
    const poprt_attr axis = poprt_attr_int("axis", 1);
    poprt_builder *builder = NULL;
    poprt_model *model = NULL;
    poprt_executable *exec = NULL;
    buffer text = { NULL, 0 };
    ck_assert_ok(poprt_builder_create(NULL, 17, &builder));
    const poprt_id x = poprt_builder_input(builder, "x", &type, NULL);
    ck_assert_ok(poprt_builder_set_location(builder, "net.c", 5, "build"));
    ck_assert_ok(poprt_builder_output(builder, add_op(builder, "Softmax", "soft", x, &axis)));
    ck_assert_ok(poprt_builder_finish(builder, &model));
    ck_assert_ok(poprt_compile(model, NULL, &exec));
    ck_assert_ok(poprt_executable_describe(exec, POPRT_FORMAT_GRAPHS_JSON, buffer_write, &text));
    const char *json = (const char *)text.data;
    static const char *const parts[] = { "{\n  \"main\": [", "\"type\": \"Softmax\"",
        "\"domain\": \"ai.onnx\"", "\"version\": 13", "\"name\": \"soft\"",
        "\"type\": \"f32[2,3]\"", "\"axis\": 1", "\"graphs\": []", "\"nodes\": [",
        "\"location\": \"net.c:5, in build\"" };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        ck_assert_msg(strstr(json, parts[i]) != NULL, "no %s in %s", parts[i], json);
    free(text.data);
    ck_assert_fails(poprt_executable_describe(exec, POPRT_FORMAT_SHARDING, buffer_write, &text),
        POPRT_E_ARG);
    poprt_executable_release(exec);
    poprt_model_release(model);
    poprt_builder_release(builder);
}
END_TEST

/* ---- profile and report */

START_TEST(memory_by_kind_adds_up)
{
    static const char *const kinds[] = { "planned", "dynamic", "scratch", "inputs", "outputs",
        "variables", "weights", "tables" };
    poprt_session *session = digits_session();
    run_digits(session, 1);
    char *json = report_of(session, POPRT_FORMAT_JSON);
    const char *memory = strstr(json, "\"memory\":");
    long long sum = 0;
    ck_assert_ptr_nonnull(memory);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        ck_assert_int_ge(number_of(memory, kinds[i]), 0);
        sum += number_of(memory, kinds[i]);
    }
    ck_assert_int_eq(sum, (long long)poprt_session_memory(session));
    ck_assert_int_eq(number_of(memory, "session"), sum);
    ck_assert_int_gt(number_of(memory, "planned"), 0);
    ck_assert_int_gt(number_of(memory, "weight_bytes"), 10000);

    /* The largest tensors are in order. */
    const char *largest = strstr(json, "\"largest_tensors\":");
    const char *end = strstr(json, "\"live_bytes\":");
    long long before = INT64_MAX;
    int n = 0;
    for (const char *at = largest; (at = strstr(at, "\"bytes\":")) != NULL && at < end; at++, n++) {
        ck_assert_int_le(number_of(at, "bytes"), before);
        before = number_of(at, "bytes");
    }
    ck_assert_int_eq(n, 10);
    ck_assert_ptr_null(strstr(json, "\"profile\":"));
    free(json);
    char *text = report_of(session, POPRT_FORMAT_SUMMARY);
    ck_assert_ptr_nonnull(strstr(text, "\nExecution profiling not enabled\n"));
    ck_assert_ptr_nonnull(strstr(text, "largest tensors\n"));
    free(text);
    poprt_session_release(session);
}
END_TEST

START_TEST(times_are_summed_since_the_last_reset)
{
    poprt_session *session = digits_session();
    ck_assert_ok(poprt_session_profile(session, 1));
    run_digits(session, 3);
    char *json = report_of(session, POPRT_FORMAT_JSON);
    const char *profile = strstr(json, "\"profile\":");
    ck_assert_ptr_nonnull(profile);
    ck_assert_int_eq(number_of(profile, "runs"), 3);
    ck_assert_int_eq(number_of(strstr(profile, "\"steps\": ["), "calls"), 3);
    /* The operators have the time of all steps, which lie in the runs. */
    const char *steps = strstr(profile, "\"least_ns\"");
    long long by_op = 0, by_step = 0;
    const char *list = strstr(profile, "\"operators\":"), *end = strstr(profile, "\"block\":");
    ck_assert_ptr_nonnull(steps);
    for (const char *at = list; (at = strstr(at, "\"ns\":")) != NULL; at++)
        *(at < end ? &by_op : &by_step) += number_of(at, "ns");
    ck_assert_int_gt(by_op, 0);
    ck_assert_int_eq(by_op, by_step);
    ck_assert_int_le(by_op, number_of(profile, "run_ns"));
    ck_assert_ptr_nonnull(strstr(profile, "\"operator\": \"nhwc_conv\""));
    free(json);

    ck_assert_ok(poprt_session_reset_profile(session));
    ck_assert_ok(poprt_session_profile(session, 0));
    run_digits(session, 1);
    json = report_of(session, POPRT_FORMAT_JSON);
    ck_assert_int_eq(number_of(strstr(json, "\"profile\":"), "runs"), 0);
    ck_assert_ptr_nonnull(strstr(json, "\"operators\": []"));
    free(json);
    ck_assert_ok(poprt_session_profile(session, 1));
    run_digits(session, 2);
    char *text = report_of(session, POPRT_FORMAT_SUMMARY);
    ck_assert_ptr_nonnull(strstr(text, "profiled runs  2\n"));
    ck_assert_ptr_nonnull(strstr(text, " us a run, "));
    free(text);
    ck_assert_fails(poprt_session_profile(session, 2), POPRT_E_ARG);
    ck_assert_fails(poprt_session_report(session, POPRT_FORMAT_DOT, buffer_write, NULL),
        POPRT_E_ARG);
    poprt_session_release(session);
}
END_TEST

static int32_t refuse(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return 1;
}

START_TEST(a_report_that_is_refused_fails)
{
    poprt_session *session = digits_session();
    ck_assert_fails(poprt_session_report(session, POPRT_FORMAT_SUMMARY, refuse, NULL), POPRT_E_IO);
    ck_assert_fails(poprt_session_report(session, POPRT_FORMAT_SUMMARY, NULL, NULL), POPRT_E_ARG);
    poprt_session_release(session);
}
END_TEST

/* The bytes alive at each step are at most those of the plan, and not all 0. */
START_TEST(live_bytes_are_those_of_each_step)
{
    poprt_session *session = digits_session();
    run_digits(session, 1);
    char *json = report_of(session, POPRT_FORMAT_JSON);
    char *at = strstr(json, "\"live_bytes\": [") + strlen("\"live_bytes\": ["), *end = NULL;
    long long most = 0;
    int n = 0;
    for (;; at = end + 1, n++) {
        const long long bytes = strtoll(at, &end, 10);
        ck_assert_int_ge(bytes, 0);
        most = bytes > most ? bytes : most;
        end += strspn(end, " \n");
        if (*end != ',')
            break;
    }
    ck_assert_int_gt(n, 2);
    ck_assert_int_gt(most, 40);
    ck_assert_int_lt(most, 1 << 20);
    free(json);
    poprt_session_release(session);
}
END_TEST

/* ---- traces */

static char *trace_text(poprt_trace *trace)
{
    buffer text = { NULL, 0 };
    ck_assert_ok(poprt_trace_write(trace, buffer_write, &text));
    return (char *)text.data;
}

START_TEST(a_trace_has_steps_runs_and_spans_of_the_caller)
{
    poprt_session *session = digits_session();
    poprt_trace *trace = NULL;
    ck_assert_ok(poprt_trace_create(NULL, 0, &trace));
    ck_assert_ok(poprt_session_trace(session, trace));
    ck_assert_ok(poprt_trace_begin(trace, "my program", "two \"runs\""));
    ck_assert_ok(poprt_trace_begin(trace, "my program", "inner"));
    run_digits(session, 2);
    ck_assert_ok(poprt_trace_end(trace, "my program"));
    ck_assert_ok(poprt_trace_end(trace, "my program"));
    ck_assert_fails(poprt_trace_end(trace, "my program"), POPRT_E_STATE);
    ck_assert_fails(poprt_trace_end(trace, "other"), POPRT_E_STATE);
    ck_assert_ok(poprt_session_trace(session, NULL));
    const size_t count = poprt_trace_count(trace);
    run_digits(session, 1);
    ck_assert_uint_eq(poprt_trace_count(trace), count);
    /* The texts of the steps outlive the session. */
    poprt_session_release(session);
    char *json = trace_text(trace);
    ck_assert_int_eq(count_of(json, "\"ph\":\"X\""), (int)count);
    ck_assert_int_eq(count_of(json, "\"cat\":\"runs\""), 2);
    ck_assert_int_eq(count_of(json, "\"cat\":\"my program\""), 2);
    ck_assert_ptr_nonnull(strstr(json, "{\"name\":\"two \\\"runs\\\"\",\"cat\":\"my program\""));
    ck_assert_ptr_nonnull(strstr(json, "\"args\":{\"name\":\"my program\"}"));
    ck_assert_ptr_nonnull(strstr(json, "\"args\":{\"operator\":\"nhwc_conv\""));
    ck_assert_int_eq(count_of(json, "\"ph\":\"M\""), 3);
    free(json);
    poprt_trace_release(trace);
}
END_TEST

START_TEST(a_full_trace_counts_what_it_misses)
{
    poprt_trace *trace = NULL;
    ck_assert_ok(poprt_trace_create(NULL, 2, &trace));
    for (int i = 0; i < 4; i++)
        ck_assert_ok(poprt_trace_begin(trace, "c", "open"));
    ck_assert_uint_eq(poprt_trace_count(trace), 2);
    ck_assert_uint_eq(poprt_trace_missed(trace), 2);
    char *json = trace_text(trace);
    ck_assert_int_eq(count_of(json, "\"ph\":\"X\""), 2);
    free(json);
    for (int i = 0; i < 4; i++)
        ck_assert_ok(poprt_trace_end(trace, "c"));
    ck_assert_fails(poprt_trace_end(trace, "c"), POPRT_E_STATE);
    poprt_trace_release(trace);

    ck_assert_ok(poprt_trace_begin(NULL, "c", "nothing"));
    ck_assert_ok(poprt_trace_end(NULL, "c"));
    ck_assert_uint_eq(poprt_trace_count(NULL), 0);
    poprt_trace_release(NULL);
}
END_TEST

START_TEST(wrong_spans_and_files_are_refused)
{
    char text[300];
    poprt_trace *trace = NULL;
    memset(text, 'c', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    ck_assert_ok(poprt_trace_create(NULL, 0, &trace));
    ck_assert_fails(poprt_trace_begin(trace, "", "n"), POPRT_E_ARG);
    ck_assert_fails(poprt_trace_begin(trace, text, "n"), POPRT_E_ARG);
    ck_assert_fails(poprt_trace_begin(trace, "c", text), POPRT_E_ARG);
    ck_assert_fails(poprt_trace_begin(trace, NULL, "n"), POPRT_E_ARG);
    ck_assert_int_ne(poprt_trace_write_file(trace, "/nowhere/trace.json"), POPRT_OK);
    ck_assert_fails(poprt_trace_write(trace, refuse, NULL), POPRT_E_IO);
    char path[] = "/tmp/poprt-trace-XXXXXX";
    (void)close(mkstemp(path));
    ck_assert_ok(poprt_trace_write_file(trace, path));
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
    ck_assert_str_eq(text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[]}");
    (void)fclose(file);
    (void)unlink(path);
    poprt_trace_release(trace);
}
END_TEST

static void *make_spans(void *user)
{
    char channel[32];
    (void)snprintf(channel, sizeof(channel), "thread %p", (void *)&channel);
    for (int i = 0; i < 1000; i++)
        if (poprt_trace_begin(user, channel, "span") != POPRT_OK ||
            poprt_trace_end(user, channel) != POPRT_OK)
            return user;
    return NULL;
}

START_TEST(threads_share_a_trace)
{
    poprt_trace *trace = NULL;
    pthread_t threads[4];
    void *failed = NULL;
    ck_assert_ok(poprt_trace_create(NULL, 0, &trace));
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, make_spans, trace), 0);
    for (int i = 0; i < 4; i++) {
        (void)pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_uint_eq(poprt_trace_count(trace), 4000);
    poprt_trace_release(trace);
}
END_TEST

PRT_TEST_MAIN("api/inspect", all_tensors_of_a_session_are_listed, variables_of_training_are_listed,
    operators_of_an_executable_are_json, memory_by_kind_adds_up,
    times_are_summed_since_the_last_reset, a_report_that_is_refused_fails,
    live_bytes_are_those_of_each_step, a_trace_has_steps_runs_and_spans_of_the_caller,
    a_full_trace_counts_what_it_misses, wrong_spans_and_files_are_refused, threads_share_a_trace)
