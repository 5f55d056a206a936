# SPDX-License-Identifier: MIT
"""Exceptions. Each failure of the library is a poprt.Error, and also an exception of the Python
class that fits, so that ``except ValueError`` and ``except OSError`` work as usual."""


class Error(RuntimeError):
    """A failure of the library.

    ``status`` is the name of the status code (``"POPRT_E_SHAPE"``), ``stage`` the kind of work
    (``"compile"``), ``file`` and ``subject`` what it concerned, ``message`` one sentence, and
    ``location`` the place of the node in the program that made the model. Unknown parts are "".
    """

    def __init__(self, status, stage, file, subject, message, location=""):
        self.status = status
        self.stage = stage
        self.file = file
        self.subject = subject
        self.message = message
        self.location = location
        parts = [part for part in (file, subject) if part]
        text = ": ".join(parts + [message])
        if location:
            text += f" ({location})"
        # Bases such as OSError and KeyError would print their arguments in another way.
        super().__init__(text)
        self._text = text

    def __str__(self):
        return self._text

    def __reduce__(self):
        return (type(self), (self.status, self.stage, self.file, self.subject, self.message,
                             self.location))


class InvalidArgument(Error, ValueError):
    """An argument, a type or a shape is wrong."""


class NotFound(Error, KeyError):
    """There is no such name, file or entry."""


class ParseError(Error, ValueError):
    """Bytes from outside do not follow their format."""


class Unsupported(Error, NotImplementedError):
    """Well formed, but not supported."""


class VersionError(Error):
    """Made by or for another version."""


class LimitError(Error, ValueError):
    """A stated bound is exceeded."""


class Cancelled(Error):
    """Stopped because the caller asked for it."""


class PluginError(Error):
    """A plug-in failed or does not fit."""


class StateError(Error):
    """The call is valid, but not in the present state of the object."""


class FileError(Error, OSError):
    """The operating system refused a file operation."""


class OutOfMemory(Error, MemoryError):
    """The allocator refused, or a limit of memory was reached."""


_CLASSES = {
    "POPRT_E_NOMEM": OutOfMemory,
    "POPRT_E_ARG": InvalidArgument,
    "POPRT_E_STATE": StateError,
    "POPRT_E_PARSE": ParseError,
    "POPRT_E_UNSUPPORTED": Unsupported,
    "POPRT_E_TYPE": InvalidArgument,
    "POPRT_E_SHAPE": InvalidArgument,
    "POPRT_E_LIMIT": LimitError,
    "POPRT_E_IO": FileError,
    "POPRT_E_VERSION": VersionError,
    "POPRT_E_NOT_FOUND": NotFound,
    "POPRT_E_CANCELLED": Cancelled,
    "POPRT_E_PLUGIN": PluginError,
}


def make(status, stage, file, subject, message, location):
    """Returns the exception of a failure. ``file`` is bytes, as the system has it."""
    import os
    return _CLASSES.get(status, Error)(status, stage, os.fsdecode(file),
                                       subject, message, location)
