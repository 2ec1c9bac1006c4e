#include "glassformer/decode/chrf.h"

#include <fmt/format.h>

#include "decode/ngrams.h"
#include "glassformer/base/error.h"
#include "glassformer/data/unicode.h"

namespace glass {

namespace {

bool is_ascii_punctuation(char32_t c) { return c > U' ' && c < 0x7F && !(c >= U'0' && c <= U'9') && !((c | 0x20) >= U'a' && (c | 0x20) <= U'z'); }

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
  std::u32string joined;
  for (const std::u32string& word : split_at_spaces(text)) joined += word;
  std::vector<NgramCounts> out;
  for (int n = 1; n <= options.char_order; ++n) out.push_back(character_ngrams(joined, static_cast<size_t>(n)));
  if (options.word_order == 0) return out;
  const auto words = words_of(text);
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
  sum.resize(more.size());
  for (size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
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
  for (const auto& reference : references) {
    if (reference.size() != hypotheses.size()) {
      throw InputError(fmt::format("chrF: {} hypotheses for {} reference lines", hypotheses.size(), reference.size()));
    }
  }
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
  double precision = 0, recall = 0;
  int orders = 0;
  for (size_t i = 0; i < sum.hypothesis.size(); ++i) {
    if (sum.hypothesis[i] == 0 || sum.reference[i] == 0) continue;
    precision += static_cast<double>(sum.common[i]) / static_cast<double>(sum.hypothesis[i]);
    recall += static_cast<double>(sum.common[i]) / static_cast<double>(sum.reference[i]);
    ++orders;
  }
  if (orders == 0) return 0;
  precision /= orders;
  recall /= orders;
  if (precision + recall == 0) return 0;
  const double factor = static_cast<double>(options.beta) * options.beta;
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
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
  return fmt::format("nrefs:{}|case:{}|eff:yes|nc:{}|nw:{}|space:no|version:2.6.0", references,
                     options.lowercase ? "lc" : "mixed", options.char_order, options.word_order);
}

}  // namespace glass
