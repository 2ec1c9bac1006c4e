// A run that was stopped, killed or lengthened ends where an undisturbed one does, bit for bit.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "glassformer/base/error.h"
#include "train/training_runs.h"

namespace glass {
namespace {

using test::metrics_without_rate;
using test::Recorder;
using test::run;
using test::small_forecast;
using test::small_translation;
using test::TemporaryFolder;
using test::weights;

void expect_same_run(const std::string& a, const std::string& b) {
  EXPECT_EQ(test::differing(weights(a + "/checkpoint.safetensors"), weights(b + "/checkpoint.safetensors")), "");
  EXPECT_EQ(metrics_without_rate(a), metrics_without_rate(b));
  EXPECT_TRUE(test::read_text(a + "/model.safetensors") == test::read_text(b + "/model.safetensors"));
}

TEST(Resume, AfterAnyStepEqualsAnUndisturbedRun) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);  // 7 batches an epoch
  recipe.train.steps = 12;
  recipe.train.accumulate = 2;      // step 4 takes the last batch of an epoch and the first of the next
  recipe.train.validate_every = 3;  // steps 3 and 6 are due for validation when the stop comes
  recipe.train.validate_sentences = 5;
  recipe.train.average_last = 3;
  run(recipe, folder / "whole");
  for (const int64_t stop : {1, 3, 4, 6, 11}) {
    SCOPED_TRACE(stop);
    const std::string stopped = folder / ("stopped" + std::to_string(stop));
    const TrainResult first = run(recipe, stopped, false, stop);
    EXPECT_EQ(first.reason, StopReason::requested);
    EXPECT_EQ(first.step, stop);
    EXPECT_EQ(first.model_path, "");
    run(recipe, stopped, true);
    expect_same_run(folder / "whole", stopped);
  }
}

TEST(Resume, SeveralTimesAndOfForecasts) {
  const TemporaryFolder folder;
  Recipe recipe = small_forecast();
  recipe.train.steps = 10;
  recipe.train.log_every = 1;
  run(recipe, folder / "whole");
  run(recipe, folder / "parts", false, 2);
  run(recipe, folder / "parts", true, 5);
  run(recipe, folder / "parts", true);
  expect_same_run(folder / "whole", folder / "parts");
}

TEST(Resume, OfAFinishedRunMakesItLonger) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.validate_every = 6;
  recipe.train.average_last = 2;
  recipe.train.steps = 14;
  run(recipe, folder / "whole");
  recipe.train.steps = 8;
  run(recipe, folder / "half");
  recipe.train.steps = 14;
  run(recipe, folder / "half", true);
  expect_same_run(folder / "whole", folder / "half");
}

TEST(Resume, AtTheEndOfAnEpoch) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.epochs = 3;
  const TrainResult whole = run(recipe, folder / "whole");
  EXPECT_EQ(whole.step, 21);
  recipe.train.epochs = 1;
  EXPECT_EQ(run(recipe, folder / "parts").step, 7);
  recipe.train.epochs = 3;
  run(recipe, folder / "parts", true);
  expect_same_run(folder / "whole", folder / "parts");
}

TEST(Resume, NeedsNoWorkingDirectory) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 4;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder / ".");
  recipe.data.pairs = "train.tsv";  // relative to the working directory
  run(recipe, folder / "run", false, 2);
  std::filesystem::current_path(before);
  EXPECT_EQ(run(recipe_of_run(folder / "run"), folder / "run", true).step, 4);
}

TEST(Resume, RefusesAChangedRecipe) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 2;
  run(recipe, folder / "run");
  recipe.train.lr = 1;
  try {
    run(recipe, folder / "run", true);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find("resume: train.lr differs"), 0u) << error.what();
  }
  EXPECT_THROW(recipe_of_run(folder / "nothing"), InputError);
}

// The epoch has fewer batches then: what the checkpoint says of its place in it is true no more.
TEST(Resume, RefusesTextThatHasBecomeShorter) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.batch_sentences = 10;  // of 100 pairs
  recipe.train.steps = 8;
  recipe.train.checkpoint_every = 8;
  run(recipe, folder / "run");
  test::write_text(folder / "train.tsv", test::reversal_pairs(30, 6, 5, 1));
  recipe.train.steps = 12;
  try {
    run(recipe, folder / "run", true);
    FAIL() << "it went on";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("the training data have changed"), std::string::npos) << error.what();
  }
}

TEST(Resume, OfAModelThatIsNoCheckpointIsAnError) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 2;
  run(recipe, folder / "run");
  std::filesystem::copy_file(folder / "run/model.safetensors", folder / "run/checkpoint.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THROW(run(recipe, folder / "run", true), InputError);
}

