/* SPDX-License-Identifier: MIT */
/* sink.c — a buffered writer for a poprt_write_fn. */
#include "describe/sink.h"

#include <stdarg.h>
#include <stdio.h>

static void flush(prt_sink *sink)
{
    if (!sink->failed && sink->used != 0)
        sink->failed = sink->write(sink->user, sink->data, sink->used) != 0;
    sink->used = 0;
}

void prt_sink_init(prt_sink *sink, poprt_write_fn write, void *user)
{
    sink->write = write;
    sink->user = user;
    sink->used = 0;
    sink->failed = false;
}

void prt_sink_write(prt_sink *sink, const char *text, size_t size)
{
    while (size != 0 && !sink->failed) {
        const size_t left = sizeof(sink->data) - sink->used;
        const size_t n = size < left ? size : left;
        memcpy(sink->data + sink->used, text, n);
        sink->used += n;
        text += n;
        size -= n;
        if (sink->used == sizeof(sink->data))
            flush(sink);
    }
}

void prt_sink_str(prt_sink *sink, prt_str text)
{
    if (text.data != NULL)
        prt_sink_write(sink, text.data, text.size);
}

void prt_sink_name(prt_sink *sink, prt_str name, size_t width)
{
    for (size_t i = 0; i < name.size; i++)
        prt_sink_write(sink, (unsigned char)name.data[i] < 0x20 ? " " : name.data + i, 1);
    for (size_t i = name.size; i < width; i++)
        prt_sink_write(sink, " ", 1);
    if (width != 0)
        prt_sink_write(sink, " ", 1);
}

void prt_sink_print(prt_sink *sink, const char *fmt, ...)
{
    char line[PRT_SINK_LINE];
    va_list args;
    va_start(args, fmt);
    const int size = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    if (size > 0)
        prt_sink_write(sink, line, (size_t)size < sizeof(line) ? (size_t)size : sizeof(line) - 1);
}

void prt_sink_count(prt_sink *sink, uint64_t count)
{
    char digits[32];
    size_t at = sizeof(digits);
    uint32_t written = 0;
    do {
        if (written != 0 && written % 3 == 0)
            digits[--at] = ',';
        digits[--at] = (char)('0' + count % 10);
        count /= 10;
        written++;
    } while (count != 0);
    prt_sink_write(sink, digits + at, sizeof(digits) - at);
}

poprt_status prt_sink_finish(prt_sink *sink)
{
    flush(sink);
    if (sink->failed)
        return prt_fail(POPRT_E_IO, NULL, "the caller's write function returned an error");
    return POPRT_OK;
}
