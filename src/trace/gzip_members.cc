// Compresses text as gzip members. A file may contain any number of them.
#include "trace/gzip_members.h"

#include <new>

namespace sampan::trace {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window, in gzip's form
constexpr int kMemoryLevel = 8;

void Init(z_stream& stream, int level) {
  if (::deflateInit2(&stream, level, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
}

}  // namespace

GzipMembers::GzipMembers() {
  Init(packed_, Z_BEST_SPEED);
  try {
    Init(stored_, Z_NO_COMPRESSION);
  } catch (...) {
    ::deflateEnd(&packed_);
    throw;
  }
  Append("]\n", tail_);
}

GzipMembers::~GzipMembers() {
  ::deflateEnd(&packed_);
  ::deflateEnd(&stored_);
}

void GzipMembers::Append(z_stream& stream, std::string_view text, std::string& out) {
  ::deflateReset(&stream);
  const std::size_t before = out.size();
  out.resize(before + ::deflateBound(&stream, text.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
  stream.avail_out = static_cast<uInt>(out.size() - before);
  ::deflate(&stream, Z_FINISH);  // completes, because the bound is large enough
  out.resize(out.size() - stream.avail_out);
}

}  // namespace sampan::trace
