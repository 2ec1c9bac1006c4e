#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "bench_cases.h"
#include "commands.h"
#include "glassformer/base/isa.h"
#include "output.h"
#include "version.h"

namespace glass::program {

namespace {

struct Options {
  std::vector<std::string> patterns;
  std::string precision = "auto", write_model;
  int repeat = 10;
  Dim longest = BenchSettings().longest;
  bool list = false, json = false, profile = false;
};

struct Result {
  std::string name;
  std::vector<double> seconds;  // in order of time
  int64_t tokens = 0;
  double flops = 0;
  std::string numbers;
  size_t peak_bytes = 0;
  TimeShares shares;

  double median() const {
    const size_t middle = seconds.size() / 2;
    return seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  }
};

// As a recipe's train.precision, and as `translate` chooses its weights.
BenchSettings settings_of(const Options& o) {
  const bool bf16 = o.precision == "bf16" || (o.precision == "auto" && has_bf16_products());
  const bool compact = bf16 || (o.precision == "auto" && has_int8_products());  // as the translator chooses
  return {bf16 ? Precision::bf16 : Precision::f32, compact, o.longest};
}

std::vector<BenchCase> all_cases(const Options& o) {
  std::vector<BenchCase> cases;
  add_training_cases(cases);
  add_attention_cases(cases, o.longest);
  add_decoding_cases(cases);
  return cases;
}

std::vector<BenchCase> chosen_cases(const Options& o) {
  std::vector<BenchCase> cases = all_cases(o), chosen;
  if (o.patterns.empty()) return cases;
  for (const std::string& pattern : o.patterns) {
    const auto matches = [&](const BenchCase& c) { return ::fnmatch(pattern.c_str(), c.name.c_str(), 0) == 0; };
    if (std::none_of(cases.begin(), cases.end(), matches)) {
      throw InputError("bench: no case \"" + pattern + "\"; `glassformer bench --list` names them");
    }
  }
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(chosen), [&](const BenchCase& c) {
    return std::any_of(o.patterns.begin(), o.patterns.end(),
                       [&](const std::string& p) { return ::fnmatch(p.c_str(), c.name.c_str(), 0) == 0; });
  });
  return chosen;
}

std::vector<BenchCase> with_profile(std::vector<BenchCase> cases) {
  std::erase_if(cases, [](const BenchCase& c) { return !c.has_profile; });
  if (cases.empty()) throw InputError("bench: --profile is of updates, the cases train/* and nanogpt");
  return cases;
}

double seconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result measured(const BenchCase& chosen, const BenchSettings& settings, int repeat) {
  const PreparedCase prepared = chosen.prepare(settings);
  constexpr int warm_up = 2;  // the allocator, the libraries' caches and the clock of the processor
  for (int i = 0; i < warm_up; ++i) prepared.run();
  reset_peak_memory();
  Result result{chosen.name, {}, prepared.tokens, prepared.flops, prepared.numbers, 0, {}};
  for (int i = 0; i < repeat; ++i) result.seconds.push_back(seconds_of(prepared.run));
  std::sort(result.seconds.begin(), result.seconds.end());
  result.peak_bytes = memory_use().peak;
  return result;
}

Result profiled(const BenchCase& chosen, const BenchSettings& settings, int repeat) {
  const PreparedCase prepared = chosen.prepare(settings);
  constexpr int warm_up = 2;
  for (int i = 0; i < warm_up; ++i) prepared.run();
  Result result{chosen.name, {}, prepared.tokens, prepared.flops, prepared.numbers, 0, prepared.profile(repeat)};
  return result;
}

// --- what is printed

void print_list(const std::vector<BenchCase>& cases, bool json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const BenchCase& c : cases) {
    if (json) list.push_back({{"name", c.name}, {"description", c.description}});
    if (!json) print(fmt::format("{:22}  {}\n", c.name, c.description));
  }
  if (json) print(list.dump(2) + "\n");
}

// A number, or nothing where there is none to tell.
std::string cell(double value, int digits) { return value > 0 ? fmt::format("{:.{}f}", value, digits) : "-"; }

void print_heading() {
  print(version_text() + "\n\n");
  print(fmt::format("{:22}  {:>9}  {:>9}  {:>9}  {:>10}  {:>9}  {:>8}  {}\n", "case", "median ms", "min", "max",
                    "tokens/s", "GFLOP/s", "peak MB", "numbers"));
}

