"""The table for copies, fills, reductions and descriptors."""

import acl
import numpy
from case import Case, fails, gives
from constants import *  # noqa: F403
from world import BYTES, good

rt = acl.rt
HALF = BYTES // 2


def linear(rule, change, answer):
    """The same row for memcpy and memcpy_async: `change` gives (dst, dest_max, src, count, kind)."""
    return [
        Case(rule, rt.memcpy, change, answer),
        Case(rule, rt.memcpy_async, lambda w: (*change(w), w.stream), answer),
    ]


COPIES = [
    *linear("copy-1: a count of 0 is success before any other check", lambda w: (0, 0, 0, 0, 99), OK),
    *linear("a NULL destination", lambda w: (0, BYTES, w.pinned, BYTES, H2D), INVALID_PARAM),
    *linear("a NULL source", lambda w: (w.device, BYTES, 0, BYTES, H2D), INVALID_PARAM),
    *linear("more than dest_max", lambda w: (w.device, HALF, w.pinned, BYTES, H2D), RT_PARAM_INVALID),
    *linear("a kind that is none", lambda w: (w.device, BYTES, w.pinned, BYTES, 99), INVALID_PARAM),
    *linear("a negative kind", lambda w: (w.device, BYTES, w.pinned, BYTES, -1), INVALID_PARAM),
    *linear("copy-6: past the end of the destination", lambda w: (w.device, 2 * BYTES, w.pinned, BYTES + 64, H2D),
            RT_PARAM_INVALID),
    *linear("copy-6: up to the end", lambda w: (w.device + HALF, HALF, w.pinned, HALF, H2D), OK),
    *linear("pinned to device", lambda w: (w.device, BYTES, w.pinned, BYTES, H2D), OK),
    *linear("device to pinned", lambda w: (w.pinned, BYTES, w.device, BYTES, D2H), OK),
    *linear("device to device", lambda w: (w.device, BYTES, w.device2, BYTES, D2D), OK),
    *linear("pageable to device", lambda w: (w.device, BYTES, w.pageable, BYTES, H2D), OK),
    *linear("a kind that is a number of numpy", lambda w: (w.device, BYTES, w.pinned, BYTES, numpy.int64(H2D)), OK),
    *linear("a size that is a number of numpy", lambda w: (w.device, numpy.int64(BYTES), w.pinned, BYTES, H2D), TypeError),
    *linear("kind DEFAULT", lambda w: (w.device, BYTES, w.pinned, BYTES, ANY_KIND), OK),
    *linear("copy-13: equal addresses", lambda w: (w.device, BYTES, w.device, BYTES, D2D), OK),
    *linear("pointers wrap as in pyACL", lambda w: (w.device - 2**64, BYTES, w.pinned, BYTES, H2D), OK),
    *linear("a size that wraps is too large", lambda w: (w.device, BYTES, w.pinned, -1, H2D), RT_PARAM_INVALID),
    Case("copy-2: pageable to device, kind HOST_TO_HOST", rt.memcpy_async,
         lambda w: (w.device, BYTES, w.pageable, BYTES, H2H, w.stream), RT_PARAM_INVALID),
    Case("copy-2: pageable to device, kind DEVICE_TO_HOST", rt.memcpy_async,
         lambda w: (w.device, BYTES, w.pageable, BYTES, D2H, w.stream), RT_PARAM_INVALID),
    Case("copy-2: a known direction takes kind 0", rt.memcpy_async,
         lambda w: (w.device, BYTES, w.pinned, BYTES, H2H, w.stream), OK),
    Case("copy-3: host to host", rt.memcpy_async, lambda w: (w.pinned, HALF, w.pinned + HALF, HALF, H2H, w.stream),
         FEATURE_NOT_SUPPORT),
    Case("copy-3: memcpy does it", rt.memcpy, lambda w: (w.pinned, HALF, w.pinned + HALF, HALF, H2H), OK),
    Case("copy-5: the addresses decide", rt.memcpy, lambda w: (w.device, BYTES, w.pinned, BYTES, D2H), OK),
    Case("copy-10: HOST_TO_BUF_TO_DEVICE", rt.memcpy_async,
         lambda w: (w.device, 64, w.pinned, 64, H2BUF2D, w.stream), OK),
    Case("copy-12: memory that nothing is mapped to", rt.memcpy, lambda w: (w.device, 8, 4096, 8, H2D),
         RT_PARAM_INVALID),
    Case("stream 0 is the default stream", rt.memcpy_async, lambda w: (w.device, BYTES, w.pinned, BYTES, H2D, 0), OK),
    Case("a stream that is none", rt.memcpy_async, lambda w: (w.device, BYTES, w.pinned, BYTES, H2D, 64),
         INVALID_HANDLE),
    Case("a stream that was destroyed", rt.memcpy_async,
         lambda w: (w.device, BYTES, w.pinned, BYTES, H2D, w.dead_stream()), INVALID_HANDLE),
    Case("memory that was freed", rt.memcpy,
         lambda w: (w.pinned, 8, free_of(w), 8, D2H), lambda found, w: found != OK),
    Case("exactly like memcpy_async", rt.memcpy_async_with_condition,
         lambda w: (w.device, BYTES, w.pinned, BYTES, H2D, w.stream), OK),
]


