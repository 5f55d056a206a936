/* SPDX-License-Identifier: MIT */
/* webp.c — WebP by libwebp: lossy and lossless still pictures. */
#include <webp/decode.h>

#include "image/formats.h"

poprt_status prt_image_webp(prt_image_job *job)
{
    WebPBitstreamFeatures f;
    if (WebPGetFeatures(job->bytes, job->size, &f) != VP8_STATUS_OK || f.width < 1 || f.height < 1)
        return prt_fail(POPRT_E_PARSE, "WebP", "a broken header");
    if (f.has_animation)
        return prt_fail(POPRT_E_UNSUPPORTED, "WebP", "an animation; only stills are read");
    PRT_TRY(prt_image_begin(job, (size_t)f.width, (size_t)f.height, 3));
    const size_t step = job->out->width * 3; /* at most 16383 pixels, so an int holds it */
    if (WebPDecodeRGBInto(job->bytes, job->size, job->out->pixels, step * job->out->height,
            (int)step) == NULL)
        return prt_fail(POPRT_E_PARSE, "WebP", "a broken picture");
    return POPRT_OK;
}
