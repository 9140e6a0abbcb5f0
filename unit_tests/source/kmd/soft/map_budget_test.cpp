#include "source/kmd/soft/map_budget.h"

#include "shared/os/linux_os.h"
#include "unit_tests/fakes/forwarding_os.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <optional>

namespace causeway::kmd::soft {
namespace {

/// A process with as many mappings as a test says.
class CountedOs final : public fakes::ForwardingOs {
  public:
    CountedOs() : ForwardingOs(linuxOs()) {}

    OsResult<uint64_t> mapCount() override {
        ++measurements;
        if (!maps) {
            return std::unexpected(Errno{ENOENT});
        }
        return *maps;
    }

    OsResult<uint64_t> mapCountLimit() override {
        if (!limit) {
            return std::unexpected(Errno{ENOENT});
        }
        return *limit;
    }

    std::optional<uint64_t> maps = 100;
    std::optional<uint64_t> limit = 1100;
    uint64_t measurements = 0;
};

constexpr uint64_t spare = MapBudget::spareMaps;

TEST(MapBudgetTest, AdmitsWhileSpareMapsAreLeft) {
    CountedOs os;
    MapBudget budget(os);
    EXPECT_TRUE(budget.admit(1000 - spare, "test"));
    os.maps = 1100 - spare;
    const auto refused = budget.admit(1, "binding 1 object");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, Status::OutOfDeviceMemory);
    EXPECT_NE(refused.error().message.find("binding 1 object"), std::string::npos);
    EXPECT_NE(refused.error().message.find("1100"), std::string::npos);
}

TEST(MapBudgetTest, RefusalLeavesTheRestToSmallerRequests) {
    CountedOs os;
    MapBudget budget(os);
    EXPECT_FALSE(budget.admit(1001 - spare, "test"));
    EXPECT_FALSE(budget.admit(UINT64_MAX, "test"));
    EXPECT_TRUE(budget.admit(1000 - spare, "test"));
}

TEST(MapBudgetTest, UndoingMayUseTheSpareMaps) {
    CountedOs os;
    os.maps = 1098;
    MapBudget budget(os);
    EXPECT_FALSE(budget.admit(2, "bind"));
    EXPECT_TRUE(budget.admit(2, "unbind", 0));
    os.maps = 1099;
    EXPECT_FALSE(budget.admit(2, "unbind", 0));
}

TEST(MapBudgetTest, DoesNotMeasureOnEachCall) {
    CountedOs os;
    MapBudget budget(os);
    for (int i = 0; i < 500; ++i) {
        ASSERT_TRUE(budget.admit(1, "test"));
    }
    EXPECT_EQ(os.measurements, 1U);
}

TEST(MapBudgetTest, MeasuresAgainWhenHalfOfWhatWasLeftIsAdmitted) {
    CountedOs os;
    MapBudget budget(os);
    ASSERT_TRUE(budget.admit(500, "test"));
    EXPECT_EQ(os.measurements, 1U);
    os.maps = 800; // the application mapped much besides
    ASSERT_TRUE(budget.admit(1, "test"));
    EXPECT_EQ(os.measurements, 2U);
    EXPECT_FALSE(budget.admit(300, "test"));
}

TEST(MapBudgetTest, MappingsThatWentAwayAreSeenBeforeARefusal) {
    CountedOs os;
    MapBudget budget(os);
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(budget.admit(400, "test")) << i;
    }
}

TEST(MapBudgetTest, ALimitRaisedOnTheWayCounts) {
    CountedOs os;
    MapBudget budget(os);
    EXPECT_FALSE(budget.admit(2000, "test"));
    os.limit = 5000;
    EXPECT_TRUE(budget.admit(2000, "test"));
}

TEST(MapBudgetTest, WithoutDescriptorsTheLastMeasurementCounts) {
    CountedOs os;
    MapBudget budget(os);
    os.maps = std::nullopt;
    EXPECT_TRUE(budget.admit(600, "test"));
    EXPECT_FALSE(budget.admit(400, "test"));
    os.maps = 100;
    EXPECT_TRUE(budget.admit(400, "test"));
}

TEST(MapBudgetTest, WithoutProcOwnMappingsAreCounted) {
    CountedOs os;
    os.maps = std::nullopt;
    os.limit = std::nullopt;
    MapBudget budget(os);
    const uint64_t limit = 65530;
    uint64_t made = 0;
    while (budget.admit(2, "bind")) {
        budget.noteMapped(0x1000'0000 + made * 0x2000, 0x1000); // two edges each
        ++made;
        ASSERT_LT(made, limit);
    }
    EXPECT_GT(made, limit / 2 - 2048);
    budget.noteMapped(0x1000'0000, made * 0x2000); // unbound in one call
    EXPECT_TRUE(budget.admit(60'000, "bind"));
    budget.noteGone(0x1000'0000, made * 0x2000);
    EXPECT_TRUE(budget.admit(60'000, "bind"));
}

TEST(MapBudgetTest, WithoutProcBindingAndUnbindingGoesOnForever) {
    CountedOs os;
    os.maps = std::nullopt;
    MapBudget budget(os);
    os.limit = 4000;
    budget.noteMapped(0x1000'0000, 0x100'0000);
    for (uint64_t i = 0; i < 100'000; ++i) {
        ASSERT_TRUE(budget.admit(2, "bind"));
        budget.noteMapped(0x1000'0000 + (i % 16) * 0x1000, 0x1000);
        ASSERT_TRUE(budget.admit(2, "unbind", 0));
        budget.noteMapped(0x1000'0000 + (i % 16) * 0x1000, 0x1000);
    }
}

TEST(MapBudgetTest, MeasuresThisProcess) {
    MapBudget budget(linuxOs());
    EXPECT_TRUE(budget.admit(2, "test"));
    EXPECT_FALSE(budget.admit(uint64_t{1} << 40, "test"));
}

} // namespace
} // namespace causeway::kmd::soft
