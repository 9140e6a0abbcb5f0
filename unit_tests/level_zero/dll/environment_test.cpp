#include "level_zero/dll/environment.h"

#include <gtest/gtest.h>

#include <map>

namespace causeway::dll {
namespace {

using Indices = std::vector<uint32_t>;

class EnvironmentTest : public testing::Test {
  protected:
    Settings read() {
        return readSettings(
            [this](const char *name) {
                const auto found = variables_.find(name);
                return found == variables_.end() ? nullptr : found->second.c_str();
            },
            warnings_);
    }

    /// The settings with one variable set, which must be to everybody's liking.
    Settings readWith(const char *name, const char *value) {
        variables_[name] = value;
        const Settings settings = read();
        EXPECT_TRUE(warnings_.empty()) << warnings_.front();
        return settings;
    }

    std::map<std::string, std::string> variables_;
    std::vector<std::string> warnings_;
};

TEST_F(EnvironmentTest, UnsetIsTheDefault) {
    EXPECT_EQ(read(), Settings{});
    EXPECT_TRUE(warnings_.empty());
}

TEST_F(EnvironmentTest, EmptyIsUnset) {
    for (const char *name : {"CAUSEWAY_DEVICES",
                             "CAUSEWAY_SOFT_DEVICES",
                             "CAUSEWAY_SOFT_MEMORY",
                             "CAUSEWAY_SOFT_DEDICATED",
                             "CAUSEWAY_IPC_TIMEOUT_MS",
                             "CAUSEWAY_IPC_DIR",
                             "ZE_AFFINITY_MASK"}) {
        EXPECT_EQ(readWith(name, ""), Settings{}) << name;
    }
}

TEST_F(EnvironmentTest, EachVariableHasItsSetting) {
    variables_ = {{"CAUSEWAY_SOFT_DEVICES", "3"},
                  {"CAUSEWAY_SOFT_MEMORY", "1048576"},
                  {"CAUSEWAY_SOFT_DEDICATED", "1"},
                  {"CAUSEWAY_IPC_TIMEOUT_MS", "250"},
                  {"CAUSEWAY_IPC_DIR", "/run/shared"},
                  {"ZE_AFFINITY_MASK", "0,2"}};
    EXPECT_EQ(read(),
              (Settings{.softDevices = 3,
                        .softMemoryBytes = 1048576,
                        .softDedicated = true,
                        .ipcTimeout = std::chrono::milliseconds(250),
                        .ipcFolder = "/run/shared",
                        .affinityMask = "0,2"}));
    EXPECT_TRUE(warnings_.empty());
}

TEST_F(EnvironmentTest, TheDeviceListMayCarryTheCount) {
    EXPECT_EQ(readWith("CAUSEWAY_DEVICES", "soft").softDevices, 1U);
    EXPECT_EQ(readWith("CAUSEWAY_DEVICES", "soft:64").softDevices, 64U);
}

TEST_F(EnvironmentTest, ThePlainListLeavesTheCountToItsVariable) {
    variables_["CAUSEWAY_SOFT_DEVICES"] = "2";
    EXPECT_EQ(readWith("CAUSEWAY_DEVICES", "soft").softDevices, 2U);
    EXPECT_EQ(readWith("CAUSEWAY_DEVICES", "soft:4").softDevices, 4U);
}

struct WrongValue {
    const char *name = nullptr;
    const char *value = nullptr;
};

class WrongValueTest : public EnvironmentTest, public testing::WithParamInterface<WrongValue> {};

TEST_P(WrongValueTest, IsAWarningAndTheDefault) {
    variables_[GetParam().name] = GetParam().value;
    EXPECT_EQ(read(), Settings{});
    ASSERT_EQ(warnings_.size(), 1U);
    EXPECT_TRUE(warnings_.front().starts_with(GetParam().name)) << warnings_.front();
}

INSTANTIATE_TEST_SUITE_P(All,
                         WrongValueTest,
                         testing::Values(WrongValue{"CAUSEWAY_DEVICES", "xe"},
                                         WrongValue{"CAUSEWAY_DEVICES", "soft:"},
                                         WrongValue{"CAUSEWAY_DEVICES", "soft:0"},
                                         WrongValue{"CAUSEWAY_DEVICES", "soft:65"},
                                         WrongValue{"CAUSEWAY_DEVICES", "soft,soft"},
                                         WrongValue{"CAUSEWAY_SOFT_DEVICES", "0"},
                                         WrongValue{"CAUSEWAY_SOFT_DEVICES", "65"},
                                         WrongValue{"CAUSEWAY_SOFT_DEVICES", "-1"},
                                         WrongValue{"CAUSEWAY_SOFT_DEVICES", "two"},
                                         WrongValue{"CAUSEWAY_SOFT_MEMORY", "0"},
                                         WrongValue{"CAUSEWAY_SOFT_MEMORY", "1G"},
                                         WrongValue{"CAUSEWAY_SOFT_MEMORY", " 1"},
                                         WrongValue{"CAUSEWAY_SOFT_MEMORY",
                                                    "99999999999999999999999"},
                                         WrongValue{"CAUSEWAY_SOFT_DEDICATED", "yes"},
                                         WrongValue{"CAUSEWAY_SOFT_DEDICATED", "2"},
                                         WrongValue{"CAUSEWAY_IPC_TIMEOUT_MS", "0"},
                                         WrongValue{"CAUSEWAY_IPC_TIMEOUT_MS", "1.5"}));

class AffinityMaskTest : public testing::Test {
  protected:
    Indices visible(std::string_view mask) { return visibleDevices(mask, 4, warnings_); }

    std::vector<std::string> warnings_;
};

TEST_F(AffinityMaskTest, EmptyShowsAll) {
    EXPECT_EQ(visible(""), (Indices{0, 1, 2, 3}));
}

TEST_F(AffinityMaskTest, ShowsWhatItNamesInTheUsualOrder) {
    EXPECT_EQ(visible("2"), (Indices{2}));
    EXPECT_EQ(visible("3, 1"), (Indices{1, 3}));
    EXPECT_EQ(visible("1,1"), (Indices{1}));
    EXPECT_TRUE(warnings_.empty());
}

TEST_F(AffinityMaskTest, WhatDoesNotExistIsNotShown) {
    EXPECT_EQ(visible("1,4"), (Indices{1}));
    EXPECT_EQ(visible("1,0.0"), (Indices{1}));
    EXPECT_EQ(visible("7"), Indices{});
    EXPECT_EQ(warnings_.size(), 3U);
}

TEST_F(AffinityMaskTest, WhatIsNoListShowsAll) {
    for (const char *mask : {"x", "1,", ",", "0.", "0.x", "-1", "1 2"}) {
        warnings_.clear();
        EXPECT_EQ(visible(mask), (Indices{0, 1, 2, 3})) << mask;
        EXPECT_EQ(warnings_.size(), 1U) << mask;
    }
}

} // namespace
} // namespace causeway::dll
