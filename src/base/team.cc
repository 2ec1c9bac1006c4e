#include "base/team.h"

#include <csignal>
#include <system_error>

namespace glass {

namespace {

// Long enough for the next loop of a forward pass to come; short enough that nobody else misses the core. So many
// pauses take between about 20 microseconds and 0.1 ms, by CPU.
constexpr int spins = 2000;

void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

// Until `value` is no longer `old`: awake for so many pauses, then asleep.
void wait_for_change(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < spins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause_core();
  }
  value.wait(old, std::memory_order_acquire);
}

// While it lives, threads started here get no signals: those are for the threads of the program.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

Team::~Team() {
  if (hired_in_ != getpid()) {  // a fork has no helpers, only their names
    for (std::thread& thread : threads_) thread.detach();
    return;
  }
  over_ = true;
  ++calls_;
  calls_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Team::share(int helpers, const std::function<void()>& work) {
  const std::unique_lock lock(caller_, std::try_to_lock);
  if (!lock) return false;
  hire(helpers);
  work_ = &work;
  most_.store(static_cast<uint32_t>(helpers), std::memory_order_relaxed);
  gate_.store(open, std::memory_order_release);
  calls_.fetch_add(1, std::memory_order_release);
  calls_.notify_all();
  work();
  for (uint32_t inside = gate_.fetch_and(~open) & ~open; inside != 0; inside = gate_.load(std::memory_order_acquire)) {
    wait_for_change(gate_, inside);
  }
  return true;
}

// A system that refuses a thread leaves fewer helpers.
void Team::hire(int helpers) {
  if (threads_.size() >= static_cast<size_t>(helpers) || (!threads_.empty() && hired_in_ != getpid())) return;
  const SignalsBlocked blocked;
  hired_in_ = getpid();
  try {
    while (threads_.size() < static_cast<size_t>(helpers)) threads_.emplace_back([this] { help(); });
  } catch (const std::system_error&) {
  }
}

void Team::help() {
  uint32_t seen = 0;
  while (true) {
    wait_for_change(calls_, seen);
    seen = calls_.load(std::memory_order_acquire);
    if (over_) return;
    if (!enter()) continue;
    (*work_)();
    leave();
  }
}

bool Team::enter() {
  uint32_t gate = gate_.load(std::memory_order_acquire);
  while ((gate & open) != 0 && (gate & ~open) < most_.load(std::memory_order_relaxed)) {
    if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel)) return true;
  }
  return false;
}

void Team::leave() {
  if (gate_.fetch_sub(1, std::memory_order_acq_rel) == 1) gate_.notify_one();
}

}  // namespace glass
