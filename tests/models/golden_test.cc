// The whole models against PyTorch: outputs, loss and every gradient.
#include <gtest/gtest.h>

#include "golden/golden_model.h"

namespace glass::golden {
namespace {

Differences run(Case& golden) {
  const ModelCase model = model_case(golden);
  Differences differences;
  const Tensor output = model.forward();
  differences.compare("output", output, golden.take("output"), forward_tolerance);
  const Loss loss = model.loss(output);
  const Tensor mean = loss.total * (1 / loss.count);
  differences.compare("loss", mean, golden.take("loss"), forward_tolerance);
  backward(mean);
  compare_gradients(golden, *model.module, differences);
  for (const auto& [name, leaf] : model.inputs) compare_input_gradient(golden, name, leaf, differences);
  // What ten training steps lead to is compared by the training layer's test.
  golden.take("losses");
  for (const NamedParameter& parameter : distinct_parameters(*model.module)) golden.take("final." + parameter.name);
  differences.add_not_taken(golden);
  return differences;
}

const std::vector<std::string> cases{
    "forecast_post",
    "forecast_pre",
    "translation_post_tie_all_learned",
    "translation_post_tie_all_sinusoidal",
    "translation_post_tie_none_learned",
    "translation_post_tie_none_sinusoidal",
    "translation_post_tie_output_learned",
    "translation_post_tie_output_sinusoidal",
    "translation_pre_tie_all_learned",
    "translation_pre_tie_all_sinusoidal",
    "translation_pre_tie_none_learned",
    "translation_pre_tie_none_sinusoidal",
    "translation_pre_tie_output_learned",
    "translation_pre_tie_output_sinusoidal",
    "translation_wide",
};

TEST(Golden, EachFileIsACase) { EXPECT_EQ(cases_in("models"), cases); }

std::string case_name(const testing::TestParamInfo<std::string>& test) { return test.param; }

class GoldenModel : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Pytorch, GoldenModel, testing::ValuesIn(cases), case_name);

TEST_P(GoldenModel, EqualsPytorch) {
  Case golden("models", GetParam());
  const Differences differences = run(golden);
  EXPECT_TRUE(differences.empty()) << differences.text();
}

// Each parameter reaches the output: none is left at what the model began with.
TEST(Golden, AWrongParameterIsFound) {
  const std::string name = "translation_pre_tie_none_learned";
  for (const std::string& parameter : Case("models", name).names("parameter.")) {
    Case golden("models", name);
    if (has_no_gradient(parameter)) continue;
    golden.scale(parameter, 1.001F);
    EXPECT_FALSE(run(golden).empty()) << parameter;
  }
}

}  // namespace
}  // namespace glass::golden
