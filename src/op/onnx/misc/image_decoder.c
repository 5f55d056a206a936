/* SPDX-License-Identifier: MIT */
/*
 * image_decoder.c — ImageDecoder: decodes an image file to [height, width, channels]. If the bytes
 * are not a valid image, the result is empty: [0, 0, channels].
 */
#include "image/image.h"
#include "op/share/reals.h"

static bool is_grey(const prt_image_decoder_attrs *a)
{
    return prt_str_is(a->pixel_format, "Grayscale");
}

static poprt_status infer(prt_infer *c)
{
    const prt_image_decoder_attrs *a = c->attrs;
    if (!is_grey(a) && !prt_str_is(a->pixel_format, "RGB") && !prt_str_is(a->pixel_format, "BGR"))
        return prt_infer_fail(c, POPRT_E_ARG,
            "pixel_format is \"%.*s\"; accepted: RGB, BGR, Grayscale",
            PRT_STR_ARG(a->pixel_format));
    PRT_TRY(prt_infer_rank(c, 0, 1));
    const int64_t dims[3] = { PRT_DIM_UNKNOWN, PRT_DIM_UNKNOWN, is_grey(a) ? 1 : 3 };
    return prt_infer_set(c, 0, PRT_DTYPE_u8, 3, dims);
}

static void *alloc_scratch(void *user, size_t size)
{
    return prt_eval_scratch(user, size, 1);
}

static poprt_status check(void *user)
{
    prt_eval *c = user;
    return c->host->check(c);
}

/* ITU-R BT.601 luma in 16-bit fixed point, rounded to nearest. */
static unsigned char grey_of(const unsigned char *p)
{
    return (unsigned char)((p[0] * 19595u + p[1] * 38470u + p[2] * 7471u + 0x8000u) >> 16);
}

static void write_pixels(const prt_image *image, const prt_image_decoder_attrs *a,
    unsigned char *to)
{
    const size_t count = image->width * image->height, from = image->channels;
    const bool swap = prt_str_is(a->pixel_format, "BGR");
    const unsigned char *p = image->pixels;
    for (size_t i = 0; i < count; i++, p += from) {
        if (is_grey(a)) {
            *to++ = from == 1 ? *p : grey_of(p);
            continue;
        }
        for (size_t k = 0; k < 3; k++)
            *to++ = from == 1 ? *p : p[swap ? 2 - k : k];
    }
}

static poprt_status eval(prt_eval *c)
{
    const prt_image_decoder_attrs *a = c->attrs;
    const prt_image_memory memory = { c, alloc_scratch, check };
    const prt_tensor *x = c->in[0];
    prt_image image = { 0 };
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const poprt_status status = prt_image_decode(&memory, x->data, x->size, &image);
    if (status != POPRT_OK && status != POPRT_E_PARSE)
        return prt_fail_about(status, c->origin.data);
    const int64_t dims[3] = { (int64_t)image.height, (int64_t)image.width, is_grey(a) ? 1 : 3 };
    PRT_TRY(prt_eval_shape(c, 0, PRT_DTYPE_u8, 3, dims));
    write_pixels(&image, a, c->out[0]->data);
    return POPRT_OK;
}

const prt_op_hooks prt_op_image_decoder = { .infer = infer, .eval = eval };
