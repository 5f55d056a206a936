/* SPDX-License-Identifier: MIT */
/*
 * queue.h — a bounded queue with one thread of its own behind it: items are handed to a function
 * in the order they came. Any thread may push.
 *
 * After fork the child has the queue but not its thread: what was queued belongs to the parent, and
 * the child's first push starts a thread of its own.
 */
#ifndef PRT_PAR_QUEUE_H
#define PRT_PAR_QUEUE_H

#include "base/mem.h"

typedef struct prt_queue prt_queue;

/* Called on the queue's thread with a copy of the item. */
typedef void (*prt_queue_fn)(void *user, const void *item);

/* `capacity` items of `item_size` bytes may wait. The thread starts with the first push. */
poprt_status prt_queue_create(const prt_allocator *allocator, uint32_t capacity, size_t item_size,
    prt_queue_fn fn, void *user, prt_queue **out);

/* Copies `item`; waits while the queue is full. From the queue's own thread a full queue is
 * POPRT_E_STATE, because nobody else could make room. */
poprt_status prt_queue_push(prt_queue *queue, const void *item);

/* Waits until nothing is queued and nothing runs; POPRT_E_STATE from the queue's own thread. */
poprt_status prt_queue_drain(prt_queue *queue);

/* Items queued or running. */
uint32_t prt_queue_pending(prt_queue *queue);

/* True on the queue's own thread. */
bool prt_queue_is_inside(prt_queue *queue);

/* Finishes what is queued, ends the thread. Not from the queue's own thread. NULL is allowed. */
void prt_queue_release(prt_queue *queue);

/* The same from the queue's own thread, which cannot wait for itself: returns at once. When the
 * items that are queued have run, the thread frees the queue, calls `last` and ends; nobody joins
 * it. */
void prt_queue_release_inside(prt_queue *queue, void (*last)(void *user), void *user);

#endif
