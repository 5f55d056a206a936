/* SPDX-License-Identifier: MIT */
/*
 * file_lock.h — a lock between processes: a file with an exclusive flock. The system ends the lock
 * when its process ends, however it ends. The holder removes the file before it unlocks it.
 */
#ifndef PRT_BASE_FILE_LOCK_H
#define PRT_BASE_FILE_LOCK_H

/* Results of prt_file_lock_take without a lock. */
enum {
    PRT_FILE_LOCK_BUSY = -1, /* another process, or another call of this one, has the lock */
    PRT_FILE_LOCK_NONE = -2  /* the file cannot be created or locked */
};

/* Takes the lock without waiting. Returns its descriptor, which prt_file_lock_release ends. */
int prt_file_lock_take(const char *path);

/* Releases a lock; does nothing for a negative number. */
void prt_file_lock_release(const char *path, int lock);

#endif
