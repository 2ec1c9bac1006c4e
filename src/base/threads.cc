#include "glassformer/base/threads.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>

#include "base/team.h"
#include "glassformer/base/error.h"

namespace glass {

namespace {

std::atomic<int> thread_count{0};  // 0: not decided yet
thread_local bool inside_parallel = false;

int default_threads() {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return std::max(1, omp_get_max_threads());
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return std::max(1, CPU_COUNT(&cores));
}

// While it lives, libraries that use OpenMP on this thread use one thread: their way of sharing work would let the
// number of threads decide the bits.
class SerialRegion {
 public:
  SerialRegion() : outer_threads_(omp_get_max_threads()), outer_inside_(inside_parallel) {
    omp_set_num_threads(1);
    inside_parallel = true;
  }
  ~SerialRegion() {
    omp_set_num_threads(outer_threads_);
    inside_parallel = outer_inside_;
  }

 private:
  int outer_threads_;
  bool outer_inside_;
};

// Of the exceptions of a loop's bodies, the one a serial loop would have met first, so that what is reported does not
// depend on the number of threads either.
class FirstFailure {
 public:
  void note(int64_t chunk) {
    const std::lock_guard lock(mutex_);
    if (failure_ && chunk >= chunk_) return;
    failure_ = std::current_exception();
    chunk_ = chunk;
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
  int64_t chunk_ = 0;
};

Team& helpers() {
  static Team team;
  return team;
}

}  // namespace

int threads() {
  int count = thread_count.load(std::memory_order_relaxed);
  if (count == 0) {
    count = default_threads();
    thread_count.store(count, std::memory_order_relaxed);
  }
  return count;
}

void set_threads(int count) {
  if (count < 1) throw ValueError("set_threads: at least one thread is needed, got " + std::to_string(count));
  thread_count.store(count, std::memory_order_relaxed);
}

void parallel_for(int64_t count, int64_t chunk, const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  chunk = std::max<int64_t>(1, chunk);
  const int64_t chunks = (count + chunk - 1) / chunk;
  auto run = [&](int64_t i) { body(i * chunk, std::min(count, (i + 1) * chunk)); };
  const int team = static_cast<int>(std::min<int64_t>(threads(), chunks));
  if (team == 1 || inside_parallel) {
    const SerialRegion serial;
    for (int64_t i = 0; i < chunks; ++i) run(i);
    return;
  }
  FirstFailure failure;
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    const SerialRegion serial;
    for (int64_t i = next++; i < chunks; i = next++) {
      try {
        run(i);
      } catch (...) {
        failure.note(i);
      }
    }
  };
  if (!helpers().share(team - 1, work)) work();
  failure.rethrow();
}

}  // namespace glass
