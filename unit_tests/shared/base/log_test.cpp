#include "shared/base/log.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <new>

namespace causeway {
namespace {

/// Cannot be formatted for want of memory.
struct Unprintable {};

} // namespace
} // namespace causeway

template <>
struct fmt::formatter<causeway::Unprintable> {
    constexpr auto parse(format_parse_context &context) { return context.begin(); }

    static format_context::iterator format(const causeway::Unprintable &, format_context &) {
        throw std::bad_alloc();
    }
};

namespace causeway {
namespace {

TEST(LogTest, ALineThatCannotBeMadeIsLost) {
    log(LogLevel::Error, "{}", Unprintable());
}

/// In a process of its own: the environment is read once.
void logWith(const char *setting, bool hasStderr) {
    ::setenv("CAUSEWAY_LOG", setting, 1);
    if (!hasStderr) {
        ::close(STDERR_FILENO);
    }
    log(LogLevel::Warn, "a line");
    std::_Exit(0);
}

class LogProcessTest : public testing::Test {
  protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(LogProcessTest, GoesToStderr_Forks) {
    EXPECT_EXIT(logWith("info", true), testing::ExitedWithCode(0), "warn: a line");
}

TEST_F(LogProcessTest, UnknownLevelIsAWarning_Forks) {
    EXPECT_EXIT(logWith("verbose", true), testing::ExitedWithCode(0), "verbose is not a level");
}

TEST_F(LogProcessTest, FileThatCannotBeOpenedIsAWarning_Forks) {
    EXPECT_EXIT(logWith("info:/nowhere/at/all", true),
                testing::ExitedWithCode(0),
                "/nowhere/at/all cannot be opened(.|\n)*a line");
}

// A daemon's.
TEST_F(LogProcessTest, ClosedStderrIsNoError_Forks) {
    EXPECT_EXIT(logWith("verbose", false), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace causeway
