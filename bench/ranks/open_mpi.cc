// Open MPI, found when the program runs: the same operators on ordinary memory.
#include "bench/ranks/open_mpi.h"

#include <dlfcn.h>

#include <array>
#include <vector>

#include "base/error/text.h"
#include "bench/measure/failure.h"

namespace bench {
namespace {

using Handle = void*;  // communicators, types and operations are addresses of objects of the library
constexpr int kFunneled = 1;
constexpr const char* kNames[] = {"libmpi.so.40", "libmpi.so"};

void Must(int code, const char* function) {
  if (code != 0) throw Failure(sampan::Text(function, " returned ", code));
}

const char* TypeSymbol(HcclDataType type) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return "ompi_mpi_int8_t";
    case HCCL_DATA_TYPE_UINT8:
      return "ompi_mpi_uint8_t";
    case HCCL_DATA_TYPE_INT16:
      return "ompi_mpi_int16_t";
    case HCCL_DATA_TYPE_UINT16:
      return "ompi_mpi_uint16_t";
    case HCCL_DATA_TYPE_INT32:
      return "ompi_mpi_int32_t";
    case HCCL_DATA_TYPE_UINT32:
      return "ompi_mpi_uint32_t";
    case HCCL_DATA_TYPE_INT64:
      return "ompi_mpi_int64_t";
    case HCCL_DATA_TYPE_UINT64:
      return "ompi_mpi_uint64_t";
    case HCCL_DATA_TYPE_FP32:
      return "ompi_mpi_float";
    case HCCL_DATA_TYPE_FP64:
      return "ompi_mpi_double";
    default:
      return nullptr;
  }
}

const char* OperationSymbol(HcclReduceOp operation) {
  switch (operation) {
    case HCCL_REDUCE_SUM:
      return "ompi_mpi_op_sum";
    case HCCL_REDUCE_PROD:
      return "ompi_mpi_op_prod";
    case HCCL_REDUCE_MAX:
      return "ompi_mpi_op_max";
    default:
      return "ompi_mpi_op_min";
  }
}

}  // namespace

struct OpenMpi::Library {
  Library() {
    for (const char* name : kNames) {
      // Its own plugins look for the library's symbols among the global ones.
      handle = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL);
      if (handle != nullptr) break;
    }
    if (handle == nullptr) {
      const char* const why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc's is of the thread
      throw Failure(sampan::Text("Open MPI is not installed (openmpi-bin): ", why == nullptr ? "" : why));
    }
    world = Find<char>("ompi_mpi_comm_world");
  }

  template <typename T>
  T* Find(const char* name) const {
    void* const found = ::dlsym(handle, name);
    if (found == nullptr)
      throw Failure(sampan::Text("the MPI library has no ", name, ": it is not Open MPI"));
    return reinterpret_cast<T*>(found);
  }
  Handle TypeOf(HcclDataType type) const { return Find<char>(TypeSymbol(type)); }

  void* handle = nullptr;
  Handle world = nullptr;
};

OpenMpi::OpenMpi() : library_(std::make_unique<Library>()) {
  int provided = 0, rank = 0, size = 1;
  Must(library_->Find<int(int*, char***, int, int*)>("MPI_Init_thread")(nullptr, nullptr, kFunneled,
                                                                        &provided),
       "MPI_Init_thread");
  Must(library_->Find<int(Handle, int*)>("MPI_Comm_rank")(library_->world, &rank), "MPI_Comm_rank");
  Must(library_->Find<int(Handle, int*)>("MPI_Comm_size")(library_->world, &size), "MPI_Comm_size");
  rank_ = static_cast<u32>(rank);
  size_ = static_cast<u32>(size);
}

OpenMpi::~OpenMpi() {
  library_->Find<int()>("MPI_Finalize")();
}

std::string OpenMpi::Version() const {
  std::array<char, 256> text{};
  int length = 0;
  Must(library_->Find<int(char*, int*)>("MPI_Get_library_version")(text.data(), &length),
       "MPI_Get_library_version");
  const std::string version = text.data();
  const std::string whole = version.substr(0, version.find(','));
  return whole.compare(0, 10, "Open MPI v") == 0 ? "Open MPI " + whole.substr(10) : whole;
}

void OpenMpi::Barrier() {
  Must(library_->Find<int(Handle)>("MPI_Barrier")(library_->world), "MPI_Barrier");
}

double OpenMpi::Largest(double mine) {
  double largest = mine;
  using Reduce = int(const void*, void*, int, Handle, Handle, Handle);
  Must(library_->Find<Reduce>("MPI_Allreduce")(&mine, &largest, 1, library_->TypeOf(HCCL_DATA_TYPE_FP64),
                                               library_->Find<char>("ompi_mpi_op_max"), library_->world),
       "MPI_Allreduce");
  return largest;
}

bool OpenMpi::Has(HcclDataType type) {
  return TypeSymbol(type) != nullptr;
}

std::function<void()> OpenMpi::CallOf(const OperatorCase& what, const std::byte* input,
                                      std::byte* output) const {
  const Library& mpi = *library_;
  const Handle world = mpi.world, type = mpi.TypeOf(what.type);
  const Handle operation = mpi.Find<char>(OperationSymbol(what.operation));
  const int count = static_cast<int>(what.count), root = static_cast<int>(what.root);
  using Reduction = int(const void*, void*, int, Handle, Handle, Handle);
  using RootedReduction = int(const void*, void*, int, Handle, Handle, int, Handle);
  using Move = int(const void*, int, Handle, void*, int, Handle, Handle);
  using RootedMove = int(const void*, int, Handle, void*, int, Handle, int, Handle);
  using Broadcast = int(void*, int, Handle, int, Handle);
  using Vectors =
      int(const void*, const int*, const int*, Handle, void*, const int*, const int*, Handle, Handle);
  // The functions are looked up here, so that a call costs nothing besides the library.
  switch (what.what) {
    case Operator::kAllReduce:
    case Operator::kReduceScatter: {
      const bool all = what.what == Operator::kAllReduce;
      const char* const name = all ? "MPI_Allreduce" : "MPI_Reduce_scatter_block";
      return [=, call = mpi.Find<Reduction>(name)] {
        Must(call(input, output, count, type, operation, world), name);
      };
    }
    case Operator::kReduce:
      return [=, call = mpi.Find<RootedReduction>("MPI_Reduce")] {
        Must(call(input, output, count, type, operation, root, world), "MPI_Reduce");
      };
    case Operator::kAllGather:
    case Operator::kAllToAll: {
      const char* const name = what.what == Operator::kAllGather ? "MPI_Allgather" : "MPI_Alltoall";
      return [=, call = mpi.Find<Move>(name)] {
        Must(call(input, count, type, output, count, type, world), name);
      };
    }
    case Operator::kScatter:
      return [=, call = mpi.Find<RootedMove>("MPI_Scatter")] {
        Must(call(input, count, type, output, count, type, root, world), "MPI_Scatter");
      };
    case Operator::kBroadcast:
      return [=, call = mpi.Find<Broadcast>("MPI_Bcast")] {
        Must(call(output, count, type, root, world), "MPI_Bcast");
      };
    default: {
      std::vector<int> counts(size_, count), places(size_);
      for (u32 rank = 0; rank < size_; ++rank)
        places[rank] = static_cast<int>(rank) * count;
      return [=, call = mpi.Find<Vectors>("MPI_Alltoallv")] {
        Must(call(input, counts.data(), places.data(), type, output, counts.data(), places.data(), type,
                  world),
             "MPI_Alltoallv");
      };
    }
  }
}

}  // namespace bench
