#include "source/copy/batch_runner.h"

#include "source/copy/failure_latch.h"

#include <cstring>
#include <new>
#include <variant>

namespace causeway::copy {
namespace {

/// Runs one command after another and remembers when the last one ran. Answers as runBatch.
class Runner {
  public:
    Runner(Os &os, DataMover &mover, const StopFlags &stop) : os_(os), mover_(mover), stop_(stop) {}

    Result<bool> run(const Command &command) {
        const uint64_t start = timestampNow(os_);
        auto done = std::visit(*this, command);
        previous_ = {.start = start, .end = timestampNow(os_)};
        isFirst_ = false;
        return done;
    }

    Result<bool> operator()(const CopyRegion &region) {
        if (auto there = check(region.dst.memory, region.src.memory); !there) {
            return forward(there);
        }
        return trueIf(mover_.copy(region));
    }

    Result<bool> operator()(const Fill &fill) {
        if (auto there = check(fill.memory); !there) {
            return forward(there);
        }
        return trueIf(mover_.fill(fill));
    }

    Result<bool> operator()(const Signal &signal) {
        if (signal.times == SignalTimes::None) {
            signal.event->signal(os_);
            return true;
        }
        const uint64_t now = timestampNow(os_);
        const bool ofPrevious = signal.times == SignalTimes::PreviousCommand && !isFirst_;
        signal.event->signalWithTimestamps(
            os_, ofPrevious ? previous_.start : now, ofPrevious ? previous_.end : now);
        return true;
    }

    Result<bool> operator()(const Wait &wait) {
        return wait.event->wait(os_, Deadline::never(), stop_);
    }

    Result<bool> operator()(const Reset &reset) {
        reset.event->reset();
        return true;
    }

    Result<bool> operator()(const WriteTimestamp &write) {
        return store(write.memory, write.address, timestampNow(os_));
    }

    Result<bool> operator()(const StoreTimestamps &copy) {
        return store(copy.memory, copy.address, copy.event->timestamps());
    }

  private:
    struct Interval {
        uint64_t start = 0;
        uint64_t end = 0;
    };

    static Result<void> check(const MemoryUseRef &memory) {
        return memory == nullptr ? Result<void>() : memory->check();
    }

    static Result<void> check(const MemoryUseRef &dst, const MemoryUseRef &src) {
        auto there = check(dst);
        return there ? check(src) : there;
    }

    template <typename Value>
    static Result<bool> store(const MemoryUseRef &memory, uint64_t address, const Value &value) {
        if (auto there = check(memory); !there) {
            return forward(there);
        }
        auto *target = reinterpret_cast<void *>(address); // NOLINT(performance-no-int-to-ptr)
        std::memcpy(target, &value, sizeof(value));
        return true;
    }

    static Result<bool> trueIf(Result<void> result) {
        if (!result) {
            return forward(result);
        }
        return true;
    }

    Os &os_;
    DataMover &mover_;
    const StopFlags stop_;
    Interval previous_;
    bool isFirst_ = true;
};

} // namespace

Result<bool> runBatch(Os &os, DataMover &mover, const CommandBatch &batch, const StopFlags &stop) {
    try {
        Runner runner(os, mover, stop);
        for (const Command &command : batch.commands()) {
            if (stop.raised()) {
                return false;
            }
            if (auto done = runner.run(command); !done || !*done) {
                return done;
            }
        }
        return true;
    } catch (const std::bad_alloc &) {
        return std::unexpected(errorOf(Status::OutOfHostMemory, "no memory left to run a command"));
    }
}

} // namespace causeway::copy
