#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "bench_cases.h"
#include "bench_flops.h"
#include "glassformer/autograd/ops.h"
#include "glassformer/base/random.h"
#include "glassformer/base/scope.h"
#include "glassformer/data/batches.h"
#include "glassformer/train/optimizer.h"

namespace glass::program {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

struct Lengths {
  Dim source, target;
};

// Of real sentences, without EOS.
std::vector<Lengths> sentence_lengths() {
  constexpr Dim numbers[] = {
#include "lengths.txt"
  };
  std::vector<Lengths> lengths;
  for (size_t i = 0; i + 1 < std::size(numbers); i += 2) lengths.push_back({numbers[i], numbers[i + 1]});
  return lengths;
}

// With EOS, `length` tokens a side.
std::vector<Lengths> equal_lengths(size_t sentences, Dim length) {
  return std::vector<Lengths>(sentences, {length - 1, length - 1});
}

// --- where a forward pass spends its time, by the scope of each operation

// "encoder.layers.3.norm" -> "encoder.layers.*.norm": layers are alike.
std::string without_numbers(const std::string& path) {
  std::string out, part;
  for (const char c : path + ".") {
    if (c != '.') {
      part += c;
      continue;
    }
    const bool number =
        !part.empty() && std::all_of(part.begin(), part.end(), [](char d) { return d >= '0' && d <= '9'; });
    out += (out.empty() ? "" : ".") + (number ? "*" : part);
    part.clear();
  }
  return out;
}

// The time since the operation before is the operation's own: one thread computes, and the rest helps.
class ForwardTimes {
 public:
  OutputObserver observer() {
    last_ = Clock::now();
    return [this](const char* operation, const Tensor&, const Tensors&) { count(operation); };
  }
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  void count(const char* operation) {
    const auto now = Clock::now();
    seconds_[without_numbers(scope_path(operation))] += seconds_between(last_, now);
    last_ = Clock::now();  // what counting costs is nobody's
  }

  Clock::time_point last_;
  std::map<std::string, double> seconds_;
};

// --- one update

struct PhaseSeconds {
  double forward = 0, backward = 0, norm = 0, update = 0;
};

// A model with its optimiser. The trainer's update (train/trainer.cc), on one batch again and again.
class Update {
 public:
  Update(Module& module, Precision precision) : module_(module), precision_(precision), parameters_(module) {}

  void run(const std::function<Tensor()>& loss_sum, int64_t terms) {
    const auto begin = Clock::now();
    parameters_.zero_grads();
    const RandomScope random({1, static_cast<uint64_t>(optimizer_.steps() + 1), 0});
    const PrecisionScope multiply_in(precision_);
    module_.train(true);
    const Tensor loss = loss_sum();
    const auto forward_end = Clock::now();
    backward(loss);
    module_.train(false);
    const auto backward_end = Clock::now();
    const double per_term = 1.0 / static_cast<double>(terms);
    const double norm = global_grad_norm(parameters_) * per_term;
    const auto norm_end = Clock::now();
    optimizer_.step(learning_rate, per_term * (norm > clip_norm ? clip_norm / norm : 1));
    phases_.forward += seconds_between(begin, forward_end);
    phases_.backward += seconds_between(forward_end, backward_end);
    phases_.norm += seconds_between(backward_end, norm_end);
    phases_.update += seconds_between(norm_end, Clock::now());
  }
  const PhaseSeconds& phases() const { return phases_; }  // of all runs so far
  void reset_phases() { phases_ = {}; }

 private:
  static constexpr double learning_rate = 1e-4, clip_norm = 1;

