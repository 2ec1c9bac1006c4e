#include "glassformer/autograd/gradcheck.h"

#include <limits>

#include "autograd/testing.h"

namespace glass {
namespace {

// x² with a derivative of our choice.
Tensor square(const Tensor& x, const std::function<Tensor(const Tensor& x, const Tensor& dy)>& derivative) {
  return record("square", x.detach() * x.detach(), {x},
                [x = save(x), derivative](const Tensor& dy) { return Tensors{derivative(*x, dy)}; });
}

GradcheckResult check(const std::function<Tensor(const Tensor& x, const Tensor& dy)>& derivative) {
  return gradcheck([&](const Tensors& in) { return square(in[0], derivative); }, {test::positive({2, 3})});
}

TEST(Gradcheck, AcceptsTheRightDerivative) {
  const GradcheckResult result = check([](const Tensor& x, const Tensor& dy) { return x * dy * 2.0; });
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(Gradcheck, RefusesAWrongFactorAndNamesThePlace) {
  const GradcheckResult result = check([](const Tensor& x, const Tensor& dy) { return x * dy * 2.001; });
  EXPECT_FALSE(result.ok);
  EXPECT_NE(result.message.find("input 0, element"), std::string::npos) << result.message;
}

TEST(Gradcheck, RefusesAMissingGradient) {
  EXPECT_FALSE(check([](const Tensor&, const Tensor&) { return Tensor(); }).ok);
}

TEST(Gradcheck, RefusesADerivativeThatForgetsTheUpstreamGradient) {
  EXPECT_FALSE(check([](const Tensor& x, const Tensor&) { return x * 2.0; }).ok);
}

TEST(Gradcheck, RefusesNaNInOneElement) {
  EXPECT_FALSE(check([](const Tensor& x, const Tensor& dy) {
                 Tensor grad = x * dy * 2.0;
                 grad.data<double>()[1] = std::numeric_limits<double>::quiet_NaN();
                 return grad;
               }).ok);
}

TEST(Gradcheck, LeavesTheGivenTensorsAlone) {
  const Tensor x = test::positive({3});
  const std::vector<double> before = x.to_vector();
  gradcheck([](const Tensors& in) { return in[0] * in[0]; }, {x});
  EXPECT_EQ(x.to_vector(), before);
  EXPECT_FALSE(x.requires_grad());
}

}  // namespace
}  // namespace glass
