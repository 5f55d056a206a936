/* SPDX-License-Identifier: MIT */
/* webp.c — WebP by libwebp: lossy and lossless still pictures. */
#include <webp/decode.h>

#include "image/formats.h"

poprt_status prt_image_webp(prt_image_context *context)
{
    WebPBitstreamFeatures f;
    if (WebPGetFeatures(context->bytes, context->size, &f) != VP8_STATUS_OK || f.width < 1 ||
        f.height < 1)
        return prt_fail(POPRT_E_PARSE, "WebP", "the header is damaged");
    if (f.has_animation)
        return prt_fail(POPRT_E_UNSUPPORTED, "WebP",
            "the file is an animation; only still pictures are read");
    PRT_TRY(prt_image_begin(context, (size_t)f.width, (size_t)f.height, 3));
    const size_t step = context->out->width * 3; /* at most 16383 pixels, so an int holds it */
    if (WebPDecodeRGBInto(context->bytes, context->size, context->out->pixels,
            step * context->out->height, (int)step) == NULL)
        return prt_fail(POPRT_E_PARSE, "WebP", "the picture is damaged");
    return POPRT_OK;
}
