#include "unit_tests/black_box/child.h"
#include "unit_tests/black_box/ipc_calls.h"
#include "unit_tests/black_box/protocol.h"
#include "unit_tests/black_box/range.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <span>
#include <thread>

namespace causeway::black_box {

namespace {

/// What the program has when it ends. Never destroyed by itself: when to is what is tested.
struct Belongings {
    int out = -1;
    ze_context_handle_t context = nullptr;
    void *reservation = nullptr;
    ze_physical_mem_handle_t object = nullptr;
    void *opened = nullptr;
    ze_ipc_mem_handle_t shared = {};
};

Belongings &belongings() {
    static Belongings &all = *new Belongings;
    return all;
}

void giveBack() {
    const Belongings &all = belongings();
    const ExitResults results = {zeMemCloseIpcHandle(all.context, all.opened),
                                 putIpcHandle(all.context, all.shared),
                                 zeVirtualMemUnmap(all.context, all.reservation, chunk),
                                 zePhysicalMemDestroy(all.context, all.object),
                                 zeContextDestroy(all.context)};
    writeAll(all.out, std::as_bytes(std::span(results)));
}

class AtTheVeryEnd {
  public:
    AtTheVeryEnd() = default;
    AtTheVeryEnd(const AtTheVeryEnd &) = delete;
    AtTheVeryEnd &operator=(const AtTheVeryEnd &) = delete;

    ~AtTheVeryEnd() {
        if (armed) {
            giveBack();
        }
    }

    bool armed = false;
};

AtTheVeryEnd atTheVeryEnd;

void acquire(const ze_ipc_mem_handle_t &handle) {
    Belongings &all = belongings();
    ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    require(zeContextCreate(driver().handle, &desc, &all.context), "zeContextCreate");
    all.reservation = reserveAdjacent(all.context, {chunk}).front();
    all.object = createObject(all.context, chunk);
    require(zeVirtualMemMap(all.context,
                            all.reservation,
                            chunk,
                            all.object,
                            0,
                            ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
            "zeVirtualMemMap");
    all.shared = exportRange(all.context, all.reservation, chunk);
    require(zeMemOpenIpcHandle(all.context, firstDevice(), handle, 0, &all.opened),
            "zeMemOpenIpcHandle");
}

/// As often as anybody may have loaded it.
void unloadDriver() {
    const char *path = std::getenv("ZE_ENABLE_ALT_DRIVERS"); // NOLINT(concurrency-mt-unsafe)
    for (int i = 0; i < 8; ++i) {
        void *const library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
        if (library == nullptr) {
            return;
        }
        dlclose(library);
        dlclose(library);
    }
}

/// Opens and closes for as long as the process lives, longer than the static objects of this
/// program.
[[noreturn]] void openForever(ze_context_handle_t context,
                              ze_device_handle_t device,
                              ze_ipc_mem_handle_t handle) {
    for (;;) {
        void *base = nullptr;
        if (zeMemOpenIpcHandle(context, device, handle, 0, &base) == ZE_RESULT_SUCCESS) {
            zeMemCloseIpcHandle(context, base);
        }
    }
}

} // namespace

int runExitProgram(int in, int out) {
    ExitPlan plan;
    readAll(in, std::as_writable_bytes(std::span(&plan, 1)), Deadline());
    if (plan.giveBack == GiveBack::InAnEarlierExitHandler) {
        std::atexit(giveBack);
    }
    acquire(plan.handle);
    belongings().out = out;
    if (plan.giveBack == GiveBack::InALaterExitHandler) {
        std::atexit(giveBack);
    }
    atTheVeryEnd.armed = plan.giveBack == GiveBack::InAStaticDestructor;
    if (plan.giveBack == GiveBack::InAThread) {
        std::thread(openForever, belongings().context, firstDevice(), plan.handle).detach();
    }
    if (plan.giveBack == GiveBack::AfterUnloading) {
        unloadDriver();
    }
    writeAll(out, std::as_bytes(std::span(&belongings().shared, 1)));
    std::byte nothing{};
    readAll(in, std::span(&nothing, 1), Deadline());
    if (plan.giveBack == GiveBack::AfterUnloading) {
        giveBack();
    }
    return 0;
}

} // namespace causeway::black_box
