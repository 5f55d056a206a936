/* SPDX-License-Identifier: MIT */
/* jp2.c — JPEG 2000 by OpenJPEG: files and bare codestreams. */
#include <openjpeg.h>
#include <string.h>

#include "image/bytes.h"
#include "image/formats.h"

/* Maximum of components: colour, transparency and a margin; OpenJPEG would accept thousands. */
enum { COMPONENTS_MAX = 16 };

typedef struct source {
    const unsigned char *bytes;
    size_t size, at;
} source;

static OPJ_SIZE_T on_read(void *to, OPJ_SIZE_T count, void *user)
{
    source *s = user;
    const size_t rest = s->size - s->at, n = count < rest ? count : rest;
    if (n == 0)
        return (OPJ_SIZE_T)-1;
    memcpy(to, s->bytes + s->at, n);
    s->at += n;
    return n;
}

static OPJ_OFF_T on_skip(OPJ_OFF_T count, void *user)
{
    source *s = user;
    if (count < 0 || (uint64_t)count > s->size - s->at)
        return -1;
    s->at += (size_t)count;
    return count;
}

static OPJ_BOOL on_seek(OPJ_OFF_T at, void *user)
{
    source *s = user;
    if (at < 0 || (uint64_t)at > s->size)
        return OPJ_FALSE;
    s->at = (size_t)at;
    return OPJ_TRUE;
}

static void on_error(const char *text, void *user)
{
    (void)user;
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    (void)prt_fail(POPRT_E_PARSE, "JPEG 2000", "%.*s", (int)(n < 200 ? n : 200), text);
}

/* Returns a component's sample at (x, y) of the picture, offset to start at zero. */
static uint32_t sample(const opj_image_comp_t *c, size_t x, size_t y)
{
    size_t i = x / c->dx, j = y / c->dy;
    i = i < c->w ? i : c->w - 1;
    j = j < c->h ? j : c->h - 1;
    const int64_t most = ((int64_t)1 << c->prec) - 1;
    const int64_t v = (int64_t)c->data[j * c->w + i] + (c->sgnd ? (int64_t)1 << (c->prec - 1) : 0);
    return prt_image_scale(v < 0 ? 0 : v > most ? (uint64_t)most : (uint64_t)v, (uint64_t)most);
}

static unsigned char clamp(double v)
{
    return (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v + 0.5);
}

static void write_pixels(const opj_image_t *image, prt_image *out)
{
    const bool luma = out->channels == 3 &&
        (image->color_space == OPJ_CLRSPC_SYCC || image->color_space == OPJ_CLRSPC_EYCC);
    unsigned char *p = out->pixels;
    for (size_t y = 0; y < out->height; y++)
        for (size_t x = 0; x < out->width; x++, p += out->channels) {
            for (size_t k = 0; k < out->channels; k++)
                p[k] = (unsigned char)sample(&image->comps[k], x, y);
            if (luma) {
                const double l = p[0], b = p[1] - 128.0, r = p[2] - 128.0;
                p[0] = clamp(l + 1.402 * r);
                p[1] = clamp(l - 0.344136 * b - 0.714136 * r);
                p[2] = clamp(l + 1.772 * b);
            }
        }
}

static poprt_status check_components(const opj_image_t *image, size_t channels, bool decoded)
{
    for (size_t k = 0; k < channels; k++) {
        const opj_image_comp_t *c = &image->comps[k];
        if (c->w == 0 || c->h == 0 || c->dx == 0 || c->dy == 0 || (decoded && c->data == NULL))
            return prt_fail(POPRT_E_PARSE, "JPEG 2000", "component %zu is empty", k);
        if (c->prec < 1 || c->prec > 31)
            return prt_fail(POPRT_E_UNSUPPORTED, "JPEG 2000", "samples of %u bits",
                (unsigned)c->prec);
    }
    return POPRT_OK;
}

static poprt_status decode(prt_image_context *context, opj_codec_t *codec, opj_stream_t *stream)
{
    opj_image_t *image = NULL;
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    (void)prt_fail(POPRT_E_PARSE, "JPEG 2000",
        "the file is damaged"); /* unless OpenJPEG reports more */
    if (!opj_set_error_handler(codec, on_error, NULL) || !opj_setup_decoder(codec, &parameters) ||
        !opj_read_header(stream, codec, &image))
        return POPRT_E_PARSE;
    if (image->numcomps < 1 || image->numcomps > COMPONENTS_MAX || image->x1 <= image->x0 ||
        image->y1 <= image->y0)
        return prt_fail(POPRT_E_PARSE, "JPEG 2000", "%u components or no pixels; 1 to 16 are read",
            (unsigned)image->numcomps);
    const size_t channels = image->numcomps < 3 ? 1 : 3;
    PRT_TRY(check_components(image, channels, false));
    PRT_TRY(prt_image_begin(context, image->x1 - image->x0, image->y1 - image->y0, channels));
    (void)prt_fail(POPRT_E_PARSE, "JPEG 2000", "the picture is damaged");
    if (!opj_decode(codec, stream, image))
        return POPRT_E_PARSE;
    /* A palette may have changed the components. */
    if (image->numcomps < channels)
        return prt_fail(POPRT_E_PARSE, "JPEG 2000", "components are missing after decoding");
    if (channels == 1 && image->numcomps >= 3)
        PRT_TRY(prt_image_begin(context, context->out->width, context->out->height, 3));
    PRT_TRY(check_components(image, context->out->channels, true));
    write_pixels(image, context->out);
    return POPRT_OK;
}

poprt_status prt_image_jp2(prt_image_context *context)
{
    source s = { context->bytes, context->size, 0 };
    const bool bare = context->bytes[0] == 0xff;
    opj_codec_t *codec = opj_create_decompress(bare ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
    opj_stream_t *stream = opj_stream_create(1 << 16, OPJ_TRUE);
    if (codec == NULL || stream == NULL)
        return prt_fail(POPRT_E_PARSE, "JPEG 2000", "OpenJPEG cannot be initialised");
    opj_stream_set_user_data(stream, &s, NULL);
    opj_stream_set_user_data_length(stream, context->size);
    opj_stream_set_read_function(stream, on_read);
    opj_stream_set_skip_function(stream, on_skip);
    opj_stream_set_seek_function(stream, on_seek);
    return decode(context, codec, stream); /* the memory of both is released with the context */
}
