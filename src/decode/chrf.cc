#include "glassformer/decode/chrf.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "decode/ngrams.h"
#include "decode/references.h"
#include "glassformer/base/error.h"
#include "glassformer/data/unicode.h"

namespace glass {

namespace {

bool is_ascii_punctuation(char32_t c) {
  return std::u32string_view(U"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").find(c) != std::u32string_view::npos;
}

// Words with one punctuation mark at an end apart; the end comes before the start.
std::vector<std::u32string> words_of(const std::u32string& text) {
  std::vector<std::u32string> words;
  for (const std::u32string& word : split_at_spaces(text)) {
    if (word.size() > 1 && is_ascii_punctuation(word.back())) {
      words.push_back(word.substr(0, word.size() - 1));
      words.push_back(word.substr(word.size() - 1));
    } else if (word.size() > 1 && is_ascii_punctuation(word.front())) {
      words.push_back(word.substr(0, 1));
      words.push_back(word.substr(1));
    } else {
      words.push_back(word);
    }
  }
  return words;
}

std::vector<NgramCounts> all_ngrams(const std::string& line, const ChrfOptions& options) {
  std::u32string text = to_code_points(line);
  if (options.lowercase) text = lowercase(text);
  const auto words = options.word_order > 0 ? words_of(text) : std::vector<std::u32string>();
  if (!options.whitespace) text.erase(std::remove_if(text.begin(), text.end(), is_space), text.end());
  std::vector<NgramCounts> out;
  for (int n = 1; n <= options.char_order; ++n) out.push_back(character_ngrams(text, static_cast<size_t>(n)));
  for (int n = 1; n <= options.word_order; ++n) out.push_back(word_ngrams(words, static_cast<size_t>(n)));
  return out;
}

ChrfStatistics match(const std::vector<NgramCounts>& hypothesis, const std::vector<NgramCounts>& reference) {
  ChrfStatistics out;
  for (size_t order = 0; order < hypothesis.size(); ++order) {
    int64_t in_hypothesis = 0, in_reference = 0, common = 0;
    for (const auto& [ngram, count] : hypothesis[order]) {
      in_hypothesis += count;
      const auto found = reference[order].find(ngram);
      if (found != reference[order].end()) common += std::min(count, found->second);
    }
    for (const auto& [ngram, count] : reference[order]) in_reference += count;
    out.hypothesis.push_back(in_reference > 0 ? in_hypothesis : 0);  // without a reference's n-grams none is a miss
    out.reference.push_back(in_reference);
    out.common.push_back(common);
  }
  return out;
}

void add_to(std::vector<int64_t>& sum, const std::vector<int64_t>& more) {
  sum.resize(std::max(sum.size(), more.size()));
  for (size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
}

void check_at_least(const char* name, int value, int least) {
  if (value < least) throw ValueError(fmt::format("chrF: {} is {}, must be {} or more", name, value, least));
}

void check(const ChrfOptions& options) {
  check_at_least("char_order", options.char_order, 1);
  check_at_least("word_order", options.word_order, 0);
  check_at_least("beta", options.beta, 1);
}

// The weighted harmonic mean of precision and recall; 0 if both are.
double f_score(double precision, double recall, int beta) {
  const double factor = static_cast<double>(beta) * beta;
  if (precision + recall == 0) return 0;
  return (1 + factor) * precision * recall / (factor * precision + recall);
}

double ratio(int64_t part, int64_t whole, double without) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : without;
}

double mean_of_f_scores(const ChrfStatistics& sum, int beta) {
  constexpr double eps = 1e-16;  // what an order without n-grams counts, and one without a match
  double scores = 0;
  for (size_t i = 0; i < sum.common.size(); ++i) {
    const double precision = ratio(sum.common[i], sum.hypothesis[i], eps);
    const double recall = ratio(sum.common[i], sum.reference[i], eps);
    scores += precision + recall > 0 ? f_score(precision, recall, beta) : eps;
  }
  return scores / static_cast<double>(sum.common.size());
}

// Over the orders that both sides have.
double f_score_of_means(const ChrfStatistics& sum, int beta) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (size_t i = 0; i < sum.common.size(); ++i) {
    if (sum.hypothesis[i] == 0 || sum.reference[i] == 0) continue;
    precision += ratio(sum.common[i], sum.hypothesis[i], 0);
    recall += ratio(sum.common[i], sum.reference[i], 0);
    ++orders;
  }
  return orders == 0 ? 0 : f_score(precision / orders, recall / orders, beta);
}

}  // namespace

ChrfStatistics& ChrfStatistics::operator+=(const ChrfStatistics& other) {
  add_to(hypothesis, other.hypothesis);
  add_to(reference, other.reference);
  add_to(common, other.common);
  return *this;
}

std::vector<ChrfStatistics> chrf_statistics(const std::vector<std::string>& hypotheses, const References& references,
                                            const ChrfOptions& options) {
  check(options);
  check_references("chrF", hypotheses.size(), references);
  std::vector<ChrfStatistics> out;
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    const auto hypothesis = all_ngrams(hypotheses[line], options);
    ChrfStatistics best;
    double best_score = -1;
    for (const auto& reference : references) {  // of several, the one that fits best
      ChrfStatistics statistics = match(hypothesis, all_ngrams(reference[line], options));
      const double score = chrf_from_statistics(statistics, options);
      if (score > best_score) {
        best_score = score;
        best = std::move(statistics);
      }
    }
    out.push_back(std::move(best));
  }
  return out;
}

double chrf_from_statistics(const ChrfStatistics& sum, const ChrfOptions& options) {
  if (sum.common.empty()) return 0;
  return 100 * (options.eps_smoothing ? mean_of_f_scores(sum, options.beta) : f_score_of_means(sum, options.beta));
}

double chrf(const std::vector<std::string>& hypotheses, const References& references, const ChrfOptions& options) {
  ChrfStatistics sum;
  for (const ChrfStatistics& sentence : chrf_statistics(hypotheses, references, options)) sum += sentence;
  return chrf_from_statistics(sum, options);
}

std::string chrf_name(const ChrfOptions& options) {
  return fmt::format("chrF{}{}", options.beta, std::string(static_cast<size_t>(options.word_order), '+'));
}

std::string chrf_signature(const ChrfOptions& options, size_t references) {
  return fmt::format("nrefs:{}|case:{}|eff:{}|nc:{}|nw:{}|space:{}|version:2.6.0", references,
                     options.lowercase ? "lc" : "mixed", options.eps_smoothing ? "no" : "yes", options.char_order,
                     options.word_order, options.whitespace ? "yes" : "no");
}

}  // namespace glass
