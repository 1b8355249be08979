// Threads of the runtime that run a program's host functions.
#include "core/objects/host_threads.h"

#include <atomic>
#include <exception>
#include <string_view>
#include <utility>

#include "base/error/text.h"

namespace sampan {

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
        threads_.Run([function = function_, argument = argument_, order = order, resume] {
          {
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

   private:
    HostThreads& threads_;
    void (*const function_)(void*);
    void* const argument_;
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
    --idle_;
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace sampan