  Module& module_;
  Precision precision_;
  ParameterStore parameters_;
  AdamW optimizer_{parameters_, {}};
  PhaseSeconds phases_;
};

TimeShares profile_of(Update& update, const std::function<Tensor()>& loss_sum, int64_t terms, int repeats) {
  ForwardTimes times;
  update.reset_phases();
  const auto watched = [&] {
    const ObserveOutputs observe(times.observer());
    return loss_sum();
  };
  for (int i = 0; i < repeats; ++i) update.run(watched, terms);
  const PhaseSeconds& sums = update.phases();
  TimeShares shares = {
      {"forward", sums.forward}, {"backward", sums.backward}, {"gradient norm", sums.norm}, {"AdamW", sums.update}};
  const size_t phases = shares.size();
  for (const auto& [path, seconds] : times.seconds()) shares.emplace_back("forward " + path, seconds);
  std::sort(shares.begin() + static_cast<std::ptrdiff_t>(phases), shares.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  for (auto& [name, seconds] : shares) seconds /= repeats;
  return shares;
}

// The case of a model with a loss: what is run, and its profile.
template <class Work>
PreparedCase prepared(const std::shared_ptr<Work>& work, int64_t tokens, double flops, Precision precision) {
  const auto loss_sum = [work] { return work->loss_sum(); };
  return {[work, loss_sum] { work->update.run(loss_sum, work->terms()); }, tokens, flops, name_of(precision),
          [work, loss_sum](int repeats) { return profile_of(work->update, loss_sum, work->terms(), repeats); }};
}

// --- translation

std::vector<int32_t> random_tokens(Dim count, Dim vocabulary, Random& random) {
  std::vector<int32_t> tokens;
  for (Dim i = 0; i < count; ++i) {
    tokens.push_back(special_tokens +
                     static_cast<int32_t>(random.below(static_cast<uint64_t>(vocabulary - special_tokens))));
  }
  return tokens;
}

TranslationBatch random_batch(const std::vector<Lengths>& lengths, const TransformerConfig& config) {
  Random random(1);
  std::vector<Example> examples;
  std::vector<int64_t> rows;
  for (const Lengths& length : lengths) {
    Example example{random_tokens(length.source, config.source_vocabulary, random), {bos_token}, 0};
    example.source.push_back(eos_token);
    for (const int32_t token : random_tokens(length.target, config.target_vocabulary, random)) {
      example.target.push_back(token);
    }
    example.target.push_back(eos_token);
    rows.push_back(static_cast<int64_t>(examples.size()));
    examples.push_back(std::move(example));
  }
  return make_batch(examples, rows);
}

double translation_flops(const std::vector<Lengths>& lengths, const TransformerConfig& config) {
  double sum = 0;
  for (const Lengths& length : lengths) {
    const auto source = static_cast<double>(length.source + 1), target = static_cast<double>(length.target + 1);
    sum += encode_flops(config, source) + decode_flops(config, source, target);
  }
  return products_in_training * sum;
}

struct TranslationUpdate {
  TranslationModel model;
  TranslationBatch batch;
  Update update;

  TranslationUpdate(const TransformerConfig& config, const std::vector<Lengths>& lengths, Precision precision)
      : model(config), batch(random_batch(lengths, config)), update(model, precision) {}

  Tensor loss_sum() const {
    constexpr double label_smoothing = 0.1;
    double nll = 0;  // the trainer asks for it
    const Tensor labels = pack(batch.target_output, batch.target_lengths).ids;
    return model.loss_sum(pack(batch.source, batch.source_lengths), pack(batch.target_input, batch.target_lengths),
                          labels, {label_smoothing, pad_token}, &nll);
  }
  int64_t terms() const { return batch.target_tokens; }
};

BenchCase translation_case(const std::string& name, const TransformerConfig& config, std::vector<Lengths> lengths,
                           const std::string& batch) {
  return {"train/" + name,
          fmt::format("an update: D {}, H {}, F {}, L {}+{}, {}", config.d_model, config.heads, config.d_ff,
                      config.encoder_layers, config.decoder_layers, batch),
          [config, lengths = std::move(lengths)](const BenchSettings& settings) {
            const auto work = std::make_shared<TranslationUpdate>(config, lengths, settings.precision);
            return prepared(work, work->batch.real_tokens, translation_flops(lengths, config), settings.precision);
          },
          true};
}

// --- a decoder-only model: the encoder's stack under a causal mask, the sizes of nanoGPT's recipe for CPUs

struct CharacterModel : ModuleOf<CharacterModel> {
  static constexpr Dim vocabulary = 65, length = 64;

  explicit CharacterModel(const StackOptions& options)
      : ModuleOf(nullptr, ""),
        embedding(this, "embedding", vocabulary, options.d_model),
        positions(this, "positions", length, options.d_model),
        stack(this, "stack", options),
        output(this, "output", embedding.weight) {
    initialize(*this, {}, 1);
  }
  Tensor forward(const Tensor& characters) const {
    const Tensor x = positions.embed(embedding(characters), 0);  // [B,T,D]
    return output(stack(x, AttentionMask::causal(), &positions));
  }

  TokenEmbedding embedding;
  LearnedPositions positions;
  Encoder stack;
  Linear output;
};

Tensor random_characters(Dim rows, Random& random) {
  std::vector<int32_t> values;
  for (Dim i = 0; i < rows * CharacterModel::length; ++i) {
    values.push_back(static_cast<int32_t>(random.below(CharacterModel::vocabulary)));
  }
  return Tensor::from(values, {rows, CharacterModel::length});
}

StackOptions character_options() {
  StackOptions options;
  options.d_model = 128;
  options.heads = 4;
  options.d_ff = 512;
  options.layers = 4;
  options.activation = Activation::gelu;
  options.dropout = DropoutRates::all(0);
  return options;
}

struct CharacterUpdate {
  static constexpr Dim rows = 12;

  Random random{1};
  CharacterModel model{character_options()};
  Tensor input = random_characters(rows, random), labels = random_characters(rows, random);  // [B,T]
  Update update;

  explicit CharacterUpdate(Precision precision) : update(model, precision) {}
  Tensor loss_sum() const { return cross_entropy_sum(model(input), labels); }
  int64_t terms() const { return labels.numel(); }
};

double character_flops() {
  TransformerConfig config;
  const StackOptions options = character_options();
  config.d_model = options.d_model;
  config.d_ff = options.d_ff;
  const auto d = static_cast<double>(config.d_model);
  constexpr auto length = static_cast<double>(CharacterModel::length);
  const double layer = length * encoder_layer_flops(config) + attention_flops(d, length * (length + 1) / 2);
  const double row = options.layers * layer + length * 2 * d * CharacterModel::vocabulary;
  return products_in_training * CharacterUpdate::rows * row;
}

PreparedCase prepare_characters(const BenchSettings& settings) {
  const auto work = std::make_shared<CharacterUpdate>(settings.precision);
  return prepared(work, work->terms(), character_flops(), settings.precision);
}

}  // namespace

TransformerConfig bench_config(Dim d_model, Dim heads, Dim d_ff, int layers) {
  constexpr Dim vocabulary = 8000;
  TransformerConfig config;
  config.d_model = d_model;
  config.heads = heads;
  config.d_ff = d_ff;
  config.encoder_layers = config.decoder_layers = layers;
  config.source_vocabulary = config.target_vocabulary = vocabulary;
  return config;
}

void add_training_cases(std::vector<BenchCase>& cases) {
  const TransformerConfig tiny = bench_config(128, 4, 256, 4), small = bench_config(256, 8, 1024, 3),
                          base = bench_config(512, 8, 2048, 6);
  const std::string real = "64 sentences of real lengths";
  cases.push_back(translation_case("tiny", tiny, sentence_lengths(), real));
  cases.push_back(translation_case("tiny-full", tiny, equal_lengths(64, 20), "64 x 20 tokens"));
  cases.push_back(translation_case("small", small, sentence_lengths(), real));
  cases.push_back(translation_case("small-full", small, equal_lengths(64, 25), "64 x 25 tokens"));
  cases.push_back(translation_case("base", base, equal_lengths(32, 50), "32 x 50 tokens"));
  cases.push_back({"nanogpt", "an update of a decoder-only model: D 128, H 4, F 512, L 4, 12 x 64 characters",
                   prepare_characters, true});
}

}  // namespace glass::program
