#include "unit_tests/black_box/external_memory_calls.h"
#include "unit_tests/black_box/ipc_fixture.h"

#include <memory>
#include <string>

/// Field cases about device memory that must come back.
namespace causeway::black_box {
namespace {

constexpr uint64_t theirs = 7'000'000;

class FieldCasesMemoryTest : public IpcTest {
  protected:
    /// An exporter, with memory for two generations of its objects, makes new ones every hundred
    /// opens.
    static void openWhileObjectsChange(uint64_t generations) {
        constexpr uint64_t objects = 4;
        constexpr uint64_t opens = 100;
        Peer exporter({.environment = {"CAUSEWAY_SOFT_MEMORY=" + std::to_string(8 * chunk)}});
        Peer importer;
        Holdings exported;
        Holdings imported;
        for (uint64_t i = 0; i < generations; ++i) {
            const uint64_t base = exporter.buildRange(objects, chunk, theirs + objects * i);
            const auto handle = exporter.exportRange(base, objects * chunk);
            ASSERT_EQ(importer.openInThreads(handle, 1, opens).value, 0U) << i;
            EXPECT_EQ(exporter.put(handle), ZE_RESULT_SUCCESS);
            exporter.destroyRange();
            if (i == 0) {
                exported = exporter.holdingsAtRest();
                imported = importer.holdings();
            }
        }
        EXPECT_EQ(importer.holdings(), imported);
        EXPECT_TRUE(eventually([&] { return exporter.holdings() == exported; }))
            << exporter.holdings() << ", and not " << exported;
    }

    /// Of the first device's memory, in whole pages.
    static size_t tenthOfMemory() {
        uint32_t count = 1;
        ze_device_memory_properties_t properties = {};
        properties.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
        require(zeDeviceGetMemoryProperties(firstDevice(), &count, &properties), "properties");
        constexpr size_t page = 2 << 20;
        return properties.totalSize / 10 / page * page;
    }

    /// Eight objects are most of the memory, so there is no second set beside the first.
    static constexpr size_t most = 8;

    static void sleep(Range &range) {
        for (size_t i = 0; i < most; ++i) {
            range.unmapPiece(i);
        }
        range.destroyObjects();
    }

    static void wake(Range &range) {
        for (size_t i = 0; i < most; ++i) {
            range.mapNewObject(i);
        }
    }

    static size_t goodEnds(const Range &range, const std::byte *base) {
        size_t good = 0;
        for (size_t i = 0; i < most; ++i) {
            good +=
                hasEnds(base + range.offsetOf(i), range.offsetOf(1), range.objectNumber(i)) ? 1 : 0;
        }
        return good;
    }
};

TEST_F(FieldCasesMemoryTest, FieldCase26_OpensWhileObjectsAreMadeAnew) {
    openWhileObjectsChange(20);
}

TEST_F(FieldCasesMemoryTest, FieldCase26_AHundredThousandOpensWhileObjectsAreMadeAnew_Long) {
    openWhileObjectsChange(1000);
}

TEST_F(FieldCasesMemoryTest, FieldCase42_MemoryIsBackAlsoAfterKilledImporters) {
    constexpr size_t objectSize = 8 << 20;
    constexpr size_t size = 8 * objectSize;
    Peer exporter({.environment = {"CAUSEWAY_SOFT_MEMORY=" + std::to_string(size)}});
    auto importer = std::make_unique<Peer>();
    for (uint64_t round = 0; round < 100; ++round) {
        const uint64_t base = exporter.buildRange(8, objectSize, theirs); // all that there is
        const auto handle = exporter.exportRange(base, size);
        const uint64_t view = importer->open(handle);
        ASSERT_EQ(importer->goodEnds(view, objectSize, 8, theirs), 8U);
        if (round % 10 == 0) {
            importer->kill();
            importer = std::make_unique<Peer>();
        } else {
            EXPECT_EQ(importer->close(view), ZE_RESULT_SUCCESS);
        }
        EXPECT_EQ(exporter.put(handle), ZE_RESULT_SUCCESS);
        exporter.destroyRange();
    }
}

TEST_F(FieldCasesMemoryTest, FieldCase44_SleepGivesTheMemoryBackAndKeepsTheAddresses) {
    Range range(context(), manyPieces(most, tenthOfMemory()), {.fill = Fill::Ends});
    for (int round = 0; round < 3; ++round) {
        sleep(range);
        wake(range);
        EXPECT_EQ(goodEnds(range, range.base()), most);
    }
}

TEST_F(FieldCasesMemoryTest, FieldCase44_SleepKeepsWhatIsSharedUntilItIsClosed) {
    Range range(context(), manyPieces(most, tenthOfMemory()), {.fill = Fill::Ends});
    const auto handle = range.exportWhole();
    View view(context(), handle);
    sleep(range);
    EXPECT_EQ(goodEnds(range, view.base()), most);
    EXPECT_EQ(putIpcHandle(context(), handle), ZE_RESULT_SUCCESS);
    EXPECT_EQ(goodEnds(range, view.base()), most);
    ze_physical_mem_handle_t object = nullptr;
    EXPECT_EQ(tryCreateObject(context(), 3 * tenthOfMemory(), Placement::Device, &object),
              ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
        << "the view holds what it shows";
    view.close();
    wake(range);
    EXPECT_EQ(goodEnds(range, range.base()), most);
}

} // namespace
} // namespace causeway::black_box
