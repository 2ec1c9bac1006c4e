// Text of any bytes, plain or gzip: invalid UTF-8 is refused or replaced, lines are whole, CSV is numbers or an error.
#include <string>
#include <vector>

#include "fuzz/memory_file.h"
#include "glassformer/base/error.h"
#include "glassformer/data/series.h"
#include "glassformer/data/text.h"

namespace {

std::vector<std::string> lines_of(const std::string& path, glass::InvalidUtf8 invalid) {
  glass::LineReader reader(path, invalid);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) {
    glass::fuzz::require(line.find('\n') == std::string::npos);
    glass::fuzz::require(glass::valid_utf8_prefix(line) == line.size());
    lines.push_back(line);
  }
  glass::fuzz::require(reader.line_number() == static_cast<int64_t>(lines.size()));
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace glass;
  const fuzz::MemoryFile file(data, size);
  try {
    const auto replaced = lines_of(file.path(), InvalidUtf8::replace);
    const auto strict = lines_of(file.path(), InvalidUtf8::error);
    fuzz::require(strict == replaced);  // nothing was invalid, so nothing was replaced
  } catch (const InputError&) {
  }
  try {
    inspect_pairs(read_tsv_pairs(file.path(), InvalidUtf8::replace));
  } catch (const InputError&) {
  }
  try {
    read_csv(file.path(), {});
  } catch (const InputError&) {
  }
  return 0;
}
