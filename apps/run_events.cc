#include "run_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace glass::program {

namespace {

constexpr int64_t block = 1 << 20;  // bytes read at once: a listener that is far behind catches up in steps

std::string read_from(const std::string& path, int64_t offset) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  std::string text(block, '\0');
  file.read(text.data(), block);
  text.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

int64_t size_of(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

// A line that is just being written is not over.
int64_t end_of_whole_lines(const std::string& path) {
  const int64_t from = std::max<int64_t>(0, size_of(path) - block);
  return from + static_cast<int64_t>(read_from(path, from).rfind('\n') + 1);  // npos + 1 is 0
}

}  // namespace

RunEvents::RunEvents(std::string folder, int64_t offset) : folder_(std::move(folder)) {
  const std::string path = folder_ + "/metrics.jsonl";
  offset_ = offset < 0 ? end_of_whole_lines(path) : std::min(offset, size_of(path));
}

std::string RunEvents::next() {
  if (ended_) return {};
  const bool over = run_is_over();  // asked first: what was written before the end is then told before it
  const std::string lines = new_lines();
  std::string events;
  std::istringstream in(lines);
  int64_t at = offset_ - static_cast<int64_t>(lines.size());
  for (std::string line; std::getline(in, line);) {
    at += static_cast<int64_t>(line.size()) + 1;
    if (!line.empty()) events += fmt::format("event: metrics\nid: {}\ndata: {}\n\n", at, line);
  }
  if (over && lines.empty()) {
    ended_ = true;
    events += "event: end\ndata: {}\n\n";
  }
  return events;
}

std::string RunEvents::new_lines() {
  const std::string path = folder_ + "/metrics.jsonl";
  const int64_t size = size_of(path);
  if (size < offset_) offset_ = size;  // a run that went on from a checkpoint cut it to what that knew of
  if (size == offset_) return {};
  std::string text = read_from(path, offset_);
  text.resize(text.rfind('\n') + 1);  // whole lines; npos + 1 is 0
  offset_ += static_cast<int64_t>(text.size());
  return text;
}

bool RunEvents::run_is_over() const { return read_from(folder_ + "/run.state", 0) == "finished\n"; }

}  // namespace glass::program
