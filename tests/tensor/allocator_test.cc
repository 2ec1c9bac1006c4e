// The pool behind tensors, and what memory_use() says of it.
#include "tensor/allocator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "glassformer/base/error.h"
#include "glassformer/base/threads.h"
#include "glassformer/tensor/tensor.h"
#include "tensor/sanitizer.h"

namespace glass {
namespace {

constexpr size_t megabyte = size_t{1} << 20;

Tensor of_bytes(size_t bytes) { return Tensor::empty({static_cast<Dim>(bytes / sizeof(float))}); }

TEST(Memory, IsCountedAndGivenBack) {
  const size_t before = memory_use().current;
  reset_peak_memory();
  {
    const Tensor x = of_bytes(4 * megabyte);
    EXPECT_EQ(memory_use().current, before + 4 * megabyte + red_zone);
    const Tensor view = x.narrowed(0, 5, 9);
    EXPECT_EQ(memory_use().current, before + 4 * megabyte + red_zone);  // views hold nothing of their own
  }
  EXPECT_EQ(memory_use().current, before);
  EXPECT_EQ(memory_use().peak, before + 4 * megabyte + red_zone);
  reset_peak_memory();
  EXPECT_EQ(memory_use().peak, before);
}

TEST(Memory, ViewsKeepTheirStorageAlive) {
  Tensor view;
  {
    Tensor whole = Tensor::full({1000}, 3);
    view = whole.narrowed(0, 990, 1000);
  }
  const Tensor other = Tensor::full({1000}, 4);
  EXPECT_EQ(view.at({9}), 3);
}

TEST(Memory, BlocksAreReused) {
  const void* first = of_bytes(4 * megabyte).raw();
  EXPECT_EQ(of_bytes(4 * megabyte).raw(), first);
}

TEST(Memory, BlocksAreAlignedAndApart) {
  std::vector<Tensor> tensors;
  for (Dim size = 0; size < 200; ++size) tensors.push_back(Tensor::full({size}, static_cast<double>(size), DType::i32));
  for (Dim size = 0; size < 200; ++size) {
    const Tensor& tensor = tensors[static_cast<size_t>(size)];
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.raw()) % 64, 0u);
    for (const double value : tensor.to_vector()) ASSERT_EQ(value, static_cast<double>(size));
  }
}

// Freed neighbours join: batches of ever other sizes live in what the largest needed.
TEST(Memory, ChangingSizesDoNotAddUp) {
  release_cached_memory();
  const size_t before = held_memory();
  for (size_t round = 1; round <= 50; ++round) {
    const Tensor a = of_bytes((60 - round) * megabyte), b = of_bytes(round * megabyte), c = of_bytes(3 * megabyte);
  }
  EXPECT_LE(held_memory(), before + 64 * megabyte);  // one segment
}

// Requests that grow each time, each larger than all that is cached.
TEST(Memory, GrowingSizesDoNotAddUp) {
  release_cached_memory();
  const size_t before = held_memory();
  for (size_t size = 70; size <= 100; size += 5) of_bytes(size * megabyte);
  EXPECT_LE(held_memory(), before + 102 * megabyte);  // the last, rounded up to whole huge pages
}

TEST(Memory, ReleaseGivesUnusedSegmentsBack) {
  release_cached_memory();
  const size_t before = held_memory();
  of_bytes(100 * megabyte);
  EXPECT_GE(held_memory(), before + 100 * megabyte);
  release_cached_memory();
  EXPECT_EQ(held_memory(), before);
}

TEST(Memory, ExhaustionSaysHowMuchWasAsked) {
  const size_t before = memory_use().current;
  for (const Dim gigabytes : {Dim{1} << 15, Dim{1} << 25}) {  // more than any machine has; more than addresses reach
    try {
      Tensor::empty({gigabytes << 30}, DType::boolean);
      FAIL() << "nothing was thrown";
    } catch (const SystemError& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(gigabytes << 30)), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(memory_use().current, before);
}

TEST(Memory, SeveralThreadsTakeAndGiveBack) {
  const size_t before = memory_use().current;
  std::atomic<int> wrong{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < 4; ++t) {
    workers.emplace_back([t, &wrong] {
      Tensor kept;
      for (Dim i = 0; i < 300; ++i) {
        Tensor x = Tensor::full({1 + i % 37, 100}, t);
        wrong += x.at({i % 37, 99}) != t;
        if (i % 7 == 0) kept = x;
        wrong += kept.at({0, 0}) != t;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(memory_use().current, before);
}

// One thread's tensor may be released by another.
TEST(Memory, TensorsMoveBetweenThreads) {
  const size_t before = memory_use().current;
  std::vector<Tensor> made(64);
  parallel_for(64, 1, [&](int64_t i, int64_t) { made[static_cast<size_t>(i)] = Tensor::full({i + 1}, 1); });
  std::thread([&made] { made.clear(); }).join();
  EXPECT_EQ(memory_use().current, before);
}

#ifdef GLASS_ADDRESS_SANITIZER
TEST(Memory, SanitizerSeesTensorsEnds) {
  const Tensor x = Tensor::zeros({17}, DType::boolean);
  const char* bytes = static_cast<const char*>(x.raw());
  EXPECT_FALSE(__asan_address_is_poisoned(bytes + 16));
  EXPECT_TRUE(__asan_address_is_poisoned(bytes + 17));
  EXPECT_TRUE(__asan_address_is_poisoned(bytes + 64));
}
#endif

}  // namespace
}  // namespace glass
