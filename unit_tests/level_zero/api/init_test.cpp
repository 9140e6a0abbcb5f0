#include "unit_tests/level_zero/driver_fixture.h"

namespace causeway::api {
namespace {

class InitTest : public DriverTest {
  protected:
    static ze_init_driver_type_desc_t types(uint32_t flags) {
        auto desc = make<ze_init_driver_type_desc_t>(ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC);
        desc.flags = flags;
        return desc;
    }
};

TEST_F(InitTest, InitTakesTheDocumentedFlags) {
    EXPECT_EQ(api::zeInit(0), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeInit(ZE_INIT_FLAG_GPU_ONLY), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeInit(ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeInit(4), ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

TEST_F(InitTest, ThereIsNothingForWhoWantsVpusOnly) {
    EXPECT_EQ(api::zeInit(ZE_INIT_FLAG_VPU_ONLY), ZE_RESULT_ERROR_UNINITIALIZED);
    auto desc = types(ZE_INIT_DRIVER_TYPE_FLAG_NPU);
    uint32_t count = 5;
    EXPECT_EQ(api::zeInitDrivers(&count, nullptr, &desc), ZE_RESULT_SUCCESS);
    EXPECT_EQ(count, 0U);
}

TEST_F(InitTest, InitDriversAnswersTheOneDriver) {
    for (const uint32_t flags : {uint32_t{ZE_INIT_DRIVER_TYPE_FLAG_GPU}, UINT32_MAX}) {
        auto desc = types(flags);
        uint32_t count = 0;
        EXPECT_EQ(api::zeInitDrivers(&count, nullptr, &desc), ZE_RESULT_SUCCESS);
        EXPECT_EQ(count, 1U);
        count = 3;
        std::array<ze_driver_handle_t, 3> drivers = {};
        EXPECT_EQ(api::zeInitDrivers(&count, drivers.data(), &desc), ZE_RESULT_SUCCESS);
        EXPECT_EQ(count, 1U);
        EXPECT_EQ(drivers[0], driver_);
        EXPECT_EQ(drivers[1], nullptr);
    }
}

TEST_F(InitTest, InitDriversWantsItsArguments) {
    auto desc = types(0);
    uint32_t count = 0;
    EXPECT_EQ(api::zeInitDrivers(&count, nullptr, &desc), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_EQ(api::zeInitDrivers(nullptr, nullptr, &desc), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_EQ(api::zeInitDrivers(&count, nullptr, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

} // namespace
} // namespace causeway::api
