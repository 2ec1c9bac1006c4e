#include "glassformer/train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "glassformer/base/error.h"

namespace glass {
namespace {

class TwoNumbers : public Module {
 public:
  TwoNumbers() : Module(nullptr, "") { x = parameter("x", {2}, Initial::zeros); }
  Tensor x;
};

struct Fixture {
  TwoNumbers module;
  ParameterStore store{module};
  void set(double a, double b) {
    module.x.copy_from(Tensor::from<float>({static_cast<float>(a), static_cast<float>(b)}, {2}));
  }
  void set_grad(double a, double b) {
    module.x.set_grad(Tensor::from<float>({static_cast<float>(a), static_cast<float>(b)}, {2}));
  }
};

// The update in double, straight from the paper (algorithm 2 of Loshchilov & Hutter).
struct Definition {
  AdamWOptions o;
  double m = 0, v = 0;
  int t = 0;
  double step(double x, double g, double lr) {
    ++t;
    m = o.beta1 * m + (1 - o.beta1) * g;
    v = o.beta2 * v + (1 - o.beta2) * g * g;
    const double m_hat = m / (1 - std::pow(o.beta1, t)), v_hat = v / (1 - std::pow(o.beta2, t));
    return x - lr * (m_hat / (std::sqrt(v_hat) + o.epsilon) + o.weight_decay * x);
  }
};

TEST(AdamW, FirstStepByHand) {
  Fixture f;
  f.set(1, -2);
  f.set_grad(0.5, 0);
  AdamW adamw(f.store, {0.9, 0.98, 1e-8, 0.1});
  adamw.step(0.01);
  // The corrected moments of the first step are g and g², so the step is lr·sign(g); the decay lr·0.1·x.
  // float32 carries 1 to 6e-8.
  EXPECT_NEAR(f.module.x.at({0}), 1 - 0.01 * 0.1 * 1 - 0.01, 2e-7);
  EXPECT_NEAR(f.module.x.at({1}), -2 + 0.01 * 0.1 * 2, 2e-7);
  EXPECT_EQ(adamw.steps(), 1);
}

TEST(AdamW, FollowsTheDefinitionOverManySteps) {
  const AdamWOptions options{0.9, 0.98, 1e-6, 0.05};
  Fixture f;
  f.set(0.3, -0.7);
  AdamW adamw(f.store, options);
  Definition a{options}, b{options};
  double x = 0.3, y = -0.7;
  for (int step = 1; step <= 50; ++step) {
    const double g = std::sin(step), h = 1e-3 * std::cos(3 * step), lr = 0.01 / step;
    f.set_grad(g, h);
    adamw.step(lr);
    x = a.step(x, g, lr);
    y = b.step(y, h, lr);
  }
  // 50 steps, each rounding a number below 1 to 6e-8 a few times.
  EXPECT_NEAR(f.module.x.at({0}), x, 2e-5);
  EXPECT_NEAR(f.module.x.at({1}), y, 2e-5);
}

TEST(AdamW, ScaleActsOnTheGradient) {
  Fixture f, g;
  f.set_grad(8, -4);
  g.set_grad(2, -1);
  AdamW a(f.store, {}), b(g.store, {});
  a.step(0.1, 0.25);
  b.step(0.1);
  EXPECT_EQ(f.module.x.to_vector(), g.module.x.to_vector());
  EXPECT_EQ(a.second_moment().to_vector(), b.second_moment().to_vector());
}

TEST(AdamW, RestoredStateGoesOnAlike) {
  Fixture f, g;
  AdamW a(f.store, {}), b(g.store, {});
  f.set_grad(1, 2);
  a.step(0.1);
  b.restore(a.steps(), a.first_moment(), a.second_moment());
  g.module.x.copy_from(f.module.x.detach());
  f.set_grad(-1, 1);
  g.set_grad(-1, 1);
  a.step(0.1);
  b.step(0.1);
  EXPECT_EQ(f.module.x.to_vector(), g.module.x.to_vector());
  EXPECT_THROW(b.restore(1, Tensor::zeros({3}), Tensor::zeros({3})), InputError);
}

TEST(GradNorm, IsOverAllParameters) {
  Fixture f;
  f.set_grad(3, -4);
  EXPECT_DOUBLE_EQ(global_grad_norm(f.store), 5);
}

TEST(Schedule, InverseSquareRootIsTheUsualFormula) {
  const ScheduleOptions o{Schedule::inverse_sqrt, 1e-3, 0, 400, 0};
  for (const int64_t step : {1, 2, 399, 400, 401, 1600, 100000}) {
    const double s = static_cast<double>(step);
    EXPECT_DOUBLE_EQ(learning_rate(o, step), 1e-3 * std::min(s / 400, std::sqrt(400 / s))) << step;
  }
}

TEST(Schedule, CosineAndLinearEndAtTheLeast) {
  for (const Schedule schedule : {Schedule::cosine, Schedule::linear}) {
    const ScheduleOptions o{schedule, 1, 0.1, 10, 110};
    EXPECT_DOUBLE_EQ(learning_rate(o, 5), 0.5);
    EXPECT_DOUBLE_EQ(learning_rate(o, 10), 1);
    EXPECT_NEAR(learning_rate(o, 60), 0.55, 1e-12);  // half way both are
    EXPECT_NEAR(learning_rate(o, 110), 0.1, 1e-12);
    EXPECT_NEAR(learning_rate(o, 200), 0.1, 1e-12);
  }
  EXPECT_NEAR(learning_rate({Schedule::cosine, 1, 0, 0, 100}, 25), (1 + std::cos(std::acos(-1.0) / 4)) / 2, 1e-12);
}

TEST(Schedule, UpdatesThatFitIntoTheTimeAreToldByThoseMade) {
  EXPECT_EQ(updates_within(180, 100, 18), 1000);
  EXPECT_EQ(updates_within(180, 100, 17), 1059);  // 1,058.8: the last begins within the time
  EXPECT_EQ(updates_within(180, 999, 179.9), 1000);
  EXPECT_EQ(updates_within(180, 5, 200), 6);  // the one about to be made
  EXPECT_EQ(updates_within(0, 1, 1), 2);
  EXPECT_EQ(updates_within(180, 0, 0), std::numeric_limits<int64_t>::max());
  EXPECT_GT(updates_within(1e300, 1, 1e-9), int64_t{1} << 40);
}

TEST(Schedule, WithoutAnEndStaysHigh) {
  for (const Schedule schedule : {Schedule::cosine, Schedule::linear}) {
    const ScheduleOptions o{schedule, 2, 0.5, 4};
    EXPECT_DOUBLE_EQ(learning_rate(o, 4), 2);
    EXPECT_NEAR(learning_rate(o, 100000), 2, 1e-9);
  }
}

TEST(Schedule, ConstantWarmsUpToo) {
  const ScheduleOptions o{Schedule::constant, 2, 0, 4, 0};
  EXPECT_DOUBLE_EQ(learning_rate(o, 1), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(o, 4), 2);
  EXPECT_DOUBLE_EQ(learning_rate(o, 1000), 2);
  EXPECT_DOUBLE_EQ(learning_rate({Schedule::constant, 2, 0, 0, 0}, 1), 2);
}

}  // namespace
}  // namespace glass
