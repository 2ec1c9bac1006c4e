#include "glassformer/base/threads.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "glassformer/base/error.h"

namespace glass {
namespace {

// Leaves the number of threads as it was.
class ParallelFor : public ::testing::Test {
 protected:
  ~ParallelFor() override { set_threads(before_); }
  int before_ = threads();
};

TEST_F(ParallelFor, CoversEachIndexOnceInFixedChunks) {
  for (const int count : {1, 2, 3, 5}) {
    set_threads(count);
    EXPECT_EQ(threads(), count);
    std::vector<std::atomic<int>> hits(1001);
    std::atomic<int> misplaced{0};
    parallel_for(1001, 10, [&](int64_t begin, int64_t end) {
      misplaced += begin % 10 != 0 || end != std::min<int64_t>(1001, begin + 10);
      for (int64_t i = begin; i < end; ++i) ++hits[static_cast<size_t>(i)];
    });
    EXPECT_EQ(misplaced, 0);
    for (const auto& hit : hits) EXPECT_EQ(hit, 1);
  }
}

TEST_F(ParallelFor, OpenMPInsideHasOneThread) {
  for (const int count : {1, 3}) {
    set_threads(count);
    const int outside = omp_get_max_threads();
    std::atomic<int> most{0};
    parallel_for(12, 1, [&](int64_t, int64_t) {
      if (omp_get_max_threads() > most) most = omp_get_max_threads();
    });
    EXPECT_EQ(most, 1);  // or the results of oneDNN would depend on the number of threads
    EXPECT_EQ(omp_get_max_threads(), outside);
  }
}

TEST_F(ParallelFor, NestedRunsOnTheSameThread) {
  set_threads(3);
  std::atomic<int> elsewhere{0}, calls{0};
  parallel_for(4, 1, [&](int64_t, int64_t) {
    const auto outer = std::this_thread::get_id();
    parallel_for(10, 2, [&](int64_t, int64_t) {
      elsewhere += std::this_thread::get_id() != outer;
      ++calls;
    });
  });
  EXPECT_EQ(elsewhere, 0);
  EXPECT_EQ(calls, 20);
}

TEST_F(ParallelFor, NothingToDoCallsNothing) {
  parallel_for(0, 8, [](int64_t, int64_t) { FAIL(); });
}

// The failure of the lowest chunk, whichever thread was faster.
TEST_F(ParallelFor, CarriesTheFirstExceptionOut) {
  for (const int count : {1, 4}) {
    set_threads(count);
    const int outside = omp_get_max_threads();
    for (int repeat = 0; repeat < 20; ++repeat) {
      try {
        parallel_for(100, 1, [](int64_t i, int64_t) {
          if (i % 30 == 17) throw ValueError(std::to_string(i));
        });
        FAIL() << "nothing was thrown";
      } catch (const ValueError& error) {
        EXPECT_STREQ(error.what(), "17");
      }
    }
    EXPECT_EQ(omp_get_max_threads(), outside);
  }
}

TEST_F(ParallelFor, SeveralThreadsAtOnce) {
  set_threads(2);
  std::vector<int64_t> sums(4);
  std::vector<std::thread> callers;
  for (size_t t = 0; t < sums.size(); ++t) {
    callers.emplace_back([&sums, t] {
      for (int repeat = 0; repeat < 10; ++repeat) {
        std::vector<int64_t> squares(1000);  // plain memory: the end of parallel_for orders its writes before our reads
        parallel_for(1000, 7, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) squares[static_cast<size_t>(i)] = i * i;
        });
        sums[t] += std::accumulate(squares.begin(), squares.end(), int64_t{0});
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const int64_t sum : sums) EXPECT_EQ(sum, 10 * (int64_t{999} * 1000 * 1999 / 6));
}

// Helpers stay behind in the parent; the child works alone and ends.
TEST_F(ParallelFor, WorksInAFork) {
  set_threads(3);
  std::atomic<int64_t> sum{0};
  const auto add_up = [&] {
    sum = 0;
    parallel_for(1000, 1, [&](int64_t i, int64_t) { sum += i; });
    return sum == 499500;
  };
  EXPECT_TRUE(add_up());
  const pid_t child = fork();
  if (child == 0) {
    const int status = add_up() ? 0 : 1;
#if defined(__SANITIZE_ADDRESS__)
    _exit(status);  // the parent's threads are memory that nobody in the child frees
#else
    std::exit(status);  // with the end of what is static, which must not wait for them
#endif
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(add_up());
}

// Many short loops, each with a result that a helper which came too late or left too early would spoil.
TEST_F(ParallelFor, ShortLoopsOneAfterAnother) {
  set_threads(4);
  for (int64_t repeat = 0; repeat < 20000; ++repeat) {
    std::vector<int64_t> places(8);
    parallel_for(8, 1, [&](int64_t i, int64_t) { places[static_cast<size_t>(i)] = repeat + i; });
    ASSERT_EQ(std::accumulate(places.begin(), places.end(), int64_t{0}), 8 * repeat + 28);
  }
}

TEST_F(ParallelFor, RefusesNoThreads) {
  EXPECT_THROW(set_threads(0), ValueError);
  EXPECT_EQ(threads(), before_);
}

}  // namespace
}  // namespace glass
