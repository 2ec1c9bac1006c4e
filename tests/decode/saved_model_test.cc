#include "glassformer/decode/saved_model.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "decode/tiny_models.h"
#include "glassformer/base/error.h"

namespace glass {
namespace {

using testing::Folder;
using testing::read_bytes;
using testing::tiny_config;
using testing::word_vocabulary;
using testing::write_bytes;

const auto source_words = word_vocabulary("a b c"), target_words = word_vocabulary("x y z");

const Tensor source = Tensor::from<int32_t>({4, 5, 3, 6, 3, 0}, {2, 3});
const Tensor lengths = Tensor::from<int32_t>({3, 2}, {2});
const Tensor target = Tensor::from<int32_t>({2, 4, 2, 5}, {2, 2});
const ModelInfo info{{"library", "1.2.3"}, {"recipe", "[train]\nseed = 7 # Grüße\n"}, {"step", "42"}};

SafeTensors translation() {
  return translation_contents(TranslationModel(tiny_config(7)), *source_words, *target_words, info);
}

SafeTensors forecast() {
  TransformerConfig config = tiny_config(0);
  config.input_features = 2;
  return forecast_contents(ForecastModel(config), {{"load", "température"}, {1.5, -2}, {0.1, 3}, 12, 4}, info);
}

// The message of the InputError that `act` throws; anything else fails the test.
std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not an InputError: " << error.what();
  }
  return {};
}

void expect_refused(const SafeTensors& contents, const std::string& why) {
  const std::string message = refusal([&] { translation_from(contents, "m.safetensors"); });
  EXPECT_TRUE(message.starts_with("m.safetensors: ")) << message;
  EXPECT_NE(message.find(why), std::string::npos) << message << "\ndoes not say: " << why;
}

bool equal_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.numel()) * sizeof(float)) == 0;
}

TEST(SavedTranslation, RoundTripKeepsEveryBit) {
  const Folder folder;
  const std::string path = folder.file("model.safetensors"), again = folder.file("again.safetensors");
  for (const TieEmbeddings tie : {TieEmbeddings::none, TieEmbeddings::output, TieEmbeddings::all}) {
    TransformerConfig config = tiny_config(7);
    config.tie_embeddings = tie;
    config.positions = tie == TieEmbeddings::all ? PositionKind::learned : PositionKind::sinusoidal;
    config.max_positions = 5;
    const TranslationModel model(config);
    write_safetensors(path, translation_contents(model, *source_words, *target_words, info));
    const SavedTranslation loaded = load_translation(path);
    EXPECT_EQ(config_to_json(loaded.model->config), config_to_json(config));
    EXPECT_EQ(loaded.info, info);
    EXPECT_FALSE(loaded.model->is_training());
    EXPECT_EQ(loaded.source->encode("c a"), source_words->encode("c a"));
    EXPECT_EQ(loaded.target->serialize(), target_words->serialize());
    EXPECT_TRUE(equal_bits((*loaded.model)(source, lengths, target), model(source, lengths, target)));
    write_safetensors(again, translation_contents(*loaded.model, *loaded.source, *loaded.target, loaded.info));
    EXPECT_EQ(read_bytes(again), read_bytes(path));
  }
}

TEST(SavedTranslation, TiedWeightsAreStoredOnceUnderBothNames) {
  TransformerConfig config = tiny_config(7);
  config.tie_embeddings = TieEmbeddings::all;
  const SafeTensors contents = translation_contents(TranslationModel(config), *source_words, *target_words, {});
  EXPECT_EQ(contents.tensors.count("target_embedding.weight"), 1u);
  EXPECT_EQ(contents.tensors.count("source_embedding.weight"), 0u);
  const auto aliases = nlohmann::json::parse(contents.metadata.at("aliases"));
  EXPECT_EQ(aliases.at("source_embedding.weight"), "target_embedding.weight");
  EXPECT_EQ(aliases.at("output.weight"), "target_embedding.weight");
}

