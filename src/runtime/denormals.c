/* SPDX-License-Identifier: MIT */
/* denormals.c — sessions that take denormals for 0: on the thread of the run and on those that
 * share its work. */
#include "cpu/denormals.h"

#include "runtime/frame.h"

typedef struct flushed_work {
    prt_par_body body;
    void *arg;
} flushed_work;

static void run_flushed_item(void *arg, uint32_t index)
{
    const flushed_work *w = arg;
    const uint64_t before = prt_cpu_flush_denormals();
    w->body(w->arg, index);
    prt_cpu_restore_denormals(before);
}

/* Runs parallel work of a session, which takes denormals for 0, on the threads of `user`. */
static void run_flushed(void *user, uint32_t n, prt_par_body body, void *arg)
{
    flushed_work w = { body, arg };
    prt_par_for(user, n, run_flushed_item, &w);
}

poprt_status prt_session_set_par(prt_session *s, const prt_session_options *options)
{
    s->flush_denormals = options->flush_denormals;
    if (s->flush_denormals && !prt_cpu_can_flush_denormals())
        return prt_fail(POPRT_E_UNSUPPORTED, "flush_denormals",
            "this processor has no mode that takes denormals for 0; only 'false' is accepted");
    if (options->par == NULL)
        return POPRT_OK;
    s->par_copy = *options->par;
    s->par = &s->par_copy;
    if (s->flush_denormals && s->par_copy.run != NULL) {
        s->flushed_par = s->par_copy;
        s->par_copy.run = run_flushed;
        s->par_copy.user = &s->flushed_par;
    }
    return POPRT_OK;
}

poprt_status prt_session_run_steps(prt_session *s, uint32_t block)
{
    if (!s->flush_denormals)
        return prt_frame_run(&s->frames[block]);
    const uint64_t before = prt_cpu_flush_denormals();
    const poprt_status status = prt_frame_run(&s->frames[block]);
    prt_cpu_restore_denormals(before);
    return status;
}
