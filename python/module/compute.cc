// The tables of `acl` and `acl.rt` for compute, which the C library refuses: tensor descriptions, binaries,
// kernels, allocators.
#include "tables.h"

// Exported and refused whatever they get, and in no public header.
extern "C" {
aclError aclrtSetTsDevice();
aclError aclrtMallocForTaskScheduler();
aclError aclrtGetThreadLastTaskId();
aclError aclrtKernelArgsInit();
aclError aclrtKernelArgsInitByUserMem();
aclError aclrtKernelArgsGetMemSize();
aclError aclrtKernelArgsGetHandleMemSize();
aclError aclrtKernelArgsAppend();
aclError aclrtKernelArgsAppendPlaceHolder();
aclError aclrtKernelArgsGetPlaceHolderBuffer();
aclError aclrtKernelArgsParaUpdate();
aclError aclrtKernelArgsFinalize();
void* aclrtAllocatorCreateDesc();
aclError aclrtAllocatorDestroyDesc();
aclError aclrtAllocatorSetObjToDesc();
aclError aclrtAllocatorSetAllocFuncToDesc();
aclError aclrtAllocatorSetFreeFuncToDesc();
aclError aclrtAllocatorSetAllocAdviseFuncToDesc();
aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc();
aclError aclrtAllocatorRegister();
}

