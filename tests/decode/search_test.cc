#include "glassformer/decode/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "decode/tiny_models.h"
#include "glassformer/autograd/ops.h"
#include "glassformer/base/error.h"
#include "glassformer/base/threads.h"

namespace glass {
namespace {

using testing::sharp_model;
using testing::tiny_config;
using Tokens = std::vector<int32_t>;

constexpr Dim vocabulary = 6;  // PAD, unknown, BOS, EOS and two words

// Two sentences of different lengths.
const Tensor source = Tensor::from<int32_t>({4, 5, 5, 4, 3, 5, 3, 0, 0, 0}, {2, 5});
const Tensor lengths = Tensor::from<int32_t>({5, 2}, {2});

// log p of each next token [V], by the definition: everything computed afresh for one sentence and one prefix.
std::vector<double> next_log_probabilities(const TranslationModel& model, Dim row, const Tokens& prefix) {
  const NoGrad values_only;
  const Dim length = static_cast<Dim>(lengths.at({row}));
  Tokens input{bos_token};
  input.insert(input.end(), prefix.begin(), prefix.end());
  const Tensor logits =
      model(source.narrowed(0, row, row + 1).narrowed(1, 0, length).contiguous(),
            lengths.narrowed(0, row, row + 1).contiguous(), Tensor::from(input, {1, static_cast<Dim>(input.size())}));
  const std::vector<double> all = log_softmax(logits).to_vector();
  return {all.end() - logits.size(2), all.end()};
}

double divisor(const SearchOptions& o, size_t length) {
  const auto y = static_cast<double>(length);
  if (o.length_norm == LengthNorm::none) return 1;
  return o.length_norm == LengthNorm::average ? std::pow(y, o.alpha) : std::pow(5 + y, o.alpha) / std::pow(6, o.alpha);
}

struct Scored {
  Tokens tokens;
  double total = 0, score = 0;
  bool complete = false;
};

bool higher(const Scored& a, const Scored& b) { return a.score > b.score; }

// Every hypothesis there is, best first.
void enumerate(const TranslationModel& model, Dim row, const SearchOptions& o, const Scored& prefix,
               std::vector<Scored>& into) {
  const std::vector<double> log_p = next_log_probabilities(model, row, prefix.tokens);
  const size_t length = prefix.tokens.size() + 1;
  for (int32_t token = 0; token < static_cast<int32_t>(log_p.size()); ++token) {
    if (token == pad_token || token == bos_token || (token == unknown_token && !o.allow_unknown)) continue;
    if (token == eos_token && static_cast<int64_t>(length) < o.min_length) continue;
    Scored next = prefix;
    next.total += log_p[static_cast<size_t>(token)];
    next.score = next.total / divisor(o, length);
    next.complete = token == eos_token;
    if (!next.complete) next.tokens.push_back(token);
    if (next.complete || static_cast<int64_t>(length) == o.max_length) {
      into.push_back(next);
    } else {
      enumerate(model, row, o, next, into);
    }
  }
}

// The totals are sums of float32 log-probabilities of order 1 to 10 over at most some twenty tokens, each the end of a
// chain of products of width 8 to 12: 1e-4 is more than a hundred times the rounding of that, and far below what a
// wrong token costs.
constexpr double rounding = 1e-4;

void expect_same(const Hypothesis& got, const Scored& wanted) {
  EXPECT_EQ(got.tokens, wanted.tokens);
  EXPECT_EQ(got.complete, wanted.complete);
  EXPECT_NEAR(got.log_probability, wanted.total, rounding);
  EXPECT_NEAR(got.score, wanted.score, rounding);
}

SearchOptions options_of(LengthNorm norm, double alpha, int beam, int nbest, int64_t max_length) {
  SearchOptions o;
  o.length_norm = norm;
  o.alpha = alpha;
  o.beam = beam;
  o.nbest = nbest;
  o.max_length = max_length;
  return o;
}

const std::vector<std::pair<LengthNorm, double>> norms{{LengthNorm::none, 1},
                                                       {LengthNorm::average, 1},
                                                       {LengthNorm::average, 0.5},
                                                       {LengthNorm::gnmt, 0.6},
                                                       {LengthNorm::gnmt, 2}};

TEST(Search, WideBeamFindsTheBestOfAll) {
  std::set<bool> completes;  // both kinds of ending must come up, or the test would not see them
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const auto model = sharp_model(tiny_config(vocabulary, seed));
    for (const auto& [norm, alpha] : norms) {
      SearchOptions o = options_of(norm, alpha, 1296, 8, 4);  // V^L
      o.allow_unknown = seed % 2 == 0;
      o.min_length = seed == 3 ? 3 : 0;
      const auto results = search(*model, source, lengths, o);
      for (Dim row = 0; row < 2; ++row) {
        std::vector<Scored> all;
        enumerate(*model, row, o, {}, all);
        std::sort(all.begin(), all.end(), higher);
        const auto& nbest = results[static_cast<size_t>(row)];
        ASSERT_EQ(nbest.size(), 8u);
        for (size_t i = 0; i < nbest.size(); ++i) {
          expect_same(nbest[i], all[i]);
          completes.insert(nbest[i].complete);
        }
      }
    }
  }
  EXPECT_EQ(completes.size(), 2u);
}

void expect_equal(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].tokens, b[i].tokens);
    EXPECT_EQ(a[i].token_log_probabilities, b[i].token_log_probabilities);
    EXPECT_EQ(a[i].score, b[i].score);
  }
}

