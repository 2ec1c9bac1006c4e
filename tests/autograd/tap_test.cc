#include "glassformer/autograd/tap.h"

#include "autograd/testing.h"

namespace glass {
namespace {

TEST(Tap, ReturnsTheSameTensorAndIsSilentWithoutAListener) {
  const Tensor x = Tensor::scalar(1);
  EXPECT_TRUE(tap("x", x).same_as(x));
}

TEST(Tap, GivesPathAndTensor) {
  std::vector<std::string> paths;
  Tensor kept;
  const Tensor x = Tensor::scalar(1);
  {
    const ListenToTaps listen([&](const std::string& path, const Tensor& value) {
      paths.push_back(path);
      kept = value;
    });
    const Scope decoder("decoder"), layer("3");
    tap("scores", x);
  }
  tap("after", x);
  EXPECT_EQ(paths, std::vector<std::string>{"decoder.3.scores"});
  EXPECT_TRUE(kept.same_as(x));
}

TEST(Tap, SilencesTheOuterListenerMeanwhile) {
  int outer = 0, inner = 0;
  const Tensor x = Tensor::scalar(1);
  const ListenToTaps first([&](const std::string&, const Tensor&) { ++outer; });
  {
    const ListenToTaps second([&](const std::string&, const Tensor&) { ++inner; });
    tap("x", x);
  }
  tap("x", x);
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(inner, 1);
}

TEST(Tap, ListenersMayAskForGradients) {
  Tensor x = test::leaf(Tensor::scalar(3, DType::f64));
  Tensor seen;
  const ListenToTaps listen([&](const std::string&, const Tensor& value) {
    retain_grad(value);
    seen = value;
  });
  const Tensor y = tap("y", x * 2.0);
  backward(y * y);
  test::expect_values(seen.grad(), {}, {12}, 0);
}

}  // namespace
}  // namespace glass
