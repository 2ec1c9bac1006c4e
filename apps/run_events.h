// What happens in a run's folder, as server-sent events.
#pragma once

#include <cstdint>
#include <string>

namespace glass::program {

// Follows metrics.jsonl of one run: each new whole line becomes an event `metrics`; when the run is over and all is
// told, an event `end`. Reads files only: a run does not notice it. For one thread.
class RunEvents {
 public:
  // From the end of the whole lines that there are, or from `offset`, the id of the last event that a listener got.
  explicit RunEvents(std::string folder, int64_t offset = -1);

  // The events since the last call, ready to be sent; empty if there are none.
  std::string next();
  bool ended() const { return ended_; }

 private:
  std::string new_lines();
  bool run_is_over() const;

  std::string folder_;
  int64_t offset_ = 0;  // bytes of metrics.jsonl that were told or passed over
  bool ended_ = false;
};

}  // namespace glass::program
