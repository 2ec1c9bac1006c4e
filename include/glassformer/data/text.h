// Text files as lines: plain or gzip, checked to be UTF-8.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace glass {

enum class InvalidUtf8 {
  error,    // InputError with file, line and remedy
  replace,  // each maximal invalid part becomes U+FFFD
};

// Lines end at LF, and a CR before it goes too. A byte order mark at the start is dropped; the last line needs no LF. NUL,
// U+2028, tabs and all other characters pass through. Streams: holds one line at a time.
class LineReader {
 public:
  // Opens a file, gzip or not. Throws InputError if it is missing, a folder or unreadable.
  explicit LineReader(const std::string& path, InvalidUtf8 invalid = InvalidUtf8::error);
  // Reads from a descriptor that the caller keeps, such as standard input; `name` is for messages.
  LineReader(int descriptor, std::string name, InvalidUtf8 invalid);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // False at the end. Throws InputError for invalid UTF-8 or a damaged archive.
  bool next(std::string& line);
  int64_t line_number() const { return line_number_; }  // of the line last returned, from 1
  // Whether a whole line can be had without waiting for more input.
  bool has_line_ready() const;

 private:
  struct Source;
  bool fill();
  void finish(std::string& line);

  std::string name_;
  InvalidUtf8 invalid_;
  std::unique_ptr<Source> source_;
  std::string buffer_;
  size_t begin_ = 0;
  bool at_end_ = false;
  int64_t line_number_ = 0;
};

// All lines. Throws InputError if there is none.
std::vector<std::string> read_lines(const std::string& path, InvalidUtf8 invalid = InvalidUtf8::error);

// The length of the valid UTF-8 prefix of `text`: text.size() if it is valid.
size_t valid_utf8_prefix(std::string_view text);
std::string replace_invalid_utf8(std::string_view text);

// Code points, of valid UTF-8.
std::vector<std::string_view> utf8_characters(std::string_view text);

struct ParallelText {
  std::vector<std::string> source, target;
  size_t size() const { return source.size(); }
};

// Two aligned files; different numbers of lines are an InputError naming both.
ParallelText read_pairs(const std::string& source_path, const std::string& target_path,
                        InvalidUtf8 invalid = InvalidUtf8::error);
// Lines of "source TAB target [TAB more]".
ParallelText read_tsv_pairs(const std::string& path, InvalidUtf8 invalid = InvalidUtf8::error);

// Holds out `fraction` of the rows such that no held-out sentence, of either side, is also in training; what shares a side
// with a held-out row is left out of both. Shuffled by `seed`.
struct SplitText {
  ParallelText train, valid;
  size_t left_out = 0;
};
SplitText split_by_distinct_sentence(const ParallelText& text, double fraction, uint64_t seed);

}  // namespace glass
