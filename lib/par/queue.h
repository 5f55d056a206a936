/* SPDX-License-Identifier: MIT */
/*
 * queue.h — a bounded queue with a thread of its own, which passes the items to a function in the
 * order of arrival. Any thread may push.
 *
 * After fork the child has the queue but not its thread. The queued items belong to the parent, and
 * the child's first push starts a thread of its own.
 */
#ifndef PRT_PAR_QUEUE_H
#define PRT_PAR_QUEUE_H

#include "base/mem.h"

typedef struct prt_queue prt_queue;

/* The function, called on the queue's thread with a copy of the item. */
typedef void (*prt_queue_fn)(void *user, const void *item);

/* Creates a queue with a capacity of `capacity` waiting items of `item_size` bytes. The thread
 * starts with the first push. */
poprt_status prt_queue_create(const prt_allocator *allocator, uint32_t capacity, size_t item_size,
    prt_queue_fn fn, void *user, prt_queue **out);

/* Copies `item` into the queue, and waits while the queue is full. On the queue's own thread a full
 * queue is POPRT_E_STATE, because no other thread empties it. */
poprt_status prt_queue_push(prt_queue *queue, const void *item);

/* Waits until all items have run; POPRT_E_STATE on the queue's own thread. */
poprt_status prt_queue_drain(prt_queue *queue);

/* Returns the number of items queued or running. */
uint32_t prt_queue_pending(prt_queue *queue);

/* Returns true on the queue's own thread. */
bool prt_queue_is_inside(prt_queue *queue);

/* Runs the queued items, ends the thread and frees the queue. Not to be called on the queue's own
 * thread. NULL is allowed. */
void prt_queue_release(prt_queue *queue);

/* The same for the queue's own thread, which cannot wait for itself: returns at once. After the
 * queued items have run, the thread frees the queue, calls `last` and ends; it is detached. */
void prt_queue_release_inside(prt_queue *queue, void (*last)(void *user), void *user);

#endif
