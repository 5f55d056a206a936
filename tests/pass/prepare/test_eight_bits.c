/* SPDX-License-Identifier: MIT */
/* test_eight_bits.c — eight_bits_io: results compared with plain arithmetic, and messages. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/interp.h"
#include "pass/engine/manager.h"
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "eight_bits_io";
static char warned[4096], noted[4096];

static void record_message(void *user, prt_pass_level level, const char *name, const char *subject,
    const char *message)
{
    char *to = level == PRT_PASS_WARNS ? warned : noted;
    const size_t n = strlen(to);
    (void)user;
    (void)name;
    (void)subject;
    (void)snprintf(to + n, sizeof(warned) - n, "%s\n", message);
}

/* Options as key, value, …, NULL. */
static prt_graph *converted(const char *text, const char *const *options)
{
    const prt_pass_observer observer = { .report = record_message };
    prt_graph *g = graph_from_text(text);
    prt_pass_manager *pm = NULL;
    prt_pass_arg args[4];
    uint32_t n = 0;
    warned[0] = noted[0] = '\0';
    for (; options != NULL && options[2 * n] != NULL; n++)
        args[n] = (prt_pass_arg){ options[2 * n], options[2 * n + 1] };
    ck_assert_int_eq(prt_pass_manager_create(NULL, &pm), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add(pm, pass, n, args), POPRT_OK);
    prt_pass_manager_set_observer(pm, &observer);
    if (prt_pass_manager_run(pm, g->module, NULL) != POPRT_OK)
        ck_abort_msg("%s", prt_error_last()->message);
    ck_assert_int_eq(prt_ir_verify(g->module), POPRT_OK);
    prt_pass_manager_release(pm);
    return g;
}

/* Runs a graph of one input of bytes; its outputs live as long as the module. */
static void run_bytes(const prt_graph *g, const uint8_t *data, prt_tensor *out)
{
    const prt_type *type = g->inputs.data[0]->type;
    prt_tensor t;
    ck_assert_int_eq(type->dtype, PRT_DTYPE_u8);
    ck_assert(prt_tensor_init(&t, PRT_DTYPE_u8, 4, type->dims, (void *)(uintptr_t)data));
    const prt_tensor *in[] = { &t };
    ck_assert_int_eq(prt_ir_run(g, 1, in, g->ret->n_in, out, g->module->arena), POPRT_OK);
}

static const uint8_t six[] = { 0, 255, 10, 20, 128, 77 };

START_TEST(imagenet_defaults_are_reported)
{
    static const double mean[] = { 0.485, 0.456, 0.406 }, std[] = { 0.229, 0.224, 0.225 };
    prt_graph *g = converted("x = input f32[1,3,1,2]\ny = abs x\nz = neg y\nreturn z\n", NULL);
    prt_tensor out;
    run_bytes(g, six, &out);
    for (size_t i = 0; i < 6; i++)
        ck_assert_double_eq_tol(prt_load_f64(out.dtype, out.data, i),
            -fabs((six[i] / 255.0 - mean[i / 2]) / std[i / 2]), 1e-5);
    ck_assert_str_eq(warned,
        "input x is uint8, with the mean and std of ImageNet, since none are given: "
        "mean 0.485, 0.456, 0.406; std 0.229, 0.224, 0.225\n");
    ck_assert_ptr_nonnull(strstr(noted, "output z stays float"));
    module_free(g);
}
END_TEST

START_TEST(given_numbers_are_taken)
{
    static const char *const options[] = { "mean", "0.5, 0.25,0", "std", "0.5", NULL };
    static const double mean[] = { 0.5, 0.25, 0 };
    prt_graph *g = converted("x = input f16[1,1,2,3]\ny = neg x\nreturn y\n", options);
    prt_tensor out;
    run_bytes(g, six, &out); /* channels last */
    for (size_t i = 0; i < 6; i++)
        ck_assert_double_eq_tol(prt_load_f64(out.dtype, out.data, i),
            -(six[i] / 255.0 - mean[i % 3]) / 0.5, 2e-3);
    ck_assert_str_eq(warned, "");
    ck_assert_ptr_nonnull(strstr(noted, "input x is uint8: mean 0.5, 0.25, 0; std 0.5\n"));
    module_free(g);
    /* one number for all channels: grey images too; a mean alone has a std of 1 */
    static const char *const plain[] = { "mean", "0", NULL };
    g = converted("x = input f32[1,1,2,3]\ny = neg x\nreturn y\n", plain);
    run_bytes(g, six, &out);
    for (size_t i = 0; i < 6; i++)
        ck_assert_double_eq_tol(prt_load_f64(out.dtype, out.data, i), -six[i] / 255.0, 1e-6);
    module_free(g);
}
END_TEST

