# SPDX-License-Identifier: Apache-2.0
"""What hoist raises: one class a status, with the library's text."""


class Error(Exception):
    """A call of the library failed. str() is "where: message (hint)".

    code: the status, a number of hoist_status_t; name: its name, such as "HOIST_ERROR_BUSY";
    message: what happened, to which object; where: the call that failed; hint: what would do, or "".
    """

    def __init__(self, code: int, name: str, message: str, where: str, hint: str):
        super().__init__(f"{where}: {message} ({hint})" if hint else f"{where}: {message}")
        self.code = code
        self.name = name
        self.message = message
        self.where = where
        self.hint = hint

    def __reduce__(self):
        return type(self), (self.code, self.name, self.message, self.where, self.hint)


class InvalidArgumentError(Error, ValueError):
    """An argument, option or name has a value that cannot be."""


class InvalidStateError(Error):
    """The object is not in a state that allows the call."""


class NotFoundError(Error, LookupError):
    """No device, unit, tensor, file or name like that."""


class AlreadyExistsError(Error):
    """A name is taken, or the thing was done before."""


class UnsupportedError(Error):
    """This device or build cannot do it."""


class OutOfMemoryError(Error, MemoryError):
    """Host, pinned or device memory was refused."""


class InfeasibleError(Error):
    """No plan fits the budget; the text names one that would do."""


class BusyError(Error):
    """Another thread is inside the same object."""


class OrderError(Error):
    """Calls or ops came in an order that is not allowed."""


class StaleError(Error):
    """The bytes asked for are gone or older than the live ones."""


class ForkedError(Error):
    """The handle belongs to the parent process."""


class IoError(Error):
    """The operating system refused a file operation."""


class CorruptError(Error):
    """A file or document contradicts itself or its format."""


class InvalidPlanError(Error):
    """A plan breaks the rules of execution."""


class DeviceError(Error):
    """The device reported a failure."""


class AbortedError(Error):
    """Given up on request or at a time limit."""


class InternalError(Error):
    """A defect of hoist itself; please report it."""


def _make(code: int, name: str, message: str, where: str, hint: str) -> Error:
    """The exception for a status: HOIST_ERROR_NOT_FOUND makes a NotFoundError, an unknown one an Error."""
    words = name.removeprefix("HOIST_ERROR_").split("_")
    kind = globals().get("".join(word.capitalize() for word in words) + "Error", Error)
    return kind(code, name, message, where, hint)
