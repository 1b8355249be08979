"""The table for compute: names that programs use or look for, and the codes by which the C library refuses."""

import acl
from case import Case, fails
from constants import *  # noqa: F403
from world import good

rt = acl.rt
REFUSED = FEATURE_NOT_SUPPORT
NONE = 64  # an address at which no object is

TENSORS = [
    Case("no description is made", acl.create_tensor_desc, lambda w: (FLOAT, [2, -1], 2), 0),
    Case("dimensions are a list", acl.create_tensor_desc, lambda w: (FLOAT, (2, 3), 2), ValueError),
    Case("nothing to destroy", acl.destroy_tensor_desc, lambda w: (0,), None),
    Case("an undefined type", acl.get_tensor_desc_type, lambda w: (0,), -1),
    Case("an undefined format", acl.get_tensor_desc_format, lambda w: (0,), -1),
    Case("no dimensions", acl.get_tensor_desc_num_dims, lambda w: (0,), 0),
    Case("no dimension", acl.get_tensor_desc_dim, lambda w: (0, 0), lambda f, w: f <= 0),
    Case("no dimension, with a code", acl.get_tensor_desc_dim_v2, lambda w: (0, 0), fails(REFUSED)),
    Case("no name", acl.get_tensor_desc_name, lambda w: (0,), lambda f, w: not f),
    Case("a name", acl.set_tensor_desc_name, lambda w: (0, "x"), None),
    Case("a format", acl.set_tensor_format, lambda w: (0, 2), REFUSED),
    Case("a shape", acl.set_tensor_shape, lambda w: (0, [1, 2]), REFUSED),
    Case("ranges of a shape", acl.set_tensor_shape_range, lambda w: (0, [[1, 2]]), REFUSED),
]


def description(w):
    """A description of a binary."""
    return (rt.create_binary(w.pinned, 8),)


KERNELS = [
    Case("settings-10: a binary is described", rt.create_binary, lambda w: (w.pinned, 8),
         lambda f, w: f != 0 and rt.destroy_binary(f) == OK),
    Case("a binary at NULL", rt.create_binary, lambda w: (0, 8), 0),
    Case("destroy none", rt.destroy_binary, lambda w: (0,), INVALID_PARAM),
    Case("settings-10: no binary is loaded", rt.binary_load, description, fails(REFUSED)),
    Case("load none", rt.binary_load, lambda w: (0,), fails(INVALID_PARAM)),
    Case("load a file", rt.binary_load_from_file, lambda w: ("/kernel.o", {}), fails(REFUSED)),
    Case("options are a dict", rt.binary_load_from_file, lambda w: ("/kernel.o", 0), TypeError),
    Case("load data", rt.binary_load_from_data, lambda w: (w.pinned, 8, {"options": [], "numOpt": 0}), fails(REFUSED)),
    Case("load no data", rt.binary_load_from_data, lambda w: (0, 8, {}), fails(INVALID_PARAM)),
    Case("unload NULL", rt.binary_unload, lambda w: (0,), INVALID_PARAM),
    Case("unload what was never loaded", rt.binary_unload, lambda w: (NONE,), INVALID_HANDLE),
    Case("a function of none", rt.binary_get_function, lambda w: (NONE, "kernel"), fails(INVALID_HANDLE)),
    Case("launch", rt.launch_kernel, lambda w: (NONE, 1, w.device, 8, w.stream), REFUSED),
    Case("launch NULL", rt.launch_kernel, lambda w: (0, 1, w.device, 8, w.stream), INVALID_PARAM),
    Case("launch with a configuration", rt.launch_kernel_with_config, lambda w: (NONE, 1, w.stream, {}, NONE, 0), REFUSED),
    Case("arguments", rt.kernel_args_init, lambda w: (NONE,), fails(REFUSED)),
    Case("arguments in the program's memory", rt.kernel_args_init_by_user_mem, lambda w: (NONE, NONE, w.pinned, 8), REFUSED),
    Case("bytes of arguments", rt.kernel_args_get_mem_size, lambda w: (NONE, 8), fails(REFUSED)),
    Case("bytes of a handle", rt.kernel_args_get_handle_mem_size, lambda w: (NONE,), fails(REFUSED)),
    Case("append", rt.kernel_args_append, lambda w: (NONE, w.pinned, 8), fails(REFUSED)),
    Case("append a place", rt.kernel_args_append_place_holder, lambda w: (NONE,), fails(REFUSED)),
    Case("the buffer of a place", rt.kernel_args_get_place_holder_buffer, lambda w: (NONE, NONE, 8), fails(REFUSED)),
    Case("change", rt.kernel_args_para_update, lambda w: (NONE, NONE, w.pinned, 8), REFUSED),
    Case("no more arguments", rt.kernel_args_finalize, lambda w: (NONE,), REFUSED),
]

ALLOCATORS = [
    Case("a task scheduler", rt.set_ts_device, lambda w: (0,), REFUSED),
    Case("its memory", rt.malloc_for_task_scheduler, lambda w: (8, HUGE_FIRST, {}), fails(REFUSED)),
    Case("its memory, with half a config", rt.malloc_for_task_scheduler, lambda w: (8, HUGE_FIRST, {"attrs": []}), KeyError),
    Case("the thread's last task", rt.get_thread_last_task_id, lambda w: (), fails(REFUSED)),
    Case("an allocator", rt.allocator_create_desc, lambda w: (), 0),
    Case("no allocator", rt.allocator_destroy_desc, lambda w: (NONE,), REFUSED),
    Case("its object", rt.allocator_set_obj_to_desc, lambda w: (NONE, NONE), REFUSED),
    *[Case("its functions", call, lambda w: (NONE, good), REFUSED) for call in (
        rt.allocator_set_alloc_func_to_desc, rt.allocator_set_free_func_to_desc, rt.allocator_set_alloc_advise_func_to_desc,
        rt.allocator_set_get_addr_from_block_func_to_desc)],
    Case("a function that is none", rt.allocator_set_free_func_to_desc, lambda w: (NONE, 5), TypeError),
    Case("register", rt.allocator_register, lambda w: (w.stream, NONE), REFUSED),
]

CASES = TENSORS + KERNELS + ALLOCATORS
