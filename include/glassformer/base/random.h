// Random numbers by counter (Philox 4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). A
// number is a pure function of a key and a place, so it does not depend on the order in which, or the thread on which,
// it is drawn.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace glass {

using PhiloxBlock = std::array<uint32_t, 4>;

// Four independent uniform 32-bit words for one key and one 128-bit counter.
PhiloxBlock philox(uint64_t key, PhiloxBlock counter);

// Mixes b into a; for deriving keys from (seed, step, name).
uint64_t hash_combine(uint64_t a, uint64_t b);
uint64_t hash_text(std::string_view text);

// [0,1) with 24 bits from one word.
inline float uniform_from_bits(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

// A sequence of numbers from one key, for initial weights and shuffles. Copyable; its whole state is two integers.
class Random {
 public:
  explicit Random(uint64_t key) : key_(key) {}
  uint32_t bits();
  float uniform();  // [0,1)
  float uniform(float low, float high);
  float normal();                  // mean 0, deviation 1 (Box-Muller)
  uint64_t below(uint64_t bound);  // [0,bound), unbiased; bound > 0
  // Fisher-Yates.
  template <class Container>
  void shuffle(Container& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  uint64_t key_;
  uint64_t drawn_ = 0;  // words handed out so far
};

// What the random numbers of a forward pass are keyed by, beside the place of the number itself. The training loop sets
// one for each micro-batch; without one, operations that draw (dropout) throw.
struct RandomContext {
  uint64_t seed = 0;
  uint64_t step = 0;
  uint64_t first_example = 0;  // index within the whole step of this micro-batch's row 0
  // How many rows each example has, where they are packed one after another into a tensor [1,N,D]; null where axis 0 is
  // the example.
  std::shared_ptr<const std::vector<int64_t>> packed_rows = nullptr;
};

// Makes a context current on the calling thread for its lifetime.
class RandomScope {
 public:
  explicit RandomScope(RandomContext context);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

  // The innermost context, or nullptr.
  static const RandomContext* current();

 private:
  RandomContext context_;
  const RandomContext* outer_;
};

}  // namespace glass
