// Rows by index, and their gradient, in which rows may repeat.
#include "kernels/gather.h"

#include <gtest/gtest.h>

#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

constexpr int64_t table_rows = 11, count = 40;

std::vector<int64_t> repeated_ids() {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < count; ++i) ids.push_back(i * i % 7 + (i % 2) * 4);
  return ids;
}

TEST(Gather, CopiesTheRowsNamed) {
  const auto ids = repeated_ids();
  for (const int64_t width : ragged_sizes) {
    MisalignedFloats table(random_values<double>(table_rows * width, 1)), out(count * width);
    gather_rows(table.data(), width, ids.data(), count, out.data());
    for (int64_t i = 0; i < count * width; ++i) {
      ASSERT_EQ(out.data()[i], table.data()[ids[static_cast<size_t>(i / width)] * width + i % width]);
    }
  }
}

TEST(ScatterAdd, AddsEachRowToItsOwnAndToWhatIsThere) {
  const auto ids = repeated_ids();
  for (const int64_t width : ragged_sizes) {
    std::vector<double> table = random_values<double>(table_rows * width, 1);
    const auto rows = random_values<double>(count * width, 2);
    MisalignedFloats narrow_table(table), narrow_rows(rows);
    for (int64_t i = 0; i < count * width; ++i) {
      table[static_cast<size_t>(ids[static_cast<size_t>(i / width)] * width + i % width)] +=
          rows[static_cast<size_t>(i)];
    }
    scatter_add_rows(narrow_rows.data(), width, ids.data(), count, narrow_table.data());
    expect_close(narrow_table.values(), table, 16, "scatter_add_rows");  // some ten additions of numbers of about 1
  }
}

TEST(ScatterAdd, AnyNumberOfThreadsGivesTheSameBits) {
  const int64_t width = 300;
  const auto ids = repeated_ids();
  const auto rows = random_values<float>(count * width, 1);
  expect_same_for_any_threads([&] {
    std::vector<float> table(table_rows * width);
    scatter_add_rows(rows.data(), width, ids.data(), count, table.data());
    return table;
  });
}

TEST(ScatterAdd, IsTheTransposeOfGather) {  // ⟨gather(table), rows⟩ = ⟨table, scatter(rows)⟩
  const int64_t width = 5;
  const auto ids = repeated_ids();
  const auto table = random_values<double>(table_rows * width, 1), rows = random_values<double>(count * width, 2);
  std::vector<double> gathered(rows.size()), scattered(table.size());
  gather_rows(table.data(), width, ids.data(), count, gathered.data());
  scatter_add_rows(rows.data(), width, ids.data(), count, scattered.data());
  double left = 0, right = 0;
  for (size_t i = 0; i < rows.size(); ++i) left += gathered[i] * rows[i];
  for (size_t i = 0; i < table.size(); ++i) right += table[i] * scattered[i];
  EXPECT_NEAR(left, right, 1e-12);
}

}  // namespace
}  // namespace glass::kernels
