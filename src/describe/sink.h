/* SPDX-License-Identifier: MIT */
/*
 * sink.h — a buffered writer of text for a caller's poprt_write_fn. Errors are sticky: after the
 * caller has refused a piece, every call is a no-op, and prt_sink_finish reports the error.
 */
#ifndef PRT_DESCRIBE_SINK_H
#define PRT_DESCRIBE_SINK_H

#include "base/str.h"

enum { PRT_SINK_SIZE = 4096, PRT_SINK_LINE = 1024 };

typedef struct prt_sink {
    poprt_write_fn write;
    void *user;
    size_t used;
    bool failed;
    char data[PRT_SINK_SIZE];
} prt_sink;

void prt_sink_init(prt_sink *sink, poprt_write_fn write, void *user);
void prt_sink_write(prt_sink *sink, const char *text, size_t size);
void prt_sink_str(prt_sink *sink, prt_str text);
/* Writes a name or text of a file on one line: control characters become spaces. Pads it with
 * spaces to `width` bytes and adds a space, unless `width` is 0. */
void prt_sink_name(prt_sink *sink, prt_str name, size_t width);
/* Writes formatted text of at most PRT_SINK_LINE bytes; the rest is cut off. Must not be used for
 * floating point, whose format depends on the locale. */
void prt_sink_print(prt_sink *sink, const char *fmt, ...) PRT_PRINTF(2, 3);
/* Writes a count with commas between thousands. */
void prt_sink_count(prt_sink *sink, uint64_t count);
poprt_status prt_sink_finish(prt_sink *sink);

#endif