TEST(SavedForecast, RoundTripKeepsEveryBit) {
  const Folder folder;
  const std::string path = folder.file("model.safetensors");
  write_safetensors(path, forecast());
  const SavedForecast loaded = load_forecast(path);
  EXPECT_EQ(loaded.setup.columns, (std::vector<std::string>{"load", "température"}));
  EXPECT_EQ(loaded.setup.mean, (std::vector<double>{1.5, -2}));
  EXPECT_EQ(loaded.setup.deviation, (std::vector<double>{0.1, 3}));
  EXPECT_EQ(loaded.setup.history, 12);
  EXPECT_EQ(loaded.setup.horizon, 4);
  EXPECT_EQ(loaded.info, info);
  const Tensor history = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {1, 3, 2});
  const ForecastModel original(loaded.model->config);  // the same seed
  EXPECT_TRUE(equal_bits(loaded.model->forecast(history, 3), original.forecast(history, 3)));
}

TEST(SavedForecast, ADamagedSetupIsRefused) {
  const auto refused = [](const char* key, const nlohmann::json& value) {
    SafeTensors contents = forecast();
    auto setup = nlohmann::json::parse(contents.metadata["forecast"]);
    setup[key] = value;
    contents.metadata["forecast"] = setup.dump();
    EXPECT_NE(refusal([&] { forecast_from(contents, "m"); }), "") << key << " " << value;
  };
  refused("columns", {"one"});
  refused("columns", 3);
  refused("mean", {1, nullptr});
  refused("mean", {1, 2, 3});
  refused("deviation", {1, 0});
  refused("deviation", {1, -1});
  refused("history", 0);
  refused("horizon", "five");
  refused("horizon", 1e15);
  SafeTensors contents = forecast();
  contents.metadata["forecast"] = "{";
  EXPECT_NE(refusal([&] { forecast_from(contents, "m"); }), "");
}

TEST(SavedModel, AnotherTaskIsNamed) {
  expect_refused(forecast(), "\"forecast\"");
  const std::string message = refusal([] { forecast_from(translation(), "m"); });
  EXPECT_NE(message.find("\"translate\""), std::string::npos) << message;
  SafeTensors strange;
  strange.tensors["w"] = Tensor::zeros({2});
  expect_refused(strange, "not a model of this program");
  strange.metadata["format"] = "pt";
  expect_refused(strange, "not a model of this program");
  SafeTensors later = translation();
  later.metadata["format_version"] = "99";
  expect_refused(later, "99");
}

TEST(SavedModel, TheFirstWrongParameterIsNamed) {
  const char* const name = "decoder.layers.1.cross_attn.key.weight";
  SafeTensors contents = translation();
  ASSERT_EQ(contents.tensors.count(name), 1u);
  contents.tensors.erase(name);
  // One parameter less is also less than the configuration needs; both are said of the file, whichever comes first.
  EXPECT_NE(refusal([&] { translation_from(contents, "m"); }), "");
  contents.tensors["padding"] = Tensor::zeros({1000});
  expect_refused(contents, "\"" + std::string(name) + "\" is missing");

  contents = translation();
  contents.tensors[name] = Tensor::zeros({8, 9});
  expect_refused(contents, std::string(name) + "\" is float32 [8,9], the model needs float32 [8,8]");
  contents.tensors[name] = Tensor::zeros({8, 8}, DType::f64);
  expect_refused(contents, std::string(name) + "\" is float64 [8,8]");

  contents = translation();
  contents.tensors["encoder.extra"] = Tensor::zeros({1});
  expect_refused(contents, "unknown parameter \"encoder.extra\"");
}

TEST(SavedModel, WhatACheckpointAddsIsLeftAlone) {
  SafeTensors contents = translation();
  contents.tensors["optimizer.first_moment"] = Tensor::zeros({3});
  EXPECT_NO_THROW(translation_from(contents, "m"));
}

TEST(SavedModel, DamagedMetadataAndTokenizers) {
  for (const char* key : {"format", "format_version", "task", "config"}) {
    SafeTensors contents = translation();
    contents.metadata.erase(key);
    expect_refused(contents, std::string("\"") + key + "\"");
  }
  SafeTensors contents = translation();
  contents.metadata["config"] = "{";
  expect_refused(contents, "not JSON");
  contents = translation();
  contents.bytes.erase("tokenizer.target");
  expect_refused(contents, "tokenizer.target");
  contents = translation();
  contents.bytes["tokenizer.source"] = "?";
  expect_refused(contents, "tokenizer.source");
  contents = translation();
  contents.bytes["tokenizer.source"] = word_vocabulary("a b")->serialize();
  expect_refused(contents, "tokenizers have 6 and 7 tokens, its weights 7 and 7");
}

