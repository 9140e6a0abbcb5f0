#pragma once

#include <level_zero/ze_api.h>
#include <level_zero/ze_ipc_phys_mem_handle_range.h>

#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// The driver as an application sees it: through the official loader. Entry points that the oldest
/// supported loader (1.8.12) lacks are never linked: they are looked up in the loader, then asked
/// of the driver (zeDriverGetExtensionFunctionAddress).
namespace causeway::black_box {

/// The test cannot go on: a step it only prepares with failed. gtest reports it as a failure.
class HarnessError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct Driver {
    ze_driver_handle_t handle = nullptr;
    std::vector<ze_device_handle_t> devices;
};

/// The driver under test, initialised at the first call in each process. Throws HarnessError.
const Driver &driver();

/// In a forked child, which has none: initialises it anew. While no other thread uses it.
void restartDriver();

/// Shorthand for the first device.
ze_device_handle_t firstDevice();

std::vector<ze_driver_extension_properties_t> extensions();

/// 0 where the driver does not list that name.
uint32_t extensionVersion(std::string_view name);

// The newer entry points, spelled like the linked ones. Throw HarnessError where neither loader nor
// driver knows the name.
ze_result_t getIpcHandleWithProperties(ze_context_handle_t context,
                                       const void *ptr,
                                       void *pNext,
                                       ze_ipc_mem_handle_t *handle);
ze_result_t putIpcHandle(ze_context_handle_t context, ze_ipc_mem_handle_t handle);
ze_result_t getIpcHandleFromDescriptor(ze_context_handle_t context,
                                       uint64_t fd,
                                       ze_ipc_mem_handle_t *handle);
ze_result_t getDescriptorFromIpcHandle(ze_context_handle_t context,
                                       ze_ipc_mem_handle_t handle,
                                       uint64_t *fd);
ze_result_t getPhysicalProperties(ze_context_handle_t context,
                                  ze_physical_mem_handle_t object,
                                  ze_physical_mem_properties_t *properties);
ze_result_t commandListHostSynchronize(ze_command_list_handle_t list, uint64_t timeout);
/// Of one regular list to an immediate one, without events.
ze_result_t immediateAppendList(ze_command_list_handle_t immediate, ze_command_list_handle_t list);

/// The sentence that belongs to this thread's last failed call.
std::string lastErrorDescription();

/// "ZE_RESULT_ERROR_INVALID_ARGUMENT", or the number.
std::string resultName(ze_result_t result);

/// Throws HarnessError with the result's name and the driver's sentence unless SUCCESS.
void require(ze_result_t result, std::string_view what);

/// Owns a context over all devices of the driver.
class Context {
  public:
    Context();
    ~Context();
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;
    Context(Context &&) = delete;
    Context &operator=(Context &&) = delete;

    [[nodiscard]] ze_context_handle_t get() const { return handle_; }

  private:
    ze_context_handle_t handle_ = nullptr;
};

} // namespace causeway::black_box

/// gtest prints results by name.
// NOLINTNEXTLINE(readability-identifier-naming): the name is gtest's
void PrintTo(const ze_result_t &result, std::ostream *stream);
