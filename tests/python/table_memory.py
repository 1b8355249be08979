"""The table for allocation, registration, virtual memory, keys, and acl.util."""

import acl
import numpy
from case import Case, fails, gives
from constants import *  # noqa: F403
from world import BYTES, good

rt, util = acl.rt, acl.util
PIECE = 2 << 20

ALLOCATION = [
    Case("malloc", rt.malloc, lambda w: (100, HUGE_FIRST), gives(lambda w, p: p % 64 == 0 and good_free(p))),
    Case("a size of 0", rt.malloc, lambda w: (0, HUGE_FIRST), fails(INVALID_PARAM)),
    Case("an unknown policy is the default one", rt.malloc, lambda w: (100, 77), gives(lambda w, p: good_free(p))),
    Case("pages of 1 GiB", rt.malloc, lambda w: (100, 6), fails(FEATURE_NOT_SUPPORT)),
    Case("client-8: a band width as the policy", rt.malloc, lambda w: (100, HIGH_BAND_WIDTH),
         gives(lambda w, p: good_free(p))),
    Case("client-7: more than the device has", rt.malloc, lambda w: (1 << 50, HUGE_FIRST), fails(NO_MEMORY)),
    Case("a size that wraps", rt.malloc, lambda w: (-1, HUGE_FIRST), lambda f, w: f[0] == 0 and f[1] != OK),
    Case("aligned to 32", rt.malloc_align32, lambda w: (100, HUGE_FIRST), gives(lambda w, p: p % 32 == 0 and good_free(p))),
    Case("cached", rt.malloc_cached, lambda w: (100, HUGE_FIRST), gives(lambda w, p: good_free(p))),
    Case("no config", rt.malloc_with_cfg, lambda w: (100, HUGE_FIRST, {}), gives(lambda w, p: good_free(p))),
    Case("a config", rt.malloc_with_cfg,
         lambda w: (100, HUGE_FIRST, {"attrs": [{"attr": 1, "value": {"moduleId": 3}}], "numAttrs": 1}),
         gives(lambda w, p: good_free(p))),
    Case("a config of none", rt.malloc_with_cfg, lambda w: (100, HUGE_FIRST, {"attrs": [], "numAttrs": 0}),
         gives(lambda w, p: good_free(p))),
    Case("a config without its number", rt.malloc_with_cfg, lambda w: (100, 0, {"attrs": []}), KeyError),
    Case("a config without its list", rt.malloc_with_cfg, lambda w: (100, 0, {"numAttrs": 0}), KeyError),
    Case("a config with a larger number", rt.malloc_with_cfg, lambda w: (100, 0, {"attrs": [], "numAttrs": 1}), ValueError),
    Case("a config that is no dict", rt.malloc_with_cfg, lambda w: (100, 0, []), TypeError),
    Case("a config whose list is none", rt.malloc_with_cfg, lambda w: (100, 0, {"attrs": 3, "numAttrs": 1}), ValueError),
    Case("an attribute that is no dict", rt.malloc_with_cfg, lambda w: (100, 0, {"attrs": [1], "numAttrs": 1}), TypeError),
    Case("pinned with a config", rt.malloc_host_with_cfg, lambda w: (100, {}), gives(lambda w, p: good_free_host(p))),
    Case("client-8: pinned memory is aligned", rt.malloc_host, lambda w: (100,),
         gives(lambda w, p: p % 64 == 0 and good_free_host(p))),
    Case("a pinned size of 0", rt.malloc_host, lambda w: (0,), fails(INVALID_PARAM)),
    Case("free of NULL", rt.free, lambda w: (0,), INVALID_PARAM),
    Case("free_host of NULL", rt.free_host, lambda w: (0,), INVALID_PARAM),
    Case("memory-8: an address inside the block", rt.free, lambda w: (w.device + 64,), lambda f, w: f != OK),
    Case("memory-8: an address inside pinned memory", rt.free_host, lambda w: (w.pinned + 64,), lambda f, w: f != OK),
    Case("free twice", rt.free, lambda w: (freed(),), lambda f, w: f != OK),
    Case("free of pinned memory", rt.free, lambda w: (w.pinned,), lambda f, w: f != OK),
]


