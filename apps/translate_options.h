// Options of search that several commands share.
#pragma once

#include <CLI/CLI.hpp>

#include "glassformer/decode/translator.h"

namespace glass::program {

struct SearchFlags {
  int beam = 1, nbest = 1;
  std::string length_norm = "average", weights = "auto";
  double alpha = 1;
  int64_t max_length = 0, batch_tokens = 4096, max_source = 1000;

  void add_to(CLI::App& command) {
    command.add_option("--beam", beam, "Hypotheses kept at each step; 1 is greedy")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command.add_option("--length-norm", length_norm, "none | average (by |Y|^alpha) | gnmt (by ((5+|Y|)/6)^alpha)")
        ->check(CLI::IsMember({"none", "average", "gnmt"}))
        ->capture_default_str();
    command.add_option("--alpha", alpha, "Exponent of the length norm")
        ->check(CLI::Range(0.0, 10.0))
        ->capture_default_str();
    command.add_option("--max-length", max_length, "Longest output in tokens; 0 for 2 x source + 10")
        ->check(CLI::Range(0, 1 << 20))
        ->capture_default_str();
    command.add_option("--batch-tokens", batch_tokens, "Tokens computed at once")
        ->check(CLI::Range(1, 1 << 30))
        ->capture_default_str();
    command.add_option("--max-source", max_source, "Longer lines are cut to so many tokens")
        ->check(CLI::Range(2, 1 << 20))
        ->capture_default_str();
    command.add_option("--weights", weights, "auto | exact | compact: in eight bits each, faster")
        ->check(CLI::IsMember({"auto", "exact", "compact"}))
        ->capture_default_str();
  }

  TranslateOptions options() const {
    TranslateOptions out;
    out.search = {beam, nbest, length_norm_from_name(length_norm), alpha, max_length, true};
    out.batch_tokens = batch_tokens;
    out.max_source = max_source;
    return out;
  }
};

}  // namespace glass::program
