// Runs the sections of a program in which two threads call at the same time.
#include <algorithm>
#include <thread>

#include "tests/model/executor.h"

namespace sampan::model {

std::string Executor::RunSection(const Program& program, std::size_t& at) {
  // The reference goes first, because it is one thread's. What each step must find is kept.
  std::vector<SectionStep> steps;
  std::size_t end = at + 1;
  static_cast<void>(model_.TakeParents());
  for (; end < program.size() && model_.forked(); ++end) {
    SectionStep step{&program[end], end, model_.Apply(program[end]), {}, {}, {}, false};
    if (!step.expected.admitted || program[end].call == Call::kJoin) continue;
    if (program[end].call == Call::kAbortStream) ToNewWorlds(steps, model_.TakeParents());
    if (program[end].call == Call::kVerify) step.images = model_.Images(program[end].slot);
    steps.push_back(std::move(step));
  }
  at = end - 1;
  aclrtContext context = nullptr;
  if (aclrtGetCurrentContext(&context) != ACL_SUCCESS) return "no context for the second thread";
  std::thread second([&] {
    if (aclrtSetCurrentContext(context) == ACL_SUCCESS) RunSteps(steps, 1);
  });
  RunSteps(steps, 0);
  second.join();
  return Judge(steps, at);
}

void Executor::ToNewWorlds(std::vector<SectionStep>& steps, const std::vector<std::size_t>& parents) {
  const auto renew = [&](auto& by_world) {
    if (by_world.empty()) return;
    const auto before = by_world;
    by_world.clear();
    for (const std::size_t parent : parents)
      by_world.push_back(before[parent]);
  };
  for (SectionStep& step : steps) {
    renew(step.expected.codes);
    renew(step.images);
  }
}

void Executor::RunSteps(std::vector<SectionStep>& steps, int thread) {
  for (SectionStep& step : steps) {
    const Operation& op = *step.op;
    if (op.thread != thread) continue;
    const bool changes = op.call == Call::kAllocate || op.call == Call::kFree;
    if (thread == 1 && sabotage_ == Sabotage::kOmitSecondThread && !changes) continue;
    if (op.call == Call::kAbortStream && sabotage_ == Sabotage::kWaitBeforeSectionAbort)
      Finish(StreamAt(op.stream));
    if (Omits(op) && step.expected.code == ACL_SUCCESS) continue;
    step.asked = true;
    if (op.call == Call::kVerify) {
      step.got = Read(op.slot);
      step.answered.what = step.got.empty() ? "could not be read" : CheckGuards(op.slot);
    } else {
      step.answered = Ask(op, step.expected);
    }
  }
}

std::string Executor::Judge(const std::vector<SectionStep>& steps, std::size_t& at) {
  std::vector<bool> fits(model_.worlds(), true);
  const std::size_t end = at;
  for (const SectionStep& step : steps) {
    at = step.at;
    std::string what;
    if (!step.asked) continue;
    if (!step.answered.what.empty()) return step.answered.what;
    if (step.op->call == Call::kVerify) {
      what = Model::FitsBytes(step.images, step.got, fits);
    } else {
      what = Model::FitsAnswer(step.expected, step.answered.code, fits);
    }
    if (!what.empty()) return what;
  }
  at = end;
  model_.Keep(fits);
  return "";
}

}  // namespace sampan::model
