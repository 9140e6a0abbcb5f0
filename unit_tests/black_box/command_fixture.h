#pragma once

#include "unit_tests/black_box/command_calls.h"
#include "unit_tests/black_box/event_calls.h"
#include "unit_tests/black_box/ipc_fixture.h"
#include "unit_tests/black_box/usm_kinds.h"

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace causeway::black_box {

/// A pool, a queue and a list, and words to copy about: word i holds 100 + i at first.
class CommandTest : public IpcTest {
  protected:
    static constexpr size_t wordCount = 32;
    static constexpr uint32_t eventCount = 32;

    void SetUp() override {
        IpcTest::SetUp();
        makeAll();
    }

    void makeAll() {
        pool_ = createPool(context(), eventCount, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
        queue_ = createQueue(context());
        list_ = createList(context());
        auto *const memory = allocate(context(), Kind::Device, wordCount * sizeof(uint64_t));
        words_ = reinterpret_cast<uint64_t *>(memory);
        for (size_t i = 0; i < wordCount; ++i) {
            words_[i] = 100 + i;
        }
    }

    [[nodiscard]] ze_event_handle_t event(uint32_t index) const {
        return createEvent(pool_, index);
    }

    /// Appends a copy of word `from` to word `to`.
    void copyWord(ze_command_list_handle_t list,
                  size_t to,
                  size_t from,
                  ze_event_handle_t signal = nullptr,
                  std::vector<ze_event_handle_t> waits = {}) const {
        require(zeCommandListAppendMemoryCopy(list,
                                              &words_[to],
                                              &words_[from],
                                              sizeof(uint64_t),
                                              signal,
                                              static_cast<uint32_t>(waits.size()),
                                              waits.data()),
                "zeCommandListAppendMemoryCopy");
    }

    void finish() const { finish(queue_); }

    static void finish(ze_command_queue_handle_t queue) {
        require(zeCommandQueueSynchronize(queue, longTimeout()), "zeCommandQueueSynchronize");
    }

    static void finish(ze_command_list_handle_t immediate) {
        require(commandListHostSynchronize(immediate, longTimeout()),
                "zeCommandListHostSynchronize");
    }

    static void signal(ze_event_handle_t event) {
        require(zeEventHostSignal(event), "zeEventHostSignal");
    }

    ze_event_pool_handle_t pool_ = nullptr;
    ze_command_queue_handle_t queue_ = nullptr;
    ze_command_list_handle_t list_ = nullptr;
    uint64_t *words_ = nullptr;
};

} // namespace causeway::black_box
