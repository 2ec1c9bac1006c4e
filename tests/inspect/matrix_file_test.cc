#include "inspect/matrix_file.h"

#include "inspect/asking.h"

namespace glass {
namespace {

using testing::matrix_of;
using testing::MatrixFile;

TEST(MatrixFile, WeightsComeBackWithinTheErrorThatIsStated) {
  for (int i = 0; i <= 100'000; ++i) {
    const double p = i / 100'000.0;
    const uint8_t byte = weight_byte(p);
    const double back = matrix_of(weight_matrix_file({1}, std::vector{byte})).cells[0];
    ASSERT_NEAR(back, p, 0.004);
    if (p < 0.001) continue;
    ASSERT_NEAR(back / p, 1, 0.1212) << p;  // the widest step up from there: (9/8.5)²
  }
}

TEST(MatrixFile, OnlyAMaskedWeightIsZero) {
  EXPECT_EQ(weight_byte(0), 1);
  EXPECT_EQ(weight_byte(1), 255);
  EXPECT_EQ(weight_byte(1.0000001), 255);  // a sum of floats may be a little more
  EXPECT_EQ(weight_byte(std::nan("")), 1);
  const MatrixFile file = matrix_of(weight_matrix_file({1, 2}, std::vector<uint8_t>{masked_byte, 1}));
  EXPECT_EQ(file.type, 1);
  EXPECT_EQ(file.sizes, (std::vector<uint32_t>{1, 2}));
  EXPECT_TRUE(std::isnan(file.cells[0]));
  EXPECT_EQ(file.cells[1], 0);
}

TEST(MatrixFile, FloatsAreExact) {
  const std::vector<float> cells{1.5f, -0.1f, std::nanf(""), 3e30f, std::numeric_limits<float>::infinity(), 0};
  const MatrixFile file = matrix_of(float_matrix_file({2, 3}, cells));
  EXPECT_EQ(file.type, 2);
  EXPECT_EQ(file.low, -0.1f);  // of the finite ones
  EXPECT_EQ(file.high, 3e30f);
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i == 2) continue;
    EXPECT_EQ(file.cells[i], static_cast<double>(cells[i]));
  }
  EXPECT_TRUE(std::isnan(file.cells[2]));
}

TEST(MatrixFile, LinearCellsAreWithinHalfAStep) {
  std::vector<float> cells;
  for (int i = 0; i < 1000; ++i) cells.push_back(std::sin(static_cast<float>(i)) * 7);
  cells.push_back(std::nanf(""));
  const MatrixFile file = matrix_of(linear_matrix_file({7, 11, 13}, cells));
  EXPECT_EQ(file.type, 3);
  const double half_step = (static_cast<double>(file.high) - static_cast<double>(file.low)) / 254 / 2;
  for (size_t i = 0; i < 1000; ++i) EXPECT_NEAR(file.cells[i], static_cast<double>(cells[i]), half_step * 1.001);
  EXPECT_TRUE(std::isnan(file.cells[1000]));
}

TEST(MatrixFile, ARangeWiderThanAFloatAndOneOfNothing) {
  const float most = std::numeric_limits<float>::max();
  const MatrixFile wide = matrix_of(linear_matrix_file({2}, std::vector{-most, most}));
  EXPECT_EQ(wide.cells[1], static_cast<double>(most));
  const MatrixFile same = matrix_of(linear_matrix_file({2}, std::vector{2.5f, 2.5f}));
  EXPECT_EQ(same.cells, (std::vector<double>{2.5, 2.5}));
  const MatrixFile none = matrix_of(linear_matrix_file({1}, std::vector{std::nanf("")}));
  EXPECT_TRUE(std::isnan(none.cells[0]));
}

}  // namespace
}  // namespace glass
