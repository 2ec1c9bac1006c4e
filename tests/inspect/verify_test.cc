#include "glassformer/inspect/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "glassformer/autograd/tap.h"
#include "glassformer/base/error.h"
#include "glassformer/inspect/trace_file.h"
#include "golden/golden_model.h"

namespace glass {
namespace {

const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();

SafeTensors file(std::map<std::string, Tensor> tensors) {
  SafeTensors contents;
  contents.tensors = std::move(tensors);
  return contents;
}

VerifyReport compare(const SafeTensors& trace, const SafeTensors& reference, Tolerance tolerance = {}) {
  return verify(trace, "trace", reference, "reference", tolerance);
}

Tensor numbers(float changed = 5) { return Tensor::from<float>({0, 1, 2, 3, 4, changed, 6, 7}, {2, 2, 2}); }

TEST(Verify, EqualFilesAgree) {
  const VerifyReport report = compare(file({{"a", numbers()}}), file({{"a", numbers()}}));
  EXPECT_TRUE(report.agrees());
  EXPECT_EQ(report.first_difference(), nullptr);
  EXPECT_NE(verify_text(report).find("1 of 1 tensors agree"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(verify_json(report))["first"].is_null());
}

TEST(Verify, NamesRowAndCellWithBothValues) {
  const VerifyReport report = compare(file({{"a", numbers(5.5f)}}), file({{"a", numbers()}}));
  EXPECT_FALSE(report.agrees());
  const TensorComparison& difference = *report.first_difference();
  EXPECT_EQ(difference.out_of_tolerance, 1);
  EXPECT_EQ(difference.largest_difference, 0.5);
  EXPECT_EQ(difference.first->index, (std::vector<Dim>{1, 0, 1}));
  const std::string text = verify_text(report);
  EXPECT_NE(text.find("a [2,2,2]: row [1,0], cell 1 is 5.5, in the reference 5\n"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(verify_json(report));
  EXPECT_EQ(json["first"]["name"], "a");
  EXPECT_EQ(json["first"]["row"], (std::vector<int>{1, 0}));
  EXPECT_EQ(json["first"]["cell"], 1);
  EXPECT_EQ(json["first"]["value"], 5.5);
  EXPECT_EQ(json["differing"][0]["cells"], 8);
}

TEST(Verify, TheFirstIsTheFirstComputed) {
  SafeTensors trace = file({{"a", numbers(9)}, {"b", numbers(9)}, {"c", numbers()}});
  const SafeTensors reference = file({{"a", numbers()}, {"b", numbers()}, {"c", numbers()}});
  EXPECT_EQ(compare(trace, reference).first_difference()->name, "a");
  trace.metadata["order"] = R"(["c","b","a"])";
  const VerifyReport report = compare(trace, reference);
  EXPECT_EQ(report.first_difference()->name, "b");
  EXPECT_NE(verify_text(report).find("also different (1):\n  a\n"), std::string::npos);
}

TEST(Verify, ToleranceIsAbsoluteAndRelative) {
  const auto agree = [](float value, float reference, Tolerance tolerance) {
    return compare(file({{"a", Tensor::scalar(value)}}), file({{"a", Tensor::scalar(reference)}}), tolerance).agrees();
  };
  EXPECT_TRUE(agree(100.5f, 100, {0.01, 0}));
  EXPECT_FALSE(agree(102, 100, {0.01, 0}));
  EXPECT_FALSE(agree(0.25f, 0, {0.5, 0}));  // relative to nothing
  EXPECT_TRUE(agree(0.25f, 0, {0, 0.25}));
  EXPECT_FALSE(agree(0.5f, 0, {0, 0.25}));
}

TEST(Verify, NaNAndInfinityAgreeWithThemselvesAlone) {
  const auto agree = [](float value, float reference) {
    return compare(file({{"a", Tensor::scalar(value)}}), file({{"a", Tensor::scalar(reference)}})).agrees();
  };
  EXPECT_TRUE(agree(nan, nan));
  EXPECT_TRUE(agree(inf, inf));
  EXPECT_FALSE(agree(nan, 0));
  EXPECT_FALSE(agree(0, nan));
  EXPECT_FALSE(agree(inf, 1));
  EXPECT_FALSE(agree(1, inf));
  EXPECT_FALSE(agree(inf, -inf));
}

TEST(Verify, MissingIsADifferenceAndExtraIsSaid) {
  const VerifyReport missing = compare(file({{"a", numbers()}}), file({{"a", numbers()}, {"b", numbers()}}));
  EXPECT_FALSE(missing.agrees());
  EXPECT_EQ(missing.missing, std::vector<std::string>{"b"});
  EXPECT_NE(verify_text(missing).find("missing, in the reference only (1):\n  b\n1 of 2 tensors agree"),
            std::string::npos);
  const VerifyReport extra = compare(file({{"a", numbers()}, {"b", numbers()}}), file({{"a", numbers()}}));
  EXPECT_TRUE(extra.agrees());
  EXPECT_EQ(extra.extra, std::vector<std::string>{"b"});
  EXPECT_NE(verify_text(extra).find("extra, in the trace only, not compared (1):\n  b\n"), std::string::npos);
  EXPECT_THROW(compare(file({{"a", numbers()}}), file({})), InputError);
}

TEST(Verify, AnotherShapeIsADifference) {
  const VerifyReport report = compare(file({{"a", numbers().reshaped({4, 2})}}), file({{"a", numbers()}}));
  EXPECT_FALSE(report.agrees());
  EXPECT_NE(verify_text(report).find("a: shape [4,2], in the reference [2,2,2]"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(verify_json(report))["differing"][0]["first"].is_null());
}

TEST(Verify, TypesNeedNotAgreeAndBytesAreNumbers) {
  EXPECT_TRUE(compare(file({{"a", numbers()}}), file({{"a", numbers().to(DType::f64)}})).agrees());
  SafeTensors trace = file({{"mask", Tensor::from<int32_t>({1, 0, 255}, {3})}}), reference;
  reference.bytes["mask"] = std::string("\x01\x00\xff", 3);
  EXPECT_TRUE(compare(trace, reference).agrees());
  reference.bytes["mask"][0] = 2;
  EXPECT_FALSE(compare(trace, reference).agrees());
}

// What PyTorch computed for a whole model: its output, its loss, and the gradient of each parameter.
TEST(Verify, ATraceAgreesWithPyTorch) {
  golden::Case golden("models", "translation_pre_tie_none_sinusoidal");
  const golden::ModelCase model = golden::model_case(golden);
  Trace trace({.gradients = true});
  trace.extend([&] {
    const golden::Loss loss = model.loss(model.forward());
    backward(tap("loss", loss.total * (1 / loss.count)));
  });
  trace.add_parameters(*model.module);

  SafeTensors reference;
  reference.tensors = {{"logits", golden.take("output")}, {"loss", golden.take("loss")}};
  for (const std::string& name : golden.names("grad.")) reference.tensors[name.substr(5) + ".grad"] = golden.take(name);
  const VerifyReport report = compare(trace_contents(trace), reference);
  EXPECT_TRUE(report.agrees()) << verify_text(report);
  EXPECT_GT(report.compared.size(), 50u);

  reference.tensors["logits"] = reference.tensors["logits"].clone();
  reference.tensors["logits"].data<float>()[11] += 0.01f;
  const VerifyReport changed = compare(trace_contents(trace), reference);
  EXPECT_EQ(changed.first_difference()->name, "logits");
  EXPECT_EQ(changed.first_difference()->first->index, (std::vector<Dim>{0, 1, 0}));
}

}  // namespace
}  // namespace glass
