// Ten AdamW steps against PyTorch: the loss before each, and every parameter after the last.
#include <gtest/gtest.h>

#include "glassformer/train/optimizer.h"
#include "golden/golden_model.h"

namespace glass::golden {
namespace {

// A step divides by the root of the second moment, so where a gradient is small its rounding weighs as much as that of
// a large one; ten steps add it up.
constexpr double trajectory_tolerance = 1e-4;

AdamWOptions adamw_options(const Case& golden) {
  return {golden.number("beta1"), golden.number("beta2"), golden.number("epsilon"), golden.number("weight_decay")};
}

// The losses, one before each of `steps` updates. [steps]
Tensor train_steps(const Case& golden, const ModelCase& model, ParameterStore& store, Dim steps) {
  AdamW optimizer(store, adamw_options(golden));
  std::vector<float> losses;
  for (Dim step = 0; step < steps; ++step) {
    store.zero_grads();
    const Loss loss = model.loss(model.forward());
    losses.push_back(static_cast<float>(loss.total.item() / loss.count));
    backward(loss.total);
    optimizer.step(golden.number("learning_rate"), 1 / loss.count);
  }
  return Tensor::from(losses, {steps});
}

// A key's bias has no gradient but rounding, whose sign AdamW still follows: it may be anywhere that ten steps reach,
// and changes nothing there.
void compare_parameter(Case& golden, const NamedParameter& parameter, double reach, Differences& differences) {
  const std::string name = "final." + parameter.name;
  const Tensor& want = golden.take(name);
  if (!has_no_gradient(parameter.name)) {
    differences.compare(name, parameter.tensor, want, trajectory_tolerance);
  } else {
    const double limit = 2 * reach * std::sqrt(static_cast<double>(want.numel()));
    differences.compare_within(name, parameter.tensor, want, limit);
  }
}

Differences run(Case& golden) {
  const ModelCase model = model_case(golden);
  ParameterStore store(*model.module);
  Differences differences;
  const Tensor& want = golden.take("losses");
  differences.compare("losses", train_steps(golden, model, store, want.numel()), want, trajectory_tolerance);
  const double reach = golden.number("learning_rate") * static_cast<double>(want.numel());
  const std::vector<NamedParameter> parameters = distinct_parameters(*model.module);
  for (const NamedParameter& parameter : parameters) compare_parameter(golden, parameter, reach, differences);
  if (golden.names("final.").size() != parameters.size()) differences.add("other parameters than in the file");
  return differences;
}

std::string case_name(const testing::TestParamInfo<std::string>& test) { return test.param; }

class GoldenTraining : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Pytorch, GoldenTraining, testing::ValuesIn(cases_in("models")), case_name);

TEST_P(GoldenTraining, TenStepsEqualPytorch) {
  Case golden("models", GetParam());
  const Differences differences = run(golden);
  EXPECT_TRUE(differences.empty()) << differences.text();
}

// The trajectory is told from one of slightly other settings.
TEST(Golden, OtherSettingsAreFound) {
  const std::pair<std::string, std::string> others[] = {{"beta1", "0.91"},
                                                        {"beta2", "0.99"},
                                                        {"weight_decay", "0.03"},
                                                        {"epsilon", "1e-4"},
                                                        {"learning_rate", "0.00301"}};
  for (const auto& [setting, value] : others) {
    Case golden("models", "translation_wide");
    golden.set(setting, value);
    EXPECT_FALSE(run(golden).empty()) << setting;
  }
}

}  // namespace
}  // namespace glass::golden