TEST(Search, AnObserverSeesTheStepsAndChangesNothing) {
  const auto model = sharp_model(tiny_config(vocabulary, 2));
  SearchOptions o = options_of(LengthNorm::average, 1, 3, 3, 6);
  const auto unseen = search(*model, source, lengths, o);
  std::vector<SearchStep> steps;
  o.observer = [&](const SearchStep& step) { steps.push_back(step); };
  const auto seen = search(*model, source, lengths, o);
  for (size_t row = 0; row < 2; ++row) expect_equal(seen[row], unseen[row]);
  std::vector<int64_t> lengths_seen(2);
  for (const SearchStep& step : steps) {
    EXPECT_EQ(step.length, ++lengths_seen.at(step.row));
    EXPECT_DOUBLE_EQ(step.length_divisor, static_cast<double>(step.length));
    EXPECT_LE(step.candidates.size(), 6u);
    const auto by_total = [](const SearchCandidate& a, const SearchCandidate& b) { return a.total > b.total; };
    EXPECT_TRUE(std::is_sorted(step.candidates.begin(), step.candidates.end(), by_total));
    const auto live = std::count_if(step.candidates.begin(), step.candidates.end(),
                                    [](const SearchCandidate& c) { return c.state == SearchCandidate::State::live; });
    EXPECT_LE(live, 3);
  }
  EXPECT_GE(std::min(lengths_seen[0], lengths_seen[1]), 1);
}

// A vocabulary of several of the blocks in which tokens are passed over, and a rest.
TEST(Search, CandidatesAreTheBestOfALargeVocabulary) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const auto model = sharp_model(tiny_config(150, seed));
    SearchOptions o = options_of(LengthNorm::none, 1, 3, 3, 4);
    std::vector<Scored> live{Scored{}};
    o.observer = [&](const SearchStep& step) {
      if (step.row != 0) return;
      std::vector<double> totals;
      for (const Scored& hypothesis : live) {
        const std::vector<double> log_p = next_log_probabilities(*model, 0, hypothesis.tokens);
        for (int32_t token = 0; token < 150; ++token) {
          if (token == pad_token || token == bos_token) continue;
          totals.push_back(hypothesis.total + log_p[static_cast<size_t>(token)]);
        }
      }
      std::sort(totals.rbegin(), totals.rend());
      ASSERT_EQ(step.candidates.size(), 6U);
      std::vector<Scored> next;
      for (size_t i = 0; i < step.candidates.size(); ++i) {
        const SearchCandidate& candidate = step.candidates[i];
        EXPECT_NEAR(candidate.total, totals[i], rounding) << seed << " " << step.length << " " << i;
        if (candidate.state != SearchCandidate::State::live) continue;
        Scored grown = live[candidate.parent];
        grown.tokens.push_back(candidate.token);
        grown.total = candidate.total;
        next.push_back(grown);
      }
      live = next;
    };
    search(*model, source, lengths, o);
  }
}

