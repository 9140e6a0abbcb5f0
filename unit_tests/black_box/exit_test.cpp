#include "unit_tests/black_box/ipc_fixture.h"
#include "unit_tests/black_box/server_names.h"

#include <optional>
#include <span>

/// How programs end: with exports and imports that are never given back, or late, from exit
/// handlers and static destructors, when much of the process is gone already.
namespace causeway::black_box {
namespace {

constexpr uint64_t firstObject = 7'000'000;

class ExitTest : public IpcTest {
  protected:
    void SetUp() override {
        IpcTest::SetUp();
        exporter_.emplace();
        const auto base = exporter_->buildRange(2, chunk, firstObject);
        handle_ = exporter_->exportRange(base, 2 * chunk);
    }

    void TearDown() override {
        exporter_.reset();
        IpcTest::TearDown();
    }

    /// Starts the program, which then has opened the peer's handle; returns the one that it shares.
    ze_ipc_mem_handle_t start(Child &program, GiveBack giveBack) const {
        const ExitPlan plan = {.giveBack = giveBack, .handle = handle_};
        program.send(std::as_bytes(std::span(&plan, 1)));
        ze_ipc_mem_handle_t shared = {};
        program.receive(std::as_writable_bytes(std::span(&shared, 1)));
        return shared;
    }

    /// All has gone well in the program, at whatever time.
    void expectGivesBack(GiveBack giveBack) {
        Child program("exit");
        const auto shared = start(program, giveBack);
        expectIsShared(shared);
        program.closeInput();
        ExitResults results = {};
        program.receive(std::as_writable_bytes(std::span(results)));
        for (const ze_result_t result : results) {
            EXPECT_EQ(result, ZE_RESULT_SUCCESS);
        }
        program.finish();
        expectIsGone(shared);
    }

    void expectIsShared(const ze_ipc_mem_handle_t &shared) {
        EXPECT_EQ(openResult(context(), shared), ZE_RESULT_SUCCESS);
    }

    void expectIsGone(const ze_ipc_mem_handle_t &shared) {
        EXPECT_EQ(openResult(context(), shared), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(socketsOfServer(shared), 0U);
        expectIsShared(handle_);
    }

  private:
    std::optional<Peer> exporter_;
    ze_ipc_mem_handle_t handle_ = {};
};

TEST_F(ExitTest, ALaterExitHandlerGivesBack) {
    expectGivesBack(GiveBack::InALaterExitHandler);
}

TEST_F(ExitTest, AnEarlierExitHandlerGivesBack) {
    expectGivesBack(GiveBack::InAnEarlierExitHandler);
}

TEST_F(ExitTest, AStaticDestructorGivesBack) {
    expectGivesBack(GiveBack::InAStaticDestructor);
}

/// The server's thread runs in the library that is unloaded.
TEST_F(ExitTest, UnloadingTheDriverLeavesItAtWork) {
    expectGivesBack(GiveBack::AfterUnloading);
}

TEST_F(ExitTest, WhatIsNeverGivenBackGoesWithTheProcess) {
    Child program("exit");
    const auto shared = start(program, GiveBack::Never);
    expectIsShared(shared);
    program.finish();
    expectIsGone(shared);
}

TEST_F(ExitTest, AThreadMayGoOnWhileTheProcessEnds) {
    for (int round = 0; round < 20; ++round) {
        Child program("exit");
        start(program, GiveBack::InAThread);
        program.finish();
    }
}

} // namespace
} // namespace causeway::black_box
