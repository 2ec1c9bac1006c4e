#include "glassformer/decode/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "decode/ngrams.h"
#include "glassformer/base/error.h"

namespace glass {

namespace {

constexpr size_t orders = 4;

const char* smoothing_name(BleuSmoothing smoothing) {
  switch (smoothing) {
    case BleuSmoothing::none: return "none";
    case BleuSmoothing::exp: return "exp";
    case BleuSmoothing::floor: return "floor[0.10]";
    case BleuSmoothing::add_k: return "add-k[1.00]";
  }
  return "";
}

// The length of the reference closest to the hypothesis; of two as close, the shorter.
int64_t closest_length(int64_t hypothesis, const std::vector<int64_t>& references) {
  int64_t closest = references[0];
  for (const int64_t length : references) {
    const int64_t difference = std::abs(hypothesis - length), least = std::abs(hypothesis - closest);
    if (difference < least || (difference == least && length < closest)) closest = length;
  }
  return closest;
}

BleuStatistics sentence_statistics(const std::vector<std::u32string>& hypothesis,
                                   const std::vector<std::vector<std::u32string>>& references) {
  BleuStatistics out;
  out.hypothesis_length = static_cast<int64_t>(hypothesis.size());
  std::vector<int64_t> lengths;
  for (const auto& reference : references) lengths.push_back(static_cast<int64_t>(reference.size()));
  out.reference_length = closest_length(out.hypothesis_length, lengths);
  for (size_t n = 1; n <= orders; ++n) {
    NgramCounts most;  // of each n-gram, in any one reference
    for (const auto& reference : references) {
      for (const auto& [ngram, count] : word_ngrams(reference, n)) most[ngram] = std::max(most[ngram], count);
    }
    for (const auto& [ngram, count] : word_ngrams(hypothesis, n)) {
      out.total[n - 1] += count;
      const auto found = most.find(ngram);
      if (found != most.end()) out.correct[n - 1] += std::min(count, found->second);
    }
  }
  return out;
}

double log_or_least(double value) { return value == 0 ? -9999999999.0 : std::log(value); }

}  // namespace

BleuStatistics& BleuStatistics::operator+=(const BleuStatistics& other) {
  hypothesis_length += other.hypothesis_length;
  reference_length += other.reference_length;
  for (size_t n = 0; n < orders; ++n) {
    correct[n] += other.correct[n];
    total[n] += other.total[n];
  }
  return *this;
}

std::vector<BleuStatistics> bleu_statistics(const std::vector<std::string>& hypotheses, const References& references,
                                            const BleuOptions& options) {
  if (references.empty()) throw InputError("BLEU: no reference");
  for (const auto& reference : references) {
    if (reference.size() != hypotheses.size()) {
      throw InputError(fmt::format("BLEU: {} hypotheses for {} reference lines", hypotheses.size(), reference.size()));
    }
  }
  std::vector<BleuStatistics> out;
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    std::vector<std::vector<std::u32string>> tokenized;
    for (const auto& reference : references) {
      tokenized.push_back(bleu_tokenize(options.tokenizer, reference[line], options.lowercase));
    }
    out.push_back(sentence_statistics(bleu_tokenize(options.tokenizer, hypotheses[line], options.lowercase), tokenized));
  }
  return out;
}

BleuScore bleu_from_statistics(const BleuStatistics& sum, const BleuOptions& options) {
  BleuScore out;
  out.hypothesis_length = sum.hypothesis_length;
  out.reference_length = sum.reference_length;
  const auto hypothesis = static_cast<double>(sum.hypothesis_length), reference = static_cast<double>(sum.reference_length);
  if (hypothesis < reference) out.brevity_penalty = hypothesis > 0 ? std::exp(1 - reference / hypothesis) : 0;
  if (std::all_of(sum.correct.begin(), sum.correct.end(), [](int64_t c) { return c == 0; })) return out;

  double halved = 1;  // exp smoothing: each order without a match counts half of the one before
  size_t effective = orders;
  for (size_t n = 0; n < orders; ++n) {
    auto correct = static_cast<double>(sum.correct[n]), total = static_cast<double>(sum.total[n]);
    if (options.smoothing == BleuSmoothing::add_k && n > 0) {
      correct += 1;
      total += 1;
    }
    if (total == 0) break;
    if (options.effective_order) effective = n + 1;
    if (correct > 0) {
      out.precisions[n] = 100 * correct / total;
    } else if (options.smoothing == BleuSmoothing::exp) {
      halved *= 2;
      out.precisions[n] = 100 / (halved * total);
    } else if (options.smoothing == BleuSmoothing::floor) {
      out.precisions[n] = 100 * 0.1 / total;
    }
  }
  double logs = 0;
  for (size_t n = 0; n < effective; ++n) logs += log_or_least(out.precisions[n]);
  out.score = out.brevity_penalty * std::exp(logs / static_cast<double>(effective));
  return out;
}

BleuScore bleu(const std::vector<std::string>& hypotheses, const References& references, const BleuOptions& options) {
  BleuStatistics sum;
  for (const BleuStatistics& sentence : bleu_statistics(hypotheses, references, options)) sum += sentence;
  return bleu_from_statistics(sum, options);
}

std::string BleuScore::text() const {
  const double ratio = reference_length > 0 ? static_cast<double>(hypothesis_length) / static_cast<double>(reference_length) : 0;
  return fmt::format("BLEU = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
                     score, precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, ratio,
                     hypothesis_length, reference_length);
}

std::string bleu_signature(const BleuOptions& options, size_t references) {
  return fmt::format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:{}|version:2.6.0", references,
                     options.lowercase ? "lc" : "mixed", options.effective_order ? "yes" : "no",
                     bleu_tokenizer_name(options.tokenizer), smoothing_name(options.smoothing));
}

}  // namespace glass