TEST(Search, HypothesesBeginWithThePrefix) {
  const auto model = sharp_model(tiny_config(vocabulary, 3));
  for (const bool use_cache : {true, false}) {
    SearchOptions o = options_of(LengthNorm::average, 1, 1296, 4, 4);
    o.prefix = {5, 4};
    o.use_cache = use_cache;
    const auto results = search(*model, source, lengths, o);
    for (Dim row = 0; row < 2; ++row) {
      std::vector<Scored> all;
      enumerate(*model, row, o, {}, all);
      std::erase_if(all, [&](const Scored& s) {
        return s.tokens.size() < 2 || !std::equal(o.prefix.begin(), o.prefix.end(), s.tokens.begin());
      });
      std::sort(all.begin(), all.end(), higher);
      const auto& nbest = results[static_cast<size_t>(row)];
      ASSERT_EQ(nbest.size(), 4u);
      for (size_t i = 0; i < nbest.size(); ++i) expect_same(nbest[i], all[i]);
    }
  }
}

TEST(Search, APrefixTakesWordsOfTheVocabulary) {
  const auto model = sharp_model(tiny_config(vocabulary));
  for (const int32_t token : {-1, static_cast<int32_t>(vocabulary), pad_token, bos_token, eos_token}) {
    SearchOptions o;
    o.prefix = {token};
    EXPECT_THROW(search(*model, source, lengths, o), ValueError) << token;
  }
}

TEST(Search, FewerThanNbestWhereFewerArePossible) {
  const auto model = sharp_model(tiny_config(vocabulary));
  SearchOptions o = options_of(LengthNorm::none, 1, 100, 100, 2);
  const auto results = search(*model, source, lengths, o);
  // EOS, 3 words + EOS, 3 × 3 words cut; the unknown token is one of the words
  EXPECT_EQ(results[0].size(), 13u);
  EXPECT_EQ(results[1].size(), 13u);
}

TEST(Search, BeamOneIsGreedy) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const auto model = sharp_model(tiny_config(vocabulary, seed));
    const auto results = search(*model, source, lengths, options_of(LengthNorm::average, 1, 1, 1, 12));
    for (Dim row = 0; row < 2; ++row) {
      Scored greedy;
      size_t length = 0;
      while (!greedy.complete && length < 12) {
        std::vector<double> log_p = next_log_probabilities(*model, row, greedy.tokens);
        log_p[pad_token] = log_p[bos_token] = -std::numeric_limits<double>::infinity();
        const auto best = std::max_element(log_p.begin(), log_p.end());
        const auto token = static_cast<int32_t>(best - log_p.begin());
        greedy.total += *best;
        ++length;
        greedy.complete = token == eos_token;
        if (!greedy.complete) greedy.tokens.push_back(token);
      }
      greedy.score = greedy.total / static_cast<double>(length);
      ASSERT_EQ(results[static_cast<size_t>(row)].size(), 1u);
      expect_same(results[static_cast<size_t>(row)][0], greedy);
    }
  }
}

// Beam search as it is written down: no cache, no batch, no early end.
std::vector<Scored> plain_beam_search(const TranslationModel& model, Dim row, const SearchOptions& o) {
  std::vector<Scored> live{{}}, finished;
  for (int64_t length = 1; length <= o.max_length; ++length) {
    std::vector<Scored> next;
    for (const Scored& prefix : live) {
      const std::vector<double> log_p = next_log_probabilities(model, row, prefix.tokens);
      for (int32_t token = 0; token < static_cast<int32_t>(log_p.size()); ++token) {
        if (token == pad_token || token == bos_token) continue;
        Scored longer = prefix;
        longer.total += log_p[static_cast<size_t>(token)];
        longer.score = longer.total / divisor(o, static_cast<size_t>(length));
        longer.complete = token == eos_token;
        if (!longer.complete) longer.tokens.push_back(token);
        next.push_back(longer);
      }
    }
    std::sort(next.begin(), next.end(), [](const Scored& a, const Scored& b) { return a.total > b.total; });
    live.clear();
    for (size_t rank = 0; rank < next.size() && live.size() < static_cast<size_t>(o.beam); ++rank) {
      const bool ends = next[rank].complete || length == o.max_length;
      if (!ends) live.push_back(next[rank]);
      if (ends && rank < static_cast<size_t>(o.beam)) finished.push_back(next[rank]);
    }
  }
  std::sort(finished.begin(), finished.end(), higher);
  finished.resize(std::min(finished.size(), static_cast<size_t>(o.nbest)));
  return finished;
}

