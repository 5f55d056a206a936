# SPDX-License-Identifier: MIT
"""Futures of runs that can be awaited as well."""

import asyncio
import concurrent.futures
import threading


class Future(concurrent.futures.Future):
    """A concurrent.futures.Future that can be awaited in any event loop."""

    def __await__(self):
        return asyncio.wrap_future(self).__await__()


class Pool:
    """One thread that makes calls in order. It starts with the first call."""

    def __init__(self):
        import queue
        self._queue = queue.SimpleQueue()
        self._thread = None
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, fn, *args):
        """Queues a call and returns its Future."""
        future = Future()
        with self._lock:
            if self._closed:
                raise ValueError("the session is closed")
            if self._thread is None or not self._thread.is_alive():  # also after a fork
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()
            self._queue.put((future, fn, args))
        return future

    def _work(self):
        while True:
            item = self._queue.get()
            if item is None:
                return
            future, fn, args = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(fn(*args))
            except BaseException as error:  # every exception belongs to the caller
                future.set_exception(error)
            del future, item, args

    def shutdown(self):
        """Waits for the queued calls, and ends the thread."""
        with self._lock:
            self._closed = True
            if self._thread is not None and self._thread.is_alive():
                self._queue.put(None)
                thread = self._thread
            else:
                return
        if thread is not threading.current_thread():
            thread.join()
