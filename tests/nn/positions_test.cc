#include "glassformer/nn/positions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/testing.h"

namespace glass {
namespace {

constexpr Dim d_model = 7;  // odd: the last column is a sine

// Decoding starts late: it adds to token 5 what training added to it.
TEST(Positions, AChunkContinuesWhereItStands) {
  const Tensor x = test::uniform({2, 9, d_model}, 1, DType::f32);
  for (const PositionKind kind : {PositionKind::sinusoidal, PositionKind::learned}) {
    const auto positions = make_positions(kind, nullptr, "", 9, d_model);
    const Tensor whole = positions->embed(x, 0);
    test::expect_same_bits(positions->embed(x.narrowed(1, 4, 9), 4), whole.narrowed(1, 4, 9));
    EXPECT_NE(positions->embed(x.narrowed(1, 4, 9), 0).to_vector(), whole.narrowed(1, 4, 9).to_vector());
  }
}

// Beyond what is kept ready, the same numbers are computed when met.
TEST(Positions, SinusoidalHasNoLimit) {
  const SinusoidalPositions positions(nullptr, "", d_model);
  const Tensor zeros = Tensor::zeros({1, 700, d_model});
  const Tensor whole = positions.embed(zeros, 0).narrowed(0, 0, 1).contiguous().reshaped({700, d_model});
  test::expect_same_bits(whole, sinusoidal_encoding(0, 700, d_model));
  test::expect_same_bits(positions.embed(zeros.narrowed(1, 0, 1), 699).reshaped({1, d_model}),
                         whole.narrowed(0, 699, 700));
}

TEST(Positions, SinusoidalByTheFormula) {
  const Tensor encoding = sinusoidal_encoding(0, 700, d_model);
  for (const Dim position : {0, 1, 17, 399, 602}) {
    for (Dim column = 0; column < d_model; ++column) {
      const double wavelength = 2 * M_PI * std::pow(10000.0, static_cast<double>(column - column % 2) / d_model);
      const double turn = 2 * M_PI * static_cast<double>(position) / wavelength;
      // float32 holds numbers up to 1 to 6e-8.
      EXPECT_NEAR(encoding.at({position, column}), column % 2 == 0 ? std::sin(turn) : std::cos(turn), 1e-7);
    }
  }
}

TEST(Positions, SinusoidalMayBeginAnywhere) {
  const Tensor encoding = sinusoidal_encoding(0, 5, d_model);
  test::expect_same_bits(sinusoidal_encoding(3, 2, d_model), encoding.narrowed(0, 3, 5));
}

// Each pair of columns turns by k·frequency, whatever the position: PE(pos + k) is one linear map of PE(pos).
TEST(Positions, SinusoidalShiftsByALinearMap) {
  constexpr Dim width = 16, shift = 7;
  const Tensor encoding = sinusoidal_encoding(0, 100, width);
  for (const Dim position : {0, 1, 50, 90}) {
    for (Dim column = 0; column < width; column += 2) {
      const double turn = shift / std::pow(10000.0, static_cast<double>(column) / width);
      const double sine = encoding.at({position, column}), cosine = encoding.at({position, column + 1});
      EXPECT_NEAR(encoding.at({position + shift, column}), std::cos(turn) * sine + std::sin(turn) * cosine, 1e-6);
      EXPECT_NEAR(encoding.at({position + shift, column + 1}), std::cos(turn) * cosine - std::sin(turn) * sine, 1e-6);
    }
  }
}

TEST(Positions, LearnedRowsAreTrainedWhereTheyAreUsed) {
  const LearnedPositions positions(nullptr, "", 6, d_model);
  const Tensor x = test::uniform({2, 3, d_model}, 1, DType::f32);
  backward(sum(positions.embed(x, 2)));
  const Tensor grad = positions.weight.grad();
  for (Dim row = 0; row < 6; ++row) {
    for (const double value : grad.narrowed(0, row, row + 1).to_vector()) EXPECT_EQ(value, row >= 2 && row < 5 ? 2 : 0);
  }
}

TEST(Positions, LearnedEndWithAClearError) {
  const LearnedPositions positions(nullptr, "", 6, d_model);
  const Tensor x = Tensor::zeros({1, 4, d_model});
  EXPECT_NO_THROW(positions.embed(x, 2));
  test::expect_error<ValueError>([&] { positions.embed(x, 3); }, {"7", "6 positions", "max_positions"});
}

}  // namespace
}  // namespace glass
