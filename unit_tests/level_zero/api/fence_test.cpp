#include "unit_tests/level_zero/command_fixture.h"

namespace causeway::api {
namespace {

class FenceHandleTest : public CommandFixture {
  protected:
    ze_fence_desc_t desc_ = make<ze_fence_desc_t>(ZE_STRUCTURE_TYPE_FENCE_DESC);
    ze_fence_handle_t fence_ = nullptr;
};

TEST_F(FenceHandleTest, CreateChecksItsArguments) {
    constexpr auto name = "zeFenceCreate";
    expectRefused(
        name, api::zeFenceCreate(queue_, nullptr, &fence_), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    expectRefused(
        name, api::zeFenceCreate(queue_, &desc_, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    desc_.flags = 2;
    expectRefused(
        name, api::zeFenceCreate(queue_, &desc_, &fence_), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_EQ(fence_, nullptr);
}

TEST_F(FenceHandleTest, AFenceIsBornAsItsFlagsSay) {
    ASSERT_EQ(api::zeFenceCreate(queue_, &desc_, &fence_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeFenceQueryStatus(fence_), ZE_RESULT_NOT_READY);
    EXPECT_EQ(api::zeFenceHostSynchronize(fence_, 1000), ZE_RESULT_NOT_READY);
    desc_.flags = ZE_FENCE_FLAG_SIGNALED;
    ASSERT_EQ(api::zeFenceCreate(queue_, &desc_, &fence_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeFenceQueryStatus(fence_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeFenceHostSynchronize(fence_, forEver), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeFenceReset(fence_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeFenceQueryStatus(fence_), ZE_RESULT_NOT_READY);
}

TEST_F(FenceHandleTest, AFenceOutlivesItsQueue) {
    ASSERT_EQ(api::zeFenceCreate(queue_, &desc_, &fence_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandListClose(list_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandQueueExecuteCommandLists(queue_, 1, &list_, fence_), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandQueueSynchronize(queue_, forEver), ZE_RESULT_SUCCESS);
    ASSERT_EQ(api::zeCommandQueueDestroy(queue_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeFenceQueryStatus(fence_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(api::zeFenceDestroy(fence_), ZE_RESULT_SUCCESS);
    expectRefused("zeFenceDestroy", api::zeFenceDestroy(fence_), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

} // namespace
} // namespace causeway::api
