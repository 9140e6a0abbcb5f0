#pragma once

#include "source/ipc/server.h"
#include "unit_tests/fakes/fake_backend.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/ipc/test_backing.h"
#include "unit_tests/source/ipc/test_client.h"

#include <atomic>
#include <chrono>
#include <optional>

namespace causeway::ipc {

/// FaultyOs with a descriptor limit, a user and a clock of the test's own.
class ServerOs final : public fakes::ForwardingOs {
  public:
    using ForwardingOs::ForwardingOs;

    uint64_t descriptorLimit() override { return limit; }

    uid_t userId() override { return user ? *user : os_.userId(); }

    std::chrono::steady_clock::time_point now() override {
        return os_.now() + std::chrono::milliseconds(aheadMs);
    }

    std::atomic<uint64_t> limit = 8192;
    std::atomic<int64_t> aheadMs = 0; ///< of the real time
    std::optional<uid_t> user;        ///< set before the server starts
};

/// A server with one export, and clients that speak by hand.
class ServerFixture : public fakes::ResourceCheckedTest {
  protected:
    ServerFixture() { (void)exports_.add(shared_.reference); }

    ~ServerFixture() override { faults_.heal(); }

    void make() { server_.emplace(os_, exports_, backend_, config_); }

    void start(std::chrono::milliseconds patience = std::chrono::minutes(1)) {
        config_.timeout = patience;
        make();
        id_ = must(server_->start()).id;
    }

    [[nodiscard]] TestClient client() const { return TestClient(id_); }

    /// What there is more or less than before the server started.
    [[nodiscard]] std::string leftByServer() const {
        return difference(before_, fakes::ResourceSnapshot::take());
    }

    fakes::FaultyOs faults_{linuxOs()};
    ServerOs os_{faults_};
    fakes::FakeBackend backend_;
    ExportTable exports_;
    TestExport shared_{3};
    IpcConfig config_ = withTimeout(std::chrono::milliseconds(1000));
    std::optional<Server> server_;
    uint64_t id_ = 0;

  private:
    const fakes::ResourceSnapshot before_ = fakes::ResourceSnapshot::take();
};

} // namespace causeway::ipc
