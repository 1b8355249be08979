"""What the cases of the table work on: a device, streams, events and memory with random contents."""

import os

import acl

BYTES = 8192
KIND_H2D, KIND_D2H = 1, 2


def good(result):
    """The value of a call that must succeed: None, one value or a tuple."""
    values, ret = (result[:-1], result[-1]) if isinstance(result, tuple) else ((), result)
    assert ret == 0, f"code {ret}: {acl.get_recent_err_msg()}"
    return values[0] if len(values) == 1 else values or None


class World:
    """Device 0 for the calling thread. close() gives everything back."""

    def __init__(self):
        good(acl.rt.set_device(0))
        self.stream = good(acl.rt.create_stream())
        self.other_stream = good(acl.rt.create_stream())
        self.event = good(acl.rt.create_event())
        self.recorded = good(acl.rt.create_event_with_flag(0x9))
        good(acl.rt.record_event(self.recorded, self.stream))
        self.later = good(acl.rt.create_event_with_flag(0x9))
        good(acl.rt.record_event(self.later, self.stream))
        good(acl.rt.synchronize_stream(self.stream))
        self.device = good(acl.rt.malloc(BYTES, 0))
        self.device2 = good(acl.rt.malloc(BYTES, 0))
        self.pinned = good(acl.rt.malloc_host(BYTES))
        self.contents = os.urandom(BYTES)
        self.pageable = acl.util.bytes_to_ptr(self.contents)
        for memory in (self.device, self.device2):
            good(acl.rt.memcpy(memory, BYTES, self.pageable, BYTES, KIND_H2D))

    def read(self, address, size=BYTES):
        """The bytes of device memory."""
        into = good(acl.rt.malloc_host(size))
        good(acl.rt.memcpy(into, size, address, size, KIND_D2H))
        found = acl.util.ptr_to_bytes(into, size)
        good(acl.rt.free_host(into))
        return found

    def dead_stream(self):
        stream = good(acl.rt.create_stream())
        good(acl.rt.destroy_stream(stream))
        return stream

    def dead_event(self):
        event = good(acl.rt.create_event())
        good(acl.rt.destroy_event(event))
        return event

    def physical(self):
        return good(acl.rt.malloc_physical(2 << 20, {"memAttr": 4, "location": {"id": 0, "type": 1}}, 0))

    def close(self):
        good(acl.rt.free_host(self.pinned))
        good(acl.rt.reset_device_force(0))