def good_free(address):
    good(rt.free(address))
    return True


def good_free_host(address):
    good(rt.free_host(address))
    return True


def freed():
    address = good(rt.malloc(64, 0))
    good(rt.free(address))
    return address


QUERIES = [
    Case("get_mem_info", rt.get_mem_info, lambda w: (HBM,), gives(lambda w, free, total: 0 < free < total, 2)),
    Case("memory-9: it goes down", rt.get_mem_info, lambda w: (HBM,),
         gives(lambda w, free, total: total - free >= 2 * BYTES, 2)),
    Case("an attribute that is none", rt.get_mem_info, lambda w: (77,), fails(MEM_TYPE, 2)),
    Case("device memory", rt.pointer_get_attributes, lambda w: (w.device,),
         gives(lambda w, a: a["location"] == {"id": 0, "type": DEVICE})),
    Case("pinned memory", rt.pointer_get_attributes, lambda w: (w.pinned,),
         gives(lambda w, a: a["location"]["type"] == HOST)),
    Case("client-9: plain memory", rt.pointer_get_attributes, lambda w: (w.pageable,),
         gives(lambda w, a: a["location"]["type"] == UNREGISTERED)),
    Case("its fields", rt.pointer_get_attributes, lambda w: (w.device,),
         gives(lambda w, a: set(a) == {"location", "page_size", "rsv"} and a["rsv"] == [0] * 4)),
    Case("attributes of NULL", rt.pointer_get_attributes, lambda w: (0,), lambda f, w: f[-1] == INVALID_PARAM),
    Case("memory-7: flush", rt.mem_flush, lambda w: (w.device, 64), OK),
    Case("memory-7: invalidate", rt.mem_invalidate, lambda w: (w.device, 64), OK),
    Case("flush of NULL", rt.mem_flush, lambda w: (0, 64), INVALID_PARAM),
    Case("flush of nothing", rt.mem_flush, lambda w: (w.device, 0), INVALID_PARAM),
]

MAPPED = bytearray(4 * 4096)


def region():
    """An aligned piece of plain memory."""
    address = numpy.frombuffer(MAPPED, dtype=numpy.uint8).__array_interface__["data"][0]
    return (address + 4095) // 4096 * 4096


REGISTRATION = [
    Case("register", rt.host_register, lambda w: (region(), 4096, 0), gives(lambda w, p: unregistered(p))),
    Case("memory-5: alignment", rt.host_register, lambda w: (region() + 1, 4096, 0), lambda f, w: f[1] != OK),
    Case("register NULL", rt.host_register, lambda w: (0, 4096, 0), fails(INVALID_PARAM)),
    Case("register nothing", rt.host_register, lambda w: (region(), 0, 0), fails(INVALID_PARAM)),
    Case("register, new form", rt.host_register_v2, lambda w: (region(), 4096, 2), lambda f, w: f == OK and unregistered(0)),
    Case("the device's address", rt.host_get_device_pointer, lambda w: (mapped(), 0), gives(lambda w, p: unregistered(p))),
    Case("the device's address of NULL", rt.host_get_device_pointer, lambda w: (0, 0), fails(INVALID_PARAM)),
    Case("unregister what is not registered", rt.host_unregister, lambda w: (region(),), lambda f, w: f != OK),
    Case("unregister NULL", rt.host_unregister, lambda w: (0,), INVALID_PARAM),
]


def mapped():
    good(rt.host_register_v2(region(), 4096, 2))
    return region()


def unregistered(_):
    good(rt.host_unregister(region()))
    return True


