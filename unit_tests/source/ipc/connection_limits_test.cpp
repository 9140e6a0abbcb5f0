#include "unit_tests/source/ipc/connection_fixture.h"

#include <fcntl.h>

#include <cerrno>

namespace causeway::ipc {
namespace {

using std::chrono::milliseconds;

/// Long tables, shortages and deadlines.
class ConnectionLimitsTest : public ConnectionFixture {};

TEST_F(ConnectionLimitsTest, ATableAboveTheInlineLimitTravelsInASealedFile) {
    const TestExport shared(2, 5000);
    ASSERT_GT(shared.reference->table.size(), wire::maxInlineTableBytes);
    add(shared);

    EXPECT_EQ(open(shared.token), State::Reading);

    const Received reply = receive();
    EXPECT_TRUE(reply.header.tableInFile);
    EXPECT_EQ(reply.header.tableBytes, shared.reference->table.size());
    EXPECT_EQ(reply.header.fdCount, 2U);
    ASSERT_EQ(reply.fds.size(), 3U);
    constexpr int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
    EXPECT_EQ(linuxOs().seals(reply.fds[0].get()).value() & seals, seals);
    std::vector<std::byte> table(shared.reference->table.size());
    EXPECT_EQ(linuxOs().readAt(reply.fds[0].get(), table, 0).value(), table.size());
    EXPECT_EQ(table, shared.reference->table);
}

TEST_F(ConnectionLimitsTest, ATableFileLeavesRoomForOneDescriptorLess) {
    const TestExport shared(300, 5000);
    add(shared);

    EXPECT_EQ(open(shared.token), State::Reading);

    const Received reply = receive();
    EXPECT_EQ(reply.header.fdCount, wire::maxFdsPerMessage - 1);
    EXPECT_EQ(reply.fds.size(), wire::maxFdsPerMessage);
}

TEST_F(ConnectionLimitsTest, ATableFileThatCannotBeMadeIsExhausted) {
    const TestExport shared(1, 5000);
    add(shared);
    faults_.failKind(fakes::OsCall::MemfdCreate, EMFILE);

    EXPECT_EQ(open(shared.token), State::Done);
    expectError(wire::ReplyStatus::Exhausted);
}

TEST_F(ConnectionLimitsTest, ABatchIsAnEighthOfTheDescriptorLimit) {
    os_.limit = 64;
    const TestExport shared(20);
    add(shared);

    EXPECT_EQ(open(shared.token), State::Reading);
    EXPECT_EQ(receive().fds.size(), 8U);
    EXPECT_EQ(descriptorBatch(os_), 8U);
    os_.limit = 0;
    EXPECT_EQ(descriptorBatch(os_), 1U);
    os_.limit = UINT64_MAX;
    EXPECT_EQ(descriptorBatch(os_), wire::maxFdsPerMessage);
}

TEST_F(ConnectionLimitsTest, WhenDescriptorsRunOutHalfOfWhatWasMadeIsSent) {
    const TestExport shared(10);
    add(shared);
    shared.backings[7]->exhausted = true;

    EXPECT_EQ(open(shared.token), State::Reading);

    const Received reply = receive();
    EXPECT_EQ(reply.header.status, wire::ReplyStatus::Ok);
    EXPECT_EQ(reply.header.fdCount, 4U);
    EXPECT_EQ(reply.fds.size(), 4U);
}

TEST_F(ConnectionLimitsTest, AnOpenWithoutAnyDescriptorStillBringsTheTable) {
    const TestExport shared(2);
    add(shared);
    shared.backings[0]->exhausted = true;

    EXPECT_EQ(open(shared.token), State::Reading);

    const Received reply = receive();
    EXPECT_EQ(reply.header.status, wire::ReplyStatus::Ok);
    EXPECT_EQ(reply.header.fdCount, 0U);
    EXPECT_EQ(reply.table, shared.reference->table);
}

TEST_F(ConnectionLimitsTest, AFetchWithoutAnyDescriptorIsExhausted) {
    const TestExport shared(2);
    add(shared);
    ASSERT_EQ(open(shared.token, 1), State::Reading);
    (void)receive();
    shared.backings[1]->exhausted = true;

    EXPECT_EQ(fetch(1, 1), State::Done);
    expectError(wire::ReplyStatus::Exhausted);
}

TEST_F(ConnectionLimitsTest, AFullQueueIsWaitedFor) {
    const TestExport shared(1);
    add(shared);
    faults_.failKind(fakes::OsCall::SendMessage, EAGAIN);
    EXPECT_EQ(open(shared.token), State::Writing);
    EXPECT_EQ(connection_->advance(), State::Writing);

    faults_.heal();
    EXPECT_EQ(connection_->advance(), State::Reading);
    EXPECT_EQ(receive().fds.size(), 1U);
}

TEST_F(ConnectionLimitsTest, TheLimitOfDescriptorsInFlightIsRetried) {
    const TestExport shared(3);
    add(shared);
    const auto expectRetried = [&](int error, auto ask) {
        faults_.failKind(fakes::OsCall::SendMessage, error);
        EXPECT_EQ(ask(), State::Retrying) << error;
        faults_.heal();
        EXPECT_EQ(connection_->advance(), State::Reading) << error;
        EXPECT_EQ(receive().fds.size(), 1U) << error;
    };
    expectRetried(ETOOMANYREFS, [&] { return open(shared.token, 1); });
    expectRetried(ENOBUFS, [&] { return fetch(1, 1); });
    expectRetried(ENOMEM, [&] { return fetch(2, 1); });
}

TEST_F(ConnectionLimitsTest, APeerThatIsGoneBeforeTheReplyEndsIt) {
    const TestExport shared(1);
    add(shared);
    faults_.failKind(fakes::OsCall::SendMessage, EAGAIN);
    ASSERT_EQ(open(shared.token), State::Writing);
    faults_.heal();
    peer_.reset();

    EXPECT_EQ(connection_->advance(), State::Done);
}

TEST_F(ConnectionLimitsTest, AnErrorOfTheSocketEndsIt) {
    faults_.failKind(fakes::OsCall::ReceiveMessage, ECONNRESET);
    EXPECT_EQ(connection_->advance(), State::Done);
}

TEST_F(ConnectionLimitsTest, TheDeadlineMovesOnWithEachReplyOnly) {
    const TestExport shared(2);
    add(shared);
    EXPECT_EQ(connection_->deadline(), os_.time + patience);
    tick(milliseconds(600));
    EXPECT_EQ(connection_->advance(), State::Reading);
    EXPECT_EQ(connection_->deadline(), os_.time + milliseconds(400));

    ASSERT_EQ(open(shared.token), State::Reading);
    EXPECT_EQ(connection_->deadline(), os_.time + patience);

    tick(milliseconds(600));
    faults_.failKind(fakes::OsCall::SendMessage, ETOOMANYREFS);
    EXPECT_EQ(fetch(0, 1), State::Retrying);
    EXPECT_EQ(connection_->deadline(), os_.time + milliseconds(400));
}

} // namespace
} // namespace causeway::ipc