def free_of(w):
    memory = good(rt.malloc(64, 0))
    good(rt.free(memory))
    return memory


def rows(rule, change, answer, answer_async=None):
    """The same row for memcpy2d and memcpy2d_async: (dst, dpitch, src, spitch, width, height, kind)."""
    return [
        Case(rule, rt.memcpy2d, change, answer),
        Case(rule, rt.memcpy2d_async, lambda w: (*change(w), w.stream), answer if answer_async is None else answer_async),
    ]


ROWS = [
    *rows("rows-1: a width of 0", lambda w: (0, 0, 0, 0, 0, 5, 1), OK),
    *rows("rows-1: a height of 0", lambda w: (0, 0, 0, 0, 5, 0, 1), OK),
    *rows("rows to the device", lambda w: (w.device, 128, w.pinned, 64, 64, 8, H2D), OK),
    *rows("rows to the host", lambda w: (w.pinned, 64, w.device, 128, 64, 8, D2H), OK),
    *rows("rows from pageable memory", lambda w: (w.device, 128, w.pageable, 64, 64, 8, H2D), OK),
    *rows("a width above the pitch", lambda w: (w.device, 32, w.pinned, 64, 64, 8, H2D), INVALID_PARAM),
    *rows("a NULL destination", lambda w: (0, 64, w.pinned, 64, 64, 8, H2D), INVALID_PARAM),
    *rows("rows-6: past the end", lambda w: (w.device, BYTES, w.pinned, 64, 64, 3, H2D), RT_PARAM_INVALID),
    *rows("rows-3: too many rows", lambda w: (w.device, 1, w.pinned, 1, 1, 5_242_881, H2D), RT_PARAM_INVALID),
    *rows("rows-4, profile-2: device to device", lambda w: (w.device, 64, w.device2, 64, 64, 8, D2D),
          FEATURE_NOT_SUPPORT),
]

DESCRIPTORS = [
    Case("operand-3: the size", rt.get_memcpy_desc_size, lambda w: (INNER,), (32, OK)),
    Case("the size for another kind", rt.get_memcpy_desc_size, lambda w: (D2D,), fails(FEATURE_NOT_SUPPORT)),
    Case("the size for a kind that is none", rt.get_memcpy_desc_size, lambda w: (77,), fails(INVALID_PARAM)),
    Case("a descriptor is given back", rt.set_memcpy_desc, lambda w: (w.device, INNER, w.device2, w.device2 + HALF, 8, 0),
         gives(lambda w, desc: desc == w.device)),
    Case("operand-3: alignment", rt.set_memcpy_desc, lambda w: (w.device + 8, INNER, w.device2, w.device2 + HALF, 8, 0),
         lambda f, w: f == (w.device + 8, RT_PARAM_INVALID)),
    Case("a NULL descriptor", rt.set_memcpy_desc, lambda w: (0, INNER, w.device2, w.device2, 8, 0), (0, INVALID_PARAM)),
    Case("a NULL descriptor to copy by", rt.memcpy_async_with_desc, lambda w: (0, INNER, w.stream), INVALID_PARAM),
    Case("a copy by a descriptor", rt.memcpy_async_with_desc, lambda w: (descriptor(w), INNER, w.stream), OK),
]