START_TEST(maps_with_a_range_come_out_as_bytes)
{
    static const char *const options[] = { "mean", "0", "std", "0.00392156862745098", NULL };
    prt_graph *g =
        converted("x = input f32[1,3,1,2]\nf = const f32[] {0.01}\nl = const f32[] {-2}\n"
                  "h = const f32[] {0.5}\nv = mul x f\ns = sigmoid v\nt = tanh v\nc = clip v l h\n"
                  "k = sub v h\nreturn s, t, c, k\n",
            options);
    prt_tensor out[4];
    run_bytes(g, six, out);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(out[i].dtype, i < 3 ? PRT_DTYPE_u8 : PRT_DTYPE_f32);
    for (size_t i = 0; i < 6; i++) {
        const double v = six[i] * 0.01;
        ck_assert_int_eq(((const uint8_t *)out[0].data)[i], (int)(255 / (1 + exp(-v)) + 0.5));
        ck_assert_int_eq(((const uint8_t *)out[1].data)[i], (int)(127.5 * (tanh(v) + 1) + 0.5));
        ck_assert_int_eq(((const uint8_t *)out[2].data)[i], (int)(102 * (fmin(v, 0.5) + 2) + 0.5));
    }
    ck_assert_ptr_nonnull(strstr(noted, "output c is uint8: 0 is -2, 255 is 0.5\n"));
    ck_assert_ptr_nonnull(strstr(noted, "output k stays float"));
    for (uint32_t i = 0; i < 4; i++)
        ck_assert(prt_str_equal(g->ret->in[i].value->name, g->output_names.data[i]));
    module_free(g);
    /* not a map: the 1000 classes of a network */
    g = converted("x = input f32[1,3,1,2]\nf = flatten x\ny = softmax f\nreturn y\n", options);
    ck_assert_int_eq(g->ret->in[0].value->type->dtype, PRT_DTYPE_f32);
    module_free(g);
}
END_TEST

START_TEST(named_outputs_are_images)
{
    static const char *const options[] = { "outputs", "y", "mean", "0.5,0.4,0.3", "std",
        "0.2,0.3,0.4", NULL };
    prt_graph *g = converted("x = input f32[1,3,1,2]\nm = neg x\ny = neg m\nz = relu y\n"
                             "return y, z\n",
        options);
    prt_tensor out[2];
    run_bytes(g, six, out);
    ck_assert_int_eq(memcmp(out[0].data, six, 6), 0);
    ck_assert_int_eq(out[1].dtype, PRT_DTYPE_f32);
    module_free(g);
    assert_pass_fails(pass, "outputs=q", "x = input f32[1,3,1,2]\ny = neg x\nreturn y\n",
        POPRT_E_NOT_FOUND, "the model has no output 'q'");
    assert_pass_fails(pass, "outputs=y",
        "x = input f32[1,3,1,2]\nf = flatten x\ny = neg f\nreturn y\n", POPRT_E_SHAPE,
        "is not an image");
}
END_TEST

/* A name is converted once, however often the outputs list it. */
START_TEST(outputs_listed_twice_are_converted_once)
{
    static const char *const options[] = { "outputs", "y,c", "std", "1", NULL };
    prt_graph *g = converted("x = input f32[1,3,1,2]\nc = const f32[1,3,1,2] {0,1,0,1,0,1}\n"
                             "y = neg x\nz = tanh y\nreturn y, z, y, c, z, y as again, c\n",
        options);
    const prt_use *out = g->ret->in;
    ck_assert_ptr_eq(out[0].value, out[2].value);
    ck_assert_ptr_eq(out[1].value, out[4].value);
    ck_assert_ptr_eq(out[3].value, out[6].value);
    for (uint32_t i = 0; i < 7; i++)
        ck_assert_int_eq(out[i].value->type->dtype, i == 5 ? PRT_DTYPE_f32 : PRT_DTYPE_u8);
    module_free(g);
    assert_pass_fails(pass, "outputs=x", "x = input f32[1,3,1,2]\ny = neg x\nreturn y, x\n",
        POPRT_E_UNSUPPORTED, "under the same name");
}
END_TEST

START_TEST(models_without_images_get_a_warning)
{
    module_free(converted("x = input f32[1,4,2,2]\ny = neg x\nreturn y\n", NULL));
    ck_assert_str_eq(warned,
        "no input is an image (float, 4 dimensions, 3 channels); give mean and "
        "std for images with another number of channels\n");
    static const char *const plain[] = { "std", "1", NULL };
    module_free(converted("x = input f32[1,2]\ny = neg x\nreturn y\n", plain));
    ck_assert_str_eq(warned, "no input is an image (float, 4 dimensions, 1, 3 or 4 channels)\n");
}
END_TEST

START_TEST(wrong_numbers_are_refused)
{
    const char *const text = "x = input f32[1,3,1,2]\ny = neg x\nreturn y\n";
    assert_pass_fails(pass, "mean=red", text, POPRT_E_ARG, "one number for all channels");
    assert_pass_fails(pass, "mean=1,2,3,4,5", text, POPRT_E_ARG, "one number for all channels");
    assert_pass_fails(pass, "std=0.1,0,0.1", text, POPRT_E_ARG, "numbers above 0");
    assert_pass_fails(pass, "mean=1,2,3, std=1,2", text, POPRT_E_ARG,
        "mean has 3 channels and std 2");
}
END_TEST

PRT_TEST_MAIN("pass/prepare/eight_bits", imagenet_defaults_are_reported, given_numbers_are_taken,
    maps_with_a_range_come_out_as_bytes, named_outputs_are_images,
    outputs_listed_twice_are_converted_once, models_without_images_get_a_warning,
    wrong_numbers_are_refused)
