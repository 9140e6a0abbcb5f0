#include "level_zero/api/guard.h"

#include "level_zero/api/last_error.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
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

TEST(GuardTest, ALongSentenceIsCut) {
    setLastError("zeCall", std::string(5000, 'x'));
    EXPECT_EQ(std::string(lastError()), "zeCall: " + std::string(1023 - 8, 'x'));
}

// The main thread's own objects are gone by then. A sanitizer sees the use of one that has died.
TEST(GuardTest, ExitHandlersMayFailToo_Forks) {
    const auto fails = [] { setLastError("zeLate", std::string(500, 'x')); };
    EXPECT_EXIT(
        {
            std::atexit([] {
                setLastError("zeAtExit", "failed");
                if (std::string_view(lastError()) != "zeAtExit: failed") {
                    std::_Exit(3);
                }
            });
            fails();
            std::exit(0);
        },
        testing::ExitedWithCode(0),
        "");
}

} // namespace
} // namespace causeway::api
