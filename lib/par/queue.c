/* SPDX-License-Identifier: MIT */
/*
 * queue.c — a ring of items under one mutex with two conditions: `not_empty` for the thread,
 * `not_full` for threads that push or drain. `pending` counts an item until its function has
 * returned.
 */
#define _GNU_SOURCE
#include "par/queue.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"

struct prt_queue {
    const prt_allocator *allocator;
    prt_queue_fn fn;
    void *user;
    size_t item_size;
    uint32_t capacity;
    uint32_t first, count; /* the waiting items of the ring */
    uint32_t pending;      /* items waiting or running */
    bool started, stop;
    pid_t owner; /* process that owns the thread */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    unsigned char *ring;      /* capacity items, and one for the item that runs */
    void (*last)(void *user); /* not NULL: the thread frees the queue and then calls this */
    void *last_user;
};

static void destroy(prt_queue *queue)
{
    (void)pthread_cond_destroy(&queue->not_full);
    (void)pthread_cond_destroy(&queue->not_empty);
    (void)pthread_mutex_destroy(&queue->lock);
    prt_mem_free(queue->allocator, queue->ring);
    prt_mem_free(queue->allocator, queue);
}

static unsigned char *item_at(prt_queue *queue, uint32_t index)
{
    return queue->ring + (size_t)index * queue->item_size;
}

static void *work(void *arg)
{
    prt_queue *queue = arg;
    (void)pthread_setname_np(pthread_self(), "poprt-session");
    unsigned char *running = item_at(queue, queue->capacity);
    (void)pthread_mutex_lock(&queue->lock);
    for (;;) {
        while (queue->count == 0 && !queue->stop)
            (void)pthread_cond_wait(&queue->not_empty, &queue->lock);
        if (queue->count == 0)
            break;
        memcpy(running, item_at(queue, queue->first), queue->item_size);
        queue->first = (queue->first + 1) % queue->capacity;
        queue->count--;
        (void)pthread_cond_broadcast(&queue->not_full);
        (void)pthread_mutex_unlock(&queue->lock);
        queue->fn(queue->user, running);
        (void)pthread_mutex_lock(&queue->lock);
        queue->pending--;
        (void)pthread_cond_broadcast(&queue->not_full);
    }
    void (*last)(void *user) = queue->last;
    void *user = queue->last_user;
    (void)pthread_mutex_unlock(&queue->lock);
    if (last != NULL) {
        (void)pthread_detach(pthread_self());
        destroy(queue);
        last(user);
    }
    return NULL;
}

/* All signals are blocked on the thread: they belong to the host's threads. */
static poprt_status start(prt_queue *queue)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return prt_fail(POPRT_E_STATE, NULL,
            "a thread cannot be started: its signals cannot be blocked");
    const int failed = pthread_create(&queue->thread, NULL, work, queue);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0)
        return prt_fail(POPRT_E_NOMEM, NULL, "the system refused a thread");
    queue->started = true;
    return POPRT_OK;
}

static poprt_status init_locks(prt_queue *queue)
{
    if (pthread_mutex_init(&queue->lock, NULL) != 0)
        return prt_fail_nomem(sizeof(queue->lock));
    if (pthread_cond_init(&queue->not_empty, NULL) != 0) {
        (void)pthread_mutex_destroy(&queue->lock);
        return prt_fail_nomem(sizeof(queue->not_empty));
    }
    if (pthread_cond_init(&queue->not_full, NULL) != 0) {
        (void)pthread_cond_destroy(&queue->not_empty);
        (void)pthread_mutex_destroy(&queue->lock);
        return prt_fail_nomem(sizeof(queue->not_full));
    }
    queue->owner = getpid();
    return POPRT_OK;
}

/* A forked child resets the queue: no thread, no items, new locks. */
static poprt_status take_ownership(prt_queue *queue)
{
    if (queue->owner == getpid())
        return POPRT_OK;
    queue->started = false;
    queue->first = queue->count = queue->pending = 0;
    return init_locks(queue);
}

