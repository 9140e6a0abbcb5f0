#pragma once

#include "shared/os/linux_os.h"
#include "source/kmd/kmd.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// One suite over every kmd::Backend. A test that needs bytes behind the addresses skips by name on
/// a back end that only keeps books.
namespace causeway::contract {

inline constexpr uint64_t page = uint64_t{64} << 10;
inline constexpr uint64_t largePage = uint64_t{2} << 20;
inline constexpr uint64_t deviceBytes = uint64_t{1} << 30;

/// A back end under test: one device with deviceBytes.
struct BackendCase {
    std::string name;
    bool holdsBytes = true; ///< addresses can be read and written, descriptors can be had
    std::function<std::unique_ptr<kmd::Backend>(Os &os)> make;
    /// The k-th thing that can fail from now fails; 0: nothing does.
    std::function<void(kmd::Backend &backend, fakes::FaultyOs &os, uint64_t k)> failAt;
    /// How many things that can fail were tried so far.
    std::function<uint64_t(kmd::Backend &backend, fakes::FaultyOs &os)> attempts;
};

// NOLINTNEXTLINE(readability-identifier-naming): gtest looks for this name
void PrintTo(const BackendCase &backend, std::ostream *out);

[[nodiscard]] std::vector<BackendCase> backendCases();
/// Those that hold bytes.
[[nodiscard]] std::vector<BackendCase> sharingCases();

/// "Soft", "SoftBanks", ...
[[nodiscard]] std::string caseName(const ::testing::TestParamInfo<BackendCase> &info);

class ContractTest : public fakes::ResourceCheckedTest,
                     public ::testing::WithParamInterface<BackendCase> {
  public:
    ContractTest(const ContractTest &) = delete;
    ContractTest &operator=(const ContractTest &) = delete;
    /// Releases what reserve() gave.
    ~ContractTest() override;

  protected:
    ContractTest();

    [[nodiscard]] const kmd::Device &device() const { return *backend_->devices().front(); }

    [[nodiscard]] std::shared_ptr<kmd::Memory> create(uint64_t sizeBytes,
                                                      Placement placement = Placement::Device);
    /// Released when the test ends.
    [[nodiscard]] uint64_t reserve(uint64_t sizeBytes);
    void release(uint64_t va);

    /// Binds all of it.
    void bind(uint64_t va, const kmd::Memory &memory, Access access = Access::ReadWrite);

    /// Runs `attempt` as often as it tries things, with another of them failing each
    /// time, and `check` after each run with what it answered.
    template <typename Attempt, typename Check>
    void failEach(Attempt attempt, Check check);

    fakes::FaultyOs os_{linuxOs()};
    std::unique_ptr<kmd::Backend> backend_;
    std::unique_ptr<kmd::MemoryPool> pool_;
    std::unique_ptr<kmd::AddressSpace> space_;

  private:
    std::vector<std::pair<uint64_t, uint64_t>> reservations_;
};

template <typename Attempt, typename Check>
void ContractTest::failEach(Attempt attempt, Check check) {
    const uint64_t before = GetParam().attempts(*backend_, os_);
    check(attempt());
    const uint64_t count = GetParam().attempts(*backend_, os_) - before;
    EXPECT_GT(count, 0U);
    for (uint64_t k = 1; k <= count; ++k) {
        SCOPED_TRACE(k);
        GetParam().failAt(*backend_, os_, k);
        auto result = attempt();
        GetParam().failAt(*backend_, os_, 0);
        check(std::move(result));
    }
}

/// What a program sees at an address that a back end bound.
[[nodiscard]] std::span<std::byte> bytesAt(uint64_t va, uint64_t sizeBytes);
void fill(uint64_t va, uint64_t sizeBytes, uint8_t value);
[[nodiscard]] bool holds(uint64_t va, uint64_t sizeBytes, uint8_t value);

/// Asks the kernel, which answers EFAULT where a program would die.
[[nodiscard]] bool canRead(uint64_t va);
/// Leaves what is there; false where it cannot be read.
[[nodiscard]] bool canWrite(uint64_t va);

#define SKIP_WITHOUT_BYTES()                                                                       \
    if (!GetParam().holdsBytes) {                                                                  \
        GTEST_SKIP() << "this back end holds no bytes";                                            \
    }

} // namespace causeway::contract
