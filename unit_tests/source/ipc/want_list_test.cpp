#include "source/ipc/want_list.h"

#include <gtest/gtest.h>

namespace causeway::ipc {
namespace {

using wire::RequestType;

void expectTakes(WantList &list, uint32_t most, uint32_t first, uint32_t count) {
    const wire::Request request = list.take(RequestType::Fetch, most);
    EXPECT_EQ(request.type, RequestType::Fetch);
    EXPECT_EQ(request.first, first);
    EXPECT_EQ(request.count, count);
}

TEST(WantListTest, OfNothingIsEmpty) {
    EXPECT_TRUE(WantList(0).empty());
}

TEST(WantListTest, IsTakenInBatchesInOrder) {
    WantList list(7);
    expectTakes(list, 3, 0, 3);
    expectTakes(list, 3, 3, 3);
    expectTakes(list, 3, 6, 1);
    EXPECT_TRUE(list.empty());
}

TEST(WantListTest, WhatDidNotComeIsWantedFirst) {
    WantList list(10);
    expectTakes(list, 4, 0, 4);
    expectTakes(list, 4, 4, 4);
    list.giveBack(1, 3);
    expectTakes(list, 2, 1, 2);
    expectTakes(list, 2, 3, 1);
    expectTakes(list, 4, 8, 2);
    EXPECT_TRUE(list.empty());
}

TEST(WantListTest, GivingNothingBackChangesNothing) {
    WantList list(1);
    expectTakes(list, 1, 0, 1);
    list.giveBack(1, 0);
    EXPECT_TRUE(list.empty());
}

TEST(WantListTest, CountsUpToTheLastIndex) {
    WantList list(UINT32_MAX);
    expectTakes(list, UINT32_MAX, 0, UINT32_MAX);
    EXPECT_TRUE(list.empty());
}

} // namespace
} // namespace causeway::ipc
