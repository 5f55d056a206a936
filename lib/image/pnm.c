/* SPDX-License-Identifier: MIT */
/* pnm.c — PBM, PGM and PPM as text (P1 to P3) and as bytes (P4 to P6). */
#include "image/bytes.h"
#include "image/formats.h"

typedef struct reader {
    const unsigned char *bytes;
    size_t size, at;
} reader;

static bool is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Skips blanks and comments; returns false at the end. */
static bool skip(reader *r)
{
    for (; r->at < r->size; r->at++) {
        if (r->bytes[r->at] == '#')
            while (r->at < r->size && r->bytes[r->at] != '\n' && r->bytes[r->at] != '\r')
                r->at++;
        else if (!is_space(r->bytes[r->at]))
            return true;
    }
    return false;
}

/* Reads a number of at most `digits` digits from the text. */
static bool number(reader *r, uint32_t digits, uint32_t *to)
{
    if (!skip(r))
        return false;
    const size_t from = r->at;
    *to = 0;
    for (; r->at < r->size && r->at - from < digits; r->at++) {
        const unsigned char c = r->bytes[r->at];
        if (c < '0' || c > '9')
            break;
        *to = *to * 10 + (uint32_t)(c - '0');
    }
    return r->at != from;
}

static poprt_status ends_early(void)
{
    return prt_fail(POPRT_E_PARSE, "PNM", "the file ends early, or a number is missing");
}

static poprt_status text_samples(reader *r, prt_image *out, uint32_t most)
{
    const size_t count = out->width * out->height * out->channels;
    for (size_t i = 0; i < count; i++) {
        uint32_t v;
        if (!number(r, most == 0 ? 1 : 6, &v))
            return ends_early();
        if (v > (most == 0 ? 1 : most))
            return prt_fail(POPRT_E_PARSE, "PNM",
                "sample %u exceeds the largest sample of the header", v);
        out->pixels[i] = most == 0 ? (unsigned char)(255 * (1 - v)) : prt_image_scale(v, most);
    }
    return POPRT_OK;
}

static poprt_status byte_samples(reader *r, prt_image *out, uint32_t most)
{
    const size_t row = out->width * out->channels, wide = most > 255 ? 2 : 1;
    const size_t step = most == 0 ? (row + 7) / 8 : row * wide;
    if (step > (r->size - r->at) / out->height)
        return ends_early();
    for (size_t y = 0; y < out->height; y++) {
        const unsigned char *from = r->bytes + r->at + y * step;
        unsigned char *to = out->pixels + y * row;
        for (size_t x = 0; x < row; x++) {
            if (most == 0) {
                to[x] = prt_image_sample(from, x, 1) != 0 ? 0 : 255;
                continue;
            }
            const uint32_t v = wide == 1 ? from[x] : (uint32_t)from[2 * x] << 8 | from[2 * x + 1];
            to[x] = prt_image_scale(v < most ? v : most, most);
        }
    }
    return POPRT_OK;
}

poprt_status prt_image_pnm(prt_image_context *context)
{
    reader r = { context->bytes, context->size, 2 };
    const uint32_t kind = (uint32_t)(context->bytes[1] - '1'); /* 0 to 5 */
    uint32_t width, height, most = 0;                          /* 0: the samples are bits */
    if (!number(&r, 9, &width) || !number(&r, 9, &height) ||
        (kind % 3 != 0 && !number(&r, 5, &most)))
        return ends_early();
    if (kind % 3 != 0 && (most < 1 || most > 65535))
        return prt_fail(POPRT_E_PARSE, "PNM", "the largest sample is %u; 1 to 65535 are accepted",
            most);
    if (kind >= 3) { /* one blank separates the header from the bytes */
        if (r.at >= r.size || !is_space(r.bytes[r.at]))
            return ends_early();
        r.at++;
    }
    /* Refuses a truncated file before allocating: a pixel needs at least one bit. */
    if ((uint64_t)width * height / 8 > r.size)
        return ends_early();
    PRT_TRY(prt_image_begin(context, width, height, kind % 3 == 2 ? 3 : 1));
    return kind < 3 ? text_samples(&r, context->out, most) : byte_samples(&r, context->out, most);
}