void print_row(const Result& r) {
  const double median = r.median();
  print(fmt::format("{:22}  {:9.2f}  {:9.2f}  {:9.2f}  {:>10}  {:>9}  {:>8}  {}\n", r.name, median * 1e3,
                    r.seconds.front() * 1e3, r.seconds.back() * 1e3, cell(static_cast<double>(r.tokens) / median, 0),
                    cell(r.flops / median / 1e9, 1), cell(static_cast<double>(r.peak_bytes) / 1e6, 1), r.numbers));
  flush_output();  // a case may take long, and somebody may be waiting
}

void print_shares(const Result& r) {
  print(fmt::format("\n{}, {}: ms of an update; the operations of the forward pass are part of the first line\n",
                    r.name, r.numbers));
  for (const auto& [name, seconds] : r.shares) print(fmt::format("{:9.3f}  {}\n", seconds * 1e3, name));
}

size_t most_resident_bytes() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  return static_cast<size_t>(use.ru_maxrss) * 1024;  // the system counts in KiB
}

nlohmann::ordered_json json_of(const Result& r) {
  nlohmann::ordered_json json{{"name", r.name}, {"precision", r.numbers}};
  if (!r.shares.empty()) {
    for (const auto& [name, seconds] : r.shares) json["seconds_by_part"][name] = seconds;
    return json;
  }
  const double median = r.median();
  json["median_seconds"] = median;
  json["seconds"] = r.seconds;
  if (r.tokens > 0) json["tokens"] = r.tokens;
  if (r.tokens > 0) json["tokens_per_second"] = static_cast<double>(r.tokens) / median;
  if (r.flops > 0) json["flops"] = r.flops;
  if (r.peak_bytes > 0) json["peak_tensor_bytes"] = r.peak_bytes;
  return json;
}

void print_json(const std::vector<Result>& results) {
  const Version v = version();
  nlohmann::ordered_json json{{"version", v.program}, {"isa", v.isa},       {"bf16_products", v.bf16},
                              {"threads", v.threads}, {"onednn", v.onednn}, {"cases", nlohmann::ordered_json::array()}};
  for (const Result& result : results) json["cases"].push_back(json_of(result));
  json["most_resident_bytes"] = most_resident_bytes();  // of all cases together
  print(json.dump(2) + "\n");
}

int run(const Options& o) {
  const std::vector<BenchCase> cases = o.profile ? with_profile(chosen_cases(o)) : chosen_cases(o);
  const BenchSettings settings = settings_of(o);
  if (o.list) {
    print_list(cases, o.json);
    return 0;
  }
  if (!o.write_model.empty()) {
    write_bench_model(o.write_model);
    return 0;
  }
  if (!o.json) o.profile ? print(version_text() + "\n") : print_heading();
  std::vector<Result> results;
  for (const BenchCase& chosen : cases) {
    results.push_back(o.profile ? profiled(chosen, settings, o.repeat) : measured(chosen, settings, o.repeat));
    release_cached_memory();  // so that a case does not live on what another left
    if (!o.json) o.profile ? print_shares(results.back()) : print_row(results.back());
  }
  if (o.json) print_json(results);
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("bench", "Speed of training, attention, translation and start, here");
  command->add_option("--case", options->patterns, "Only cases of this name; * and ? stand for others; may be repeated")
      ->expected(1)
      ->take_all();
  command->add_flag("--list", options->list, "Name the cases");
  command->add_option("--repeat", options->repeat, "Runs of each case, after two that do not count; the median counts")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      ->add_option("--precision", options->precision,
                   "auto: as training and translation choose themselves | f32 | bf16, translation too")
      ->check(CLI::IsMember({"auto", "f32", "bf16"}))
      ->capture_default_str();
  command->add_option("--longest", options->longest, "Longest sequence of the attention cases: up to 16384")
      ->check(CLI::Range(128, 16384))
      ->capture_default_str();
  command->add_flag("--profile", options->profile, "Of training: where an update spends its time");
  command->add_flag("--json", options->json, "As JSON");
  command->add_option("--write-model", options->write_model,
                      "Measure nothing; write the random model of the decoding cases to this file");
  command->footer("Example: glassformer bench --case 'train/*' --precision f32");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace glass::program
