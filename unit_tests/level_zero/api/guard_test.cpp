#include "level_zero/api/guard.h"

#include "level_zero/api/last_error.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <thread>

namespace causeway::api {
namespace {

TEST(GuardTest, SuccessIsSuccess) {
    EXPECT_EQ(guarded("zeCall", []() -> Result<void> { return {}; }), ZE_RESULT_SUCCESS);
}

TEST(GuardTest, AnErrorLeavesItsResultAndItsSentence) {
    EXPECT_EQ(guarded("zeCall",
                      []() -> Result<void> { return fail(Status::InvalidSize, "size is {}", 3); }),
              ZE_RESULT_ERROR_INVALID_SIZE);
    EXPECT_STREQ(lastError(), "zeCall: size is 3");
}

TEST(GuardTest, SuccessKeepsTheSentence) {
    setLastError("zeEarlier", "failed");
    EXPECT_EQ(guarded("zeCall", []() -> Result<void> { return {}; }), ZE_RESULT_SUCCESS);
    EXPECT_STREQ(lastError(), "zeEarlier: failed");
}

TEST(GuardTest, AllocationFailureIsOutOfHostMemory) {
    EXPECT_EQ(guarded("zeCall", []() -> Result<void> { throw std::bad_alloc(); }),
              ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    EXPECT_STREQ(lastError(), "zeCall: out of host memory");
}

TEST(GuardTest, AnyExceptionStaysInside) {
    EXPECT_EQ(guarded("zeCall", []() -> Result<void> { throw std::runtime_error("odd"); }),
              ZE_RESULT_ERROR_UNKNOWN);
    EXPECT_STREQ(lastError(), "zeCall: odd");
    EXPECT_EQ(guarded("zeCall", []() -> Result<void> { throw 7; }), ZE_RESULT_ERROR_UNKNOWN);
}

TEST(GuardTest, SentencesBelongToTheirThread) {
    setLastError("zeHere", "failed");
    std::thread([] {
        EXPECT_STREQ(lastError(), "");
        setLastError("zeThere", "failed");
    }).join();
    EXPECT_STREQ(lastError(), "zeHere: failed");
}

} // namespace
} // namespace causeway::api
