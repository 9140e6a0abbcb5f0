#pragma once

/// Every table of the four interfaces, by the name that its ProcAddr function and the containers of
/// all tables share. Each X(Name, table type) of a list becomes an exported function and a pointer
/// in the dispatch tables of handles.

// clang-format off: one table per line
#define CAUSEWAY_ZE_TABLES(X) \
    X(RTASBuilder, ze_rtas_builder_dditable_t) \
    X(RTASBuilderExp, ze_rtas_builder_exp_dditable_t) \
    X(RTASParallelOperation, ze_rtas_parallel_operation_dditable_t) \
    X(RTASParallelOperationExp, ze_rtas_parallel_operation_exp_dditable_t) \
    X(Global, ze_global_dditable_t) \
    X(Driver, ze_driver_dditable_t) \
    X(DriverExp, ze_driver_exp_dditable_t) \
    X(Device, ze_device_dditable_t) \
    X(DeviceExp, ze_device_exp_dditable_t) \
    X(Context, ze_context_dditable_t) \
    X(CommandQueue, ze_command_queue_dditable_t) \
    X(CommandList, ze_command_list_dditable_t) \
    X(CommandListExp, ze_command_list_exp_dditable_t) \
    X(Image, ze_image_dditable_t) \
    X(ImageExp, ze_image_exp_dditable_t) \
    X(Mem, ze_mem_dditable_t) \
    X(MemExp, ze_mem_exp_dditable_t) \
    X(Fence, ze_fence_dditable_t) \
    X(EventPool, ze_event_pool_dditable_t) \
    X(Event, ze_event_dditable_t) \
    X(EventExp, ze_event_exp_dditable_t) \
    X(Module, ze_module_dditable_t) \
    X(ModuleBuildLog, ze_module_build_log_dditable_t) \
    X(Kernel, ze_kernel_dditable_t) \
    X(KernelExp, ze_kernel_exp_dditable_t) \
    X(Sampler, ze_sampler_dditable_t) \
    X(PhysicalMem, ze_physical_mem_dditable_t) \
    X(VirtualMem, ze_virtual_mem_dditable_t) \
    X(FabricVertexExp, ze_fabric_vertex_exp_dditable_t) \
    X(FabricEdgeExp, ze_fabric_edge_exp_dditable_t) \
    X(Graph, ze_graph_dditable_t) \
    X(ExecutableGraph, ze_executable_graph_dditable_t)

#define CAUSEWAY_ZET_TABLES(X) \
    X(MetricProgrammableExp, zet_metric_programmable_exp_dditable_t) \
    X(MetricTracerExp, zet_metric_tracer_exp_dditable_t) \
    X(MetricDecoderExp, zet_metric_decoder_exp_dditable_t) \
    X(Device, zet_device_dditable_t) \
    X(DeviceExp, zet_device_exp_dditable_t) \
    X(Context, zet_context_dditable_t) \
    X(CommandList, zet_command_list_dditable_t) \
    X(CommandListExp, zet_command_list_exp_dditable_t) \
    X(Module, zet_module_dditable_t) \
    X(Kernel, zet_kernel_dditable_t) \
    X(Metric, zet_metric_dditable_t) \
    X(MetricExp, zet_metric_exp_dditable_t) \
    X(MetricGroup, zet_metric_group_dditable_t) \
    X(MetricGroupExp, zet_metric_group_exp_dditable_t) \
    X(MetricStreamer, zet_metric_streamer_dditable_t) \
    X(MetricQueryPool, zet_metric_query_pool_dditable_t) \
    X(MetricQuery, zet_metric_query_dditable_t) \
    X(TracerExp, zet_tracer_exp_dditable_t) \
    X(Debug, zet_debug_dditable_t)

#define CAUSEWAY_ZES_TABLES(X) \
    X(Global, zes_global_dditable_t) \
    X(Device, zes_device_dditable_t) \
    X(DeviceExp, zes_device_exp_dditable_t) \
    X(Driver, zes_driver_dditable_t) \
    X(DriverExp, zes_driver_exp_dditable_t) \
    X(Overclock, zes_overclock_dditable_t) \
    X(Scheduler, zes_scheduler_dditable_t) \
    X(PerformanceFactor, zes_performance_factor_dditable_t) \
    X(Power, zes_power_dditable_t) \
    X(Frequency, zes_frequency_dditable_t) \
    X(Engine, zes_engine_dditable_t) \
    X(Standby, zes_standby_dditable_t) \
    X(Firmware, zes_firmware_dditable_t) \
    X(FirmwareExp, zes_firmware_exp_dditable_t) \
    X(Memory, zes_memory_dditable_t) \
    X(FabricPort, zes_fabric_port_dditable_t) \
    X(Temperature, zes_temperature_dditable_t) \
    X(Psu, zes_psu_dditable_t) \
    X(Fan, zes_fan_dditable_t) \
    X(Led, zes_led_dditable_t) \
    X(Ras, zes_ras_dditable_t) \
    X(RasExp, zes_ras_exp_dditable_t) \
    X(Diagnostics, zes_diagnostics_dditable_t) \
    X(VFManagementExp, zes_vf_management_exp_dditable_t)

#define CAUSEWAY_ZER_TABLES(X) \
    X(Global, zer_global_dditable_t)
// clang-format on
