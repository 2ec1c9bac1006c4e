// The cases of `glassformer bench`: each prepares something once, which is then run several times with a clock around
// it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "glassformer/autograd/precision.h"
#include "glassformer/models/translation_model.h"

namespace glass::program {

struct BenchSettings {
  Precision precision = Precision::f32;  // of products with weights, in training and attention
  bool compact = false;                  // weights in eight bits, in decoding
  Dim longest = 4096;                    // of the attention cases, in tokens
};

// Where the time of a run goes, in seconds: "forward encoder.layers.*.self_attn.query".
using TimeShares = std::vector<std::pair<std::string, double>>;

struct PreparedCase {
  std::function<void()> run;
  int64_t tokens = 0;                              // that one run works on, padding not counted
  double flops = 0;                                // of one run's matrix products, padding not counted; 0 if unknown
  std::string numbers;                             // that the run multiplies: f32, bf16, int8
  std::function<TimeShares(int repeats)> profile;  // of one run, the mean of `repeats`; where has_profile
};

struct BenchCase {
  std::string name, description;
  std::function<PreparedCase(const BenchSettings&)> prepare;
  bool has_profile = false;
};

inline std::string name_of(Precision precision) { return precision == Precision::bf16 ? "bf16" : "f32"; }

// One update of a model's weights as the trainer makes it, and the same for a small decoder-only model.
void add_training_cases(std::vector<BenchCase>& cases);
// Attention forward and backward, without projections.
void add_attention_cases(std::vector<BenchCase>& cases, Dim longest);
// Translation by a random model of base size, and the program's start with it.
void add_decoding_cases(std::vector<BenchCase>& cases);

// The random model of the decoding cases as a model file, with a vocabulary of made-up words.
void write_bench_model(const std::string& path);

// The encoder-decoder of width D, with H heads, feed-forward width F and L + L layers, of 8,000 tokens a side.
TransformerConfig bench_config(Dim d_model, Dim heads, Dim d_ff, int layers);

}  // namespace glass::program
