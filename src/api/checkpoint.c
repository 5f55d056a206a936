/* SPDX-License-Identifier: MIT */
/*
 * checkpoint.c — files of a session: checkpoints, variables, and its executable. The order of
 * writing keeps the last checkpoint, or the one before, loadable at every moment:
 *
 *     1. the new file is written under a temporary name and synced
 *     2. the old file gets a second name, PATH.0, if older files are kept
 *     3. the new file is renamed to PATH
 *     4. PATH.1 becomes PATH.2 and so on, then PATH.0 becomes PATH.1
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "api/handles.h"
#include "api/target.h"
#include "base/file.h"
#include "poprt/train.h"

enum { MOST_KEPT = 1000 };

/* Calls `use` with a file and a number while the session is locked. */
static poprt_status with_file(poprt_session *session, const char *path, int32_t number,
    poprt_status (*use)(poprt_session *session, const char *path, int32_t number),
    const char *stage)
{
    PRT_TRY(prt_lock_session(session));
    const poprt_status status = use(session, path, number);
    prt_unlock_session(session);
    return prt_fail_in_file(prt_fail_at_stage(status, stage), path);
}

static poprt_status check_variables(const poprt_session *session)
{
    if (session->exec->program->n_variables != 0)
        return POPRT_OK;
    return prt_fail(POPRT_E_STATE, session->exec->file,
        "the executable has no variables; compile it by poprt_compile_training, or with the option "
        "constant_weights=false");
}

/* Returns `path`.`number`; NULL without memory. */
static char *numbered(const prt_allocator *allocator, const char *path, int32_t number)
{
    const size_t size = strlen(path) + 16;
    char *text = prt_mem_alloc(allocator, size);
    if (text != NULL)
        (void)snprintf(text, size, "%s.%d", path, number);
    return text;
}

static poprt_status move(const prt_allocator *allocator, const char *path, int32_t from, int32_t to)
{
    char *old = numbered(allocator, path, from), *now = numbered(allocator, path, to);
    poprt_status status = old != NULL && now != NULL ? POPRT_OK : POPRT_E_NOMEM;
    if (status == POPRT_OK && rename(old, now) != 0 && errno != ENOENT)
        status = prt_file_fail(errno, now, "rename the file to");
    prt_mem_free(allocator, old);
    prt_mem_free(allocator, now);
    return status;
}

/* Gives the present checkpoint the second name PATH.0; there may be none. */
static poprt_status keep_present(const prt_allocator *allocator, const char *path)
{
    char *second = numbered(allocator, path, 0);
    if (second == NULL)
        return POPRT_E_NOMEM;
    poprt_status status = POPRT_OK;
    (void)unlink(second);
    if (link(path, second) != 0 && errno != ENOENT)
        status = prt_file_fail(errno, second, "link the last checkpoint as");
    prt_mem_free(allocator, second);
    return status;
}

static poprt_status shift(const prt_allocator *allocator, const char *path, int32_t keep)
{
    for (int32_t i = keep; i > 0; i--)
        PRT_TRY(move(allocator, path, i - 1, i));
    return POPRT_OK;
}

static poprt_status save(poprt_session *session, const char *path, int32_t keep)
{
    const prt_allocator *allocator = &session->env->allocator;
    prt_file_writer *writer = NULL;
    PRT_TRY(check_variables(session));
    PRT_TRY(prt_file_writer_create(allocator, path, &writer));
    poprt_status status =
        prt_session_write_checkpoint(session->session, prt_file_writer_sink, writer);
    if (status == POPRT_OK && keep > 0)
        status = keep_present(allocator, path);
    PRT_TRY(prt_file_writer_finish(writer, status));
    return shift(allocator, path, keep);
}

poprt_status poprt_session_save_checkpoint(poprt_session *session, const char *path, int32_t keep)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(path);
    if (keep < 0 || keep > MOST_KEPT)
        return prt_fail(POPRT_E_ARG, "keep", "is %d; accepted: 0 to %d", keep, MOST_KEPT);
    return with_file(session, path, keep, save, "checkpoint");
}

