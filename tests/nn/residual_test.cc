#include "glassformer/nn/residual.h"

#include "autograd/testing.h"

namespace glass {
namespace {

// By the formulas, spelled out with the connection's own norm.
TEST(Residual, PreAndPostAreWhatTheySay) {
  const Tensor x = test::uniform({2, 3, 12}, 1, DType::f32);
  const auto twice = [](const Tensor& y) { return mul(y, 2.0); };
  const Residual pre(nullptr, "", 12, NormScheme::pre, 0.0), post(nullptr, "", 12, NormScheme::post, 0.0);
  const Tensor by_pre = add(x, twice(pre.norm(x))), by_post = post.norm(add(x, twice(x)));
  test::expect_same_bits(pre(x, twice), by_pre);
  test::expect_same_bits(post(x, twice), by_post);
  EXPECT_NE(by_pre.to_vector(), by_post.to_vector());
}

}  // namespace
}  // namespace glass
