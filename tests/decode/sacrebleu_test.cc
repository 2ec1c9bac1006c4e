// BLEU and chrF against what sacreBLEU printed for the same texts (make_sacrebleu_expectations.py).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "glassformer/decode/bleu.h"
#include "glassformer/decode/chrf.h"

namespace glass {
namespace {

using nlohmann::json;

// The printed digits must be equal. The scores behind them may differ by the rounding of exp() and log(), a few units
// in the last place of a number up to 100; the file has ten decimals.
constexpr double rounding = 1e-9;

const json& corpora() {
  static const json all = [] {
    std::ifstream file(GLASSFORMER_SOURCE_DIR "/tests/decode/sacrebleu_expectations.json");
    return json::parse(file);
  }();
  return all;
}

BleuSmoothing smoothing_from(const std::string& name) {
  if (name == "none") return BleuSmoothing::none;
  if (name == "floor") return BleuSmoothing::floor;
  return name == "add-k" ? BleuSmoothing::add_k : BleuSmoothing::exp;
}

BleuOptions bleu_options_from(const json& options) {
  BleuOptions out;
  out.tokenizer = bleu_tokenizer_from_name(options.value("tokenize", "13a"));
  out.lowercase = options.value("lowercase", false);
  out.smoothing = smoothing_from(options.value("smooth_method", "exp"));
  if (options.contains("smooth_value")) out.smoothing_value = options["smooth_value"].get<double>();
  out.effective_order = options.value("effective_order", false);
  return out;
}

ChrfOptions chrf_options_from(const json& options) {
  ChrfOptions out;
  out.char_order = options.value("char_order", 6);
  out.word_order = options.value("word_order", 0);
  out.beta = options.value("beta", 2);
  out.lowercase = options.value("lowercase", false);
  out.whitespace = options.value("whitespace", false);
  out.eps_smoothing = options.value("eps_smoothing", false);
  return out;
}

// Calls check(hypotheses, references, expected) for each result of each corpus.
template <class Check>
int for_each_result(const char* metric, Check check) {
  int results = 0;
  for (const json& corpus : corpora()) {
    const auto hypotheses = corpus["hypotheses"].get<std::vector<std::string>>();
    const auto references = corpus["references"].get<References>();
    for (const json& expected : corpus[metric]) {
      SCOPED_TRACE(corpus["name"].get<std::string>() + " " + corpus["hypotheses"].dump() + corpus["references"].dump());
      check(hypotheses, references, expected);
      ++results;
    }
  }
  return results;
}

TEST(SacreBleu, PrintsTheSameBleu) {
  const int results = for_each_result("bleu", [](const auto& hypotheses, const auto& references, const json& expected) {
    const BleuOptions options = bleu_options_from(expected["options"]);
    const BleuScore score = bleu(hypotheses, references, options);
    EXPECT_EQ(score.text(), expected["text"].get<std::string>()) << expected["options"];
    EXPECT_NEAR(score.score, expected["score"].get<double>(), rounding);
    EXPECT_EQ(bleu_signature(options, references.size()), expected["signature"].get<std::string>());
  });
  EXPECT_GE(results, 600);
}

TEST(SacreBleu, PrintsTheSameChrf) {
  const int results = for_each_result("chrf", [](const auto& hypotheses, const auto& references, const json& expected) {
    const ChrfOptions options = chrf_options_from(expected["options"]);
    const double score = chrf(hypotheses, references, options);
    EXPECT_EQ(fmt::format("{} = {:.2f}", chrf_name(options), score), expected["text"].get<std::string>())
        << expected["options"];
    EXPECT_NEAR(score, expected["score"].get<double>(), rounding);
    EXPECT_EQ(chrf_signature(options, references.size()), expected["signature"].get<std::string>());
  });
  EXPECT_GE(results, 600);
}

}  // namespace
}  // namespace glass
