#include "glassformer/inspect/doctor_files.h"

#include <algorithm>
#include <filesystem>

#include "glassformer/base/error.h"
#include "glassformer/data/batches.h"
#include "glassformer/inspect/cost_checks.h"
#include "glassformer/inspect/data_checks.h"
#include "glassformer/inspect/doctor.h"
#include "glassformer/inspect/history_checks.h"
#include "glassformer/train/task.h"

namespace glass {

namespace {

void add(Findings& findings, const Findings& more) { findings.insert(findings.end(), more.begin(), more.end()); }

void say(const DoctorNotes& note, const std::string& text) {
  if (note) note(text);
}

// --- data of a recipe

InvalidUtf8 invalid_policy(const Recipe& r) {
  return r.data.replace_invalid ? InvalidUtf8::replace : InvalidUtf8::error;
}

ParallelText read_side(const std::string& pairs, const std::string& source, const std::string& target,
                       InvalidUtf8 invalid) {
  if (!pairs.empty()) return read_tsv_pairs(pairs, invalid);
  return source.empty() ? ParallelText() : read_pairs(source, target, invalid);
}

ParallelText training_text(const Recipe& r) {
  return read_side(r.data.pairs, r.data.source, r.data.target, invalid_policy(r));
}

// Empty if the recipe names none: what is then held out shares no sentence with training.
ParallelText validation_text(const Recipe& r) {
  return read_side(r.data.valid_pairs, r.data.valid_source, r.data.valid_target, invalid_policy(r));
}

Findings check_counts(const Recipe& r) {
  Findings findings;
  for (const auto& [source, target] :
       {std::pair{r.data.source, r.data.target}, std::pair{r.data.valid_source, r.data.valid_target}}) {
    if (!source.empty() && !target.empty()) add(findings, check_line_counts(source, target));
  }
  return findings;
}

Findings check_texts(const ParallelText& training, const ParallelText& validation) {
  Findings findings = check_pairs(training);
  if (validation.size() > 0) add(findings, check_split(training, validation));
  return findings;
}

// As many lines as say enough: encoding takes longer than all else.
ParallelText first_lines(const ParallelText& text) {
  const auto most = static_cast<std::ptrdiff_t>(std::min<size_t>(20000, text.size()));
  return {{text.source.begin(), text.source.begin() + most}, {text.target.begin(), text.target.begin() + most}};
}

Findings check_vocabularies(const SavedTranslation& saved, const ParallelText& whole, const char* what) {
  const ParallelText text = first_lines(whole);
  Findings findings = check_unknown(text.source, *saved.source, std::string(what) + ", source");
  add(findings, check_unknown(text.target, *saved.target, std::string(what) + ", target"));
  return findings;
}

// --- batches

std::vector<Example> examples_of(const SavedTranslation& saved, const ParallelText& whole, int64_t max_length) {
  const ParallelText text = first_lines(whole);
  return make_examples(text.source, text.target, *saved.source, *saved.target, max_length, LongLines::skip).examples;
}

// As many rows as say enough: statistics are over all their tokens.
ProbeBatch rows_of(const std::vector<Example>& examples, size_t count) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < std::min(count, examples.size()); ++i) rows.push_back(static_cast<int64_t>(i));
  return probe_batch(make_batch(examples, rows));
}

constexpr size_t statistics_rows = 16, learning_rows = 8;

StepShape largest_step(const Recipe& r) {
  const int64_t length = r.data.max_length;
  const int64_t by_tokens = std::max<int64_t>(1, r.train.batch_tokens / std::max<int64_t>(1, length));
  return {r.train.batch_sentences.value_or(by_tokens), length, length};
}

Findings diagnose_fresh(SavedTranslation& saved, const Recipe& recipe, const ParallelText& training, bool try_learning,
                        const DoctorNotes& note) {
  const std::vector<Example> examples = examples_of(saved, training, recipe.data.max_length);
  if (examples.empty()) throw InputError("doctor: no pair is left to look at");
  const Probe probe = probe_of(*saved.model);
  say(note, "looking at the fresh model");
  Findings findings = diagnose(probe, rows_of(examples, statistics_rows));
  add(findings, check_learning_rate(probe, schedule_options(recipe)));
  if (!try_learning) return findings;
  say(note, "learning a small batch by heart");
  add(findings, check_learning(probe, rows_of(examples, learning_rows)));
  return findings;
}

