#include <set>

#include "inspect/answers.h"

namespace glass {

namespace {

Json config_json(const TransformerConfig& config) {
  const Json all = Json::parse(config_to_json(config));
  Json json;
  for (const char* name : {"d_model", "heads", "d_ff", "encoder_layers", "decoder_layers", "norm", "positions",
                           "activation", "tie_embeddings"}) {
    json[name] = all.at(name);
  }
  json["dropout"] = config.dropout.residual;
  json["source_vocab"] = config.source_vocabulary;
  json["target_vocab"] = config.target_vocabulary;
  return json;
}

// Of the module and those below, a tied one once.
Dim parameter_count(const Module& module) {
  std::set<const void*> seen;
  Dim count = 0;
  for (const NamedParameter& parameter : module.named_parameters()) {
    if (seen.insert(parameter.tensor.id()).second) count += parameter.tensor.numel();
  }
  return count;
}

Json tree(const Module& module) {
  Json json{{"path", module.path()}, {"kind", module.kind()}, {"count", parameter_count(module)}};
  json["parameters"] = Json::array();
  for (const NamedParameter& own : module.own_parameters()) {
    json["parameters"].push_back({{"name", own.name}, {"shape", json_shape(own.tensor.shape())}});
  }
  json["children"] = Json::array();
  for (const Module* child : module.children()) json["children"].push_back(tree(*child));
  return json;
}

// Trained models say at which update they were taken, as text.
Json step_of(const ModelInfo& info) {
  const auto found = info.find("step");
  if (found == info.end()) return nullptr;
  const Json step = Json::parse(found->second, nullptr, false);
  return step.is_number() ? step : Json(found->second);
}

}  // namespace

Json model_summary(const std::string& path, const std::string& task, const Module& model,
                   const TransformerConfig& config, const ModelInfo& info) {
  return {{"path", path},
          {"step", step_of(info)},
          {"task", task},
          {"parameters", parameter_count(model)},
          {"config", config_json(config)}};
}

Answer answer_model(const Module& model) { return json_answer(tree(model)); }

}  // namespace glass
