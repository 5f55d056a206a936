/* SPDX-License-Identifier: MIT */
/* log_text.c — builder of log texts. */
#include "pass/precision/log_text.h"

#include <stdio.h>

#include "base/file.h"
#include "op/share/number_text.h"

void prt_log_text_add(prt_log_text *to, prt_str text)
{
    for (uint32_t i = 0; i < text.size && !to->failed; i++)
        to->failed = !PRT_VEC_PUSH(to->arena, &to->text, text.data[i]);
}

void prt_log_text_add_literal(prt_log_text *to, const char *text)
{
    prt_log_text_add(to, prt_str_of(text));
}

void prt_log_text_add_number(prt_log_text *to, double value)
{
    char text[PRT_NUMBER_TEXT];
    (void)prt_print_f64(PRT_DTYPE_f32, (double)(float)value, text);
    prt_log_text_add_literal(to, text);
}

void prt_log_text_add_field(prt_log_text *to, const char *name, double value)
{
    prt_log_text_add_literal(to, " ");
    prt_log_text_add_literal(to, name);
    prt_log_text_add_literal(to, " ");
    prt_log_text_add_number(to, value);
}

void prt_log_text_add_moments(prt_log_text *to, const prt_moments *m)
{
    prt_log_text_add_field(to, "mean", prt_moments_mean(m));
    prt_log_text_add_field(to, "variance", prt_moments_variance(m));
    prt_log_text_add_field(to, "skewness", prt_moments_skewness(m));
    prt_log_text_add_field(to, "kurtosis", prt_moments_kurtosis(m));
}

poprt_status prt_log_text_finish(prt_log_text *to, prt_str *out)
{
    if (to->failed)
        return POPRT_E_NOMEM;
    const char *text = prt_arena_text(to->arena, to->text.data, to->text.count);
    if (text == NULL)
        return POPRT_E_NOMEM;
    *out = (prt_str){ text, (uint32_t)to->text.count };
    return POPRT_OK;
}

poprt_status prt_log_text_write_str(prt_str text, const prt_allocator *allocator,
    const char *folder, const char *name)
{
    const size_t n = strlen(folder);
    char path[4096];
    prt_file_writer *writer = NULL;
    const int size = snprintf(path, sizeof(path), "%s%s%s", folder,
        n == 0 || folder[n - 1] == '/' ? "" : "/", name);
    if (size < 0 || (size_t)size >= sizeof(path))
        return prt_fail(POPRT_E_LIMIT, "output_dir", "the path is too long");
    PRT_TRY(prt_file_writer_create(allocator, path, &writer));
    return prt_file_writer_finish(writer, prt_file_writer_write(writer, text.data, text.size));
}

poprt_status prt_log_text_write(prt_log_text *to, const prt_allocator *allocator,
    const char *folder, const char *name)
{
    prt_str text;
    PRT_TRY(prt_log_text_finish(to, &text));
    return prt_log_text_write_str(text, allocator, folder, name);
}
