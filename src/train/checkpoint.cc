#include "train/checkpoint.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "glassformer/base/error.h"

namespace glass {

namespace {

using Json = nlohmann::json;

constexpr const char* state_key = "run_state";
constexpr const char* first_moment = "optimizer.first_moment";
constexpr const char* second_moment = "optimizer.second_moment";

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
std::optional<double> optional_from(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<double>(json.get<double>());
}

std::string state_to_json(const RunState& s) {
  return Json{{"step", s.step},
              {"epoch", s.epoch},
              {"next_batch", s.next_batch},
              {"training_seconds", s.training_seconds},
              {"metrics_size", s.metrics_size},
              {"validated_step", s.validated_step},
              {"best_step", s.best_step},
              {"best_nll", s.best.nll},
              {"best_bleu", optional_json(s.best.bleu)},
              {"best_chrf", optional_json(s.best.chrf)},
              {"validations_without_best", s.validations_without_best},
              {"data_fingerprint", s.data_fingerprint},
              {"average_steps", s.average_steps}}
      .dump();
}

RunState state_from_json(const std::string& text) {
  const Json json = Json::parse(text);
  RunState s;
  s.step = json.at("step").get<int64_t>();
  s.epoch = json.at("epoch").get<int64_t>();
  s.next_batch = json.at("next_batch").get<int64_t>();
  s.training_seconds = json.at("training_seconds").get<double>();
  s.metrics_size = json.at("metrics_size").get<uint64_t>();
  s.validated_step = json.at("validated_step").get<int64_t>();
  s.best_step = json.at("best_step").get<int64_t>();
  s.best = {optional_from(json.at("best_nll")).value_or(std::numeric_limits<double>::infinity()),
            optional_from(json.at("best_bleu")), optional_from(json.at("best_chrf"))};
  s.validations_without_best = json.at("validations_without_best").get<int64_t>();
  s.data_fingerprint = json.at("data_fingerprint").get<uint64_t>();
  s.average_steps = json.at("average_steps").get<std::vector<int64_t>>();
  if (s.step < 0 || s.epoch < 0 || s.next_batch < 0) throw InputError("its run state is damaged: a negative count");
  return s;
}

}  // namespace

SafeTensors checkpoint_contents(const TrainingTask& task, const AdamW& optimizer, const RunState& state,
                                const ModelInfo& info) {
  SafeTensors contents = task.contents(info);
  contents.tensors[first_moment] = optimizer.first_moment();
  contents.tensors[second_moment] = optimizer.second_moment();
  contents.metadata[state_key] = state_to_json(state);
  return contents;
}

RunState restore_checkpoint(const SafeTensors& contents, const std::string& path, AdamW& optimizer) {
  const auto state = contents.metadata.find(state_key);
  const auto m = contents.tensors.find(first_moment), v = contents.tensors.find(second_moment);
  if (state == contents.metadata.end() || m == contents.tensors.end() || v == contents.tensors.end()) {
    throw InputError(path + ": a model, but not a checkpoint that training can go on from");
  }
  try {
    const RunState restored = state_from_json(state->second);
    optimizer.restore(restored.step, m->second, v->second);
    return restored;
  } catch (const Json::exception& error) {
    throw InputError(path + ": its run state is damaged: " + error.what());
  } catch (const InputError& error) {
    throw InputError(path + ": " + error.what());
  }
}

}  // namespace glass
