// BLEU and chrF with signature and interval, as text or JSON.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "glassformer/decode/bleu.h"
#include "glassformer/decode/bootstrap.h"
#include "glassformer/decode/chrf.h"

namespace glass::program {

struct ScoreFlags {
  std::string tokenize = "13a";
  bool lowercase = false, plus_plus = false, interval = false, json = false;

  void add_to(CLI::App& command) {
    command.add_option("--tokenize", tokenize, "BLEU's tokenizer: 13a | zh | char | intl | none")
        ->check(CLI::IsMember({"13a", "zh", "char", "intl", "none"}))
        ->capture_default_str();
    command.add_flag("--lowercase", lowercase, "Compare without regard to case");
    command.add_flag("--chrf++", plus_plus, "chrF with words (chrF2++)");
    command.add_flag("--confidence", interval, "95 % intervals by resampling");
    command.add_flag("--json", json, "As JSON");
  }
};

struct Scores {
  BleuScore bleu;
  double chrf = 0;
  BleuOptions bleu_options;
  ChrfOptions chrf_options;
  Interval bleu_interval, chrf_interval;  // of 0 width unless asked for
};

inline Scores compute_scores(const std::vector<std::string>& hypotheses, const References& references,
                             const ScoreFlags& flags) {
  Scores out;
  out.bleu_options.tokenizer = bleu_tokenizer_from_name(flags.tokenize);
  out.bleu_options.lowercase = out.chrf_options.lowercase = flags.lowercase;
  out.chrf_options.word_order = flags.plus_plus ? 2 : 0;
  const auto bleu_parts = bleu_statistics(hypotheses, references, out.bleu_options);
  const auto chrf_parts = chrf_statistics(hypotheses, references, out.chrf_options);
  BleuStatistics bleu_sum;
  ChrfStatistics chrf_sum;
  for (const auto& part : bleu_parts) bleu_sum += part;
  for (const auto& part : chrf_parts) chrf_sum += part;
  out.bleu = bleu_from_statistics(bleu_sum, out.bleu_options);
  out.chrf = chrf_from_statistics(chrf_sum, out.chrf_options);
  if (!flags.interval) return out;
  out.bleu_interval = bootstrap_interval(hypotheses.size(), [&](const std::vector<size_t>& chosen) {
    BleuStatistics sum;
    for (const size_t i : chosen) sum += bleu_parts[i];
    return bleu_from_statistics(sum, out.bleu_options).score;
  });
  out.chrf_interval = bootstrap_interval(hypotheses.size(), [&](const std::vector<size_t>& chosen) {
    ChrfStatistics sum;
    for (const size_t i : chosen) sum += chrf_parts[i];
    return chrf_from_statistics(sum, out.chrf_options);
  });
  return out;
}

inline std::string scores_text(const std::vector<std::string>& hypotheses, const References& references,
                               const ScoreFlags& flags) {
  const Scores s = compute_scores(hypotheses, references, flags);
  const std::string bleu_sign = bleu_signature(s.bleu_options, references.size());
  const std::string chrf_sign = chrf_signature(s.chrf_options, references.size());
  if (flags.json) {
    nlohmann::ordered_json json{{"bleu", s.bleu.score}, {"chrf", s.chrf}, {"signature", bleu_sign}};
    json["chrf_signature"] = chrf_sign;
    json["precisions"] = s.bleu.precisions;
    json["brevity_penalty"] = s.bleu.brevity_penalty;
    json["hypothesis_length"] = s.bleu.hypothesis_length;
    json["reference_length"] = s.bleu.reference_length;
    if (flags.interval) {
      json["bleu_interval"] = {s.bleu_interval.mean, s.bleu_interval.half_width};
      json["chrf_interval"] = {s.chrf_interval.mean, s.chrf_interval.half_width};
    }
    return json.dump() + "\n";
  }
  auto interval = [&](const Interval& i) {
    return flags.interval ? fmt::format("  ({:.2f} ± {:.2f})", i.mean, i.half_width) : std::string();
  };
  return fmt::format("{}{}\n  {}\n{} = {:.2f}{}\n  {}\n", s.bleu.text(), interval(s.bleu_interval), bleu_sign,
                     chrf_name(s.chrf_options), s.chrf, interval(s.chrf_interval), chrf_sign);
}

}  // namespace glass::program
