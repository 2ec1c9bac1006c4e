// Writes small valid files of each kind for the fuzzers to change: make_seeds DIR, with DIR/{model_file,tokenizer}
// there.
#include <fstream>
#include <string>
#include <vector>

#include "glassformer/data/vocabulary.h"
#include "glassformer/decode/saved_model.h"

namespace {

using namespace glass;

const std::vector<std::string> lines = {"two dogs are running", "a dog is here", "汤姆 is running", "über 19 dogs"};

TransformerConfig small_config() {
  TransformerConfig config;
  config.d_model = 4;
  config.heads = 2;
  config.d_ff = 4;
  config.encoder_layers = config.decoder_layers = 1;
  return config;
}

void write_translation(const std::string& folder, const std::string& kind, bool lowercase) {
  VocabularyOptions options;
  options.model = kind;
  options.size = 40;
  options.min_frequency = 1;
  options.fewer_allowed = true;
  options.lowercase = lowercase;
  const auto vocabulary = train_vocabulary(lines, options);
  const std::string name = kind + (lowercase ? "_lower" : "");
  std::ofstream(folder + "/tokenizer/" + name, std::ios::binary) << vocabulary->serialize();
  TransformerConfig config = small_config();
  config.source_vocabulary = config.target_vocabulary = vocabulary->size();
  const TranslationModel model(config);
  write_safetensors(folder + "/model_file/" + name, translation_contents(model, *vocabulary, *vocabulary, {}));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  for (const char* kind : {"unigram", "bpe", "word", "char"}) {
    write_translation(folder, kind, false);
    write_translation(folder, kind, true);
  }
  const ForecastModel model(small_config());
  write_safetensors(folder + "/model_file/forecast", forecast_contents(model, {{"y"}, {0.0}, {1.0}, 3, 2}, {}));
  return 0;
}
