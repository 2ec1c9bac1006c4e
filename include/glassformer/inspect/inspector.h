// Answers the questions of docs/inspector-api.md about one model and one run; knows nothing of HTTP. The program's
// server passes questions on, and a report keeps the answers.
#pragma once

#include <map>
#include <memory>
#include <string>

namespace glass {

// `path` is what follows "/api/v1/", decoded: "traces/1/attention/cross/overview".
struct Question {
  std::string method = "GET", path;
  std::map<std::string, std::string> query;
  std::string body;  // JSON, of a POST
};

struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

struct InspectorOptions {
  std::string program;  // name and version, for `meta`
  std::string model;    // file of a model; empty for none
  std::string run;      // folder of a run; empty for none
};

// Safe to ask from several threads at once; one model computes at a time.
class Inspector {
 public:
  // Throws InputError if the model is none, or the folder no run's.
  explicit Inspector(InspectorOptions options);
  ~Inspector();
  Inspector(const Inspector&) = delete;
  Inspector& operator=(const Inspector&) = delete;

  // Never throws for a bad question: that is an answer with status 400 or 404 and {"error"}.
  Answer answer(const Question& question);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace glass
