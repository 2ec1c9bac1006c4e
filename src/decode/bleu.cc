#include "glassformer/decode/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "decode/ngrams.h"
#include "decode/references.h"

namespace glass {

namespace {

constexpr size_t orders = 4;

double smoothing_value(const BleuOptions& options) {
  return options.smoothing_value.value_or(options.smoothing == BleuSmoothing::floor ? 0.1 : 1);
}

std::string smoothing_text(const BleuOptions& options) {
  switch (options.smoothing) {
    case BleuSmoothing::none:
      return "none";
    case BleuSmoothing::exp:
      return "exp";
    case BleuSmoothing::floor:
      return fmt::format("floor[{:.2f}]", smoothing_value(options));
    case BleuSmoothing::add_k:
      return fmt::format("add-k[{:.2f}]", smoothing_value(options));
  }
  return {};
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

double brevity_penalty(const BleuStatistics& sum) {
  if (sum.hypothesis_length >= sum.reference_length) return 1;
  if (sum.hypothesis_length == 0) return 0;
  return std::exp(1 - static_cast<double>(sum.reference_length) / static_cast<double>(sum.hypothesis_length));
}

// Fills the precisions up to the first order that the hypothesis has no n-grams of; returns how many those are.
size_t smoothed_precisions(const BleuStatistics& sum, const BleuOptions& options,
                           std::array<double, orders>& precisions) {
  const double value = smoothing_value(options);
  double share = 1;  // exp smoothing: each order without a match counts half of the one before
  for (size_t n = 0; n < orders; ++n) {
    const double added = options.smoothing == BleuSmoothing::add_k && n > 0 ? value : 0;
    const double correct = static_cast<double>(sum.correct[n]) + added,
                 total = static_cast<double>(sum.total[n]) + added;
    if (total == 0) return n;
    if (correct > 0) {
      precisions[n] = 100 * correct / total;
    } else if (options.smoothing == BleuSmoothing::exp) {
      share *= 2;
      precisions[n] = 100 / (share * total);
    } else if (options.smoothing == BleuSmoothing::floor) {
      precisions[n] = 100 * value / total;
    }
  }
  return orders;
}

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
  check_references("BLEU", hypotheses.size(), references);
  std::vector<BleuStatistics> out;
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    std::vector<std::vector<std::u32string>> tokenized;
    for (const auto& reference : references) {
      tokenized.push_back(bleu_tokenize(options.tokenizer, reference[line], options.lowercase));
    }
    out.push_back(
        sentence_statistics(bleu_tokenize(options.tokenizer, hypotheses[line], options.lowercase), tokenized));
  }
  return out;
}

BleuScore bleu_from_statistics(const BleuStatistics& sum, const BleuOptions& options) {
  BleuScore out;
  out.hypothesis_length = sum.hypothesis_length;
  out.reference_length = sum.reference_length;
  out.brevity_penalty = brevity_penalty(sum);
  if (std::all_of(sum.correct.begin(), sum.correct.end(), [](int64_t c) { return c == 0; })) return out;
  const size_t present = smoothed_precisions(sum, options, out.precisions);
  const size_t averaged = options.effective_order ? present : orders;
  double logs = 0;
  for (size_t n = 0; n < averaged; ++n) logs += log_or_least(out.precisions[n]);
  out.score = out.brevity_penalty * std::exp(logs / static_cast<double>(averaged));
  return out;
}

BleuScore bleu(const std::vector<std::string>& hypotheses, const References& references, const BleuOptions& options) {
  BleuStatistics sum;
  for (const BleuStatistics& sentence : bleu_statistics(hypotheses, references, options)) sum += sentence;
  return bleu_from_statistics(sum, options);
}

BleuScore sentence_bleu(const std::string& hypothesis, const std::vector<std::string>& references,
                        BleuOptions options) {
  References lines;
  for (const std::string& reference : references) lines.push_back({reference});
  options.effective_order = true;
  return bleu({hypothesis}, lines, options);
}

double BleuScore::length_ratio() const {
  return reference_length > 0 ? static_cast<double>(hypothesis_length) / static_cast<double>(reference_length) : 0;
}

std::string BleuScore::text() const {
  return fmt::format("BLEU = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
                     score, precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, length_ratio(),
                     hypothesis_length, reference_length);
}

std::string bleu_signature(const BleuOptions& options, size_t references) {
  return fmt::format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:{}|version:2.6.0", references,
                     options.lowercase ? "lc" : "mixed", options.effective_order ? "yes" : "no",
                     bleu_tokenizer_name(options.tokenizer), smoothing_text(options));
}

}  // namespace glass
