#include "report_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "glassformer/base/error.h"

namespace glass::program {

namespace {

using Json = nlohmann::ordered_json;

// Answers of one part may be this much before compression, which never makes them a tenth.
constexpr size_t most_uncompressed = 10;

// "traces/1/overview?size=48" as the question it is.
Question question_of(const std::string& url) {
  Question question;
  const size_t mark = url.find('?');
  question.path = url.substr(0, mark);
  if (mark == std::string::npos) return question;
  const std::string query = url.substr(mark + 1);
  const size_t equals = query.find('=');
  question.query[query.substr(0, equals)] = query.substr(equals + 1);
  return question;
}

// What a cell is worked out from, and what the screen of inputs shows.
bool is_wanted_tensor(const std::string& path) {
  constexpr std::array endings = {".query_heads", ".key_heads", ".value_heads", ".context", "_positions.encoding"};
  if (path == "source_input" || path == "target_input") return true;
  return std::any_of(endings.begin(), endings.end(), [&](const char* ending) { return path.ends_with(ending); });
}

std::string error_of(const Answer& answer) {
  const Json json = Json::parse(answer.body, nullptr, false);
  return json.is_object() ? json.value("error", answer.body) : answer.body;
}

}  // namespace

std::string trace_sentence(Inspector& inspector, const std::string& source, const std::optional<std::string>& target) {
  Json body{{"source", source}};
  if (target) body["target"] = *target;
  const Answer answer =
      inspector.answer({"POST", "traces", {}, body.dump(-1, ' ', false, Json::error_handler_t::replace)});
  if (answer.status != 200) throw InputError("inspect: \"" + source + "\": " + error_of(answer));
  return Json::parse(answer.body).at("id").get<std::string>();
}

ReportAnswers::ReportAnswers(Inspector& inspector, const ReportOptions& options)
    : inspector_(inspector), options_(options) {
  for (const char* url : {"meta", "model", "findings"}) ask(url, ReportPart::core);
  if (options.with_run) {
    for (const char* url : {"run/series", "run/findings"}) ask(url, ReportPart::core);
  }
  for (const std::string& source : options.sources) {  // each at once: the inspector forgets old traces
    traces_.push_back(trace_sentence(inspector, source, options.target));
    ask_trace(traces_.back());
  }
}

bool ReportAnswers::incomplete(ReportPart part) const {
  return bytes_[static_cast<size_t>(part)] > most_uncompressed * options_.most_bytes;
}

// False if there is no such answer; a trace that did not search has no beam.
bool ReportAnswers::ask(const std::string& url, ReportPart part) {
  if (part != ReportPart::core && incomplete(part)) return false;
  Answer answer = inspector_.answer(question_of(url));
  if (answer.status != 200) return false;
  bytes_[static_cast<size_t>(part)] += answer.body.size();
  answers_.push_back({url, part, std::move(answer.type), std::move(answer.body)});
  return true;
}

void ReportAnswers::ask_trace(const std::string& id) {
  const std::string trace = "traces/" + id;
  if (!ask(trace, ReportPart::core)) throw SystemError("report: a trace that was just made is not there");
  const Json json = Json::parse(answers_.back().body);
  ask(trace + "/beam", ReportPart::core);
  for (const Json& a : json.at("attentions")) {
    const std::string url = fmt::format("{}/attention/{}", trace, a.at("kind").get<std::string>());
    // A smaller one is there whole already.
    if (std::max(a.at("rows").get<size_t>(), a.at("columns").get<size_t>()) > 48) {
      ask(url + "/overview?size=160", ReportPart::large_overviews);
    }
    ask_attention(url, a.at("layers"), a.at("heads"));
  }
  for (const Json& tensor : json.at("tensors")) {
    const std::string path = tensor.at("path");
    if (is_wanted_tensor(path)) ask(fmt::format("{}/tensor/{}?as=f32", trace, path), ReportPart::tensors);
  }
}

void ReportAnswers::ask_attention(const std::string& url, size_t layers, size_t heads) {
  ask(url + "/overview?size=48", ReportPart::core);
  ask(url + "/measures", ReportPart::core);
  for (size_t layer = 0; layer < layers; ++layer) {
    for (size_t head = 0; head < heads; ++head) {
      const std::string one = fmt::format("{}/{}/{}", url, layer, head);
      ask(one + "/steps", ReportPart::core);
      ask(one + "/weights", ReportPart::weights);
      ask(one + "/scores", ReportPart::scores);
    }
  }
}

}  // namespace glass::program