TEST(Search, EndsEarlyOnlyWhenNothingBetterCanCome) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    // The less sharp ones end in many ways, also by an EOS that is just outside of the beam.
    const auto model = sharp_model(tiny_config(9, seed), seed % 2 == 0 ? 2.5f : 1);
    for (const auto& [norm, alpha] : norms) {
      for (const int beam : {2, 3, 5}) {
        const SearchOptions o = options_of(norm, alpha, beam, beam == 3 ? 1 : beam, 9);
        const auto results = search(*model, source, lengths, o);
        for (Dim row = 0; row < 2; ++row) {
          const std::vector<Scored> wanted = plain_beam_search(*model, row, o);
          const auto& got = results[static_cast<size_t>(row)];
          ASSERT_EQ(got.size(), wanted.size());
          for (size_t i = 0; i < got.size(); ++i) expect_same(got[i], wanted[i]);
        }
      }
    }
  }
}

void expect_same(const std::vector<std::vector<Hypothesis>>& a, const std::vector<std::vector<Hypothesis>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t row = 0; row < a.size(); ++row) {
    ASSERT_EQ(a[row].size(), b[row].size());
    for (size_t i = 0; i < a[row].size(); ++i) {
      EXPECT_EQ(a[row][i].tokens, b[row][i].tokens);
      EXPECT_NEAR(a[row][i].score, b[row][i].score, rounding);
    }
  }
}

TEST(Search, CachedEqualsUncached) {
  for (const PositionKind positions : {PositionKind::sinusoidal, PositionKind::learned}) {
    for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
      TransformerConfig config = tiny_config(11, 3);
      config.positions = positions;
      config.norm = norm;
      const auto model = sharp_model(config);
      for (const int beam : {1, 4}) {
        SearchOptions o = options_of(LengthNorm::gnmt, 0.6, beam, beam, 15);
        const auto cached = search(*model, source, lengths, o);
        o.use_cache = false;
        expect_same(cached, search(*model, source, lengths, o));
      }
    }
  }
}

TEST(Search, ARowDoesNotDependOnItsNeighbours) {
  const auto model = sharp_model(tiny_config(11, 5));
  const SearchOptions o = options_of(LengthNorm::average, 1, 4, 3, 0);
  const auto together = search(*model, source, lengths, o);
  for (Dim row = 0; row < 2; ++row) {
    const Dim length = static_cast<Dim>(lengths.at({row}));
    const auto alone = search(*model, source.narrowed(0, row, row + 1).narrowed(1, 0, length).contiguous(),
                              lengths.narrowed(0, row, row + 1).contiguous(), o);
    expect_same({together[static_cast<size_t>(row)]}, alone);
  }
}

TEST(Search, BitsDoNotDependOnTheNumberOfThreads) {
  const auto model = sharp_model(tiny_config(11, 5));
  const SearchOptions o = options_of(LengthNorm::average, 1, 4, 4, 20);
  const int before = threads();
  set_threads(1);
  const auto one = search(*model, source, lengths, o);
  set_threads(3);
  const auto three = search(*model, source, lengths, o);
  set_threads(before);
  for (size_t row = 0; row < one.size(); ++row) {
    for (size_t i = 0; i < one[row].size(); ++i) {
      EXPECT_EQ(one[row][i].tokens, three[row][i].tokens);
      EXPECT_EQ(one[row][i].token_log_probabilities, three[row][i].token_log_probabilities);
    }
  }
}

