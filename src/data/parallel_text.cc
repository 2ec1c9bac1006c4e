#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "glassformer/base/error.h"
#include "glassformer/base/random.h"
#include "glassformer/data/text.h"

namespace glass {

ParallelText read_pairs(const std::string& source_path, const std::string& target_path, InvalidUtf8 invalid) {
  ParallelText text{read_lines(source_path, invalid), read_lines(target_path, invalid)};
  if (text.source.size() != text.target.size()) {
    throw InputError(source_path + " has " + std::to_string(text.source.size()) + " lines, " + target_path + " has " +
                     std::to_string(text.target.size()) +
                     "; line n of one must be the translation of line n of the other");
  }
  return text;
}

ParallelText read_tsv_pairs(const std::string& path, InvalidUtf8 invalid) {
  LineReader reader(path, invalid);
  ParallelText text;
  std::string line;
  while (reader.next(line)) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) {
      throw InputError(path + ":" + std::to_string(reader.line_number()) +
                       ": no tab; each line is \"source TAB target\", further columns are left alone");
    }
    const size_t end = line.find('\t', tab + 1);
    text.source.push_back(line.substr(0, tab));
    text.target.push_back(line.substr(tab + 1, end == std::string::npos ? end : end - tab - 1));
  }
  if (text.source.empty()) throw InputError(path + ": the file is empty; it must have a pair at least");
  return text;
}

namespace {

size_t rows_to_hold_out(double fraction, size_t rows) {
  if (!(fraction >= 0 && fraction < 1)) {
    throw InputError("split: a fraction of " + std::to_string(fraction) + " cannot be held out; it must be in [0,1)");
  }
  const auto wanted = static_cast<size_t>(fraction * static_cast<double>(rows));
  return fraction > 0 ? std::max<size_t>(1, wanted) : 0;
}

}  // namespace

SplitText split_by_distinct_sentence(const ParallelText& text, double fraction, uint64_t seed) {
  std::vector<size_t> order(text.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Random(hash_combine(seed, hash_text("split"))).shuffle(order);
  const size_t wanted = rows_to_hold_out(fraction, text.size());

  SplitText split;
  auto move_to = [&](ParallelText& part, size_t i) {
    part.source.push_back(text.source[i]);
    part.target.push_back(text.target[i]);
  };
  std::unordered_set<std::string_view> held_source, held_target;
  for (const size_t i : order) {
    if (held_source.count(text.source[i]) != 0 || held_target.count(text.target[i]) != 0) {
      ++split.left_out;
    } else if (split.valid.size() < wanted) {
      move_to(split.valid, i);
      held_source.insert(text.source[i]);
      held_target.insert(text.target[i]);
    } else {
      move_to(split.train, i);
    }
  }
  if (split.train.size() == 0) {
    throw InputError("split: of " + std::to_string(text.size()) + " pairs, " + std::to_string(split.valid.size()) +
                     " held out leave none to train on; give more text or a smaller fraction");
  }
  return split;
}

}  // namespace glass
