"""Bytes through every kind of copy, with random contents, and the helpers of acl.util and numpy."""

import os
import warnings

import acl
import numpy
import pytest
from constants import D2D, D2H, FLOAT, H2D, INNER, INT32, SUM
from world import good

rt, util = acl.rt, acl.util
SIZES = [1, 3, 4096, 65537, 1 << 20]
CANARY = 64


class Ends:
    """Device memory with random canaries around `size` bytes, and pinned memory."""

    def __init__(self, size):
        self.size = size
        self.before = os.urandom(size + 2 * CANARY)
        self.whole = good(rt.malloc(size + 2 * CANARY, 0))
        good(rt.memcpy(self.whole, len(self.before), util.bytes_to_ptr(self.before), len(self.before), H2D))
        self.device = self.whole + CANARY
        self.pinned = good(rt.malloc_host(size))
        self.data = os.urandom(size)

    def written(self):
        """What the device has; the canaries are as they were."""
        length = len(self.before)
        into = good(rt.malloc_host(length))
        good(rt.memcpy(into, length, self.whole, length, D2H))
        found = util.ptr_to_bytes(into, length)
        good(rt.free_host(into))
        assert found[:CANARY] == self.before[:CANARY] and found[-CANARY:] == self.before[-CANARY:]
        return found[CANARY:-CANARY]


@pytest.mark.parametrize("size", SIZES)
def test_memcpy(on_device, size):
    ends = Ends(size)
    good(rt.memcpy(ends.device, size, util.bytes_to_ptr(ends.data), size, H2D))
    assert ends.written() == ends.data
    good(rt.memcpy(ends.pinned, size, ends.device, size, D2H))
    assert util.ptr_to_bytes(ends.pinned, size) == ends.data


