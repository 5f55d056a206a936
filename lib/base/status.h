/* SPDX-License-Identifier: MIT */
/*
 * status.h — failing: one call that records what happened for this thread, one macro that
 * passes it up.
 */
#ifndef PRT_BASE_STATUS_H
#define PRT_BASE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "poprt/base.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "libpoprt runs on little-endian machines only: data of its files is used as it lies"
#endif

/* Passes a failure up unchanged. The only macro that returns. */
#define PRT_TRY(expr)                                                                              \
    do {                                                                                           \
        const poprt_status prt_try_status_ = (expr);                                               \
        if (prt_try_status_ != POPRT_OK)                                                           \
            return prt_try_status_;                                                                \
    } while (0)

/*
 * A broken invariant of ours. In debug builds it stops the process at the place; release builds
 * compile it away, because no input may end the host.
 */
#ifdef PRT_DEBUG
#define PRT_ASSERT(cond) ((cond) ? (void)0 : __builtin_trap())
#else
#define PRT_ASSERT(cond) ((void)sizeof(cond))
#endif

#define PRT_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define PRT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/*
 * Records {status, subject, message} for this thread and returns `status`. Never allocates; long
 * texts are cut, control characters in them are replaced. `subject` may be NULL. Stage and file
 * are cleared: the callers that know them add them on the way up.
 */
poprt_status prt_fail(poprt_status status, const char *subject, const char *fmt, ...)
    PRT_PRINTF(3, 4);

/* The same for a message of several lines, whose parts prt_fail has seen to. */
poprt_status prt_fail_lines(poprt_status status, const char *subject, const char *fmt, ...)
    PRT_PRINTF(3, 4);

/* Out of memory for `size` bytes. */
poprt_status prt_fail_nomem(size_t size);

/* Adds the stage, the file or the subject to the recorded failure unless one is there already;
 * returns `status`. */
poprt_status prt_fail_at_stage(poprt_status status, const char *stage);
poprt_status prt_fail_in_file(poprt_status status, const char *file);
poprt_status prt_fail_about(poprt_status status, const char *subject);

/* The record of this thread, as poprt_last_error gives it. */
const poprt_error *prt_error_last(void);

/* Puts a saved record back, for errors that come from another thread or must survive a clean-up. */
typedef struct prt_error_copy {
    poprt_status status;
    char stage[32];
    char file[256];
    char subject[256];
    char message[2048];
} prt_error_copy;
void prt_error_save(prt_error_copy *copy);
void prt_error_restore(const prt_error_copy *copy);

const char *prt_status_name(poprt_status status);

#endif