ON_DEVICE = {"handleType": 0, "allocationType": 0, "memAttr": 4, "location": {"id": 0, "type": 1}, "reserve": 0}
VIRTUAL = [
    Case("reserve", rt.reserve_mem_address, lambda w: (PIECE, 0, 0, 1), gives(lambda w, p: p % PIECE == 0 and released(p))),
    Case("reserve nothing", rt.reserve_mem_address, lambda w: (0, 0, 0, 1), lambda f, w: f[1] != OK),
    Case("release what is not reserved", rt.release_mem_address, lambda w: (w.device,), lambda f, w: f != OK),
    Case("physical memory", rt.malloc_physical, lambda w: (PIECE, ON_DEVICE, 0), gives(lambda w, h: good_physical(h))),
    Case("map-1: no multiple", rt.malloc_physical, lambda w: (PIECE + 1, ON_DEVICE, 0), fails(RT_PARAM_INVALID)),
    Case("a property of the wrong kind", rt.malloc_physical, lambda w: (PIECE, {"memAttr": "4"}, 0), TypeError),
    Case("a location of the wrong kind", rt.malloc_physical, lambda w: (PIECE, {"location": 1}, 0), TypeError),
    Case("free of no handle", rt.free_physical, lambda w: (0,), INVALID_PARAM),
    Case("map-1: the granularity", rt.mem_get_allocation_granularity, lambda w: (ON_DEVICE, 0),
         gives(lambda w, bytes_: bytes_ == PIECE)),
    Case("map", rt.map_mem, lambda w: (reserved(), PIECE, 0, w.physical(), 0), OK),
    Case("map at an offset", rt.map_mem, lambda w: (reserved(), PIECE, 4096, w.physical(), 0), lambda f, w: f != OK),
    Case("map NULL", rt.map_mem, lambda w: (0, PIECE, 0, w.physical(), 0), INVALID_PARAM),
    Case("unmap what is not mapped", rt.unmap_mem, lambda w: (reserved(),), lambda f, w: f != OK),
    Case("export", rt.mem_export_to_shareable_handle, lambda w: (w.physical(), 0, 0), gives(lambda w, s: s != 0)),
    Case("export no handle", rt.mem_export_to_shareable_handle, lambda w: (0, 0, 0), fails(INVALID_PARAM)),
    Case("pids for a share", rt.mem_set_pid_to_shareable_handle, lambda w: (share(w), [1, 2]), OK),
    Case("no list of pids", rt.mem_set_pid_to_shareable_handle, lambda w: (share(w), 1), ValueError),
    Case("import one's own", rt.mem_import_from_shareable_handle, lambda w: (share(w), 0), gives(lambda w, h: h != 0)),
    Case("import what is none", rt.mem_import_from_shareable_handle, lambda w: (123, 0), lambda f, w: f[1] != OK),
]


def released(address):
    good(rt.release_mem_address(address))
    return True


def reserved():
    return good(rt.reserve_mem_address(PIECE, 0, 0, 1))


def good_physical(handle):
    good(rt.free_physical(handle))
    return True


def share(w):
    return good(rt.mem_export_to_shareable_handle(w.physical(), 0, 0))


KEYS = [
    Case("a key", rt.ipc_mem_get_export_key, lambda w: (w.device, BYTES, 65, 0), gives(lambda w, key: 0 < len(key) < 65)),
    Case("too little room for a key", rt.ipc_mem_get_export_key, lambda w: (w.device, BYTES, 3, 0),
         lambda f, w: f[0] == "" and f[1] != OK),
    Case("a key of NULL", rt.ipc_mem_get_export_key, lambda w: (0, BYTES, 65, 0), ("", INVALID_PARAM)),
    Case("pids for a key", rt.ipc_mem_set_import_pid, lambda w: (key(w), [1, 2, 3]), OK),
    Case("pids that are no ints", rt.ipc_mem_set_import_pid, lambda w: (key(w), ["1"]), TypeError),
    Case("share-1: import by a malformed key", rt.ipc_mem_import_by_key, lambda w: ("nonsense", 0), fails(RT_PARAM_INVALID)),
    Case("a key that is no text", rt.ipc_mem_import_by_key, lambda w: (b"nonsense", 0), TypeError),
    Case("a key with a null character", rt.ipc_mem_import_by_key, lambda w: ("a\0b", 0), ValueError),
    Case("close", rt.ipc_mem_close, lambda w: (key(w),), OK),
    Case("close what is none", rt.ipc_mem_close, lambda w: ("nonsense",), lambda f, w: f != OK),
]