Findings diagnose_translation_recipe(const Recipe& recipe, bool try_learning, const DoctorNotes& note) {
  say(note, "reading the data");
  Findings findings = check_counts(recipe);
  if (!findings.empty()) return findings;  // such data cannot be read as pairs
  const ParallelText training = training_text(recipe), validation = validation_text(recipe);
  add(findings, check_texts(training, validation));
  say(note, "making the vocabularies");
  const auto task = make_task(recipe, nullptr);
  SavedTranslation saved = translation_from(task->contents({}), "recipe");
  say(note, predict_run(*task, recipe).text());
  add(findings, check_vocabularies(saved, training, "training"));
  if (validation.size() > 0) add(findings, check_vocabularies(saved, validation, "validation"));
  add(findings, check_memory(saved.model->config, largest_step(recipe), physical_memory()));
  add(findings, diagnose_fresh(saved, recipe, training, try_learning, note));
  return findings;
}

Findings diagnose_forecast(ForecastModel& model, Dim history, Dim horizon, bool fresh) {
  Probe probe = probe_of(model);
  probe.fresh = fresh;
  return diagnose(probe, random_batch(probe, static_cast<Dim>(statistics_rows), history, horizon));
}

}  // namespace

Findings diagnose_recipe(const Recipe& recipe, bool try_learning, const DoctorNotes& note) {
  check_recipe(recipe);
  if (recipe.model.task != "forecast")
    return without_consequences(diagnose_translation_recipe(recipe, try_learning, note));
  const SavedForecast saved = forecast_from(make_task(recipe, nullptr)->contents({}), "recipe");
  return diagnose_fresh_model(*saved.model, recipe);
}

Findings diagnose_fresh_model(Module& model, const Recipe& recipe) {
  Findings findings;
  if (auto* translation = dynamic_cast<TranslationModel*>(&model)) {
    const Probe probe = probe_of(*translation);
    findings = diagnose(probe, random_batch(probe, static_cast<Dim>(statistics_rows), 9, 10));
    add(findings, check_learning_rate(probe, schedule_options(recipe)));
  } else if (auto* forecast = dynamic_cast<ForecastModel*>(&model)) {
    findings = diagnose_forecast(*forecast, recipe.data.history, recipe.data.horizon, true);
    add(findings, check_learning_rate(probe_of(*forecast), schedule_options(recipe)));
  }
  return without_consequences(findings);
}

Findings diagnose_translation(SavedTranslation& saved, const ParallelText& text) {
  Probe probe = probe_of(*saved.model);
  probe.fresh = false;
  constexpr int64_t longest = 200;  // what learned positions and memory carry
  const std::vector<Example> examples = examples_of(saved, text, longest);
  ProbeBatch batch = random_batch(probe, static_cast<Dim>(statistics_rows), 9, 10);
  batch.labels = {};
  if (!examples.empty()) batch = rows_of(examples, statistics_rows);
  Findings findings = diagnose(probe, batch);
  add(findings, check_vocabularies(saved, text, "text"));
  return findings;
}

Findings diagnose_model(const std::string& path, const std::string& source, const std::string& target) {
  const SafeTensors contents = read_safetensors(path);
  if (task_of(contents, path) == "forecast") {
    if (!source.empty()) throw InputError("doctor: a forecasting model reads no text");
    const SavedForecast saved = forecast_from(contents, path);
    return diagnose_forecast(*saved.model, saved.setup.history, saved.setup.horizon, false);
  }
  SavedTranslation saved = translation_from(contents, path);
  Findings findings;
  if (!source.empty()) findings = check_line_counts(source, target);
  if (!findings.empty()) return findings;
  return diagnose_translation(saved, source.empty() ? ParallelText() : read_pairs(source, target));
}

// --- runs

namespace {

// The run's own data, as far as they can still be read.
ParallelText text_of_run(const std::string& directory) {
  try {
    const Recipe recipe = recipe_of_run(directory);
    const ParallelText validation = validation_text(recipe);
    return validation.size() > 0 ? validation : training_text(recipe);
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace

Findings diagnose_run(const std::string& directory) {
  namespace fs = std::filesystem;
  const std::vector<StepMetrics> history = read_metrics((fs::path(directory) / "metrics.jsonl").string());
  Findings findings = check_overfitting(history);
  add(findings, check_loss_history(history));
  add(findings, check_update_sizes(history));
  for (const char* name : {"model.safetensors", "best.safetensors"}) {
    const std::string path = (fs::path(directory) / name).string();
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;
    const SafeTensors contents = read_safetensors(path);
    if (task_of(contents, path) == "forecast") {
      add(findings, diagnose_model(path, {}, {}));
    } else {
      SavedTranslation saved = translation_from(contents, path);
      add(findings, diagnose_translation(saved, text_of_run(directory)));
    }
    break;
  }
  return without_consequences(findings);
}

}  // namespace glass
