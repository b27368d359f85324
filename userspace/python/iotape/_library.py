# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""libiotape by ctypes: where it is, its functions, and its failures as exceptions."""
import ctypes
import ctypes.util
import os
from ctypes import POINTER, c_char, c_char_p, c_int, c_int64, c_size_t, c_ubyte, c_uint, c_uint32, c_uint64, c_void_p

SONAME = "libiotape.so.0"
READER_PATHS = 1
NOWHERE = UNKNOWN = (1 << 64) - 1


class TraceError(Exception):
    """A failure of the library or the program; its text is their sentence.

    errno: positive errno, or None; offset_bytes: position of a damage in the file, or None
    """

    def __init__(self, sentence, errno=None, offset_bytes=None):
        super().__init__(sentence)
        self.errno = errno
        self.offset_bytes = offset_bytes


class Error(ctypes.Structure):
    _fields_ = [("code", c_int), ("offset_bytes", c_uint64), ("sentence", c_char * 1024)]

    def exception(self):
        """The failure as a TraceError."""
        offset_bytes = None if self.offset_bytes == NOWHERE else self.offset_bytes
        return TraceError(os.fsdecode(self.sentence), -self.code, offset_bytes)


class Info(ctypes.Structure):
    _fields_ = [("capture", c_ubyte * 16), ("real_ns", c_uint64), ("mono_ns", c_uint64), ("bytes", c_uint64),
                ("records", c_uint64), ("lost", c_uint64), ("missing", c_uint64), ("unknown", c_uint64),
                ("is_complete", c_uint32), ("is_torn", c_uint32)]


class OmissionOut(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("sentence", c_char_p), ("count", c_uint64), ("operations", c_uint64),
                ("bytes", c_uint64)]


class Column(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("values", c_void_p), ("known", c_void_p)]


# Result and arguments, as in <iotape/iotape.h>.
_PROTOTYPES = {
    "iotape_version": (c_char_p,),
    "iotape_kind_at": (c_void_p, c_size_t),
    "iotape_kind_name": (c_char_p, c_void_p),
    "iotape_kind_sentence": (c_char_p, c_void_p),
    "iotape_kind_group": (c_char_p, c_void_p),
    "iotape_kind_is_operation": (c_int, c_void_p),
    "iotape_field_at": (c_void_p, c_void_p, c_size_t),
    "iotape_field_name": (c_char_p, c_void_p),
    "iotape_field_sentence": (c_char_p, c_void_p),
    "iotape_field_meaning": (c_char_p, c_void_p),
    "iotape_field_unit": (c_char_p, c_void_p),
    "iotape_field_is_signed": (c_int, c_void_p),
    "iotape_record_kind": (c_void_p, c_void_p),
    "iotape_record_get_s64": (c_int, c_void_p, c_void_p, POINTER(c_int64)),
    "iotape_record_get_u64": (c_int, c_void_p, c_void_p, POINTER(c_uint64)),
    "iotape_record_set_s64": (c_int, c_void_p, c_void_p, c_int64),
    "iotape_record_set_u64": (c_int, c_void_p, c_void_p, c_uint64),
    "iotape_record_is_known": (c_int, c_void_p, c_void_p),
    "iotape_record_begin_ns": (c_uint64, c_void_p),
    "iotape_record_end_ns": (c_uint64, c_void_p),
    "iotape_record_task": (c_uint32, c_void_p),
    "iotape_record_moved_bytes": (c_uint64, c_void_p),
    "iotape_record_tail": (c_void_p, c_void_p, POINTER(c_size_t)),
    "iotape_record_text": (c_int, c_void_p, c_void_p, c_char_p, c_size_t),
    "iotape_record_tail_text": (c_int, c_void_p, c_char_p, c_size_t),
    "iotape_record_new": (c_int, c_void_p, POINTER(c_void_p)),
    "iotape_record_copy": (c_int, c_void_p, POINTER(c_void_p)),
    "iotape_record_free": (None, c_void_p),
    "iotape_reader_open": (c_int, c_char_p, c_uint, POINTER(c_void_p), POINTER(Error)),
    "iotape_reader_close": (None, c_void_p),
    "iotape_reader_record": (c_void_p, c_void_p),
    "iotape_reader_path": (c_char_p, c_void_p, POINTER(c_int)),
    "iotape_reader_columns": (c_int, c_void_p, POINTER(c_void_p), c_size_t, POINTER(Column), c_size_t, c_size_t,
                              POINTER(Error)),
    "iotape_reader_path_at": (c_char_p, c_void_p, c_uint64),
    "iotape_reader_info": (c_int, c_void_p, POINTER(Info), c_size_t),
    "iotape_reader_omission": (c_int, c_void_p, c_size_t, POINTER(OmissionOut), c_size_t),
}


def installed(name, variable):
    """The file that `make install` installed with this package, or that a variable of the environment names."""
    if os.environ.get(variable):
        return os.environ[variable]
    try:
        from . import _installed  # pylint: disable=import-outside-toplevel
    except ImportError:
        return None
    path = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), getattr(_installed, name)))
    return path if os.path.exists(path) else None


def _load():
    path = installed("LIBRARY", "IOTAPE_LIBRARY") or ctypes.util.find_library("iotape") or SONAME
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"{path}: cannot be loaded ({error}); install iotape, or set IOTAPE_LIBRARY") from None
    for name, (result, *arguments) in _PROTOTYPES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path}: has no function {name}: the library is older than this package") from None
        function.restype = result
        function.argtypes = arguments
    return library


lib = _load()


def version():
    """The version of the library in use."""
    return lib.iotape_version().decode()


def check(code):
    """Raise for a negative errno of a function without a struct iotape_error."""
    if code == -12:
        raise MemoryError
    if code < 0:
        raise TraceError(os.strerror(-code), -code)
    return code
