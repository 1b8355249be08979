// Threads of the runtime that run a program's host functions.
#include "core/callbacks/host_threads.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <string_view>
#include <utility>

#include "base/error/assert.h"
#include "base/error/text.h"

namespace sampan::core {
namespace {

/// As the dynamic linker knows it: "fill_cache (/opt/app/server+0x11b2)".
std::string FunctionText(void (*function)(void*)) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  Dl_info module{};
  if (::dladdr(reinterpret_cast<void*>(address), &module) == 0 || module.dli_fname == nullptr)
    return Text("at ", Hex(address));
  const std::string name = module.dli_sname != nullptr ? Text(std::string_view(module.dli_sname), " ") : "";
  return Text(name, "(", std::string_view(module.dli_fname), "+",
              Hex(address - reinterpret_cast<std::uintptr_t>(module.dli_fbase)), ")");
}

}  // namespace

HostThreads::~HostThreads() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (Thread& thread : threads_)
    thread.Join();
}

std::shared_ptr<HostWork> HostThreads::MakeWork(void (*function)(void*), void* argument) {
  class FunctionWork final : public HostWork {
   public:
    FunctionWork(HostThreads& threads, void (*function)(void*), void* argument)
        : threads_(threads), function_(function), argument_(argument) {}

    void Start(std::function<void(Status)> resume) noexcept override {
      try {
        threads_.Run([function = function_, argument = argument_, thread = thread_, order = order, resume] {
          {
            thread->store(::gettid());
            const sigset_t mask = RuntimeThreadMask();  // an earlier function may have changed it
            ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
            const ProgramCode running;
            if (order != nullptr) races::Acquire(order.get());
            function(argument);
            if (order != nullptr) races::Release(order.get());
          }
          resume({});
        });
      } catch (const std::exception& failure) {
        resume({Code::kResourceAllocFail,
                Text("a host function could not be run: ", std::string_view(failure.what()))});
      }
    }

    bool runs_program() const override { return true; }
    std::string Describe() const override {
      const pid_t thread = thread_->load();
      return Text("host function ", FunctionText(function_),
                  thread != 0 ? Text(", which runs on thread ", thread, " and has to return")
                              : std::string(", which has not begun: no thread has taken it yet"));
    }

   private:
    HostThreads& threads_;
    void (*const function_)(void*);
    void* const argument_;
    const std::shared_ptr<std::atomic<pid_t>> thread_ = std::make_shared<std::atomic<pid_t>>(0);
  };
  return std::make_shared<FunctionWork>(*this, function, argument);
}

void HostThreads::RunOnNewThread(std::function<void()> job) {
  const auto detached = std::make_shared<std::atomic<bool>>(false);
  StartThread("sampan-host", [detached, job = std::move(job)] {
    detached->wait(
        false);  // ThreadSanitizer reports threads that have exited and are neither joined nor detached
    job();
  }).Detach();
  detached->store(true);
  detached->notify_one();
}

void HostThreads::Run(std::function<void()> job) {
  if (races::Watched()) return RunOnNewThread(std::move(job));
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= idle_) {
      threads_.reserve(threads_.size() + 1);  // reserved before, because a started thread cannot be dropped
      threads_.push_back(StartThread("sampan-host", [this] { Loop(); }));
    }
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void HostThreads::Loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    SAMPAN_ASSERT(idle_ != 0 && idle_ <= threads_.size());
    --idle_;
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace sampan::core
