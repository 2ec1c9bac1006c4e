#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "bench_cases.h"
#include "bench_flops.h"
#include "glassformer/base/atomic_file.h"
#include "glassformer/base/error.h"
#include "glassformer/base/random.h"
#include "glassformer/base/threads.h"
#include "glassformer/data/vocabulary.h"
#include "glassformer/decode/saved_model.h"
#include "glassformer/decode/search.h"

extern char** environ;

namespace glass::program {

namespace {

constexpr Dim tokens_in = 25, tokens_out = 30;

TransformerConfig base_config() { return bench_config(512, 8, 2048, 6); }

// A translation's length is held at `tokens_out`: what random weights would end with is nobody's sentence.
SearchOptions search_options(int beam) {
  SearchOptions options;
  options.beam = beam;
  options.min_length = options.max_length = tokens_out;
  return options;
}

Tensor random_source(Dim sentences, Dim vocabulary) {
  Random random(1);
  std::vector<int32_t> tokens;
  for (Dim i = 0; i < sentences * tokens_in; ++i) {
    const bool last = i % tokens_in == tokens_in - 1;
    const uint64_t word = random.below(static_cast<uint64_t>(vocabulary - special_tokens));
    tokens.push_back(last ? eos_token : special_tokens + static_cast<int32_t>(word));
  }
  return Tensor::from(tokens, {sentences, tokens_in});
}

PreparedCase prepare_decoding(int beam, Dim sentences, const BenchSettings& settings) {
  const TransformerConfig config = base_config();
  const auto model = std::make_shared<TranslationModel>(config);
  const Tensor source = random_source(sentences, config.source_vocabulary);
  const Tensor lengths = Tensor::full({sentences}, tokens_in, DType::i32);
  // Each hypothesis is scored, but key and value of the source are computed once for all of a sentence.
  const double flops = static_cast<double>(sentences) *
                       (encode_flops(config, tokens_in) + beam * decode_flops(config, tokens_in, tokens_out));
  if (settings.compact) compact_weights(*model);
  return {[=] { search(*model, source, lengths, search_options(beam)); },
          sentences * tokens_out,
          flops,
          settings.compact ? "int8" : "f32",
          {}};
}

// --- the program's start

struct TemporaryFolder {
  std::filesystem::path path;

  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "glassformer-bench-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw SystemError(name + ": cannot be made: " + std::strerror(errno));
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const char* name) const { return path / name; }
};

// The words of the made-up vocabulary, w0000 and so on, in the order of their tokens.
std::string made_up_word(Dim index) { return fmt::format("w{:04}", index); }

std::string made_up_sentence(Dim words) {
  std::string line;
  for (Dim i = 0; i < words; ++i) line += (i == 0 ? "" : " ") + made_up_word(i);
  return line + "\n";
}

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void open(int descriptor, const std::string& path, int flags) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, path.c_str(), flags, 0);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// Runs a program to its end, what it prints thrown away.
void run_program(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  FileActions files;
  files.open(STDOUT_FILENO, "/dev/null", O_WRONLY);
  pid_t child = 0;
  const int error = posix_spawn(&child, pointers[0], files.get(), nullptr, pointers.data(), environ);
  if (error != 0) throw SystemError(arguments[0] + ": cannot be started: " + std::strerror(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw SystemError(arguments[0] + ": its end is unknown: " + std::strerror(errno));
  }
  if (status != 0) throw SystemError(arguments[0] + ": it failed; see its message above");
}

void write_sentence(const std::string& path) {
  AtomicFile file(path);
  const std::string line = made_up_sentence(tokens_in - 1);  // EOS is the last
  file.write(line.data(), line.size());
  file.commit();
}

PreparedCase prepare_start(const BenchSettings& /*settings*/) {
  const auto folder = std::make_shared<TemporaryFolder>();
  const std::string model = folder->file("base.safetensors"), source = folder->file("source.txt");
  write_bench_model(model);
  write_sentence(source);
  const std::vector<std::string> arguments = {std::filesystem::read_symlink("/proc/self/exe"),
                                              "translate",
                                              source,
                                              "--model",
                                              model,
                                              "--max-length",
                                              "1",
                                              "--threads",
                                              std::to_string(threads())};
  return {[folder, arguments] { run_program(arguments); }, 0, 0, "", {}};
}

}  // namespace

void write_bench_model(const std::string& path) {
  const TransformerConfig config = base_config();
  VocabularyOptions options;
  options.model = "word";
  options.min_frequency = 1;
  std::vector<std::string> words;
  for (Dim i = 0; i < config.source_vocabulary - special_tokens; ++i) words.push_back(made_up_word(i));
  const auto vocabulary = train_vocabulary(words, options);
  const TranslationModel model(config);
  write_safetensors(path, translation_contents(model, *vocabulary, *vocabulary, {{"made_by", "glassformer bench"}}));
}

void add_decoding_cases(std::vector<BenchCase>& cases) {
  for (const int beam : {1, 4}) {
    for (const Dim sentences : {1, 32}) {
      const std::string name = beam == 1 ? "greedy" : fmt::format("beam{}", beam);
      const std::string search = beam == 1 ? "greedy search" : fmt::format("beam search, {} hypotheses", beam);
      cases.push_back({fmt::format("decode/{}/{}", name, sentences),
                       fmt::format("{}, base size, {} sentence{} at once, {} tokens in, {} out", search, sentences,
                                   sentences == 1 ? "" : "s", tokens_in, tokens_out),
                       [=](const BenchSettings& settings) { return prepare_decoding(beam, sentences, settings); }});
    }
  }
  cases.push_back({"start", "the program from its start to the first token of a model of base size", prepare_start});
}

}  // namespace glass::program
