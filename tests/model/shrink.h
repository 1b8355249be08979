// Makes a failing program small.
#pragma once

#include <functional>

#include "tests/model/operation.h"

namespace sampan::model {

/// Drops operations while `fails` stays true: first large pieces, then single ones.
Program Shrink(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace sampan::model
