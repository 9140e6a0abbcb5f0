#include "unit_tests/contract/contract_test.h"

#include "source/kmd/soft/soft_backend.h"
#include "unit_tests/fakes/fake_backend.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ostream>

namespace causeway::contract {
namespace {

BackendCase softCase(std::string name, kmd::soft::SoftConfig config) {
    config.memoryBytes = deviceBytes;
    return {
        .name = std::move(name),
        .holdsBytes = true,
        .make = [config](Os &os) { return std::make_unique<kmd::soft::SoftBackend>(os, config); },
        .failAt =
            [](kmd::Backend &, fakes::FaultyOs &os, uint64_t k) {
                if (k == 0) {
                    os.heal();
                } else {
                    os.failAt(k, ENOMEM);
                }
            },
        .attempts = [](kmd::Backend &, fakes::FaultyOs &os) { return os.calls(); }};
}

BackendCase fakeCase() {
    return {.name = "Fake",
            .holdsBytes = false,
            .make =
                [](Os &) {
                    return std::make_unique<fakes::FakeBackend>(
                        fakes::FakeConfig{.memoryBytes = deviceBytes});
                },
            .failAt =
                [](kmd::Backend &backend, fakes::FaultyOs &, uint64_t k) {
                    static_cast<fakes::FakeBackend &>(backend).failAt(k, Status::OutOfHostMemory);
                },
            .attempts =
                [](kmd::Backend &backend, fakes::FaultyOs &) {
                    return static_cast<fakes::FakeBackend &>(backend).operations();
                }};
}

} // namespace

std::vector<BackendCase> backendCases() {
    return {softCase("Soft", {}),
            softCase("SoftBanks", {.ownFileBudget = 0}),
            softCase("SoftDedicated", {.dedicatedOnly = true}),
            fakeCase()};
}

std::vector<BackendCase> sharingCases() {
    auto cases = backendCases();
    std::erase_if(cases, [](const BackendCase &backend) { return !backend.holdsBytes; });
    return cases;
}

void PrintTo(const BackendCase &backend, std::ostream *out) {
    *out << backend.name;
}

std::string caseName(const ::testing::TestParamInfo<BackendCase> &info) {
    return info.param.name;
}

ContractTest::ContractTest()
    : backend_(GetParam().make(os_))
    , pool_(std::move(*backend_->createPool()))
    , space_(std::move(*backend_->createAddressSpace())) {}

ContractTest::~ContractTest() {
    for (const auto &[va, sizeBytes] : reservations_) {
        EXPECT_TRUE(space_->release(va, sizeBytes));
    }
}

std::shared_ptr<kmd::Memory> ContractTest::create(uint64_t sizeBytes, Placement placement) {
    auto memory = pool_->create(device(), {.placement = placement, .sizeBytes = sizeBytes});
    EXPECT_TRUE(memory) << memory.error().message;
    return memory ? std::move(*memory) : nullptr;
}

uint64_t ContractTest::reserve(uint64_t sizeBytes) {
    const auto va = space_->reserve(0, sizeBytes, page);
    EXPECT_TRUE(va) << va.error().message;
    reservations_.emplace_back(va.value_or(0), sizeBytes);
    return va.value_or(0);
}

void ContractTest::release(uint64_t va) {
    const auto it = std::ranges::find(reservations_, va, &std::pair<uint64_t, uint64_t>::first);
    ASSERT_NE(it, reservations_.end());
    EXPECT_TRUE(space_->release(va, it->second));
    reservations_.erase(it);
}

void ContractTest::bind(uint64_t va, const kmd::Memory &memory, Access access) {
    const kmd::Binding binding = {.va = va,
                                  .memory = &memory,
                                  .offset = 0,
                                  .sizeBytes = memory.sizeBytes(),
                                  .access = access};
    const auto bound = space_->bind({&binding, 1});
    EXPECT_TRUE(bound) << bound.error().message;
}

std::span<std::byte> bytesAt(uint64_t va, uint64_t sizeBytes) {
    return {reinterpret_cast<std::byte *>(va), sizeBytes}; // NOLINT(performance-no-int-to-ptr)
}

void fill(uint64_t va, uint64_t sizeBytes, uint8_t value) {
    std::ranges::fill(bytesAt(va, sizeBytes), std::byte{value});
}

bool holds(uint64_t va, uint64_t sizeBytes, uint8_t value) {
    return std::ranges::all_of(bytesAt(va, sizeBytes),
                               [&](std::byte byte) { return byte == std::byte{value}; });
}

bool canRead(uint64_t va) {
    std::array<int, 2> ends = {};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd reading(ends[0]);
    const UniqueFd writing(ends[1]);
    return ::write(writing.get(), bytesAt(va, 1).data(), 1) == 1;
}

bool canWrite(uint64_t va) {
    std::array<int, 2> ends = {};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd reading(ends[0]);
    const UniqueFd writing(ends[1]);
    return ::write(writing.get(), bytesAt(va, 1).data(), 1) == 1 &&
           ::read(reading.get(), bytesAt(va, 1).data(), 1) == 1;
}

} // namespace causeway::contract
