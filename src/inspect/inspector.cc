#include "glassformer/inspect/inspector.h"

#include <deque>
#include <mutex>
#include <new>
#include <optional>

#include "glassformer/base/error.h"
#include "glassformer/inspect/doctor_files.h"
#include "glassformer/inspect/finding_report.h"
#include "inspect/answers.h"

namespace glass {

namespace {

constexpr size_t most_traces = 16;
constexpr int64_t most_trace_bytes = int64_t{3} << 29;  // 1.5 GiB of all traces together
constexpr size_t most_body = size_t{1} << 20;

std::vector<std::string> segments_of(const std::string& path) {
  std::vector<std::string> segments;
  size_t begin = 0;
  while (true) {
    const size_t end = path.find('/', begin);
    segments.push_back(path.substr(begin, end - begin));
    if (end == std::string::npos) return segments;
    begin = end + 1;
  }
}

struct NamedRecord {
  std::string id;
  PairRecord record;
};

// The latest traces. Safe to use from several threads; the records themselves are the caller's to guard.
class TraceShelf {
 public:
  std::string next_id() {
    const std::lock_guard lock(mutex_);
    return std::to_string(++last_);
  }

  void put(std::shared_ptr<NamedRecord> record) {
    const std::lock_guard lock(mutex_);
    records_.push_back(std::move(record));
    while (records_.size() > most_traces || (records_.size() > 1 && bytes() > most_trace_bytes)) records_.pop_front();
  }

  std::shared_ptr<NamedRecord> get(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    for (const auto& record : records_) {
      if (record->id == id) return record;
    }
    refuse_unknown("there is no trace \"" + id.substr(0, 40) + "\", or it was forgotten: the latest " +
                   std::to_string(most_traces) + " are kept; POST traces makes one");
  }

  std::vector<std::string> ids() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> ids;
    for (const auto& record : records_) ids.push_back(record->id);
    return ids;
  }

 private:
  int64_t bytes() const {
    int64_t sum = 0;
    for (const auto& record : records_) sum += record->record.bytes();
    return sum;
  }

  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<NamedRecord>> records_;
  int64_t last_ = 0;
};

}  // namespace

struct Inspector::State {
  explicit State(InspectorOptions options_) : options(std::move(options_)) {
    if (!options.model.empty()) load_model();
    if (!options.run.empty() && !is_run(options.run)) {
      throw InputError(options.run + ": is no folder of a run; it has neither run.state nor metrics.jsonl");
    }
  }

  void load_model();
  const Module& module() const;

  Answer answer(const Question& question);
  Answer get(const std::vector<std::string>& path, const Question& question);
  Answer post(const std::vector<std::string>& path, const Question& question);
  Answer meta() const;
  Answer of_run(const std::vector<std::string>& path, const Question& question);
  Answer of_trace(const std::vector<std::string>& path, const Question& question);
  Answer findings();
  Answer run_findings();
  Answer make_trace(const std::string& body);
  SavedTranslation& translation();

  InspectorOptions options;
  std::optional<SavedTranslation> translation_model;
  std::optional<SavedForecast> forecast_model;
  Json model_json = nullptr;
  TraceShelf traces;
  std::mutex work;                                  // of the model, and of what traces keep
  std::mutex diagnosis;                             // it reads files of its own, so that other questions need not wait
  std::string model_findings;                       // once made
  std::string history_findings, diagnosed_history;  // of the run as it was then
};

void Inspector::State::load_model() {
  const SafeTensors contents = read_safetensors(options.model);
  const std::string task = task_of(contents, options.model);
  if (task == "forecast") {
    forecast_model = forecast_from(contents, options.model);
    model_json =
        model_summary(options.model, task, *forecast_model->model, forecast_model->model->config, forecast_model->info);
  } else {
    translation_model = translation_from(contents, options.model);
    model_json = model_summary(options.model, task, *translation_model->model, translation_model->model->config,
                               translation_model->info);
  }
}

const Module& Inspector::State::module() const {
  if (translation_model) return *translation_model->model;
  if (forecast_model) return *forecast_model->model;
  refuse_unknown("no model was given; start with --model FILE");
}

SavedTranslation& Inspector::State::translation() {
  if (translation_model) return *translation_model;
  module();  // refuses if there is none at all
  refuse_question("the model forecasts numbers; traces are of translation models");
}