namespace sampan::python {

/// Arguments of which only the type is checked, because the library refuses the call.
struct AnyCallable {};
struct AnyList {};

template <>
struct Input<AnyCallable> {
  using Storage = AnyCallable;
  static constexpr const char* kType = "Callable[..., Any]";
  static bool Read(PyObject* object, const Place& place, AnyCallable*) {
    if (PyCallable_Check(object) == 0) RefuseType(place, "callable", object);
    return PyCallable_Check(object) != 0;
  }
  static AnyCallable Pass(AnyCallable value) { return value; }
};

template <>
struct Input<AnyList> {
  using Storage = AnyList;
  static constexpr const char* kType = "list";
  static bool Read(PyObject* object, const Place& place, AnyList*) {
    if (!PyList_Check(object)) RefuseType(place, "list", object);
    return PyList_Check(object);
  }
  static AnyList Pass(AnyList value) { return value; }
};

/// The same for dicts: the C function gets an empty structure.
template <typename T>
requires(std::is_same_v<std::remove_const_t<T>, aclrtBinaryLoadOptions> ||
         std::is_same_v<T, aclrtLaunchKernelCfg>) struct Input<T*> {
  using Storage = std::remove_const_t<T>;
  static constexpr const char* kType = "dict";
  static bool Read(PyObject* object, const Place& place, Storage*) {
    if (!PyDict_Check(object)) RefuseType(place, "dict", object);
    return PyDict_Check(object);
  }
  static T* Pass(Storage& value) { return &value; }
};

namespace {

using Shape = std::vector<std::size_t>;
using MallocAttributes = std::vector<aclrtMallocAttribute>;

const std::int64_t* Dimensions(const Shape& shape) {
  return reinterpret_cast<const std::int64_t*>(shape.data());
}

aclTensorDesc* CreateTensorDesc(aclDataType type, Shape& shape, aclFormat format) {
  return aclCreateTensorDesc(type, static_cast<int>(shape.size()), Dimensions(shape), format);
}

OptionalText TensorDescName(aclTensorDesc* desc) {
  return {aclGetTensorDescName(desc)};
}

aclError SetTensorShape(aclTensorDesc* desc, Shape& shape) {
  return aclSetTensorShape(desc, static_cast<int>(shape.size()), Dimensions(shape));
}

aclError SetTensorShapeRange(aclTensorDesc* desc, AnyList) {
  return aclSetTensorShapeRange(desc, 0, nullptr);
}

/// A function of the list above, with the parameters that pyACL's function has.
template <aclError (*refuse)(), typename... P>
aclError Refused(P...) {
  return refuse();
}

}  // namespace

Rows TensorRows() {
  return {
      Query<"create_tensor_desc", CreateTensorDesc, "dtype dims format">(),
      Query<"destroy_tensor_desc", aclDestroyTensorDesc, "desc">(),
      Query<"get_tensor_desc_type", aclGetTensorDescType, "desc">(),
      Query<"get_tensor_desc_format", aclGetTensorDescFormat, "desc">(),
      Query<"get_tensor_desc_num_dims", aclGetTensorDescNumDims, "desc">(),
      Query<"get_tensor_desc_dim", aclGetTensorDescDim, "desc index">(),
      Query<"get_tensor_desc_dim_v2", aclGetTensorDescDimV2, "desc index">(),
      Query<"get_tensor_desc_name", TensorDescName, "desc">(),
      Query<"set_tensor_desc_name", aclSetTensorDescName, "desc name">(),
      Query<"set_tensor_format", aclSetTensorFormat, "desc format">(),
      Query<"set_tensor_shape", SetTensorShape, "desc dims">(),
      Query<"set_tensor_shape_range", SetTensorShapeRange, "desc ranges">(),
  };
}

Rows KernelRows() {
  return {
      Query<"create_binary", aclrtCreateBinary, "data size">(),
      Query<"destroy_binary", aclrtDestroyBinary, "binary">(),
      Query<"binary_load", aclrtBinaryLoad, "binary">(),
      Query<"binary_load_from_file", aclrtBinaryLoadFromFile, "path options">(),
      Query<"binary_load_from_data", aclrtBinaryLoadFromData, "data size options">(),
      Query<"binary_unload", aclrtBinaryUnLoad, "handle">(),
      Query<"binary_get_function", aclrtBinaryGetFunction, "handle name">(),
      Query<"launch_kernel", aclrtLaunchKernel, "func num_blocks args size stream">(),
      Query<"launch_kernel_with_config", aclrtLaunchKernelWithConfig,
            "func num_blocks stream config args reserve">(),
      Query<"kernel_args_init", Refused<aclrtKernelArgsInit, void*, void**>, "func">(),
      Query<"kernel_args_init_by_user_mem",
            Refused<aclrtKernelArgsInitByUserMem, void*, void*, void*, size_t>, "func args ptr size">(),
      Query<"kernel_args_get_mem_size", Refused<aclrtKernelArgsGetMemSize, void*, size_t, size_t*>,
            "func size">(),
      Query<"kernel_args_get_handle_mem_size", Refused<aclrtKernelArgsGetHandleMemSize, void*, size_t*>,
            "func">(),
      Query<"kernel_args_append", Refused<aclrtKernelArgsAppend, void*, void*, size_t, void**>,
            "args ptr size">(),
      Query<"kernel_args_append_place_holder", Refused<aclrtKernelArgsAppendPlaceHolder, void*, void**>,
            "args">(),
      Query<"kernel_args_get_place_holder_buffer",
            Refused<aclrtKernelArgsGetPlaceHolderBuffer, void*, void*, size_t, void**>, "args param size">(),
      Query<"kernel_args_para_update", Refused<aclrtKernelArgsParaUpdate, void*, void*, void*, size_t>,
            "args param ptr size">(),
      Query<"kernel_args_finalize", Refused<aclrtKernelArgsFinalize, void*>, "args">(),
  };
}

Rows AllocatorRows() {
  return {
      Query<"set_ts_device", Refused<aclrtSetTsDevice, int>, "ts">(),
      Query<"malloc_for_task_scheduler",
            Refused<aclrtMallocForTaskScheduler, void**, size_t, aclrtMemMallocPolicy, MallocAttributes&>,
            "size policy config">(),
      Query<"get_thread_last_task_id", Refused<aclrtGetThreadLastTaskId, uint32_t*>, "">(),
      Query<"allocator_create_desc", aclrtAllocatorCreateDesc, "">(),
      Query<"allocator_destroy_desc", Refused<aclrtAllocatorDestroyDesc, void*>, "desc">(),
      Query<"allocator_set_obj_to_desc", Refused<aclrtAllocatorSetObjToDesc, void*, void*>, "desc obj">(),
      Query<"allocator_set_alloc_func_to_desc", Refused<aclrtAllocatorSetAllocFuncToDesc, void*, AnyCallable>,
            "desc fn">(),
      Query<"allocator_set_free_func_to_desc", Refused<aclrtAllocatorSetFreeFuncToDesc, void*, AnyCallable>,
            "desc fn">(),
      Query<"allocator_set_alloc_advise_func_to_desc",
            Refused<aclrtAllocatorSetAllocAdviseFuncToDesc, void*, AnyCallable>, "desc fn">(),
      Query<"allocator_set_get_addr_from_block_func_to_desc",
            Refused<aclrtAllocatorSetGetAddrFromBlockFuncToDesc, void*, AnyCallable>, "desc fn">(),
      Query<"allocator_register", Refused<aclrtAllocatorRegister, void*, void*>, "stream desc">(),
  };
}

}  // namespace sampan::python
