// Opens files with names that the user gave.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/error/status.h"
#include "base/error/system_error.h"
#include "base/error/text.h"
#include "base/system/descriptor.h"

namespace sampan {

/// Opens a file for reading. Never blocks, unlike open(2) of a FIFO.
inline Result<Descriptor> OpenToRead(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat facts = {};
  if (file.get() < 0 || ::fstat(file.get(), &facts) != 0)
    return Error{Code::kInvalidFile, Text(path, ": cannot be read: ", SystemError(errno))};
  if (S_ISREG(facts.st_mode) || S_ISCHR(facts.st_mode)) return file;
  return Error{Code::kInvalidFile,
               Text(path, ": cannot be read: it is not a file but a folder, a FIFO or the like")};
}

}  // namespace sampan
