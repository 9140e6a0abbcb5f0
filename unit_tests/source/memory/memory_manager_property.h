#pragma once

#include "unit_tests/source/memory/page_model.h"
#include "unit_tests/source/memory/result_checks.h"
#include "unit_tests/source/memory/watched_backend.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace causeway::memory {

/// Drives a memory manager and the page model with the same random calls, some of which the fake
/// back end makes fail, and compares every result and every answer.
class MemoryManagerProperty {
  public:
    explicit MemoryManagerProperty(uint32_t seed);

    /// One random call.
    void step();
    /// Random questions about random addresses.
    void compareAnswers();
    /// Everything bound, and every object alive.
    void compareAll();
    /// Ends the context with what is left in it.
    void finish();

  private:
    using Region = PageModel::Region;
    using RegionKind = PageModel::RegionKind;

    static constexpr uint64_t page = PageModel::pageBytes;
    static constexpr uint64_t devicePage = 4 * page;        ///< the fake's granularity here
    static constexpr uint64_t hintBase = uint64_t{1} << 40; ///< far from what the fake chooses
    static constexpr Status injected = Status::DeviceLost;

    struct Target {
        uint64_t va = 0;
        uint64_t sizeBytes = 0;
    };

    // Random choices
    uint64_t below(uint64_t limit);
    bool chance(uint64_t oneIn);
    Access anyAccess();
    Target anyTarget(uint64_t mostPages);
    const Region *anyRegion(std::optional<RegionKind> kind);

    // Calls
    void createObject();
    void dropObject();
    void reserve();
    void freeReservation();
    void map();
    void unmap();
    void setAccess();
    void allocate();
    void freeAllocation();
    void import();
    void closeImport();

    // What the model says they answer; nothing: they succeed.
    [[nodiscard]] std::optional<Status> expectedOfMap(const Target &target,
                                                      const PhysicalMemory &object,
                                                      uint64_t offset) const;
    [[nodiscard]] std::optional<Status> expectedOfUnmap(const Target &target) const;
    [[nodiscard]] std::optional<Status> expectedOfSetAccess(const Target &target,
                                                            Access access) const;
    [[nodiscard]] static std::optional<Status> expectedOfPages(const Target &target);

    /// Whether the call succeeded, as it should; a failure must be the expected or injected one.
    template <typename T>
    bool judge(const Result<T> &result, std::optional<Status> expected);
    void armFault();

    [[nodiscard]] uint64_t freshId(uint64_t va);
    std::optional<uint64_t> importPieces(uint64_t pieceCount);

    // Answers
    void compareRange(uint64_t address);
    void comparePointer(uint64_t address);
    void compareAccess(uint64_t address, uint64_t sizeBytes);
    void compareSnapshot(uint64_t address, uint64_t sizeBytes);
    void compareHole(const Result<RangeSnapshot> &snapshot, uint64_t address, uint64_t end);
    void comparePieces(const RangeSnapshot &snapshot, uint64_t address, uint64_t end);
    [[nodiscard]] bool includesSlack(uint64_t address, uint64_t end) const;

    std::mt19937 random_;
    WatchedBackend backend_{{.deviceCount = 1, .granularity = devicePage}};
    std::unique_ptr<MemoryManager> manager_;
    PageModel model_;
    std::vector<PhysicalMemoryRef> objects_; ///< the application's handles
    uint64_t lastId_ = 0;
};

template <typename T>
bool MemoryManagerProperty::judge(const Result<T> &result, std::optional<Status> expected) {
    backend_.fake().failAt(0, injected);
    if (!result && result.error().status == injected) {
        return false;
    }
    if (expected) {
        EXPECT_TRUE(failsWith(result, *expected));
        return false;
    }
    EXPECT_TRUE(succeeds(result));
    return result.has_value();
}

} // namespace causeway::memory
