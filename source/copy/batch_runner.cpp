#include "source/copy/batch_runner.h"

#include "shared/base/address.h"
#include "source/copy/failure_latch.h"

#include <array>
#include <cstring>
#include <new>
#include <variant>

namespace causeway::copy {
namespace {

/// Runs one command after another and remembers the marks. Answers as runBatches.
class Runner {
  public:
    Runner(Os &os, DataMover &mover, const StopFlags &stop) : os_(os), mover_(mover), stop_(stop) {}

    Result<bool> run(const CommandBatch &batch) {
        for (const Command &command : batch.commands()) {
            if (stop_.raised()) {
                return false;
            }
            if (auto done = std::visit(*this, command); !done || !*done) {
                return done;
            }
        }
        return true;
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

    Result<bool> operator()(const Mark &mark) {
        markOf(mark.enclosed) = timestampNow(os_);
        return true;
    }

    Result<bool> operator()(const Signal &signal) {
        if (signal.times == SignalTimes::None) {
            signal.event->signal(os_);
            return true;
        }
        const uint64_t now = timestampNow(os_);
        const bool isSinceMark = signal.times == SignalTimes::SinceMark;
        signal.event->signalWithTimestamps(os_, isSinceMark ? markOf(signal.enclosed) : now, now);
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
    uint64_t &markOf(Enclosed enclosed) { return marks_[static_cast<size_t>(enclosed)]; }

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
        std::memcpy(toPointer(address), &value, sizeof(value));
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
    std::array<uint64_t, 2> marks_ = {}; ///< the last ones, by what they enclose
};

} // namespace

Result<bool> runBatches(Os &os,
                        DataMover &mover,
                        std::span<const BatchRef> batches,
                        const StopFlags &stop) {
    try {
        Runner runner(os, mover, stop);
        for (const BatchRef &batch : batches) {
            if (auto done = runner.run(*batch); !done || !*done) {
                return done;
            }
        }
        // Without a command nobody has looked.
        return !stop.raised();
    } catch (const std::bad_alloc &) {
        return std::unexpected(errorOf(Status::OutOfHostMemory, "no memory left to run a command"));
    }
}

} // namespace causeway::copy
