// The product of our own against its definition, around the sizes of its blocks, with C's rows apart.
#include "kernels/gemm_blocks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

struct Form {
  bool a_transposed, b_transposed, add;
};

void expect_as_defined(GemmSizes s, Form form) {
  SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k));
  const int64_t leading = s.n + 7, lead_a = form.a_transposed ? s.m : s.k, lead_b = form.b_transposed ? s.k : s.n;
  const auto a = random_values<double>(s.m * s.k, 1), b = random_values<double>(s.k * s.n, 2);
  std::vector<double> want = random_values<double>(s.m * leading, 3);
  MisalignedFloats narrow_a(a), narrow_b(b), c(want);
  plain::gemm<double>(s, 1, {a.data(), lead_a, form.a_transposed}, {b.data(), lead_b, form.b_transposed}, form.add,
                      want.data(), leading);
  gemm_blocks(s, {narrow_a.data(), lead_a, form.a_transposed}, {narrow_b.data(), lead_b, form.b_transposed}, form.add,
              c.data(), leading);
  // What lies between the rows is as it was; a sum of k products has up to √k roundings of its own size.
  expect_close(c.values(), want, 4 * std::sqrt(static_cast<double>(s.k)) + 4, "gemm_blocks");
}

TEST(GemmBlocks, EqualsTheDefinition) {
  for (const int64_t m : {1, 97, 205}) {
    for (const int64_t n : {15, 513, 530}) {
      for (const int64_t k : {1, 256, 259}) {
        for (int form = 0; form < 8; ++form) expect_as_defined({m, n, k}, {form % 2 > 0, form / 2 % 2 > 0, form > 3});
      }
    }
  }
}

}  // namespace
}  // namespace glass::kernels
