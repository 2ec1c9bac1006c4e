// Small models and vocabularies for the tests of decoding.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "glassformer/data/vocabulary.h"
#include "glassformer/models/forecast_model.h"
#include "glassformer/models/translation_model.h"

namespace glass::testing {

inline TransformerConfig tiny_config(Dim vocabulary, uint64_t seed = 1) {
  TransformerConfig c;
  c.d_model = 8;
  c.heads = 2;
  c.d_ff = 12;
  c.encoder_layers = 1;
  c.decoder_layers = 2;
  c.source_vocabulary = c.target_vocabulary = vocabulary;
  c.tie_embeddings = TieEmbeddings::none;  // tied and untrained, a model does little but repeat its last token
  c.seed = seed;
  return c;
}

// Multiplies the weights of an untied model. Fresh ones give nearly uniform probabilities, which would hide what a
// search does.
inline void scale_weights(const Module& model, float factor) {
  for (NamedParameter& parameter : model.named_parameters()) {
    if (parameter.name.find("norm") != std::string::npos) continue;
    float* values = parameter.tensor.data<float>();
    for (Dim i = 0; i < parameter.tensor.numel(); ++i) values[i] *= factor;
  }
}

inline std::unique_ptr<TranslationModel> sharp_model(const TransformerConfig& config, float factor = 2.5f) {
  auto model = std::make_unique<TranslationModel>(config);
  scale_weights(*model, factor);
  return model;
}

// The words, each one token; four more are special.
inline std::shared_ptr<const Vocabulary> word_vocabulary(const std::string& words) {
  VocabularyOptions options;
  options.model = "word";
  options.min_frequency = 1;
  return train_vocabulary({words}, options);
}

// A folder of the test's own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "glassformer.XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace glass::testing
