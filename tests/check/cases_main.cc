// Runs cases of tests/check: check_cases wrong|right [NAME ...]. Without names, all that need no process of
// their own.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/check/scene.h"

namespace sampan::check_cases {

const ListedCase* FirstCase();

namespace {

int RunAll(bool right) {
  for (const ListedCase* each = FirstCase(); each != nullptr; each = each->next) {
    if (each->alone) continue;
    Scene scene;
    each->run(scene, right);
  }
  OK(aclrtResetDevice(0));
  return 0;
}

int RunNamed(bool right, const std::string& name) {
  for (const ListedCase* each = FirstCase(); each != nullptr; each = each->next) {
    if (each->name != name) continue;
    Scene scene;
    each->run(scene, right);
    return 0;
  }
  std::fprintf(stderr, "there is no case %s\n", name.c_str());
  return 2;
}

}  // namespace
}  // namespace sampan::check_cases

int main(int argc, char** argv) {
  using namespace sampan::check_cases;
  const std::string form = argc > 1 ? argv[1] : "";
  if (form != "wrong" && form != "right") return 2;
  if (argc == 2) return RunAll(form == "right");
  return RunNamed(form == "right", argv[2]);
}
