# SPDX-License-Identifier: MIT
"""Exceptions of PopART, and their making from those of the library."""

import functools

import poprt


class popart_exception(Exception):
    """A mistake in a call, a model or options. ``args[0]`` is the text."""


class popart_internal_exception(popart_exception):
    """A broken invariant of the library."""


class popart_runtime_error(popart_exception):
    """A failure while a session runs."""


class poplar_exception(Exception):
    """A failure of the engine."""


class poplar_runtime_error(poplar_exception):
    """A failure of the engine during a run."""


class poplar_application_runtime_error(poplar_runtime_error):
    """The program did what it must not do, such as a division that gives no number with
    floating-point checks."""


class poplar_system_runtime_error(poplar_runtime_error):
    """A failure of the machine."""


class poplar_recoverable_runtime_error(poplar_system_runtime_error):
    """A failure after which ``recoveryAction`` helps."""

    recoveryAction = "IPU_RESET"


class poplar_unrecoverable_runtime_error(poplar_system_runtime_error):
    """A failure after which a new session is needed."""


class poplar_unknown_runtime_error(poplar_system_runtime_error):
    """A failure of unknown kind."""


class poplibs_exception(Exception):
    """A failure of the library of kernels."""


class OutOfMemoryError:
    """Tells whether preparing a session found enough memory, and reports on it."""

    def __init__(self, error=None, report="", path=""):
        self._error = error
        self._report = report
        self._path = path

    def isSuccessful(self):
        """True if there was enough memory."""
        return self._error is None

    def errorMessage(self):
        """Text of the failure."""
        return "" if self._error is None else str(self._error)

    def getSummaryReport(self):
        """Report on the memory that the program needs."""
        return self._report or self.errorMessage()

    def getProfilePath(self):
        """Path of a file with details, or ""."""
        return self._path


class OutOfMemoryException(popart_exception):
    """A program needs more memory than the device has."""

    def __init__(self, error):
        super().__init__(error.errorMessage())
        self.error = error

    def getSummaryReport(self):
        """Report on the memory that the program needs."""
        return self.error.getSummaryReport()

    def getProfilePath(self):
        """Path of a file with details, or ""."""
        return self.error.getProfilePath()


def convert(error):
    """Returns the exception of PopART for one of the library."""
    if error.status == "POPRT_E_NOMEM":
        return OutOfMemoryException(OutOfMemoryError(error))
    if error.status == "POPRT_E_INTERNAL":
        return popart_internal_exception(str(error))
    if error.stage == "run" and error.status == "POPRT_E_CANCELLED" and error.subject:
        return poplar_application_runtime_error(str(error))
    if error.stage == "run":
        return popart_runtime_error(str(error))
    return popart_exception(str(error))


class translated:
    """Context in which exceptions of the library become those of PopART."""

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if isinstance(value, poprt.Error):
            raise convert(value) from value


def translate(fn):
    """Decorator: exceptions of the library become those of PopART."""
    @functools.wraps(fn)
    def call(*args, **kwargs):
        try:
            return fn(*args, **kwargs)
        except poprt.Error as error:
            raise convert(error) from error
    return call
