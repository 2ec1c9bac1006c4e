#include "glassformer/base/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "glassformer/base/error.h"

namespace glass {
namespace {

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(AtomicFile, OldVersionStaysUnlessCommitted) {
  const auto folder = std::filesystem::temp_directory_path() / ("glass_atomic_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "file").string();
  {
    AtomicFile file(path);
    file.write("old", 3);
    file.commit();
  }
  {
    AtomicFile file(path);
    file.write("half", 4);
  }
  EXPECT_EQ(read_all(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);  // no temporary left
  EXPECT_THROW(AtomicFile((folder / "none" / "file").string()), SystemError);
  std::filesystem::remove_all(folder);
}

TEST(AtomicFile, ReplacesWhatALinkLeadsToNotTheLink) {
  const auto folder = std::filesystem::temp_directory_path() / ("glass_link_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder / "elsewhere");
  std::ofstream(folder / "elsewhere" / "file") << "old";
  std::filesystem::create_symlink(folder / "elsewhere" / "file", folder / "link");
  AtomicFile file((folder / "link").string());
  file.write("new", 3);
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_all((folder / "elsewhere" / "file").string()), "new");
  std::filesystem::remove_all(folder);
}

// Renamed over, it would be a device no more.
TEST(AtomicFile, WritesToAPipeThatIsThere) {
  const auto folder = std::filesystem::temp_directory_path() / ("glass_pipe_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "pipe").string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  {
    AtomicFile file(path);
    file.write("said", 4);
    file.commit();
  }
  char text[8] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 4);
  EXPECT_EQ(std::string(text), "said");
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  EXPECT_THROW(AtomicFile(folder.string()), SystemError);  // a folder is neither
  std::filesystem::remove_all(folder);
}

TEST(AtomicFile, FullDiskKeepsTheOldVersion) {
  const auto folder = std::filesystem::temp_directory_path() / ("glass_full_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "file").string();
  {
    AtomicFile file(path);
    file.write("old", 3);
    file.commit();
  }
  // A limit on file size stands in for a full disk: writes fail in the same place.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_IGN);
  rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string large(5000, 'x');
  EXPECT_THROW(
      {
        AtomicFile file(path);
        file.write(large.data(), large.size());
        file.commit();
      },
      SystemError);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(read_all(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace glass