def key(w):
    return good(rt.ipc_mem_get_export_key(w.device, BYTES, 65, 0))


ARRAY = numpy.arange(12, dtype=numpy.int32).reshape(3, 4)
UTIL = [
    Case("the address of bytes", util.bytes_to_ptr, lambda w: (w.contents,), lambda f, w: f == w.pageable),
    Case("a bytearray is no bytes", util.bytes_to_ptr, lambda w: (bytearray(4),), ValueError),
    Case("an array is no bytes", util.bytes_to_ptr, lambda w: (ARRAY,), ValueError),
    Case("a copy of memory", util.ptr_to_bytes, lambda w: (w.pageable, BYTES), lambda f, w: f == w.contents),
    Case("a part of memory", util.ptr_to_bytes, lambda w: (w.pageable + 5, 9), lambda f, w: f == w.contents[5:14]),
    Case("nothing", util.ptr_to_bytes, lambda w: (0, 0), b""),
    Case("memory-4: device memory", util.ptr_to_bytes, lambda w: (w.device, 4), ValueError),
    Case("NULL", util.ptr_to_bytes, lambda w: (0, 4), ValueError),
    Case("an impossible size", util.ptr_to_bytes, lambda w: (w.pageable, -1), ValueError),
    Case("the address of an array", util.numpy_to_ptr, lambda w: (ARRAY,),
         lambda f, w: f == ARRAY.__array_interface__["data"][0]),
    Case("a list is no array", util.numpy_to_ptr, lambda w: ([1],), ValueError),
    Case("a contiguous copy", util.numpy_contiguous_to_ptr, lambda w: (ARRAY.T,),
         lambda f, w: f[0] == f[1].__array_interface__["data"][0] and (f[1] == ARRAY.T).all() and f[1].flags.c_contiguous),
    Case("an array of memory", util.ptr_to_numpy, lambda w: (w.pageable, (16, 8), 2),
         lambda f, w: f.tobytes() == w.contents[:128] and f.shape == (16, 8)),
    Case("floats", util.ptr_to_numpy, lambda w: (w.pageable, (4,), 11), lambda f, w: f.dtype == numpy.float32),
    Case("halves", util.ptr_to_numpy, lambda w: (w.pageable, (4,), 23), lambda f, w: f.dtype == numpy.float16),
    Case("longs", util.ptr_to_numpy, lambda w: (w.pageable, (4,), 7), lambda f, w: f.dtype == numpy.int64),
    Case("an empty array", util.ptr_to_numpy, lambda w: (0, (0, 4), 5), lambda f, w: f.shape == (0, 4)),
    Case("a shape that is a list", util.ptr_to_numpy, lambda w: (w.pageable, [4], 11), ValueError),
    Case("a negative size", util.ptr_to_numpy, lambda w: (w.pageable, (-4,), 11), ValueError),
    Case("an impossible shape", util.ptr_to_numpy, lambda w: (w.pageable, (1 << 40, 1 << 40), 11), ValueError),
    Case("a type that is none", util.ptr_to_numpy, lambda w: (w.pageable, (4,), 18), ValueError),
    Case("an array of device memory", util.ptr_to_numpy, lambda w: (w.device, (4,), 11), ValueError),
]

CASES = ALLOCATION + QUERIES + REGISTRATION + VIRTUAL + KEYS + UTIL