poprt_status prt_queue_create(const prt_allocator *allocator, uint32_t capacity, size_t item_size,
    prt_queue_fn fn, void *user, prt_queue **out)
{
    PRT_ASSERT(capacity > 0 && item_size > 0);
    size_t bytes = 0;
    if (!prt_size_mul((size_t)capacity + 1, item_size, &bytes))
        return prt_fail(POPRT_E_LIMIT, NULL, "a queue of %u items is too long", capacity);
    prt_queue *queue = prt_mem_alloc(allocator, sizeof(*queue));
    if (queue == NULL)
        return POPRT_E_NOMEM;
    queue->allocator = allocator;
    queue->capacity = capacity;
    queue->item_size = item_size;
    queue->fn = fn;
    queue->user = user;
    queue->ring = prt_mem_alloc(allocator, bytes);
    const poprt_status status = queue->ring != NULL ? init_locks(queue) : POPRT_E_NOMEM;
    if (status != POPRT_OK) {
        prt_mem_free(allocator, queue->ring);
        prt_mem_free(allocator, queue);
        return status;
    }
    *out = queue;
    return POPRT_OK;
}

bool prt_queue_is_inside(prt_queue *queue)
{
    if (queue->owner != getpid())
        return false;
    (void)pthread_mutex_lock(&queue->lock);
    const bool inside = queue->started && pthread_equal(pthread_self(), queue->thread);
    (void)pthread_mutex_unlock(&queue->lock);
    return inside;
}

poprt_status prt_queue_push(prt_queue *queue, const void *item)
{
    PRT_TRY(take_ownership(queue));
    (void)pthread_mutex_lock(&queue->lock);
    poprt_status status = queue->started ? POPRT_OK : start(queue);
    while (status == POPRT_OK && queue->count == queue->capacity) {
        if (pthread_equal(pthread_self(), queue->thread))
            status = prt_fail(POPRT_E_STATE, NULL,
                "the queue is full (%u) and this thread is the one that empties it",
                queue->capacity);
        else
            (void)pthread_cond_wait(&queue->not_full, &queue->lock);
    }
    if (status == POPRT_OK) {
        const uint32_t at = (queue->first + queue->count) % queue->capacity;
        memcpy(item_at(queue, at), item, queue->item_size);
        queue->count++;
        queue->pending++;
        (void)pthread_cond_signal(&queue->not_empty);
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return status;
}

poprt_status prt_queue_drain(prt_queue *queue)
{
    PRT_TRY(take_ownership(queue));
    if (prt_queue_is_inside(queue))
        return prt_fail(POPRT_E_STATE, NULL, "a queue cannot be waited for on its own thread");
    (void)pthread_mutex_lock(&queue->lock);
    while (queue->pending != 0)
        (void)pthread_cond_wait(&queue->not_full, &queue->lock);
    (void)pthread_mutex_unlock(&queue->lock);
    return POPRT_OK;
}

uint32_t prt_queue_pending(prt_queue *queue)
{
    if (queue->owner != getpid())
        return 0;
    (void)pthread_mutex_lock(&queue->lock);
    const uint32_t pending = queue->pending;
    (void)pthread_mutex_unlock(&queue->lock);
    return pending;
}

void prt_queue_release(prt_queue *queue)
{
    if (queue == NULL)
        return;
    /* A forked child has no thread to join, and must not destroy its copy of the locks. */
    if (queue->owner == getpid()) {
        (void)pthread_mutex_lock(&queue->lock);
        queue->stop = true;
        (void)pthread_cond_signal(&queue->not_empty);
        (void)pthread_mutex_unlock(&queue->lock);
        if (queue->started)
            (void)pthread_join(queue->thread, NULL);
        destroy(queue);
        return;
    }
    prt_mem_free(queue->allocator, queue->ring);
    prt_mem_free(queue->allocator, queue);
}

void prt_queue_release_inside(prt_queue *queue, void (*last)(void *user), void *user)
{
    PRT_ASSERT(prt_queue_is_inside(queue));
    (void)pthread_mutex_lock(&queue->lock);
    queue->stop = true;
    queue->last = last;
    queue->last_user = user;
    (void)pthread_mutex_unlock(&queue->lock);
}
