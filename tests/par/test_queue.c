/* SPDX-License-Identifier: MIT */
/* test_queue.c — a bounded queue whose items run in order on its thread. */
#define _DEFAULT_SOURCE
#include "par/queue.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/check_main.h"
#include "support/thread_names.h"

enum { ITEMS = 1000 };

typedef struct seen {
    prt_queue *queue;
    _Atomic uint32_t count;
    uint32_t order[ITEMS];
    long wait_ns;
    poprt_status drain, push;
} seen;

static void note_item(void *user, const void *item)
{
    seen *s = user;
    const struct timespec wait = { .tv_nsec = s->wait_ns };
    uint32_t value;
    memcpy(&value, item, sizeof(value));
    if (s->wait_ns != 0)
        (void)nanosleep(&wait, NULL);
    s->order[atomic_fetch_add(&s->count, 1)] = value;
}

static prt_queue *create_queue(seen *s, uint32_t capacity)
{
    ck_assert_int_eq(prt_queue_create(NULL, capacity, sizeof(uint32_t), note_item, s, &s->queue),
        0);
    return s->queue;
}

START_TEST(items_run_in_order)
{
    static seen s;
    prt_queue *q = create_queue(&s, 3);
    for (uint32_t i = 0; i < ITEMS; i++)
        ck_assert_int_eq(prt_queue_push(q, &i), POPRT_OK);
    ck_assert_int_eq(prt_queue_drain(q), POPRT_OK);
    ck_assert_uint_eq(prt_queue_pending(q), 0);
    ck_assert_uint_eq(s.count, ITEMS);
    for (uint32_t i = 0; i < ITEMS; i++)
        ck_assert_uint_eq(s.order[i], i);
    prt_queue_release(q);
}
END_TEST

START_TEST(release_finishes_queued_items)
{
    static seen s = { .wait_ns = 1000000 };
    prt_queue *q = create_queue(&s, 8);
    for (uint32_t i = 0; i < 8; i++)
        ck_assert_int_eq(prt_queue_push(q, &i), POPRT_OK);
    prt_queue_release(q);
    ck_assert_uint_eq(s.count, 8);
    prt_queue_release(NULL);
}
END_TEST

START_TEST(unused_queues_have_no_thread)
{
    static seen s;
    prt_queue *q = create_queue(&s, 1);
    ck_assert_int_eq(prt_queue_drain(q), POPRT_OK);
    ck_assert(!prt_queue_is_inside(q));
    prt_queue_release(q);
}
END_TEST

static void push_to_full_queue(void *user, const void *item)
{
    seen *s = user;
    ck_assert(prt_queue_is_inside(s->queue));
    s->drain = prt_queue_drain(s->queue);
    uint32_t value;
    memcpy(&value, item, sizeof(value));
    if (value == 0)
        while (s->push == POPRT_OK) {
            const uint32_t more = 1;
            s->push = prt_queue_push(s->queue, &more);
        }
    atomic_fetch_add(&s->count, 1);
}

START_TEST(the_queues_own_thread_does_not_wait_for_itself)
{
    static seen s;
    const uint32_t zero = 0;
    ck_assert_int_eq(prt_queue_create(NULL, 4, sizeof(uint32_t), push_to_full_queue, &s, &s.queue),
        0);
    ck_assert_int_eq(prt_queue_push(s.queue, &zero), POPRT_OK);
    ck_assert_int_eq(prt_queue_drain(s.queue), POPRT_OK);
    ck_assert_int_eq(s.push, POPRT_E_STATE);
    ck_assert_int_eq(s.drain, POPRT_E_STATE);
    ck_assert_uint_eq(s.count, 5);
    prt_queue_release(s.queue);
}
END_TEST

START_TEST(a_forked_child_starts_a_new_thread)
{
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
    return; /* as in tests/api/test_threads.c */
#endif
    static seen s;
    int how = 0;
    prt_queue *q = create_queue(&s, 4);
    const uint32_t one = 1;
    ck_assert_int_eq(prt_queue_push(q, &one), POPRT_OK);
    ck_assert_int_eq(prt_queue_drain(q), POPRT_OK);
    const pid_t pid = fork();
    if (pid == 0) {
        const bool good =
            prt_queue_push(q, &one) == POPRT_OK && prt_queue_drain(q) == POPRT_OK && s.count == 2;
        prt_queue_release(q);
        _exit(good ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &how, 0), pid);
    ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    prt_queue_release(q);
}
END_TEST

START_TEST(the_thread_has_a_name)
{
    static seen s;
    prt_queue *q = create_queue(&s, 4);
    const uint32_t one = 1;
    ck_assert_int_eq(prt_queue_push(q, &one), POPRT_OK);
    ck_assert_int_eq(prt_queue_drain(q), POPRT_OK);
    ck_assert(thread_exists("poprt-session"));
    prt_queue_release(q);
}
END_TEST

PRT_TEST_MAIN("par/queue", items_run_in_order, release_finishes_queued_items,
    unused_queues_have_no_thread, the_queues_own_thread_does_not_wait_for_itself,
    a_forked_child_starts_a_new_thread, the_thread_has_a_name)