Answer Inspector::State::answer(const Question& question) {
  if (question.body.size() > most_body) refuse_size("the question has more than 1 MiB");
  const std::vector<std::string> path = segments_of(question.path);
  if (question.method == "GET") return get(path, question);
  if (question.method == "POST") return post(path, question);
  refuse_question("ask by GET or POST");
}

Answer Inspector::State::get(const std::vector<std::string>& path, const Question& question) {
  if (path.size() == 1 && path[0] == "meta") return meta();
  if (path.size() == 1 && path[0] == "model") return answer_model(module());
  if (path.size() == 1 && path[0] == "findings") return findings();
  if (path.size() == 2 && path[0] == "run") return of_run(path, question);
  if (path.size() >= 2 && path[0] == "traces") return of_trace(path, question);
  refuse_unknown("nothing answers to \"" + question.path.substr(0, 80) + "\"");
}

Answer Inspector::State::post(const std::vector<std::string>& path, const Question& question) {
  if (path.size() == 1 && path[0] == "traces") return make_trace(question.body);
  if (path.size() == 3 && path[0] == "traces" && path[2] == "intervene") {
    const auto trace = traces.get(path[1]);
    const std::lock_guard lock(work);
    return answer_intervention(translation(), trace->record, question.body);
  }
  refuse_unknown("nothing takes a POST at \"" + question.path.substr(0, 80) + "\"");
}

Answer Inspector::State::meta() const {
  return json_answer({{"api", 1},
                      {"program", options.program},
                      {"report", false},
                      {"model", model_json},
                      {"run", options.run.empty() ? Json(nullptr) : run_summary(options.run)},
                      {"traces", traces.ids()}});
}

Answer Inspector::State::make_trace(const std::string& body) {
  const SavedTranslation& saved = translation();
  const PairQuestion question = pair_question(body);
  const std::lock_guard lock(work);
  auto made = std::make_shared<NamedRecord>(NamedRecord{{}, record_pair(saved, question)});
  made->id = traces.next_id();
  made->record.description = describe_pair(saved, made->record, made->id);
  traces.put(made);
  return json_answer({{"id", made->id}});
}

Answer Inspector::State::of_trace(const std::vector<std::string>& path, const Question& question) {
  const auto trace = traces.get(path[1]);
  const std::lock_guard lock(work);
  PairRecord& record = trace->record;
  if (path.size() == 2) return {200, "application/json", record.description};
  if (path.size() == 3 && path[2] == "beam") return answer_beam(translation(), record);
  if (path.size() == 4 && path[2] == "tensor") return answer_tensor(record, path[3], question);
  if (path[2] == "attention") return answer_attention(record, {path.begin() + 3, path.end()}, question);
  refuse_unknown("of a trace there are attention, beam and tensor, not \"" + path[2].substr(0, 80) + "\"");
}

Answer Inspector::State::of_run(const std::vector<std::string>& path, const Question& question) {
  if (options.run.empty()) refuse_unknown("no run was given; start with --run FOLDER");
  if (path[1] == "series") return answer_series(options.run, question);
  if (path[1] == "findings") return run_findings();
  refuse_unknown("of a run there are series and findings here, not \"" + path[1].substr(0, 80) + "\"");
}

Answer Inspector::State::findings() {
  module();
  const std::lock_guard lock(diagnosis);
  if (model_findings.empty()) model_findings = findings_json(diagnose_model(options.model, {}, {}));
  return {200, "application/json", model_findings};
}

Answer Inspector::State::run_findings() {
  const std::lock_guard lock(diagnosis);
  const std::string history = run_stamp(options.run);
  if (history != diagnosed_history) {
    history_findings = findings_json(diagnose_run(options.run));
    diagnosed_history = history;
  }
  return {200, "application/json", history_findings};
}

// --- the class

Inspector::Inspector(InspectorOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Inspector::~Inspector() = default;

Answer Inspector::answer(const Question& question) {
  try {
    return state_->answer(question);
  } catch (const Refusal& refusal) {
    return error_answer(refusal.status, refusal.what());
  } catch (const Json::exception& error) {
    return error_answer(400, std::string("the question's body is not the JSON it takes: ") + error.what());
  } catch (const InputError& error) {
    return error_answer(400, error.what());
  } catch (const ValueError& error) {
    return error_answer(400, error.what());
  } catch (const std::bad_alloc&) {
    return error_answer(413, "there is not enough memory for the answer; ask about a shorter text");
  } catch (const std::exception& error) {
    return error_answer(500, error.what());
  }
}

}  // namespace glass
