#include "glassformer/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <thread>
#include <vector>

namespace glass {
namespace {

// The test vectors that the authors of Philox publish with their code.
TEST(Philox, PublishedVectors) {
  EXPECT_EQ(philox(0, {0, 0, 0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(0xffffffffffffffff, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, NormalHasItsMoments) {
  Random random(1);
  constexpr int count = 100000;
  double sum = 0, square = 0;
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<double>(random.normal());
    sum += value;
    square += value * value;
  }
  // Five standard errors: 1/√count for the mean, √(2/count) for the variance.
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
  EXPECT_NEAR(square / count, 1, 5 * std::sqrt(2.0 / count));
}

TEST(Random, UniformFillsItsRangeEvenly) {
  EXPECT_EQ(uniform_from_bits(0), 0.0f);
  EXPECT_LT(uniform_from_bits(0xffffffffu), 1.0f);
  Random random(2);
  std::array<int, 10> tenths{};
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    const float value = random.uniform(-1, 4);
    ASSERT_GE(value, -1);
    ASSERT_LT(value, 4);
    ++tenths[static_cast<size_t>((value + 1) * 2)];
  }
  // Six standard errors of a binomial count with p = 1/10.
  for (const int hits : tenths) EXPECT_NEAR(hits, count / 10, 6 * std::sqrt(count * 0.09));
}

TEST(Random, BelowReachesEachNumberAndNoOther) {
  Random random(3);
  std::array<int, 7> hits{};
  for (int i = 0; i < 7000; ++i) {
    const uint64_t value = random.below(7);
    ASSERT_LT(value, 7u);
    ++hits[value];
  }
  for (const int count : hits) EXPECT_NEAR(count, 1000, 6 * std::sqrt(7000 * 6.0 / 49));
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, SameKeySameSequenceAndCopiesGoOnAlike) {
  Random a(4), b(4), other(5);
  EXPECT_EQ(a.bits(), b.bits());
  Random copy = a;
  std::vector<uint32_t> from_a, from_copy, from_other;
  for (int i = 0; i < 9; ++i) {
    from_a.push_back(a.bits());
    from_copy.push_back(copy.bits());
    from_other.push_back(other.bits());
  }
  EXPECT_EQ(from_a, from_copy);
  EXPECT_NE(from_a, from_other);
}

TEST(Random, ShuffleIsAPermutation) {
  std::vector<int> items(100), sorted(100);
  std::iota(sorted.begin(), sorted.end(), 0);
  items = sorted;
  Random(6).shuffle(items);
  EXPECT_NE(items, sorted);
  std::sort(items.begin(), items.end());
  EXPECT_EQ(items, sorted);
  std::vector<int> none;
  Random(6).shuffle(none);
}

TEST(Random, HashesDependOnOrderAndText) {
  EXPECT_NE(hash_combine(1, 2), hash_combine(2, 1));
  EXPECT_NE(hash_combine(0, 0), hash_combine(0, 1));
  EXPECT_NE(hash_text("ab"), hash_text("ba"));
}

TEST(RandomScope, InnermostIsCurrentOnItsThreadOnly) {
  EXPECT_EQ(RandomScope::current(), nullptr);
  const RandomScope outer({1, 10, 0});
  {
    const RandomScope inner({1, 11, 0});
    EXPECT_EQ(RandomScope::current()->step, 11u);
  }
  EXPECT_EQ(RandomScope::current()->step, 10u);
  const RandomContext* elsewhere = RandomScope::current();
  std::thread([&] { elsewhere = RandomScope::current(); }).join();
  EXPECT_EQ(elsewhere, nullptr);
}

}  // namespace
}  // namespace glass
