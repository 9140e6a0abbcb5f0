#include "level_zero/api/result.h"

#include <gtest/gtest.h>

#include <set>

namespace causeway::api {
namespace {

std::vector<Status> allStatuses() {
    std::vector<Status> all;
    for (int i = 0; i <= static_cast<int>(Status::Unknown); ++i) {
        all.push_back(static_cast<Status>(i));
    }
    return all;
}

TEST(ToZeResultTest, EveryStatusIsAResultOfItsOwn) {
    std::set<ze_result_t> results;
    for (const Status status : allStatuses()) {
        const ze_result_t result = toZeResult(status);
        EXPECT_NE(result, ZE_RESULT_SUCCESS) << toString(status);
        EXPECT_EQ(result == ZE_RESULT_NOT_READY, status == Status::NotReady) << toString(status);
        EXPECT_EQ(result == ZE_RESULT_ERROR_UNKNOWN, status == Status::Unknown) << toString(status);
        EXPECT_TRUE(results.insert(result).second) << toString(status);
    }
}

TEST(ToZeResultTest, NamesKeepTheirMeaning) {
    EXPECT_EQ(toZeResult(Status::AddressNotFound), ZE_RESULT_ERROR_ADDRESS_NOT_FOUND);
    EXPECT_EQ(toZeResult(Status::NotAvailable), ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_EQ(toZeResult(Status::InUse), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_EQ(toZeResult(Status::InvalidSize), ZE_RESULT_ERROR_INVALID_SIZE);
    EXPECT_EQ(toZeResult(Status::UnsupportedSize), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
}

} // namespace
} // namespace causeway::api
