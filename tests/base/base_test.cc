#include <gtest/gtest.h>
#include <omp.h>
#include <sys/resource.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "glassformer/base/atomic_file.h"
#include "glassformer/base/bfloat16.h"
#include "glassformer/base/error.h"
#include "glassformer/base/random.h"
#include "glassformer/base/scope.h"
#include "glassformer/base/threads.h"

namespace glass {
namespace {

TEST(Scope, ErrorsNameThePath) {
  const Scope outer("decoder"), unnamed(""), inner("cross_attn");
  EXPECT_EQ(scope_path(), "decoder.cross_attn");
  EXPECT_EQ(scope_path("scores"), "decoder.cross_attn.scores");
  EXPECT_STREQ(ShapeError("matmul: no").what(), "matmul: no (in decoder.cross_attn)");
}

TEST(Scope, HashTellsPathsApart) {
  unsigned long long first = 0, second = 0;
  {
    const Scope a("a"), b("bc");
    first = scope_hash();
  }
  {
    const Scope a("ab"), b("c");
    second = scope_hash();
  }
  EXPECT_NE(first, second);
}

// The test vectors that the authors of Philox publish with their code.
TEST(Philox, PublishedVectors) {
  EXPECT_EQ(philox(0, {0, 0, 0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(0xffffffffffffffff, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, MomentsAndRange) {
  Random random(1);
  double sum = 0, square = 0;
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    const double value = static_cast<double>(random.normal());
    sum += value;
    square += value * value;
  }
  // Five standard errors: 1/√count for the mean, √(2/count) for the variance.
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
  EXPECT_NEAR(square / count, 1, 5 * std::sqrt(2.0 / count));
  std::set<uint64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(random.below(7));
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(*seen.rbegin(), 6u);
}

TEST(ParallelFor, CoversEachIndexOnceInFixedChunks) {
  for (const int count : {1, 2, 3, 5}) {
    set_threads(count);
    std::vector<std::atomic<int>> hits(1001);
    parallel_for(1001, 10, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(begin % 10, 0);
      EXPECT_EQ(omp_get_max_threads(), 1);  // so that oneDNN works with one thread in here
      for (int64_t i = begin; i < end; ++i) ++hits[static_cast<size_t>(i)];
    });
    for (const auto& hit : hits) EXPECT_EQ(hit, 1);
  }
  set_threads(2);
}

TEST(ParallelFor, CarriesExceptionsOut) {
  EXPECT_THROW(parallel_for(100, 1, [](int64_t i, int64_t) { if (i == 57) throw ValueError("57"); }), ValueError);
  EXPECT_THROW(set_threads(0), ValueError);
}

TEST(ParallelFor, SeveralThreadsAtOnce) {
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] { parallel_for(1000, 7, [&](int64_t b, int64_t e) { sum += e - b; }); });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4000);
}

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(static_cast<float>(bfloat16(1.0f)), 1.0f);
  EXPECT_EQ(static_cast<float>(bfloat16(1.00390625f)), 1.0f);         // halfway: to even
  EXPECT_EQ(static_cast<float>(bfloat16(1.01171875f)), 1.015625f);    // halfway: to even, upwards
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(std::nanf("")))));
  EXPECT_TRUE(std::isinf(static_cast<float>(bfloat16(std::numeric_limits<float>::infinity()))));
}

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(AtomicFile, OldVersionStaysUnlessCommitted) {
  const auto folder = std::filesystem::temp_directory_path() / ("glass_atomic_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "file").string();
  {
    AtomicFile file(path);
    file.write("old", 3);
    file.commit();
  }
  {
    AtomicFile file(path);
    file.write("half", 4);
  }
  EXPECT_EQ(read_all(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);  // no temporary left
  EXPECT_THROW(AtomicFile((folder / "none" / "file").string()), SystemError);
  std::filesystem::remove_all(folder);
}

TEST(AtomicFile, FullDiskKeepsTheOldVersion) {
  const auto folder = std::filesystem::temp_directory_path() / ("glass_full_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "file").string();
  {
    AtomicFile file(path);
    file.write("old", 3);
    file.commit();
  }
  // A limit on file size stands in for a full disk: writes fail in the same place.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_IGN);
  rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string large(5000, 'x');
  EXPECT_THROW(
      {
        AtomicFile file(path);
        file.write(large.data(), large.size());
        file.commit();
      },
      SystemError);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(read_all(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace glass