// A configuration is a few bytes; what it makes the program allocate has to be in the file.
TEST(SavedModel, AConfigurationThatClaimsMoreThanTheFileAllocatesNothing) {
  const std::pair<const char*, int64_t> claims[] = {{"d_model", 1 << 24},     {"d_ff", 1 << 24},
                                                    {"encoder_layers", 1000}, {"decoder_layers", 1000},
                                                    {"d_model", 8 << 10},     {"source_vocabulary", 0}};
  for (const auto& [key, value] : claims) {
    SafeTensors contents = translation();
    auto config = nlohmann::json::parse(contents.metadata["config"]);
    config[key] = value;
    contents.metadata["config"] = config.dump();
    const size_t before = memory_use().current;
    reset_peak_memory();
    EXPECT_NE(refusal([&] { translation_from(contents, "m"); }), "") << key;
    EXPECT_LE(memory_use().peak, before + 4096) << key;
  }
  // Width without layers: the table of sines would be all there is.
  SafeTensors contents = translation();
  auto config = nlohmann::json::parse(contents.metadata["config"]);
  config["encoder_layers"] = config["decoder_layers"] = 0;
  config["d_model"] = 1 << 16;
  contents.tensors["weights"] = Tensor::zeros({7 * (1 << 16)});
  contents.metadata["config"] = config.dump();
  reset_peak_memory();
  const size_t before = memory_use().current;
  EXPECT_NE(refusal([&] { translation_from(contents, "m"); }), "");
  EXPECT_LE(memory_use().peak, before + 4096);
}

TEST(SavedModel, PartsThatDoNotFitTogether) {
  SafeTensors contents = translation_contents(TranslationModel(tiny_config(7)), *source_words, *target_words, {});
  auto config = nlohmann::json::parse(contents.metadata["config"]);
  config["tie_embeddings"] = "all";
  config["source_vocabulary"] = 8;
  contents.metadata["config"] = config.dump();
  contents.bytes["tokenizer.source"] = word_vocabulary("a b c d")->serialize();
  expect_refused(contents, "cannot be built");
}

TEST(SavedModel, CutOffFilesAreErrors) {
  const Folder folder;
  const std::string path = folder.file("model.safetensors");
  write_safetensors(path, translation());
  const std::string whole = read_bytes(path);
  ASSERT_NO_THROW(load_translation(path));
  for (size_t length = 0; length < whole.size(); length += 64) {
    write_bytes(path, whole.substr(0, length));
    const std::string message = refusal([&] { load_translation(path); });
    EXPECT_TRUE(message.starts_with(path)) << length << ": " << message;
  }
}

// Damage in the header may leave a valid file (a letter of the recipe's text), but never a crash, another exception or
// an allocation beyond the file.
TEST(SavedModel, FlippedHeaderBytesAreErrorsOrHarmless) {
  const Folder folder;
  const std::string path = folder.file("model.safetensors");
  write_safetensors(path, translation());
  const std::string whole = read_bytes(path);
  uint64_t header = 0;
  std::memcpy(&header, whole.data(), 8);
  size_t refused = 0;
  const size_t before = memory_use().current;
  reset_peak_memory();
  const size_t end = 8 + static_cast<size_t>(header);
  for (size_t place = 0; place < end; place += place < 8 ? 1 : 11) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << (place % 8)));
    write_bytes(path, damaged);
    try {
      load_translation(path);
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, end / 22);  // half of them
  // The file's tensors, the model's and its two tables of sines of 512 positions.
  EXPECT_LE(memory_use().peak, before + 3 * whole.size() + 2 * 512 * 8 * sizeof(float) + (1 << 16));
}

TEST(SavedModel, FlippedTokenizerBytesAreErrorsOrHarmless) {
  const Folder folder;
  const std::string path = folder.file("model.safetensors");
  write_safetensors(path, translation());
  const std::string whole = read_bytes(path);
  const size_t begin = whole.find(source_words->serialize());
  ASSERT_NE(begin, std::string::npos);
  for (size_t place = begin; place < whole.size(); ++place) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << (place % 7)));
    write_bytes(path, damaged);
    try {
      load_translation(path);
    } catch (const InputError&) {
    }
  }
}

}  // namespace
}  // namespace glass
