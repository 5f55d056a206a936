/* SPDX-License-Identifier: MIT */
/*
 * status.h — errors: one call records a failure for this thread, one macro returns it to the
 * caller.
 */
#ifndef PRT_BASE_STATUS_H
#define PRT_BASE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "poprt/base.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "libpoprt runs on little-endian machines only: data of its files is used as it lies"
#endif

/* Returns a failure to the caller unchanged. This is the only macro that returns. */
#define PRT_TRY(expr)                                                                              \
    do {                                                                                           \
        const poprt_status prt_try_status_ = (expr);                                               \
        if (prt_try_status_ != POPRT_OK)                                                           \
            return prt_try_status_;                                                                \
    } while (0)

/*
 * Checks an invariant of the library. A debug build stops the process at the place; a release build
 * compiles the check away, because no input may end the host.
 */
#ifdef PRT_DEBUG
#define PRT_ASSERT(cond) ((cond) ? (void)0 : __builtin_trap())
#else
#define PRT_ASSERT(cond) ((void)sizeof(cond))
#endif

#define PRT_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define PRT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/*
 * Records {status, subject, message} for this thread and returns `status`. It never allocates. Long
 * texts are cut, and control characters are replaced. `subject` may be NULL. Stage and file are
 * cleared; the callers that know them add them on the way up.
 */
poprt_status prt_fail(poprt_status status, const char *subject, const char *fmt, ...)
    PRT_PRINTF(3, 4);

/* The same for a message of several lines, each of which prt_fail has sanitised. */
poprt_status prt_fail_lines(poprt_status status, const char *subject, const char *fmt, ...)
    PRT_PRINTF(3, 4);

/* Records that there is no memory for `size` bytes; returns POPRT_E_NOMEM. */
poprt_status prt_fail_nomem(size_t size);

/* Add the stage, the file or the subject to the recorded failure unless it has one already. Return
 * `status`. */
poprt_status prt_fail_at_stage(poprt_status status, const char *stage);
poprt_status prt_fail_in_file(poprt_status status, const char *file);
poprt_status prt_fail_about(poprt_status status, const char *subject);
/* The same for the place of the subject in the user's program; "" and NULL: unknown. */
poprt_status prt_fail_at_location(poprt_status status, const char *location);

/* Returns this thread's record, as poprt_last_error does. */
const poprt_error *prt_error_last(void);

/* Saves and restores a record: for an error of another thread, or one that must survive a
 * clean-up. */
typedef struct prt_error_copy {
    poprt_status status;
    char stage[32];
    char file[256];
    char subject[256];
    char location[256];
    char message[2048];
} prt_error_copy;
void prt_error_save(prt_error_copy *copy);
void prt_error_restore(const prt_error_copy *copy);

const char *prt_status_name(poprt_status status);
/* Return the POPRT_ERROR_* and the POPRT_RECOVERY_* of a status. */
int32_t prt_status_category(poprt_status status);
int32_t prt_status_recovery(poprt_status status);

#endif
