#include "level_zero/api/refusal.h"

#include "level_zero/api/handles.h"

namespace causeway::api {

ze_result_t refuse(std::string_view function, std::string_view why) noexcept {
    return guarded(function, [&]() -> Result<void> {
        if (auto driver = currentDriver(); !driver) {
            return forward(driver);
        }
        return fail(Status::UnsupportedFeature, "{}", why);
    });
}

} // namespace causeway::api
