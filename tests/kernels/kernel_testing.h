// What the tests of kernels share: inputs, comparison by norms, and the comparison across numbers of threads.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "glassformer/base/random.h"
#include "glassformer/base/threads.h"

namespace glass::kernels {

inline constexpr double float_epsilon = 0x1p-23;

// Below, at and above each number of lanes (4, 8, 16), and twice that with up to three more.
inline const std::vector<int64_t> ragged_sizes{1,  2,  3,  4,  5,  7,  8,  9,  11, 15, 16,
                                               17, 19, 31, 32, 33, 35, 63, 64, 65, 67, 129};

// Values in [−2,2), all exact in float32.
template <class T>
std::vector<T> random_values(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) value = static_cast<T>(random.uniform(-2, 2));
  return values;
}

inline std::vector<float> narrowed(const std::vector<double>& wide) { return {wide.begin(), wide.end()}; }
inline std::vector<double> widened(const std::vector<float>& narrow) { return {narrow.begin(), narrow.end()}; }

// float32 numbers at an address that is no multiple of a vector's size.
class MisalignedFloats {
 public:
  explicit MisalignedFloats(const std::vector<double>& values) : storage_(values.size() + 1) {
    for (size_t i = 0; i < values.size(); ++i) storage_[i + 1] = static_cast<float>(values[i]);
  }
  explicit MisalignedFloats(int64_t count) : storage_(static_cast<size_t>(count) + 1) {}
  float* data() { return storage_.data() + 1; }
  std::vector<float> values() const { return {storage_.begin() + 1, storage_.end()}; }

 private:
  std::vector<float> storage_;
};

// ‖got − want‖ ≤ factor·ε·‖want‖
inline void expect_close(const std::vector<float>& got, const std::vector<double>& want, double factor,
                         const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  double difference = 0, norm = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double error = static_cast<double>(got[i]) - want[i];
    difference += error * error;
    norm += want[i] * want[i];
  }
  EXPECT_LE(std::sqrt(difference), factor * float_epsilon * std::sqrt(norm) + 1e-30) << what;
}

// Whether compute() gives the same bits for 1, 2, 3 and 5 threads.
template <class Compute>
void expect_same_for_any_threads(Compute&& compute) {
  const int before = threads();
  set_threads(1);
  const auto one = compute();
  for (const int count : {2, 3, 5}) {
    set_threads(count);
    const auto other = compute();
    EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(one[0])), 0) << count << " threads";
  }
  set_threads(before);
}

}  // namespace glass::kernels
