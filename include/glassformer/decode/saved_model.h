// A model is one .safetensors file: weights by path, configuration and provenance in the metadata, tokenizers as bytes
// (docs/file-format.md).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "glassformer/data/vocabulary.h"
#include "glassformer/models/forecast_model.h"
#include "glassformer/models/translation_model.h"
#include "glassformer/tensor/safetensors.h"

namespace glass {

// What is known of a model beside its weights: "recipe", "step", "library", … Free text by name.
using ModelInfo = std::map<std::string, std::string>;

// Puts each parameter under its first name; further names of a tied one go to the metadata.
void put_parameters(const Module& module, SafeTensors& contents);
// Fills the module from the file's tensors. Throws InputError naming the first that is missing, has another shape, or
// is unknown. Tensors whose names begin with `ignored_prefix` are somebody else's.
void take_parameters(Module& module, const SafeTensors& contents, const std::string& path,
                     const std::string& ignored_prefix = {});

struct SavedTranslation {
  std::unique_ptr<TranslationModel> model;  // in evaluation mode
  std::shared_ptr<const Vocabulary> source, target;
  ModelInfo info;
};
SafeTensors translation_contents(const TranslationModel& model, const Vocabulary& source, const Vocabulary& target,
                                 const ModelInfo& info);
// Throws InputError for a file that is damaged, foreign, or of another task.
SavedTranslation load_translation(const std::string& path);
SavedTranslation translation_from(const SafeTensors& contents, const std::string& path);

// How a forecasting model's numbers are scaled, and what it was trained to do.
struct ForecastSetup {
  std::vector<std::string> columns;
  std::vector<double> mean, deviation;
  Dim history = 10, horizon = 5;
};
struct SavedForecast {
  std::unique_ptr<ForecastModel> model;
  ForecastSetup setup;
  ModelInfo info;
};
SafeTensors forecast_contents(const ForecastModel& model, const ForecastSetup& setup, const ModelInfo& info);
SavedForecast load_forecast(const std::string& path);
SavedForecast forecast_from(const SafeTensors& contents, const std::string& path);

// "translate" or "forecast". Throws InputError if the file is none of ours.
std::string task_of(const SafeTensors& contents, const std::string& path);

}  // namespace glass
