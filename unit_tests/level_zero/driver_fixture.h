#pragma once

#include "level_zero/api/entry_points.h"
#include "level_zero/core/driver_slot.h"
#include "level_zero/ddi/dispatch.h"
#include "shared/os/linux_os.h"
#include "source/ipc/ipc_service.h"
#include "source/kmd/soft/soft_backend.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/level_zero/structures.h"

#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace causeway::api {

/// A driver with two soft devices, one of which a context of the fixture sees, behind the entry
/// points. Proves at the end that nothing is left of what a test made.
class DriverTest : public fakes::ResourceCheckedTest {
  protected:
    static constexpr uint64_t memoryBytes = 64 << 20;
    static constexpr uint64_t page = 64 << 10; ///< of the soft device

    void SetUp() override {
        const std::array<uint32_t, 2> visible = {0, 1};
        freeBytes_ = backend_.devices()[0]->freeBytes();
        core::driverSlot().exchange(
            std::make_unique<core::Driver>(ddi::dispatch(), services(), visible));
        uint32_t one = 1;
        ASSERT_EQ(api::zeDriverGet(&one, &driver_), ZE_RESULT_SUCCESS);
        uint32_t two = 2;
        ASSERT_EQ(api::zeDeviceGet(driver_, &two, devices_.data()), ZE_RESULT_SUCCESS);
        context_ = makeContext();
    }

    void TearDown() override {
        if (context_ != nullptr) {
            EXPECT_EQ(api::zeContextDestroy(context_), ZE_RESULT_SUCCESS);
        }
        EXPECT_EQ(core::driverSlot().get()->liveContexts(), 0U);
        core::driverSlot().exchange(nullptr);
        EXPECT_EQ(ipc_.liveExports(), 0U);
        EXPECT_EQ(backend_.devices()[0]->freeBytes(), freeBytes_);
    }

    [[nodiscard]] core::Services services() {
        return {.os = os_,
                .backend = backend_,
                .ipc = ipc_,
                .mover = mover_,
                .osPageBytes = linuxOs().pageSize()};
    }

    /// For the first device only.
    ze_context_handle_t makeContext() {
        auto desc = make<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
        ze_context_handle_t context = nullptr;
        EXPECT_EQ(api::zeContextCreateEx(driver_, &desc, 1, devices_.data(), &context),
                  ZE_RESULT_SUCCESS);
        return context;
    }

    /// In the fixture's context where none is given.
    ze_physical_mem_handle_t makePhysical(uint64_t sizeBytes,
                                          ze_context_handle_t context = nullptr) {
        auto desc = make<ze_physical_mem_desc_t>(ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC);
        desc.size = sizeBytes;
        ze_physical_mem_handle_t object = nullptr;
        EXPECT_EQ(api::zePhysicalMemCreate(
                      context != nullptr ? context : context_, devices_[0], &desc, &object),
                  ZE_RESULT_SUCCESS);
        return object;
    }

    void *reserve(uint64_t sizeBytes) {
        void *address = nullptr;
        EXPECT_EQ(api::zeVirtualMemReserve(context_, nullptr, sizeBytes, &address),
                  ZE_RESULT_SUCCESS);
        return address;
    }

    /// Two reservations of so many bytes side by side; returns where the first begins. The room
    /// for both is looked for first, and others may take some of it meanwhile: then once more.
    char *reserveTwo(uint64_t sizeBytes) {
        for (int tries = 0; tries < 20; ++tries) {
            auto *const first = static_cast<char *>(reserve(2 * sizeBytes));
            EXPECT_EQ(api::zeVirtualMemFree(context_, first, 2 * sizeBytes), ZE_RESULT_SUCCESS);
            const std::array<char *, 2> hints = {first, first + sizeBytes};
            std::array<void *, 2> got = {};
            for (size_t i = 0; i < hints.size(); ++i) {
                EXPECT_EQ(api::zeVirtualMemReserve(context_, hints[i], sizeBytes, &got[i]),
                          ZE_RESULT_SUCCESS);
            }
            if (got[0] == hints[0] && got[1] == hints[1]) {
                return first;
            }
            for (void *const elsewhere : got) {
                EXPECT_EQ(api::zeVirtualMemFree(context_, elsewhere, sizeBytes), ZE_RESULT_SUCCESS);
            }
        }
        ADD_FAILURE() << "no two reservations lie side by side";
        return nullptr;
    }

    std::string lastSentence() {
        const char *text = nullptr;
        EXPECT_EQ(api::zeDriverGetLastErrorDescription(driver_, &text), ZE_RESULT_SUCCESS);
        EXPECT_NE(text, nullptr);
        return text != nullptr ? text : "";
    }

    fakes::FaultyOs os_{linuxOs()};
    kmd::soft::SoftBackend backend_{os_, {.deviceCount = 2, .memoryBytes = memoryBytes}};
    ipc::IpcService ipc_{os_, backend_, {}};
    copy::DataMover mover_{os_};
    ze_driver_handle_t driver_ = nullptr;
    std::array<ze_device_handle_t, 2> devices_ = {};
    ze_context_handle_t context_ = nullptr;

  private:
    uint64_t freeBytes_ = 0;
};

} // namespace causeway::api
