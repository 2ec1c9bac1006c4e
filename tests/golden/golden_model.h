// The golden cases of whole models: how to build one from a file and compute its loss.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "glassformer/models/forecast_model.h"
#include "glassformer/models/translation_model.h"
#include "golden/golden.h"

namespace glass::golden {

// The loss is `total` divided by `count`: for translation the sum over the real tokens and how many they are, so that
// it can be taken as training takes it; for forecasting the mean and 1.
struct Loss {
  Tensor total;
  double count = 1;
};

struct ModelCase {
  std::shared_ptr<Module> module;
  std::map<std::string, Tensor> inputs;  // leaves
  std::function<Tensor()> forward;
  std::function<Loss(const Tensor& output)> loss;
};

inline ModelCase translation_case(Case& golden, const TransformerConfig& config) {
  ModelCase c;
  for (const char* name : {"source", "source_lengths", "target"}) c.inputs[name] = input(golden, name);
  const auto model = std::make_shared<TranslationModel>(config);
  c.module = model;
  c.forward = [model, in = c.inputs] { return (*model)(in.at("source"), in.at("source_lengths"), in.at("target")); };
  const CrossEntropyOptions options{golden.number("label_smoothing"), 0};  // 0 is padding
  c.loss = [labels = golden.take("labels"), options](const Tensor& logits) {
    return Loss{cross_entropy_sum(logits, labels, options), static_cast<double>(count_labels(labels, options.ignored))};
  };
  return c;
}

inline ModelCase forecast_case(Case& golden, const TransformerConfig& config) {
  ModelCase c;
  for (const char* name : {"history", "previous"}) c.inputs[name] = input(golden, name);
  const auto model = std::make_shared<ForecastModel>(config);
  c.module = model;
  c.forward = [model, in = c.inputs] { return (*model)(in.at("history"), in.at("previous")); };
  c.loss = [labels = golden.take("labels")](const Tensor& output) { return Loss{mse(output, labels), 1}; };
  return c;
}

// The model with the case's parameters, without dropout.
inline ModelCase model_case(Case& golden) {
  TransformerConfig config = config_from_json(golden.text("config"));
  config.dropout = DropoutRates::all(0);
  ModelCase c =
      golden.text("kind") == "TranslationModel" ? translation_case(golden, config) : forecast_case(golden, config);
  load_parameters(golden, *c.module);
  c.module->train();
  return c;
}

}  // namespace glass::golden
