/* SPDX-License-Identifier: MIT */
/*
 * status.c — the error record of a thread.
 *
 * The record is a thread-local block of fixed size without destructor: recording a failure never
 * allocates, and an ending thread releases nothing.
 */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local prt_error_copy record;
static _Thread_local poprt_error view;

/* Copies text, cut to fit. Control characters are replaced, so that a name cannot begin a line of a
 * log; with `lines` (base/report.h), line feeds are kept. */
static void copy_text(char *to, size_t size, const char *from, bool lines)
{
    size_t n = 0;
    if (from != NULL)
        for (; n + 1 < size && from[n] != '\0'; n++) {
            const unsigned char ch = (unsigned char)from[n];
            to[n] = ch >= 0x20 || (ch == '\n' && lines) ? from[n] : ch == '\n' ? ' ' : '?';
        }
    to[n] = '\0';
}

static poprt_status fail(poprt_status status, const char *subject, bool lines, const char *fmt,
    va_list args)
{
    char message[sizeof(record.message)];
    if (vsnprintf(message, sizeof(message), fmt, args) < 0)
        message[0] = '\0';
    char name[sizeof(record.subject)];
    copy_text(name, sizeof(name), subject, false);
    record.status = status;
    record.stage[0] = '\0';
    record.file[0] = '\0';
    memcpy(record.subject, name, sizeof(name));
    copy_text(record.message, sizeof(record.message), message, lines);
    return status;
}

poprt_status prt_fail(poprt_status status, const char *subject, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)fail(status, subject, false, fmt, args);
    va_end(args);
    return status;
}

poprt_status prt_fail_lines(poprt_status status, const char *subject, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)fail(status, subject, true, fmt, args);
    va_end(args);
    return status;
}

poprt_status prt_fail_nomem(size_t size)
{
    return prt_fail(POPRT_E_NOMEM, NULL, "no memory for %zu bytes", size);
}

poprt_status prt_fail_at_stage(poprt_status status, const char *stage)
{
    if (status != POPRT_OK && record.stage[0] == '\0')
        copy_text(record.stage, sizeof(record.stage), stage, false);
    return status;
}

poprt_status prt_fail_in_file(poprt_status status, const char *file)
{
    if (status != POPRT_OK && record.file[0] == '\0')
        copy_text(record.file, sizeof(record.file), file, false);
    return status;
}

poprt_status prt_fail_about(poprt_status status, const char *subject)
{
    if (status != POPRT_OK && record.subject[0] == '\0')
        copy_text(record.subject, sizeof(record.subject), subject, false);
    return status;
}

const poprt_error *prt_error_last(void)
{
    view = (poprt_error){ .struct_size = sizeof(poprt_error),
        .status = record.status,
        .stage = record.stage,
        .file = record.file,
        .subject = record.subject,
        .message = record.message };
    return &view;
}

void prt_error_save(prt_error_copy *copy)
{
    *copy = record;
}

void prt_error_restore(const prt_error_copy *copy)
{
    record = *copy;
}

const char *prt_status_name(poprt_status status)
{
    static const char *const names[] = { "POPRT_OK", "POPRT_E_NOMEM", "POPRT_E_ARG",
        "POPRT_E_STATE", "POPRT_E_PARSE", "POPRT_E_UNSUPPORTED", "POPRT_E_TYPE", "POPRT_E_SHAPE",
        "POPRT_E_LIMIT", "POPRT_E_IO", "POPRT_E_VERSION", "POPRT_E_NOT_FOUND", "POPRT_E_DEVICE",
        "POPRT_E_PLUGIN", "POPRT_E_CANCELLED", "POPRT_E_INTERNAL" };
    if (status < 0 || (size_t)status >= PRT_COUNT_OF(names))
        return "POPRT_E_?";
    return names[status];
}
