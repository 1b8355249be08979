// The output of `sampan info`, as text and as JSON.
#pragma once

#include <string>

#include "tools/sampan/info/self_test.h"
#include "tools/sampan/shared/process/fabric_facts.h"
#include "tools/sampan/shared/process/runtime_facts.h"

namespace sampan::tool {

/// One line: whether Sampan works here.
std::string Verdict(const SelfTest& test);

std::string InfoText(const RuntimeFacts& facts, const FabricFacts& fabric, const SelfTest& test);
std::string InfoJson(const RuntimeFacts& facts, const FabricFacts& fabric, const SelfTest& test);

/// For a runtime that did not start.
std::string InfoFailureJson(const std::string& error);

}  // namespace sampan::tool
