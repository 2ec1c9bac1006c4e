// Sinusoidal positions: sine on even columns, cosine on odd ones, each pair with a wavelength of its own.
#include <cmath>
#include <cstdio>
#include <numbers>

#include "glassformer/nn/positions.h"

using namespace glass;

int main() {
  constexpr Dim d_model = 8;
  const Tensor pe = sinusoidal_encoding(0, 6, d_model);  // [T,D]
  std::printf("%s\n", pe.text(2).c_str());
  for (Dim pair = 0; pair < d_model / 2; ++pair) {
    const double wavelength = 2 * std::numbers::pi * std::pow(10000.0, 2.0 * static_cast<double>(pair) / d_model);
    std::printf("columns %ld and %ld: wavelength %.1f\n", 2 * pair, 2 * pair + 1, wavelength);
  }

  // PE(pos + k) is a linear map of PE(pos): each pair of columns turns by the same angle, whatever pos is.
  const double angle = 2 / std::pow(10000.0, 2.0 / d_model);  // k = 2, the second pair
  const double turned = std::cos(angle) * pe.at({1, 2}) + std::sin(angle) * pe.at({1, 3});
  std::printf("\nPE(3) of column 2 is %.4f; PE(1) turned by two steps gives %.4f\n", pe.at({3, 2}), turned);
  return std::abs(pe.at({3, 2}) - turned) < 1e-5 ? 0 : 1;
}
