// The helper threads behind parallel_for. A loop is open to helpers while its caller works on it; whoever comes late
// finds it closed, and the caller waits for none but those inside. So a helper that the system gives no core to costs
// nothing, and a process with other work beside it is not slower on several threads than on one.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace glass {

class Team {
 public:
  Team() = default;
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls work() on this thread and on up to `helpers` others at once; each call returns when nothing is left to do,
  // and does not throw. Returns false, having done nothing, if another thread has the team.
  bool share(int helpers, const std::function<void()>& work);

 private:
  void hire(int helpers);
  void help();
  bool enter();
  void leave();

  // Of gate_: whether the loop is open, and below that how many helpers are inside.
  static constexpr uint32_t open = 1u << 31;

  std::mutex caller_;  // held by the thread whose loop it is
  std::vector<std::thread> threads_;
  pid_t hired_in_ = getpid();
  std::atomic<uint32_t> calls_{0};  // changes when a loop opens: what idle helpers wait for
  std::atomic<uint32_t> gate_{0};
  std::atomic<uint32_t> most_{0};  // helpers that may be inside
  std::atomic<bool> over_{false};
  const std::function<void()>* work_ = nullptr;  // of the open loop; written before the gate opens
};

}  // namespace glass
