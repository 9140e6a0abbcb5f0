#pragma once

#include "shared/base/result.h"
#include "source/copy/event_state.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

/// What a command list records, as values. Addresses are addresses of this process; whoever records
/// has checked that they are mapped with the access that the command needs, and hands over what
/// keeps them so.
namespace causeway::copy {

/// Keeps something alive without knowing what it is.
using KeepAlive = std::shared_ptr<const void>;

/// Memory that commands work on. What the driver has allocated stays where it is as long as this
/// lives; what the application can unmap at any time is checked again right before use.
class MemoryUse {
  public:
    virtual ~MemoryUse() = default;

    /// Any thread. Errors: DeviceLost where nothing is there any more that permits the access: a
    /// device would meet a page fault.
    [[nodiscard]] virtual Result<void> check() const = 0;
};

/// Null for memory that the driver knows nothing of: the application's promise that it is there.
using MemoryUseRef = std::shared_ptr<const MemoryUse>;

/// One side of a copy. Pitches in bytes, from the beginning of a row (slice) to that of the next;
/// without meaning where there is only one row (slice).
struct CopySide {
    uint64_t address = 0;
    uint64_t rowPitch = 0;
    uint64_t slicePitch = 0;
    MemoryUseRef memory = {};
};

/// Copies `depth` slices of `height` rows of `widthBytes` bytes; with height and depth 1 it is a
/// linear copy. A size of 0 copies nothing. Rows of one side must not overlap each other, nor
/// slices.
///
/// Where the sides share bytes (rows of one may lie between those of the other): if it is a linear
/// copy, or both have the same pitches, the result is as if all had been read first (memmove).
/// Otherwise what the destination then holds is unspecified; nothing else is written.
struct CopyRegion {
    CopySide dst = {};
    CopySide src = {};
    uint64_t widthBytes = 0;
    uint64_t height = 1;
    uint64_t depth = 1;
};

/// 1 to 128 bytes, a power of two.
class FillPattern {
  public:
    static constexpr size_t longest = 128;

    /// Errors: InvalidSize.
    static Result<FillPattern> make(std::span<const std::byte> bytes);

    [[nodiscard]] std::span<const std::byte> bytes() const {
        return std::span(bytes_).first(sizeBytes_);
    }

  private:
    FillPattern() = default;

    std::array<std::byte, longest> bytes_ = {};
    size_t sizeBytes_ = 0;
};

/// Writes the pattern again and again from `address` on; the last time only as much of it as fits.
struct Fill {
    uint64_t address = 0;
    uint64_t sizeBytes = 0;
    FillPattern pattern;
    MemoryUseRef memory = {};
};

/// How much work a Mark and its Signal enclose: lists that run as one consist of operations.
enum class Enclosed : uint8_t { Operation, Lists };

/// The time at which the work begins that a Signal tells about. It must come before that in the
/// same submission.
struct Mark {
    Enclosed enclosed = Enclosed::Operation;
};

/// Which times a Signal leaves in its event: it ends now.
enum class SignalTimes : uint8_t {
    None,
    Now,       ///< it began now as well
    SinceMark, ///< it began at the last Mark that encloses as much
};

struct Signal {
    EventState *event = nullptr;
    SignalTimes times = SignalTimes::None;
    Enclosed enclosed = Enclosed::Operation;
    KeepAlive owner = {};
};

/// Nothing after it in its queue begins before the event is signalled, by whomever.
struct Wait {
    EventState *event = nullptr;
    KeepAlive owner = {};
};

struct Reset {
    EventState *event = nullptr;
    KeepAlive owner = {};
};

/// Writes timestampNow, 8 bytes, at any address.
struct WriteTimestamp {
    uint64_t address = 0;
    MemoryUseRef memory = {};
};

/// Writes the EventTimestamps of an event, 32 bytes, at any address.
struct StoreTimestamps {
    const EventState *event = nullptr;
    KeepAlive owner = {};
    uint64_t address = 0;
    MemoryUseRef memory = {};
};

using Command =
    std::variant<CopyRegion, Fill, Mark, Signal, Wait, Reset, WriteTimestamp, StoreTimestamps>;

/// Commands that run one after another. Immutable, so that queues and command lists share it: a
/// batch can be submitted many times, to many queues at once.
class CommandBatch {
  public:
    explicit CommandBatch(std::vector<Command> commands) : commands_(std::move(commands)) {}

    [[nodiscard]] std::span<const Command> commands() const { return commands_; }

  private:
    const std::vector<Command> commands_;
};

using BatchRef = std::shared_ptr<const CommandBatch>;

} // namespace causeway::copy
