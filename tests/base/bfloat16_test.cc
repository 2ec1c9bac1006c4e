#include "glassformer/base/bfloat16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace glass {
namespace {

float through(float value) { return static_cast<float>(bfloat16(value)); }

TEST(BFloat16, RoundsToNearestTiesToEven) {
  EXPECT_EQ(through(1.0f), 1.0f);
  EXPECT_EQ(through(1.00390625f), 1.0f);       // halfway: down to even
  EXPECT_EQ(through(1.01171875f), 1.015625f);  // halfway: up to even
  EXPECT_EQ(through(1.004f), 1.0078125f);      // just above halfway
  EXPECT_EQ(through(-1.004f), -1.0078125f);
}

TEST(BFloat16, KeepsWhatIsNotANumber) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(through(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(through(std::bit_cast<float>(0x7f800001u))));  // its payload lies in the half that is cut off
  EXPECT_EQ(through(infinity), infinity);
  EXPECT_EQ(through(-infinity), -infinity);
  EXPECT_EQ(through(std::numeric_limits<float>::max()), infinity);  // rounds up past the largest
  EXPECT_TRUE(std::signbit(through(-0.0f)));
}

}  // namespace
}  // namespace glass
