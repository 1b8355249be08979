// What `sampan info` shows, for a person and for a program.
#pragma once

#include <string>

#include "runtime_facts.h"
#include "self_test.h"

namespace sampan::tool {

/// One line that says whether Sampan works here.
std::string Verdict(const SelfTest& test);

std::string InfoText(const RuntimeFacts& facts, const SelfTest& test);
std::string InfoJson(const RuntimeFacts& facts, const SelfTest& test);

/// For a runtime that did not start.
std::string InfoFailureJson(const std::string& error);

}  // namespace sampan::tool
