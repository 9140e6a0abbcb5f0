#include "source/ipc/connection.h"

#include "unit_tests/source/ipc/connection_fixture.h"

namespace causeway::ipc {
namespace {

class ConnectionTest : public ConnectionFixture {};

TEST_F(ConnectionTest, OpenIsAnsweredWithTableAndDescriptors) {
    const TestExport shared(3);
    add(shared);

    EXPECT_EQ(open(shared.token), State::Reading);

    const Received reply = receive();
    EXPECT_EQ(reply.header.status, wire::ReplyStatus::Ok);
    EXPECT_FALSE(reply.header.tableInFile);
    EXPECT_EQ(reply.header.first, 0U);
    EXPECT_EQ(reply.header.fdCount, 3U);
    EXPECT_EQ(reply.fds.size(), 3U);
    EXPECT_EQ(reply.table, shared.reference->table);
    EXPECT_TRUE(connection_->authorised());
}

TEST_F(ConnectionTest, FetchBringsTheObjectsAskedFor) {
    const TestExport shared(5);
    add(shared);
    ASSERT_EQ(open(shared.token, 2), State::Reading);
    EXPECT_EQ(receive().header.fdCount, 2U);

    EXPECT_EQ(fetch(2, 2), State::Reading);
    Received reply = receive();
    EXPECT_EQ(reply.header.first, 2U);
    EXPECT_EQ(reply.header.fdCount, 2U);
    EXPECT_EQ(reply.header.tableBytes, 0U);
    EXPECT_EQ(reply.fds.size(), 2U);

    EXPECT_EQ(fetch(4, 100), State::Reading);
    reply = receive();
    EXPECT_EQ(reply.header.first, 4U);
    EXPECT_EQ(reply.fds.size(), 1U);
}

TEST_F(ConnectionTest, NothingOfAReplyIsHeldOnceItIsSent) {
    const TestExport shared(5);
    add(shared);
    const auto before = fakes::ResourceSnapshot::take();
    ASSERT_EQ(open(shared.token), State::Reading);
    (void)receive();

    EXPECT_EQ(difference(before, fakes::ResourceSnapshot::take()), "");
}

TEST_F(ConnectionTest, AnUnknownTokenIsRefusedAndEndsIt) {
    wire::Token token = {};
    token.fill(9);

    EXPECT_EQ(open(token), State::Done);

    expectError(wire::ReplyStatus::UnknownToken);
    EXPECT_FALSE(connection_->authorised());
}

TEST_F(ConnectionTest, ARevokedTokenIsUnknown) {
    const TestExport shared(1);
    add(shared);
    exports_.put(&shared, shared.token);

    EXPECT_EQ(open(shared.token), State::Done);
    expectError(wire::ReplyStatus::UnknownToken);
}

TEST_F(ConnectionTest, AnOpenInProgressFinishesAfterThePut) {
    const TestExport shared(2);
    add(shared);
    ASSERT_EQ(open(shared.token, 1), State::Reading);
    (void)receive();

    exports_.put(&shared, shared.token);

    EXPECT_EQ(fetch(1, 1), State::Reading);
    EXPECT_EQ(receive().fds.size(), 1U);
}

TEST_F(ConnectionTest, FetchBeforeOpenIsABadRequest) {
    EXPECT_EQ(fetch(0, 1), State::Done);
    expectError(wire::ReplyStatus::BadRequest);
}

TEST_F(ConnectionTest, FetchBeyondTheLastObjectIsABadRequest) {
    const TestExport shared(2);
    add(shared);
    ASSERT_EQ(open(shared.token), State::Reading);
    (void)receive();

    EXPECT_EQ(fetch(2, 1), State::Done);
    expectError(wire::ReplyStatus::BadRequest);
}

TEST_F(ConnectionTest, AnotherVersionIsUnsupportedWhateverItsLength) {
    auto bytes = wire::encodeRequest({.count = 1});
    bytes[4] = std::byte{wire::messageVersion + 1};
    send(std::span(bytes).first(9));

    EXPECT_EQ(connection_->advance(), State::Done);
    expectError(wire::ReplyStatus::UnsupportedVersion);
}

TEST_F(ConnectionTest, GarbageIsABadRequest) {
    const std::array<std::byte, 32> garbage = {};
    send(garbage);

    EXPECT_EQ(connection_->advance(), State::Done);
    expectError(wire::ReplyStatus::BadRequest);
}

TEST_F(ConnectionTest, AnOverlongRequestIsABadRequest) {
    std::array<std::byte, wire::requestBytes + 1> bytes = {};
    const auto request = wire::encodeRequest({.count = 1});
    std::ranges::copy(request, bytes.begin());
    send(bytes);

    EXPECT_EQ(connection_->advance(), State::Done);
    expectError(wire::ReplyStatus::BadRequest);
}

TEST_F(ConnectionTest, DescriptorsSentWithARequestAreNotTaken) {
    const TestExport shared(1);
    add(shared);
    const UniqueFd gift = objectFile(testPieceBytes);
    const auto before = fakes::ResourceSnapshot::take();
    send(wire::encodeRequest(
             {.type = wire::RequestType::Open, .token = shared.token, .first = 0, .count = 1}),
         std::array{gift.get(), gift.get()});

    EXPECT_EQ(connection_->advance(), State::Reading);

    (void)receive();
    EXPECT_EQ(difference(before, fakes::ResourceSnapshot::take()), "");
}

TEST_F(ConnectionTest, AClosedOrEmptyPeerEndsIt) {
    send({});
    EXPECT_EQ(connection_->advance(), State::Done);
    peer_.reset();
    EXPECT_EQ(connection_->advance(), State::Done);
}

TEST_F(ConnectionTest, WithoutARequestItGoesOnReading) {
    EXPECT_EQ(connection_->advance(), State::Reading);
}

// Else each would cost us what the peer need not even receive.
TEST_F(ConnectionTest, ASecondOpenIsABadRequest) {
    const TestExport first(1, 0, 1);
    const TestExport second(3, 0, 2);
    add(first);
    add(second);
    ASSERT_EQ(open(first.token), State::Reading);
    (void)receive();

    EXPECT_EQ(open(second.token), State::Done);
    const Received refused = receive();
    EXPECT_EQ(refused.header.status, wire::ReplyStatus::BadRequest);
    EXPECT_TRUE(refused.fds.empty());
    EXPECT_TRUE(connection_->authorised()) << "the slots that it may map would not be reclaimed";
}

} // namespace
} // namespace causeway::ipc
