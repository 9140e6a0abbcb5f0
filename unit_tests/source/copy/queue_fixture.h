#pragma once

#include "shared/os/linux_os.h"
#include "source/copy/queue.h"
#include "unit_tests/fakes/faulty_os.h"
#include "unit_tests/fakes/resource_check.h"
#include "unit_tests/source/copy/test_events.h"
#include "unit_tests/source/memory/result_checks.h"

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace causeway::copy {

/// Queues over a real Os that can be told to fail.
class QueueFixture : public fakes::ResourceCheckedTest {
  protected:
    static std::shared_ptr<const CommandBatch> batchOf(std::vector<Command> commands) {
        return std::make_shared<const CommandBatch>(std::move(commands));
    }

    Result<void> submit(Queue &queue,
                        std::vector<Command> commands,
                        std::shared_ptr<Fence> fence = nullptr) {
        return queue.submit({batchOf(std::move(commands))}, std::move(fence));
    }

    std::shared_ptr<Fence> makeFence() { return std::make_shared<Fence>(os_); }

    static Command copyOf(const uint64_t &src, uint64_t &dst) {
        return CopyRegion{.dst = {.address = reinterpret_cast<uint64_t>(&dst)},
                          .src = {.address = reinterpret_cast<uint64_t>(&src)},
                          .widthBytes = sizeof(uint64_t)};
    }

    /// Cannot be executed.
    static Command wrappingCopy() { return CopyRegion{.widthBytes = UINT64_MAX, .height = 2}; }

    Command signalOf(size_t event) { return Signal{.event = &events_[event]}; }

    Command waitFor(size_t event) { return Wait{.event = &events_[event]}; }

    bool waitsFor(size_t event) { return must(events_[event].wait(os_, Deadline::never())); }

    SleepWatchingOs watching_{linuxOs()};
    fakes::FaultyOs os_{watching_};
    DataMover mover_{os_, {.threads = 1}};
    FailureLatch latch_;
    TestEvents events_;
};

} // namespace causeway::copy
