#include "glassformer/data/unicode.h"

#include <gtest/gtest.h>

namespace glass {
namespace {

TEST(Unicode, CodePointsOfEachLengthComeBack) {
  EXPECT_EQ(to_code_points("aé€\U0001F600"), U"aé€\U0001F600");
  EXPECT_EQ(to_utf8(to_code_points("aé€\U0001F600")), "aé€\U0001F600");
}

// The two rules that one code point cannot tell: a sigma that ends a word, and the dotted I, which becomes two.
TEST(Unicode, LowercaseKnowsTheFinalSigmaAndTheDottedI) { EXPECT_EQ(lowercase("ÀΣΟΦΟΣ İ"), "àσοφος i\u0307"); }

}  // namespace
}  // namespace glass