TEST(Search, HypothesesAreSortedDistinctAndAddUp) {
  for (const auto& [norm, alpha] : norms) {
    const auto model = sharp_model(tiny_config(11, 7));
    const SearchOptions o = options_of(norm, alpha, 6, 6, 0);
    for (const std::vector<Hypothesis>& nbest : search(*model, source, lengths, o)) {
      ASSERT_EQ(nbest.size(), 6u);
      std::set<Tokens> seen;
      double last = std::numeric_limits<double>::infinity();
      for (const Hypothesis& h : nbest) {
        EXPECT_LE(h.score, last);
        last = h.score;
        EXPECT_TRUE(seen.insert(h.tokens).second);
        EXPECT_EQ(h.token_log_probabilities.size(), h.tokens.size() + (h.complete ? 1 : 0));
        double total = 0;
        for (const float log_p : h.token_log_probabilities) total += static_cast<double>(log_p);
        EXPECT_DOUBLE_EQ(h.log_probability, total);
        EXPECT_DOUBLE_EQ(h.length_divisor, divisor(o, h.token_log_probabilities.size()));
        EXPECT_DOUBLE_EQ(h.score, h.log_probability / h.length_divisor);
        for (const int32_t token : h.tokens) EXPECT_TRUE(token == unknown_token || token > eos_token) << token;
      }
    }
  }
}

// With all weights zero each token is as likely as any other.
TEST(Search, TiesGoToTheLowerTokenAndLengthsAreLimited) {
  for (const Dim words : {vocabulary, Dim{150}}) {
    const auto model = sharp_model(tiny_config(words), 0);
    SearchOptions o;
    auto results = search(*model, source, lengths, o);
    EXPECT_EQ(results[0][0].tokens, Tokens(2 * 5 + 10, unknown_token));
    EXPECT_EQ(results[1][0].tokens, Tokens(2 * 2 + 10, unknown_token));
    EXPECT_FALSE(results[0][0].complete);
    o.allow_unknown = false;
    EXPECT_TRUE(search(*model, source, lengths, o)[0][0].tokens.empty());
    o.min_length = 3;
    EXPECT_EQ(search(*model, source, lengths, o)[0][0].tokens, (Tokens{4, 4}));
    o.allow_unknown = true;
    o.max_length = 4;
    EXPECT_EQ(search(*model, source, lengths, o)[1][0].tokens, Tokens(4, unknown_token));
  }
}

TEST(Search, LearnedPositionsLimitTheLength) {
  TransformerConfig config = tiny_config(vocabulary);
  config.positions = PositionKind::learned;
  config.max_positions = 7;
  const auto model = sharp_model(config, 0);
  EXPECT_EQ(search(*model, source, lengths, {})[0][0].tokens.size(), 7u);
}

TEST(Search, BuildsNoGraph) {
  const auto model = sharp_model(tiny_config(vocabulary));
  search(*model, source, lengths, {});
  EXPECT_TRUE(grad_enabled());
  for (const NamedParameter& parameter : model->named_parameters()) EXPECT_FALSE(parameter.tensor.grad().defined());
}

TEST(Search, Errors) {
  const auto model = sharp_model(tiny_config(vocabulary));
  const auto refused = [&](auto change) {
    SearchOptions o;
    change(o);
    EXPECT_THROW(search(*model, source, lengths, o), ValueError);
  };
  refused([](SearchOptions& o) { o.beam = 0; });
  refused([](SearchOptions& o) { o.nbest = 2; });
  refused([](SearchOptions& o) { o.max_length = -1; });
  refused([](SearchOptions& o) { o.max_length = 3, o.min_length = 4; });
  refused([](SearchOptions& o) { o.alpha = -1; });
  EXPECT_EQ(length_norm_from_name("gnmt"), LengthNorm::gnmt);
  EXPECT_THROW(length_norm_from_name("GNMT"), InputError);
  testing::scale_weights(*model, std::numeric_limits<float>::quiet_NaN());
  EXPECT_THROW(search(*model, source, lengths, {}), NonFiniteError);
}

}  // namespace
}  // namespace glass