def descriptor(w):
    return good(rt.set_memcpy_desc(w.device, INNER, w.device2, w.device2 + HALF, 64, 0))


FILLS = [
    Case("a fill", rt.memset, lambda w: (w.device, BYTES, 7, BYTES), OK),
    Case("a queued fill", rt.memset_async, lambda w: (w.device, BYTES, 7, BYTES, w.stream), OK),
    Case("more than max_count", rt.memset, lambda w: (w.device, 8, 7, 9), RT_PARAM_INVALID),
    Case("more than max_count, queued", rt.memset_async, lambda w: (w.device, 8, 7, 9, w.stream), RT_PARAM_INVALID),
    Case("a NULL address", rt.memset, lambda w: (0, 8, 7, 8), INVALID_PARAM),
    Case("past the end", rt.memset, lambda w: (w.device, 4 * BYTES, 7, 2 * BYTES), RT_PARAM_INVALID),
    Case("a negative value is a byte", rt.memset, lambda w: (w.device, BYTES, -1, 16),
         lambda f, w: f == OK and w.read(w.device, 16) == b"\xff" * 16),
    Case("fill-1: host memory", rt.memset, lambda w: (w.pinned, BYTES, 9, BYTES),
         lambda f, w: f == OK and acl.util.ptr_to_bytes(w.pinned, BYTES) == b"\x09" * BYTES),
    Case("a sum", rt.reduce_async, lambda w: (w.device, w.device2, 64, SUM, INT32, w.stream, 0), OK),
    Case("reduce-3: EQUAL", rt.reduce_async, lambda w: (w.device, w.device2, 64, 13, INT32, w.stream, 0),
         FEATURE_NOT_SUPPORT),
    Case("reserve is NULL", rt.reduce_async, lambda w: (w.device, w.device2, 64, SUM, INT32, w.stream, 64),
         lambda f, w: f != OK),
]

AT_DEVICE, AT_HOST = {"id": 0, "type": DEVICE}, {"id": 0, "type": HOST}
DOWN = [{"dstLoc": AT_DEVICE, "srcLoc": AT_HOST}]


def batch(rule, change, answer):
    """The same row for memcpy_batch and memcpy_batch_async: (dsts, dest_maxs, srcs, sizes, attrs, indexes)."""
    return [
        Case(rule, rt.memcpy_batch, change, answer),
        Case(rule, rt.memcpy_batch_async, lambda w: (*change(w), w.stream), answer),
    ]


ALL = 2**64 - 1
BATCHES = [
    *batch("two entries", lambda w: ([w.device, w.device2], [64, 64], [w.pinned, w.pinned + 64], [64, 64], DOWN, [0]),
           (ALL, OK)),
    *batch("batch-5: the entry that is too long",
           lambda w: ([w.device, w.device2], [64, 2 * BYTES], [w.pinned, w.pinned], [64, BYTES + 64], DOWN, [0]),
           (1, RT_PARAM_INVALID)),
    *batch("more than dest_max", lambda w: ([w.device], [64], [w.pinned], [65], DOWN, [0]), (ALL, INVALID_PARAM)),
    *batch("batch-2: another direction",
           lambda w: ([w.device, w.device], [8, 8], [w.pinned, w.device2], [8, 8], DOWN, [0]), (1, RT_PARAM_INVALID)),
    *batch("batch-4: all sizes are 0", lambda w: ([w.device], [0], [w.pinned], [0], DOWN, [0]), (ALL, OK)),
    *batch("lists of different lengths", lambda w: ([w.device], [8, 8], [w.pinned], [8], DOWN, [0]),
           (ALL, INVALID_PARAM)),
    *batch("no list", lambda w: ((w.device,), [8], [w.pinned], [8], DOWN, [0]), ValueError),
    *batch("a list of something else", lambda w: ([None], [8], [w.pinned], [8], DOWN, [0]), TypeError),
    *batch("attributes that are no dict", lambda w: ([w.device], [8], [w.pinned], [8], [7], [0]), TypeError),
]

CASES = COPIES + ROWS + DESCRIPTORS + FILLS + BATCHES
