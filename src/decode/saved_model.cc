#include "glassformer/decode/saved_model.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "glassformer/base/error.h"

namespace glass {

namespace {

using Json = nlohmann::json;

constexpr const char* format_name = "glassformer";
constexpr const char* format_version = "1";
constexpr const char* source_tokenizer = "tokenizer.source";
constexpr const char* target_tokenizer = "tokenizer.target";
constexpr const char* info_prefix = "info.";

const std::string& metadata(const SafeTensors& contents, const std::string& key, const std::string& path) {
  const auto found = contents.metadata.find(key);
  if (found == contents.metadata.end()) {
    throw InputError(path + ": no \"" + key + "\" in its metadata; it is not a model of this program");
  }
  return found->second;
}

void require_task(const SafeTensors& contents, const std::string& path, const std::string& wanted) {
  const std::string task = task_of(contents, path);
  if (task != wanted) {
    throw InputError(path + ": a model for \"" + task + "\", not for \"" + wanted + "\"; use `glassformer " + task +
                     "`");
  }
}

void put_common(SafeTensors& contents, const std::string& task, const TransformerConfig& config,
                const ModelInfo& info) {
  contents.metadata["format"] = format_name;
  contents.metadata["format_version"] = format_version;
  contents.metadata["task"] = task;
  contents.metadata["config"] = config_to_json(config);
  for (const auto& [key, value] : info) contents.metadata[info_prefix + key] = value;
}

ModelInfo take_info(const SafeTensors& contents) {
  ModelInfo info;
  for (const auto& [key, value] : contents.metadata) {
    if (key.starts_with(info_prefix)) info[key.substr(std::string_view(info_prefix).size())] = value;
  }
  return info;
}

// Building a model takes memory by its configuration: it must not take more than the file's own weights account for.
void check_size(const SafeTensors& contents, const TransformerConfig& c, const std::string& path) {
  Dim held = 0;
  for (const auto& [name, tensor] : contents.tensors) held += tensor.numel();
  const double d = static_cast<double>(c.d_model);
  const double layer = 4 * d * d + 2 * d * static_cast<double>(c.d_ff);
  const double least = layer * (c.encoder_layers + c.decoder_layers) +
                       d * static_cast<double>(std::max(c.source_vocabulary, c.target_vocabulary));
  const double positions = c.positions == PositionKind::learned ? 2 * d * static_cast<double>(c.max_positions) : 0;
  // Sines are no parameters, yet take room: by the width alone, which a model without layers could claim for nothing.
  constexpr double sines_per_column = 1024, small = 1 << 22;
  if (least + positions > static_cast<double>(held) + 1 || sines_per_column * d > static_cast<double>(held) + small) {
    throw InputError(path + ": its configuration describes a larger model than the weights it holds; it is damaged");
  }
}

TransformerConfig take_config(const SafeTensors& contents, const std::string& path) {
  const std::string json = metadata(contents, "config", path);
  try {
    return config_from_json(json);
  } catch (const InputError& error) {
    throw InputError(path + ": " + error.what());
  }
}

// The model that the configuration describes, with the file's weights.
template <class Model>
std::unique_ptr<Model> take_model(const SafeTensors& contents, const TransformerConfig& config,
                                  const std::string& path) {
  check_size(contents, config, path);
  std::unique_ptr<Model> model;
  try {
    const LeaveUninitialized filled_below;
    model = std::make_unique<Model>(config);
  } catch (const Error& error) {  // parts that are valid each by itself, but not together
    throw InputError(path + ": its configuration cannot be built: " + error.what());
  }
  take_parameters(*model, contents, path, "optimizer.");
  return model;
}

std::shared_ptr<const Vocabulary> take_tokenizer(const SafeTensors& contents, const char* name,
                                                 const std::string& path) {
  const auto found = contents.bytes.find(name);
  if (found == contents.bytes.end()) throw InputError(path + ": no \"" + std::string(name) + "\" in it");
  try {
    return load_vocabulary(found->second);
  } catch (const InputError& error) {
    throw InputError(path + ": " + name + ": " + error.what());
  }
}

}  // namespace

void put_parameters(const Module& module, SafeTensors& contents) {
  std::unordered_map<const void*, std::string> first_names;
  Json aliases = Json::object();
  for (const NamedParameter& parameter : module.named_parameters()) {
    const auto [place, is_new] = first_names.emplace(parameter.tensor.id(), parameter.name);
    if (is_new) {
      contents.tensors[parameter.name] = parameter.tensor.detach();
    } else {
      aliases[parameter.name] = place->second;
    }
  }
  if (!aliases.empty()) contents.metadata["aliases"] = aliases.dump();
}

void take_parameters(Module& module, const SafeTensors& contents, const std::string& path,
                     const std::string& ignored_prefix) {
  std::unordered_set<const void*> filled;
  std::unordered_set<std::string> known;
  for (NamedParameter& parameter : module.named_parameters()) {
    if (!filled.insert(parameter.tensor.id()).second) continue;
    known.insert(parameter.name);
    const auto found = contents.tensors.find(parameter.name);
    if (found == contents.tensors.end()) throw InputError(path + ": parameter \"" + parameter.name + "\" is missing");
    if (!(found->second.shape() == parameter.tensor.shape()) || found->second.dtype() != DType::f32) {
      throw InputError(path + ": parameter \"" + parameter.name + "\" is " +
                       std::string(dtype_name(found->second.dtype())) + " " + found->second.shape().text() +
                       ", the model needs float32 " + parameter.tensor.shape().text());
    }
    parameter.tensor.copy_from(found->second);
  }
  for (const auto& [name, tensor] : contents.tensors) {
    const bool foreign = !ignored_prefix.empty() && name.starts_with(ignored_prefix);
    if (!foreign && known.count(name) == 0) throw InputError(path + ": unknown parameter \"" + name + "\"");
  }
}

std::string task_of(const SafeTensors& contents, const std::string& path) {
  if (metadata(contents, "format", path) != format_name) throw InputError(path + ": not a model of this program");
  const std::string version = metadata(contents, "format_version", path);
  if (version != format_version) {
    throw InputError(path + ": written in format version " + version + ", this program reads version " +
                     format_version);
  }
  return metadata(contents, "task", path);
}

SafeTensors translation_contents(const TranslationModel& model, const Vocabulary& source, const Vocabulary& target,
                                 const ModelInfo& info) {
  SafeTensors contents;
  put_common(contents, "translate", model.config, info);
  put_parameters(model, contents);
  contents.bytes[source_tokenizer] = source.serialize();
  contents.bytes[target_tokenizer] = target.serialize();
  return contents;
}

SavedTranslation translation_from(const SafeTensors& contents, const std::string& path) {
  require_task(contents, path, "translate");
  SavedTranslation out;
  out.source = take_tokenizer(contents, source_tokenizer, path);
  out.target = take_tokenizer(contents, target_tokenizer, path);
  const TransformerConfig config = take_config(contents, path);
  if (config.source_vocabulary != out.source->size() || config.target_vocabulary != out.target->size()) {
    throw InputError(path + ": its tokenizers have " + std::to_string(out.source->size()) + " and " +
                     std::to_string(out.target->size()) + " tokens, its weights " +
                     std::to_string(config.source_vocabulary) + " and " + std::to_string(config.target_vocabulary));
  }
  out.model = take_model<TranslationModel>(contents, config, path);
  out.info = take_info(contents);
  return out;
}

SavedTranslation load_translation(const std::string& path) { return translation_from(read_safetensors(path), path); }

SafeTensors forecast_contents(const ForecastModel& model, const ForecastSetup& setup, const ModelInfo& info) {
  SafeTensors contents;
  put_common(contents, "forecast", model.config, info);
  put_parameters(model, contents);
  contents.metadata["forecast"] = Json{
      {"columns", setup.columns},
      {"mean", setup.mean},
      {"deviation", setup.deviation},
      {"history", setup.history},
      {"horizon", setup.horizon}}.dump();
  return contents;
}

namespace {

ForecastSetup take_setup(const SafeTensors& contents, const std::string& path) {
  const std::string text = metadata(contents, "forecast", path);
  try {
    const Json setup = Json::parse(text);
    return {setup.at("columns").get<std::vector<std::string>>(), setup.at("mean").get<std::vector<double>>(),
            setup.at("deviation").get<std::vector<double>>(), setup.at("history").get<Dim>(),
            setup.at("horizon").get<Dim>()};
  } catch (const Json::exception& error) {
    throw InputError(path + ": its forecasting setup is damaged: " + error.what());
  }
}

void check_setup(const ForecastSetup& setup, const TransformerConfig& config, const std::string& path) {
  constexpr Dim longest = 1 << 24;
  const auto within = [](Dim length) { return length >= 1 && length <= longest; };
  const auto features = static_cast<size_t>(config.input_features);
  const bool sizes_fit = setup.columns.size() == features && setup.mean.size() == features &&
                         setup.deviation.size() == features && within(setup.history) && within(setup.horizon);
  if (!sizes_fit) throw InputError(path + ": its forecasting setup does not fit its weights");
  for (size_t i = 0; i < features; ++i) {
    if (std::isfinite(setup.mean[i]) && std::isfinite(setup.deviation[i]) && setup.deviation[i] > 0) continue;
    throw InputError(path + ": column \"" + setup.columns[i] + "\" has no valid mean and deviation");
  }
}

}  // namespace

SavedForecast forecast_from(const SafeTensors& contents, const std::string& path) {
  require_task(contents, path, "forecast");
  SavedForecast out;
  const TransformerConfig config = take_config(contents, path);
  out.setup = take_setup(contents, path);
  check_setup(out.setup, config, path);
  out.model = take_model<ForecastModel>(contents, config, path);
  out.info = take_info(contents);
  return out;
}

SavedForecast load_forecast(const std::string& path) { return forecast_from(read_safetensors(path), path); }

}  // namespace glass