/* ---- variables alone */

static poprt_status save_variables(poprt_session *session, const char *path, int32_t unused)
{
    (void)unused;
    const prt_allocator *allocator = &session->env->allocator;
    prt_file_writer *writer = NULL;
    char *file = NULL;
    PRT_TRY(check_variables(session));
    PRT_TRY(prt_target_file(session->env, path, "variables.popef", true, &file));
    poprt_status status = prt_file_writer_create(allocator, file, &writer);
    if (status == POPRT_OK) {
        status = prt_session_write_variables(session->session, prt_file_writer_sink, writer);
        status = prt_file_writer_finish(writer, status);
    }
    prt_mem_free(allocator, file);
    return status;
}

poprt_status poprt_session_save_variables(poprt_session *session, const char *path)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(path);
    return with_file(session, path, 0, save_variables, "variables");
}

static poprt_status load_variables(poprt_session *session, const char *path, int32_t unused)
{
    (void)unused;
    const prt_allocator *allocator = &session->env->allocator;
    prt_blob *blob = NULL;
    char *file = NULL;
    PRT_TRY(check_variables(session));
    PRT_TRY(prt_target_file(session->env, path, "variables.popef", false, &file));
    poprt_status status = prt_file_map(allocator, file, &blob);
    if (status == POPRT_OK)
        status = prt_session_read_variables(session->session, blob);
    if (status == POPRT_OK)
        prt_session_changed(session);
    prt_blob_release(blob);
    prt_mem_free(allocator, file);
    return status;
}

poprt_status poprt_session_load_variables(poprt_session *session, const char *path)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(path);
    return with_file(session, path, 0, load_variables, "variables");
}

/* ---- the executable */

poprt_status prt_session_save_as(poprt_session *session, const char *file, int32_t parts)
{
    prt_file_writer *writer = NULL;
    PRT_TRY(prt_file_writer_create(&session->env->allocator, file, &writer));
    const poprt_status status =
        prt_session_write_program(session->session, (parts & POPRT_SAVE_VARIABLES) != 0,
            (parts & POPRT_SAVE_METADATA) == 0, prt_file_writer_sink, writer);
    return prt_file_writer_finish(writer, status);
}

static poprt_status save_executable(poprt_session *session, const char *path, int32_t parts)
{
    char *file = NULL;
    PRT_TRY(prt_target_file(session->env, path, "executable.popef", true, &file));
    const poprt_status status = prt_session_save_as(session, file, parts);
    prt_mem_free(&session->env->allocator, file);
    return status;
}

poprt_status poprt_session_save_executable(poprt_session *session, const char *path, int32_t parts)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(path);
    if ((parts & ~(POPRT_SAVE_METADATA | POPRT_SAVE_VARIABLES)) != 0)
        return prt_fail(POPRT_E_ARG, "parts",
            "is %d; accepted: 0, POPRT_SAVE_METADATA, POPRT_SAVE_VARIABLES, or their sum", parts);
    return with_file(session, path, parts, save_executable, "write");
}

/* ---- reading a checkpoint */

static poprt_status load(poprt_session *session, const char *path, int32_t unused)
{
    (void)unused;
    prt_blob *file = NULL;
    PRT_TRY(check_variables(session));
    PRT_TRY(prt_file_map(&session->env->allocator, path, &file));
    prt_session_counters own;
    prt_session_progress(session->session, &own);
    const poprt_status status = prt_session_read_checkpoint(session->session, file);
    if (status == POPRT_OK && session->keeps_random_state)
        prt_session_set_seed(session->session, own.seed, own.micro_batches);
    if (status == POPRT_OK)
        prt_session_changed(session);
    prt_blob_release(file);
    return status;
}

poprt_status poprt_session_load_checkpoint(poprt_session *session, const char *path)
{
    PRT_REQUIRE(session);
    PRT_REQUIRE(path);
    return with_file(session, path, 0, load, "checkpoint");
}