TEST(NewRun, LeavesWhatIsNotARuns) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 2;
  recipe.train.average_last = 2;
  recipe.train.validate_every = 1;
  test::write_text(folder / "mine/model.safetensors", "not a run's");
  EXPECT_THROW(run(recipe, folder / "mine"), InputError);
  EXPECT_EQ(test::read_text(folder / "mine/model.safetensors"), "not a run's");
  EXPECT_THROW(run(recipe, ""), InputError);
  test::write_text(folder / "run/average/marks.csv", "precious");
  run(recipe, folder / "run");
  run(recipe, folder / "run");  // a finished run is replaced
  EXPECT_EQ(test::read_text(folder / "run/average/marks.csv"), "precious");
}

TEST(NewRun, KeepsTheOldModelUntilThereIsANewOne) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 2;
  run(recipe, folder / "run");
  const std::string model = test::read_text(folder / "run/model.safetensors");
  recipe.train.steps = 9;
  run(recipe, folder / "run", false, 3);  // stopped before its end
  EXPECT_EQ(test::read_text(folder / "run/model.safetensors"), model);
  EXPECT_THROW(run(recipe, folder / "run"), InputError);  // and now unfinished, the model notwithstanding
}

TEST(NewRun, OneProcessAFolder) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 3;
  Recorder recorder;
  int refused = 0;
  recorder.at_step = [&](int64_t) {
    try {
      run(recipe, folder / "run", true);
    } catch (const InputError& error) {
      refused += std::string(error.what()).find("another process trains in this folder") != std::string::npos;
    }
  };
  EXPECT_EQ(train(recipe, {folder / "run"}, recorder).step, 3);
  EXPECT_EQ(refused, 3);
}

TEST(NewRun, DoesNotDestroyAnUnfinishedOne) {
  const TemporaryFolder folder;
  Recipe recipe = small_translation(folder);
  recipe.train.steps = 3;
  run(recipe, folder / "run", false, 2);
  EXPECT_THROW(run(recipe, folder / "run"), InputError);
  EXPECT_EQ(run(recipe, folder / "run", true).step, 3);
  // A finished one is replaced, and nothing of it is left over.
  recipe.train.steps = 1;
  EXPECT_EQ(run(recipe, folder / "run").step, 1);
  EXPECT_EQ(metrics_without_rate(folder / "run").find("\"step\":2"), std::string::npos);
  EXPECT_NE(metrics_without_rate(folder / "run").find("\"step\":1"), std::string::npos);
}

// --- killed

constexpr const char* kill_folder = "GLASSFORMER_TEST_KILL_FOLDER";

Recipe killed_recipe(const TemporaryFolder& data) {
  Recipe recipe = small_translation(data);
  recipe.train.steps = 200;
  recipe.train.checkpoint_every = 2;  // so that many a kill hits a checkpoint being written
  recipe.train.validate_every = 20;
  recipe.train.validate_sentences = 0;
  recipe.train.average_last = 2;
  recipe.train.patience = 0;
  return recipe;
}

// Not a test of its own: what the process does that Kill.AtAnyMoment kills.
TEST(Kill, DISABLED_Victim) {
  const char* directory = std::getenv(kill_folder);
  ASSERT_NE(directory, nullptr);
  std::error_code ignored;
  const bool resume = std::filesystem::exists(std::string(directory) + "/recipe.toml", ignored);
  const Recipe recipe =
      resume ? recipe_of_run(directory) : read_recipe(std::filesystem::path(directory).parent_path() / "wanted.toml");
  run(recipe, directory, resume);
}

pid_t start_victim(const std::string& directory) {
  setenv(kill_folder, directory.c_str(), 1);
  std::vector<std::string> words{"/proc/self/exe", "--gtest_also_run_disabled_tests",
                                 "--gtest_filter=Kill.DISABLED_Victim"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  EXPECT_EQ(posix_spawn(&process, "/proc/self/exe", &quiet, nullptr, arguments.data(), environ), 0);
  posix_spawn_file_actions_destroy(&quiet);
  return process;
}

TEST(Kill, AtAnyMomentLeavesAWholeCheckpoint) {
  const TemporaryFolder folder;
  const Recipe recipe = killed_recipe(folder);
  test::write_text(folder / "wanted.toml", recipe_text(recipe));
  run(recipe, folder / "whole");
  Random random(5);
  int killed = 0;
  for (int round = 0; round < 8; ++round) {
    const pid_t victim = start_victim(folder / "killed");
    std::this_thread::sleep_for(std::chrono::microseconds(50'000 + random.below(150'000)));
    kill(victim, SIGKILL);
    int status = 0;
    waitpid(victim, &status, 0);
    killed += WIFSIGNALED(status);
    const std::string checkpoint = folder / "killed/checkpoint.safetensors";
    if (std::filesystem::exists(checkpoint)) {
      EXPECT_NO_THROW(read_safetensors(checkpoint));
    }
  }
  EXPECT_GT(killed, 0);
  const Recipe found =
      std::filesystem::exists(folder / "killed/recipe.toml") ? recipe_of_run(folder / "killed") : recipe;
  run(found, folder / "killed", std::filesystem::exists(folder / "killed/recipe.toml"));
  expect_same_run(folder / "whole", folder / "killed");
  for (const auto& entry : std::filesystem::directory_iterator(folder / "killed")) {
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace glass
