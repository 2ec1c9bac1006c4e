#include "glassformer/data/text.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "glassformer/base/error.h"

namespace glass {

// Where bytes come from: zlib for files (it passes what is not gzip through), plain reads for descriptors.
struct LineReader::Source {
  gzFile archive = nullptr;
  int descriptor = -1;

  ~Source() {
    if (archive != nullptr) gzclose(archive);
  }
};

namespace {

constexpr size_t block_size = 1 << 16;

int open_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    throw InputError(path + ": cannot be opened: " + std::strerror(errno) + "; check the path and its permissions");
  }
  struct stat info {};
  if (fstat(file, &info) == 0 && S_ISDIR(info.st_mode)) {
    close(file);
    throw InputError(path + ": is a folder; name a text file, plain or .gz");
  }
  return file;
}

}  // namespace

LineReader::LineReader(const std::string& path, InvalidUtf8 invalid)
    : name_(path), invalid_(invalid), source_(std::make_unique<Source>()) {
  const int file = open_file(path);
  source_->archive = gzdopen(file, "rb");
  if (source_->archive == nullptr) {
    close(file);
    throw SystemError(path + ": out of memory while opening");
  }
}

LineReader::LineReader(int descriptor, std::string name, InvalidUtf8 invalid)
    : name_(std::move(name)), invalid_(invalid), source_(std::make_unique<Source>()) {
  source_->descriptor = descriptor;
}

LineReader::~LineReader() = default;

bool LineReader::fill() {
  if (at_end_) return false;
  buffer_.erase(0, begin_);
  begin_ = 0;
  const size_t old = buffer_.size();
  buffer_.resize(old + block_size);
  const ssize_t got = read_block(buffer_.data() + old);
  buffer_.resize(old + static_cast<size_t>(got));
  at_end_ = got == 0;
  return got > 0;
}

// How many bytes came, 0 at the end. After a throw the reader is at its end.
ssize_t LineReader::read_block(char* to) {
  ssize_t got = 0;
  std::string fault;
  if (source_->archive != nullptr) {
    got = gzread(source_->archive, to, block_size);
    int status = Z_OK;
    const char* reason = gzerror(source_->archive, &status);
    if (got < 0 || status == Z_BUF_ERROR) {  // the second: an archive that ends too early
      fault =
          ": cannot be read to its end (" + std::string(reason) + "); is the file damaged or cut off? Copy it again";
    }
  } else {
    do {
      got = read(source_->descriptor, to, block_size);
    } while (got < 0 && errno == EINTR);
    if (got < 0) fault = std::string(": cannot be read: ") + std::strerror(errno);
  }
  if (fault.empty()) return got;
  buffer_.clear();
  at_end_ = true;
  throw InputError(name_ + fault);
}

bool LineReader::take_line(std::string& line) {
  size_t searched = begin_;
  for (;;) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      line.assign(buffer_, begin_, end - begin_);
      begin_ = end + 1;
      if (line.ends_with('\r')) line.pop_back();
      return true;
    }
    searched = buffer_.size() - begin_;  // where it will be after fill() has moved the rest to the front
    if (!fill()) {
      if (begin_ == buffer_.size()) return false;
      line.assign(buffer_, begin_);
      begin_ = buffer_.size();
      return true;
    }
  }
}

bool LineReader::next(std::string& line) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (!take_line(line)) return false;
  if (line_number_ == 0 && line.starts_with(byte_order_mark)) {
    line.erase(0, byte_order_mark.size());
    if (line.empty() && at_end_ && begin_ == buffer_.size()) return false;  // a mark alone is an empty file
  }
  ++line_number_;
  check_utf8(line);
  return true;
}

void LineReader::check_utf8(std::string& line) const {
  const size_t valid = valid_utf8_prefix(line);
  if (valid == line.size()) return;
  if (invalid_ == InvalidUtf8::error) {
    throw InputError(name_ + ":" + std::to_string(line_number_) + ": not valid UTF-8 from byte " +
                     std::to_string(valid + 1) +
                     " on; convert the file, or have such parts replaced (--replace-invalid)");
  }
  line = replace_invalid_utf8(line);
}

bool LineReader::has_line_ready() {
  while (buffer_.find('\n', begin_) == std::string::npos) {
    if (at_end_) return begin_ < buffer_.size();
    if (source_->descriptor < 0) return true;  // a file does not make anybody wait
    pollfd waiting{source_->descriptor, POLLIN, 0};
    if (poll(&waiting, 1, 0) <= 0) return false;
    fill();  // does not wait: something has come, or the end has
  }
  return true;
}

std::vector<std::string> read_lines(const std::string& path, InvalidUtf8 invalid) {
  LineReader reader(path, invalid);
  std::vector<std::string> lines;
  std::string line;
  while (reader.next(line)) lines.push_back(line);
  if (lines.empty()) throw InputError(path + ": the file is empty; it must have a line of text at least");
  return lines;
}

}  // namespace glass