@pytest.mark.parametrize("size", SIZES)
def test_memcpy_async(on_device, size):
    ends = Ends(size)
    into = good(rt.malloc_host(size))
    view = numpy.frombuffer(ends.data, dtype=numpy.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        util.ptr_to_numpy(ends.pinned, (size,), 2)[:] = view
    good(rt.memcpy_async(ends.device, size, ends.pinned, size, H2D, on_device.stream))
    good(rt.memcpy_async(into, size, ends.device, size, D2H, on_device.stream))
    good(rt.synchronize_stream(on_device.stream))
    assert ends.written() == ends.data and util.ptr_to_bytes(into, size) == ends.data


@pytest.mark.parametrize("call", ["memcpy2d", "memcpy2d_async"])
def test_rows(on_device, call):
    width, height, pitch = 100, 7, 256
    ends = Ends(pitch * height)
    rows = numpy.frombuffer(os.urandom(width * height), dtype=numpy.uint8).reshape(height, width)
    stream = (on_device.stream,) if call.endswith("async") else ()
    good(getattr(rt, call)(ends.device, pitch, rows.ctypes.data, width, width, height, H2D, *stream))
    good(rt.synchronize_stream(on_device.stream))
    found = numpy.frombuffer(ends.written(), dtype=numpy.uint8).reshape(height, pitch)
    before = numpy.frombuffer(ends.before[CANARY:-CANARY], dtype=numpy.uint8).reshape(height, pitch)
    assert (found[:, :width] == rows).all() and (found[:, width:] == before[:, width:]).all()


@pytest.mark.parametrize("call", ["memcpy_batch", "memcpy_batch_async"])
def test_batch(on_device, call):
    pieces, size = 50, 300
    ends = Ends(pieces * size)
    source = good(rt.malloc_host(pieces * size))
    good(rt.memcpy(source, pieces * size, util.bytes_to_ptr(ends.data), pieces * size, 0))
    order = numpy.random.permutation(pieces)
    attributes = [{"dstLoc": {"id": 0, "type": 1}, "srcLoc": {"id": 0, "type": 0}}]
    stream = (on_device.stream,) if call.endswith("async") else ()
    # Numbers of numpy are ints in a list.
    assert getattr(rt, call)(list(ends.device + order * size), [size] * pieces,
                             [source + i * size for i in range(pieces)], [size] * pieces, attributes, [0], *stream)[1] == 0
    good(rt.synchronize_stream(on_device.stream))
    for i, place in enumerate(order):
        assert ends.written()[place * size:(place + 1) * size] == ends.data[i * size:(i + 1) * size]


def test_descriptor(on_device):
    ends = Ends(512)
    good(rt.memcpy(ends.device, 512, util.bytes_to_ptr(ends.data), 512, H2D))
    desc = good(rt.set_memcpy_desc(on_device.device, INNER, ends.device, ends.device + 256, 256, 0))
    good(rt.memcpy_async_with_desc(desc, INNER, on_device.stream))
    good(rt.synchronize_stream(on_device.stream))
    assert ends.written() == ends.data[:256] * 2


@pytest.mark.parametrize("number, dtype", [(INT32, numpy.int32), (FLOAT, numpy.float32)])
def test_reduce(on_device, number, dtype):
    left, right = (numpy.random.randint(-1000, 1000, 256).astype(dtype) for _ in range(2))
    for address, array in ((on_device.device, left), (on_device.device2, right)):
        good(rt.memcpy(address, array.nbytes, array.ctypes.data, array.nbytes, H2D))
    good(rt.reduce_async(on_device.device, on_device.device2, left.nbytes, SUM, number, on_device.stream, 0))
    good(rt.synchronize_stream(on_device.stream))
    assert (numpy.frombuffer(on_device.read(on_device.device, left.nbytes), dtype=dtype) == left + right).all()


def test_mapped_memory(on_device):
    piece = 2 << 20
    address = good(rt.reserve_mem_address(piece, 0, 0, 1))
    handle = on_device.physical()
    good(rt.map_mem(address, piece, 0, handle, 0))
    data = os.urandom(piece)
    good(rt.memcpy(address, piece, util.bytes_to_ptr(data), piece, H2D))
    assert on_device.read(address, piece) == data
    good(rt.unmap_mem(address))
    good(rt.free_physical(handle))
    good(rt.release_mem_address(address))


def test_round_trip_of_an_array(on_device):
    array = numpy.random.random((16, 33)).astype(numpy.float32)
    with pytest.warns(DeprecationWarning, match="numpy_to_ptr"):
        source = util.numpy_to_ptr(array)
    device = good(rt.malloc(array.nbytes, 0))
    good(rt.memcpy(device, array.nbytes, source, array.nbytes, H2D))
    back = good(rt.malloc_host(array.nbytes))
    good(rt.memcpy(back, array.nbytes, device, array.nbytes, D2H))
    with pytest.warns(DeprecationWarning, match="ptr_to_numpy"):
        view = util.ptr_to_numpy(back, (16, 33), 11)
    assert (view == array).all() and view.flags.writeable and not view.flags.owndata
    view[3, 4] = 7.5  # a view: the memory changes
    at = (3 * 33 + 4) * 4
    assert util.ptr_to_bytes(back + at, 4) == numpy.float32(7.5).tobytes()


def test_arrays_that_are_not_contiguous():
    array = numpy.arange(24, dtype=numpy.int16).reshape(4, 6)
    with pytest.warns(UserWarning, match="not contiguous"):
        assert util.numpy_to_ptr(array[:, 2:]) == array.ctypes.data + 4
    with pytest.warns(DeprecationWarning):
        address, whole = util.numpy_contiguous_to_ptr(array[:, ::2])
    assert util.ptr_to_bytes(address, whole.nbytes) == array[:, ::2].tobytes()


def test_warnings_that_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeprecationWarning):
            util.numpy_to_ptr(numpy.zeros(3))


def test_freed_memory_fails_its_stream(on_device):
    """copy-9: only a late schedule shows it for certain, so the copy stands behind a wait."""
    notify = good(rt.create_notify(0))
    memory = good(rt.malloc(64, 0))
    good(rt.wait_and_reset_notify(notify, on_device.stream, 0))
    good(rt.memcpy_async(on_device.device2, 64, memory, 64, D2D, on_device.stream))
    good(rt.free(memory))
    good(rt.record_notify(notify, on_device.other_stream))
    assert rt.synchronize_stream(on_device.stream) == 507013
    assert acl.get_recent_err_msg()
