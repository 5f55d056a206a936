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
    record.location[0] = '\0';
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

poprt_status prt_fail_at_location(poprt_status status, const char *location)
{
    if (status != POPRT_OK && record.location[0] == '\0')
        copy_text(record.location, sizeof(record.location), location, false);
    return status;
}

const poprt_error *prt_error_last(void)
{
    view = (poprt_error){ .struct_size = sizeof(poprt_error),
        .status = record.status,
        .stage = record.stage,
        .file = record.file,
        .subject = record.subject,
        .message = record.message,
        .location = record.location,
        .category = prt_status_category(record.status),
        .action = prt_status_recovery(record.status) };
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

/* A row of status.def. */
typedef struct row {
    const char *name;
    int32_t category, recovery;
} row;

static const row rows[] = {
#define STATUS(id, category_, recovery_)                                                           \
    [id] = { #id, POPRT_ERROR_##category_, POPRT_RECOVERY_##recovery_ },
#include "base/status.def"
};

static const row *row_of(poprt_status status)
{
    static const row unknown = { "POPRT_E_?", POPRT_ERROR_UNRECOVERABLE, POPRT_RECOVERY_NONE };
    return status >= 0 && (size_t)status < PRT_COUNT_OF(rows) ? &rows[status] : &unknown;
}

const char *prt_status_name(poprt_status status)
{
    return row_of(status)->name;
}

int32_t prt_status_category(poprt_status status)
{
    return row_of(status)->category;
}

int32_t prt_status_recovery(poprt_status status)
{
    return row_of(status)->recovery;
}
