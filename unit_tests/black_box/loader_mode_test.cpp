#include "unit_tests/black_box/child.h"
#include "unit_tests/black_box/protocol.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace causeway::black_box {

namespace {

struct Mode {
    std::string name;
    std::vector<std::string> environment;
};

void PrintTo(const Mode &mode, std::ostream *stream) { // NOLINT(readability-identifier-naming)
    *stream << mode.name;
}

std::string nameOf(const testing::TestParamInfo<Mode> &mode) {
    return mode.param.name;
}

/// A whole program under each of the loader's modes. A loader ignores those that it does not have.
class LoaderModeTest : public testing::TestWithParam<Mode> {};

TEST_P(LoaderModeTest, AProgramRunsAndNobodyComplains) {
    Child program("program", {.environment = GetParam().environment});
    const std::string output = program.readToEnd();
    EXPECT_NE(output.find("the program has ended"), std::string::npos) << output;
    for (const char *const complaint : {"LEAK", "leak = 1", "ERROR", "rror:", "INVALID", "rning"}) {
        EXPECT_EQ(output.find(complaint), std::string::npos) << output;
    }
}

const std::string validation = "ZE_ENABLE_VALIDATION_LAYER=1";

INSTANTIATE_TEST_SUITE_P(
    Loader,
    LoaderModeTest,
    testing::Values(Mode{"PassThrough", {}},
                    Mode{"Intercept", {"ZE_ENABLE_LOADER_INTERCEPT=1"}},
                    Mode{"Parameters", {validation, "ZE_ENABLE_PARAMETER_VALIDATION=1"}},
                    Mode{"Handles", {validation, "ZE_ENABLE_HANDLE_LIFETIME=1"}},
                    Mode{"Threads", {validation, "ZE_ENABLE_THREADING_VALIDATION=1"}},
                    Mode{"Events", {validation, "ZEL_ENABLE_EVENTS_CHECKER=1"}},
                    Mode{"Leaks", {validation, "ZEL_ENABLE_BASIC_LEAK_CHECKER=1"}},
                    Mode{"Tracing", {"ZE_ENABLE_TRACING_LAYER=1"}},
                    Mode{"AllButHandles",
                         {validation,
                          "ZE_ENABLE_PARAMETER_VALIDATION=1",
                          "ZEL_ENABLE_BASIC_LEAK_CHECKER=1",
                          "ZE_ENABLE_TRACING_LAYER=1",
                          "ZE_ENABLE_LOADER_INTERCEPT=1"}}),
    nameOf);

} // namespace
} // namespace causeway::black_box
