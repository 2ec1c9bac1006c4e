#include "glassformer/decode/chrf.h"

#include <gtest/gtest.h>

#include "glassformer/base/error.h"

namespace glass {
namespace {

const std::vector<std::string> hypotheses = {"the cat sat on a mat", "汤姆醉了", ""};
const std::vector<std::string> reference = {"the cat sat on the mat", "汤姆喝醉了。", "a line"};

TEST(Chrf, EqualsItsDefinitionByHand) {
  ChrfOptions options;
  options.char_order = 2;
  // Characters abc and abd: 2/3 both ways. Pairs ab bc and ab bd e.: 1/2 of the hypothesis', 1/3 of the reference's.
  const double precision = (2 / 3.0 + 1 / 2.0) / 2, recall = (2 / 4.0 + 1 / 3.0) / 2;
  EXPECT_NEAR(chrf({"a bc"}, {{"abde"}}, options), 100 * 5 * precision * recall / (4 * precision + recall), 1e-12);
}

TEST(Chrf, IdenticalIs100AndDisjointIs0) {
  EXPECT_NEAR(chrf(reference, {reference}), 100, 1e-12);
  EXPECT_EQ(chrf({"abc"}, {{"xyz"}}), 0);
  EXPECT_EQ(chrf({""}, {{"xyz"}}), 0);
  EXPECT_EQ(chrf({""}, {{""}}), 0);
  EXPECT_EQ(chrf({}, {{}}), 0);
}

TEST(Chrf, SpacesCountOnlyIfAskedFor) {
  ChrfOptions options;
  EXPECT_NEAR(chrf({"a bc def gh"}, {{"abcdefgh"}}, options), 100, 1e-12);
  options.whitespace = true;
  EXPECT_LT(chrf({"a bc def gh"}, {{"abcdefgh"}}, options), 100);
}

TEST(Chrf, WordsCountInChrfPlusPlus) {
  ChrfOptions options;
  options.word_order = 2;
  const ChrfStatistics statistics = chrf_statistics({"a (hi), b"}, {{"a (hi) ,b"}}, options)[0];
  // A mark at the end comes off, else one at the start: "a", "(hi)", ",", "b" against "a", "(hi", ")", ",", "b".
  EXPECT_EQ(statistics.hypothesis[6], 4);
  EXPECT_EQ(statistics.reference[6], 5);
  EXPECT_EQ(statistics.common[6], 3);
  EXPECT_EQ(statistics.common[7], 1);  // ", b"
}

TEST(Chrf, StatisticsAddUpToTheCorpus) {
  ChrfStatistics sum;
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    sum += chrf_statistics({hypotheses[line]}, {{reference[line]}})[0];
  }
  EXPECT_EQ(chrf_from_statistics(sum), chrf(hypotheses, {reference}));
}

TEST(Chrf, EachLineCountsTheReferenceThatFitsItBest) {
  const std::vector<std::string> near = {"abcdef", "uvwxyz"}, mixed = {"abc", "uvwxyz"}, other = {"abcdef", "uvw"};
  EXPECT_NEAR(chrf(near, {mixed, other}), 100, 1e-12);
  EXPECT_NEAR(chrf(near, {other, mixed}), 100, 1e-12);
  EXPECT_LT(chrf(near, {mixed}), 100);
  EXPECT_EQ(chrf_statistics({"x"}, {{"abc"}, {"abcde"}})[0].reference[0], 3);  // of two as good the first
}

TEST(Chrf, BetaWeighsRecall) {
  ChrfOptions precise, complete;
  precise.beta = 1;
  complete.beta = 3;
  // The hypothesis holds all of the reference and as much again: recall 1, precision less.
  EXPECT_LT(chrf({"abcdefghxxxxxxxx"}, {{"abcdefgh"}}, precise), chrf({"abcdefghxxxxxxxx"}, {{"abcdefgh"}}, complete));
  EXPECT_GT(chrf({"abcdefgh"}, {{"abcdefghxxxxxxxx"}}, precise), chrf({"abcdefgh"}, {{"abcdefghxxxxxxxx"}}, complete));
}

TEST(Chrf, LowercaseIgnoresCase) {
  ChrfOptions options;
  options.lowercase = true;
  EXPECT_NEAR(chrf({"ÀBC ΣΑΣ"}, {{"àbc σας"}}, options), 100, 1e-12);
  EXPECT_EQ(chrf({"ÀBC ΣΑΣ"}, {{"àbc σας"}}), 0);
}

TEST(Chrf, RefusesWhatDoesNotFit) {
  EXPECT_THROW(chrf({"a"}, {}), InputError);
  EXPECT_THROW(chrf({"a"}, {{"a", "b"}}), InputError);
  for (const ChrfOptions& options : {ChrfOptions{0, 0, 2}, ChrfOptions{6, -1, 2}, ChrfOptions{6, 0, 0}}) {
    EXPECT_THROW(chrf({"a"}, {{"a"}}, options), ValueError);
  }
}

}  // namespace
}  // namespace glass
