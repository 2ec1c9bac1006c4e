#include "glassformer/decode/bleu.h"

#include <gtest/gtest.h>

#include <cmath>

#include "glassformer/base/error.h"

namespace glass {
namespace {

const std::vector<std::string> hypotheses = {"the cat sat on a mat", "there is no dog here today", "x"};
const std::vector<std::string> reference = {"the cat sat on the mat", "there is a dog here",
                                            "a very long line of words"};

TEST(Bleu, EqualsItsDefinitionByHand) {
  // 1-grams 3/4, 2-grams 2/3, 3-grams 1/2, 4-grams 0/1 smoothed to 1/2; 4 tokens for 5.
  const BleuScore score = bleu({"a b c x"}, {{"a b c d e"}});
  EXPECT_NEAR(score.score, 100 * std::exp(1 - 5 / 4.0) * std::pow(3 / 4.0 * 2 / 3.0 * 1 / 2.0 * 1 / 2.0, 1 / 4.0),
              1e-12);
  EXPECT_EQ(score.text(), "BLEU = 46.31 75.0/66.7/50.0/50.0 (BP = 0.779 ratio = 0.800 hyp_len = 4 ref_len = 5)");
}

TEST(Bleu, IdenticalIs100AndDisjointIs0) {
  EXPECT_NEAR(bleu(reference, {reference}).score, 100, 1e-12);
  EXPECT_EQ(bleu({"a b c d e"}, {{"v w x y z"}}).score, 0);
  EXPECT_EQ(bleu({""}, {{"a b"}}).score, 0);
  EXPECT_EQ(bleu({}, {{}}).score, 0);
}

TEST(Bleu, CountsOfEachReferenceAreClipped) {
  const auto statistics = bleu_statistics({"the the the the the the the"}, {{"the cat is on the mat"}}, {});
  EXPECT_EQ(statistics[0].correct, (std::array<int64_t, 4>{2, 0, 0, 0}));
  EXPECT_EQ(statistics[0].total, (std::array<int64_t, 4>{7, 6, 5, 4}));
}

TEST(Bleu, TheClosestReferenceGivesTheLengthAndTheShorterOfTwo) {
  const std::vector<std::string> four = {"a b c d"};
  EXPECT_EQ(bleu(four, {{"a b c d e f"}, {"a b c"}}).reference_length, 3);
  EXPECT_EQ(bleu(four, {{"a b c d e"}, {"a b c"}}).reference_length, 3);
  EXPECT_EQ(bleu(four, {{"a b c"}, {"a b c d e"}}).reference_length, 3);
}

TEST(Bleu, StatisticsAddUpToTheCorpus) {
  BleuStatistics sum;
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    sum += bleu_statistics({hypotheses[line]}, {{reference[line]}})[0];
  }
  EXPECT_EQ(bleu_from_statistics(sum).text(), bleu(hypotheses, {reference}).text());
}

TEST(Bleu, IgnoresTheOrderOfLinesAndOfReferences) {
  const std::vector<std::string> other = {"a cat sat on a mat", "no dog is here today", "x"};
  const auto reversed = [](std::vector<std::string> lines) {
    return std::vector<std::string>(lines.rbegin(), lines.rend());
  };
  const std::string text = bleu(hypotheses, {reference, other}).text();
  EXPECT_EQ(bleu(hypotheses, {other, reference}).text(), text);
  EXPECT_EQ(bleu(reversed(hypotheses), {reversed(reference), reversed(other)}).text(), text);
}

TEST(Bleu, AnotherReferenceNeverTakesMatchesAway) {
  const auto one = bleu_statistics(hypotheses, {reference});
  const auto two = bleu_statistics(hypotheses, {reference, {"sat on a", "no dog", "x y"}});
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    for (size_t n = 0; n < 4; ++n) EXPECT_GE(two[line].correct[n], one[line].correct[n]);
    EXPECT_EQ(two[line].total, one[line].total);
  }
  EXPECT_GT(two[0].correct[2], one[0].correct[2]);
}

TEST(Bleu, SmoothingFillsTheOrdersWithoutMatch) {
  const std::vector<std::string> scrambled = {"a c b d"};
  const References ordered = {{"a b c d"}};  // 4/4, 0/3, 0/2, 0/1
  BleuOptions options;
  using Precisions = std::array<double, 4>;
  EXPECT_EQ(bleu(scrambled, ordered, options).precisions, (Precisions{100, 100 / 6.0, 100 / 8.0, 100 / 8.0}));
  options.smoothing = BleuSmoothing::none;
  EXPECT_EQ(bleu(scrambled, ordered, options).precisions, (Precisions{100, 0, 0, 0}));
  EXPECT_EQ(bleu(scrambled, ordered, options).score, 0);
  options.smoothing = BleuSmoothing::floor;
  options.smoothing_value = 0.5;
  EXPECT_EQ(bleu(scrambled, ordered, options).precisions, (Precisions{100, 50 / 3.0, 25, 50}));
  options.smoothing = BleuSmoothing::add_k;
  options.smoothing_value = 1;
  EXPECT_EQ(bleu(scrambled, ordered, options).precisions, (Precisions{100, 25, 100 / 3.0, 50}));
}

TEST(Bleu, ASentenceIsScoredByTheOrdersItHas) {
  EXPECT_NEAR(sentence_bleu("a b", {"a b"}).score, 100, 1e-12);
  EXPECT_EQ(bleu({"a b"}, {{"a b"}}).score, 0);
  EXPECT_NEAR(sentence_bleu("a b c d", {"x", "a b c d"}).score, 100, 1e-12);
  EXPECT_THROW(sentence_bleu("a", {}), InputError);
}

TEST(Bleu, InvalidBytesCountAsReplacementCharacters) {
  const std::string broken = "a \xC3 b \xF0\x9F c d", repaired = "a \uFFFD b \uFFFD c d";
  EXPECT_NEAR(bleu({broken}, {{repaired}}).score, 100, 1e-12);
}

TEST(Bleu, RefusesReferencesThatDoNotFit) {
  EXPECT_THROW(bleu({"a"}, {}), InputError);
  EXPECT_THROW(bleu({"a"}, {{"a", "b"}}), InputError);
  EXPECT_THROW(bleu({"a", "b"}, {{"a", "b"}, {"a"}}), InputError);
}

}  // namespace
}  // namespace glass
