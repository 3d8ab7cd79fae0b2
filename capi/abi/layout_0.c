/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, offsets and numbers that programs of ABI level 0.x were compiled with (64-bit targets). A line here is
 * never changed: where one fails, the change breaks the ABI. New structs, fields and enumerators get lines by
 * tests/checks/layout.py --write; sizes of option structs may grow at the end, which needs a new line beside the
 * old size and a test of both. Before 0.1 is released lines may still be rewritten. */
#include <stddef.h>

#include "hoist/device_ops.h"
#include "hoist/hoist.h"

#define FROZEN(expression, value) _Static_assert((expression) == (value), #expression " is not " #value)

FROZEN(sizeof(void*), 8);

/* hoist_switch_t, budget.h */
FROZEN(HOIST_SWITCH_DEFAULT, 0);
FROZEN(HOIST_SWITCH_OFF, 1);
FROZEN(HOIST_SWITCH_ON, 2);
FROZEN(HOIST_SWITCH_FORCE_32, 2147483647);

/* hoist_phase_t, budget.h */
FROZEN(HOIST_PHASE_BUILDING, 0);
FROZEN(HOIST_PHASE_DISCOVERY, 1);
FROZEN(HOIST_PHASE_PROFILING, 2);
FROZEN(HOIST_PHASE_SERVING, 3);
FROZEN(HOIST_PHASE_SUSPENDED, 4);
FROZEN(HOIST_PHASE_FORCE_32, 2147483647);

/* hoist_budget_status_t, budget.h */
FROZEN(sizeof(hoist_budget_status_t), 208);
FROZEN(offsetof(hoist_budget_status_t, struct_size), 0);
FROZEN(offsetof(hoist_budget_status_t, phase), 8);
FROZEN(offsetof(hoist_budget_status_t, unit_count), 12);
FROZEN(offsetof(hoist_budget_status_t, tensor_count), 16);
FROZEN(offsetof(hoist_budget_status_t, tensor_bytes), 24);
FROZEN(offsetof(hoist_budget_status_t, budget_bytes), 32);
FROZEN(offsetof(hoist_budget_status_t, arena_bytes), 40);
FROZEN(offsetof(hoist_budget_status_t, peak_bytes), 48);
FROZEN(offsetof(hoist_budget_status_t, pinned_bytes), 56);
FROZEN(offsetof(hoist_budget_status_t, adopted_bytes), 64);
FROZEN(offsetof(hoist_budget_status_t, steps), 72);
FROZEN(offsetof(hoist_budget_status_t, aborted_steps), 80);
FROZEN(offsetof(hoist_budget_status_t, mispredictions), 88);
FROZEN(offsetof(hoist_budget_status_t, demand_loads), 96);
FROZEN(offsetof(hoist_budget_status_t, replans), 104);
FROZEN(offsetof(hoist_budget_status_t, h2d_bytes), 112);
FROZEN(offsetof(hoist_budget_status_t, d2h_bytes), 120);
FROZEN(offsetof(hoist_budget_status_t, last_step_h2d_bytes), 128);
FROZEN(offsetof(hoist_budget_status_t, last_step_d2h_bytes), 136);
FROZEN(offsetof(hoist_budget_status_t, predicted_step_us), 144);
FROZEN(offsetof(hoist_budget_status_t, bound_us), 152);
FROZEN(offsetof(hoist_budget_status_t, last_step_us), 160);
FROZEN(offsetof(hoist_budget_status_t, last_stall_us), 168);
FROZEN(offsetof(hoist_budget_status_t, pageable_bytes), 176);
FROZEN(offsetof(hoist_budget_status_t, refused_ops), 184);
FROZEN(offsetof(hoist_budget_status_t, steps_before_serving), 192);

/* hoist_checkpoint_tensor_t, checkpoint.h */
FROZEN(sizeof(hoist_checkpoint_tensor_t), 192);
FROZEN(offsetof(hoist_checkpoint_tensor_t, struct_size), 0);
FROZEN(offsetof(hoist_checkpoint_tensor_t, name), 8);
FROZEN(offsetof(hoist_checkpoint_tensor_t, dtype), 16);
FROZEN(offsetof(hoist_checkpoint_tensor_t, file), 24);
FROZEN(offsetof(hoist_checkpoint_tensor_t, data), 32);
FROZEN(offsetof(hoist_checkpoint_tensor_t, bytes), 40);
FROZEN(offsetof(hoist_checkpoint_tensor_t, offset), 48);
FROZEN(offsetof(hoist_checkpoint_tensor_t, rank), 56);
FROZEN(offsetof(hoist_checkpoint_tensor_t, item_bits), 60);
FROZEN(offsetof(hoist_checkpoint_tensor_t, shape), 64);

/* hoist_capability_t, device.h */
FROZEN(HOIST_CAPABILITY_HOST_ADDRESSABLE, 1);
FROZEN(HOIST_CAPABILITY_ASYNC, 2);
FROZEN(HOIST_CAPABILITY_BATCH, 4);
FROZEN(HOIST_CAPABILITY_WRAP, 8);
FROZEN(HOIST_CAPABILITY_ACCESS, 16);
FROZEN(HOIST_CAPABILITY_VIRTUAL_CLOCK, 32);
FROZEN(HOIST_CAPABILITY_NO_BYTES, 64);
FROZEN(HOIST_CAPABILITY_FORCE_32, 2147483647);

/* hoist_copy_kind_t, device.h */
FROZEN(HOIST_COPY_H2D, 0);
FROZEN(HOIST_COPY_D2H, 1);
FROZEN(HOIST_COPY_D2D, 2);
FROZEN(HOIST_COPY_KIND_FORCE_32, 2147483647);

/* hoist_device_services_t, device_ops.h */
FROZEN(sizeof(hoist_device_services_t), 32);
FROZEN(offsetof(hoist_device_services_t, struct_size), 0);
FROZEN(offsetof(hoist_device_services_t, abi_version), 8);
FROZEN(offsetof(hoist_device_services_t, reserved), 12);
FROZEN(offsetof(hoist_device_services_t, error_set), 16);
FROZEN(offsetof(hoist_device_services_t, log), 24);

/* hoist_manager_options_t, manager.h */
FROZEN(sizeof(hoist_manager_options_t), 16);
FROZEN(offsetof(hoist_manager_options_t, struct_size), 0);
FROZEN(offsetof(hoist_manager_options_t, budget), 8);

/* hoist_effect_desc_t, effect.h */
FROZEN(sizeof(hoist_effect_desc_t), 40);
FROZEN(offsetof(hoist_effect_desc_t, struct_size), 0);
FROZEN(offsetof(hoist_effect_desc_t, name), 8);
FROZEN(offsetof(hoist_effect_desc_t, function), 16);
FROZEN(offsetof(hoist_effect_desc_t, user_data), 24);
FROZEN(offsetof(hoist_effect_desc_t, release), 32);

/* hoist_sequence_status_t, effect.h */
FROZEN(sizeof(hoist_sequence_status_t), 64);
FROZEN(offsetof(hoist_sequence_status_t, struct_size), 0);
FROZEN(offsetof(hoist_sequence_status_t, effect_count), 8);
FROZEN(offsetof(hoist_sequence_status_t, is_open), 12);
FROZEN(offsetof(hoist_sequence_status_t, due), 16);
FROZEN(offsetof(hoist_sequence_status_t, reserved), 20);
FROZEN(offsetof(hoist_sequence_status_t, runs), 24);
FROZEN(offsetof(hoist_sequence_status_t, aborted_runs), 32);
FROZEN(offsetof(hoist_sequence_status_t, submitted), 40);
FROZEN(offsetof(hoist_sequence_status_t, refused), 48);
FROZEN(offsetof(hoist_sequence_status_t, stream_changes), 56);

/* hoist_use_mode_t, manager.h */
FROZEN(HOIST_USE_READ, 0);
FROZEN(HOIST_USE_WRITE, 1);
FROZEN(HOIST_USE_READ_WRITE, 2);
FROZEN(HOIST_USE_FORCE_32, 2147483647);

/* hoist_tensor_class_t, manager.h */
FROZEN(HOIST_CLASS_WEIGHT, 0);
FROZEN(HOIST_CLASS_STATE, 1);
FROZEN(HOIST_CLASS_ACTIVATION, 2);
FROZEN(HOIST_CLASS_FORCE_32, 2147483647);

/* hoist_tensor_flags_t, manager.h */
FROZEN(HOIST_TENSOR_COPY, 1);
FROZEN(HOIST_TENSOR_ADOPT, 2);
FROZEN(HOIST_TENSOR_TRANSIENT, 4);
FROZEN(HOIST_TENSOR_ZERO, 8);
FROZEN(HOIST_TENSOR_FLAGS_FORCE_32, 2147483647);

/* hoist_tensor_desc_t, manager.h */
FROZEN(sizeof(hoist_tensor_desc_t), 64);
FROZEN(offsetof(hoist_tensor_desc_t, struct_size), 0);
FROZEN(offsetof(hoist_tensor_desc_t, name), 8);
FROZEN(offsetof(hoist_tensor_desc_t, bytes), 16);
FROZEN(offsetof(hoist_tensor_desc_t, host), 24);
FROZEN(offsetof(hoist_tensor_desc_t, flags), 32);
FROZEN(offsetof(hoist_tensor_desc_t, mode), 36);
FROZEN(offsetof(hoist_tensor_desc_t, tensor_class), 40);
FROZEN(offsetof(hoist_tensor_desc_t, reserved), 44);
FROZEN(offsetof(hoist_tensor_desc_t, release), 48);
FROZEN(offsetof(hoist_tensor_desc_t, user_data), 56);

/* hoist_tensor_info_t, manager.h */
FROZEN(sizeof(hoist_tensor_info_t), 56);
FROZEN(offsetof(hoist_tensor_info_t, struct_size), 0);
FROZEN(offsetof(hoist_tensor_info_t, name), 8);
FROZEN(offsetof(hoist_tensor_info_t, bytes), 16);
FROZEN(offsetof(hoist_tensor_info_t, host), 24);
FROZEN(offsetof(hoist_tensor_info_t, version), 32);
FROZEN(offsetof(hoist_tensor_info_t, on_device), 40);
FROZEN(offsetof(hoist_tensor_info_t, host_current), 44);
FROZEN(offsetof(hoist_tensor_info_t, flags), 48);
FROZEN(offsetof(hoist_tensor_info_t, tensor_class), 52);

/* hoist_plan_options_t, plan.h */
FROZEN(sizeof(hoist_plan_options_t), 24);
FROZEN(offsetof(hoist_plan_options_t, struct_size), 0);
FROZEN(offsetof(hoist_plan_options_t, effort), 8);
FROZEN(offsetof(hoist_plan_options_t, reserved), 12);
FROZEN(offsetof(hoist_plan_options_t, time_limit_seconds), 16);

/* hoist_plan_result_t, plan.h */
FROZEN(sizeof(hoist_plan_result_t), 72);
FROZEN(offsetof(hoist_plan_result_t, struct_size), 0);
FROZEN(offsetof(hoist_plan_result_t, step_us), 8);
FROZEN(offsetof(hoist_plan_result_t, stall_us), 16);
FROZEN(offsetof(hoist_plan_result_t, bound_us), 24);
FROZEN(offsetof(hoist_plan_result_t, windowed_us), 32);
FROZEN(offsetof(hoist_plan_result_t, peak_bytes), 40);
FROZEN(offsetof(hoist_plan_result_t, h2d_bytes), 48);
FROZEN(offsetof(hoist_plan_result_t, d2h_bytes), 56);
FROZEN(offsetof(hoist_plan_result_t, peer_bytes), 64);

/* hoist_replan_state_t, plan.h */
FROZEN(HOIST_REPLAN_NONE, 0);
FROZEN(HOIST_REPLAN_PENDING, 1);
FROZEN(HOIST_REPLAN_APPLIED, 2);
FROZEN(HOIST_REPLAN_FAILED, 3);
FROZEN(HOIST_REPLAN_FORCE_32, 2147483647);

/* hoist_replan_status_t, plan.h */
FROZEN(sizeof(hoist_replan_status_t), 32);
FROZEN(offsetof(hoist_replan_status_t, struct_size), 0);
FROZEN(offsetof(hoist_replan_status_t, state), 8);
FROZEN(offsetof(hoist_replan_status_t, can_request), 12);
FROZEN(offsetof(hoist_replan_status_t, applied), 16);
FROZEN(offsetof(hoist_replan_status_t, reason), 24);

/* hoist_status_t, status.h */
FROZEN(HOIST_OK, 0);
FROZEN(HOIST_ERROR_INVALID_ARGUMENT, 1);
FROZEN(HOIST_ERROR_INVALID_STATE, 2);
FROZEN(HOIST_ERROR_NOT_FOUND, 3);
FROZEN(HOIST_ERROR_ALREADY_EXISTS, 4);
FROZEN(HOIST_ERROR_UNSUPPORTED, 5);
FROZEN(HOIST_ERROR_OUT_OF_MEMORY, 6);
FROZEN(HOIST_ERROR_INFEASIBLE, 7);
FROZEN(HOIST_ERROR_BUSY, 8);
FROZEN(HOIST_ERROR_ORDER, 9);
FROZEN(HOIST_ERROR_STALE, 10);
FROZEN(HOIST_ERROR_FORKED, 11);
FROZEN(HOIST_ERROR_IO, 12);
FROZEN(HOIST_ERROR_CORRUPT, 13);
FROZEN(HOIST_ERROR_INVALID_PLAN, 14);
FROZEN(HOIST_ERROR_DEVICE, 15);
FROZEN(HOIST_ERROR_ABORTED, 16);
FROZEN(HOIST_ERROR_INTERNAL, 17);
FROZEN(HOIST_STATUS_FORCE_32, 2147483647);

/* hoist_error_t, status.h */
FROZEN(sizeof(hoist_error_t), 40);
FROZEN(offsetof(hoist_error_t, struct_size), 0);
FROZEN(offsetof(hoist_error_t, code), 8);
FROZEN(offsetof(hoist_error_t, reserved), 12);
FROZEN(offsetof(hoist_error_t, message), 16);
FROZEN(offsetof(hoist_error_t, where), 24);
FROZEN(offsetof(hoist_error_t, hint), 32);

/* hoist_log_level_t, status.h */
FROZEN(HOIST_LOG_DEBUG, 0);
FROZEN(HOIST_LOG_INFO, 1);
FROZEN(HOIST_LOG_WARNING, 2);
FROZEN(HOIST_LOG_ERROR, 3);
FROZEN(HOIST_LOG_OFF, 4);
FROZEN(HOIST_LOG_FORCE_32, 2147483647);

/* hoist_tensor_view_t, step.h */
FROZEN(sizeof(hoist_tensor_view_t), 24);
FROZEN(offsetof(hoist_tensor_view_t, data), 0);
FROZEN(offsetof(hoist_tensor_view_t, bytes), 8);
FROZEN(offsetof(hoist_tensor_view_t, tensor), 16);
FROZEN(offsetof(hoist_tensor_view_t, mode), 20);

/* hoist_unit_view_t, step.h */
FROZEN(sizeof(hoist_unit_view_t), 32);
FROZEN(offsetof(hoist_unit_view_t, struct_size), 0);
FROZEN(offsetof(hoist_unit_view_t, count), 8);
FROZEN(offsetof(hoist_unit_view_t, stride), 16);
FROZEN(offsetof(hoist_unit_view_t, tensors), 24);

/* hoist_unit_timing_t, timing.h */
FROZEN(sizeof(hoist_unit_timing_t), 96);
FROZEN(offsetof(hoist_unit_timing_t, struct_size), 0);
FROZEN(offsetof(hoist_unit_timing_t, steps), 8);
FROZEN(offsetof(hoist_unit_timing_t, compute_min_us), 16);
FROZEN(offsetof(hoist_unit_timing_t, compute_median_us), 24);
FROZEN(offsetof(hoist_unit_timing_t, compute_max_us), 32);
FROZEN(offsetof(hoist_unit_timing_t, transfer_min_us), 40);
FROZEN(offsetof(hoist_unit_timing_t, transfer_median_us), 48);
FROZEN(offsetof(hoist_unit_timing_t, transfer_max_us), 56);
FROZEN(offsetof(hoist_unit_timing_t, wait_min_us), 64);
FROZEN(offsetof(hoist_unit_timing_t, wait_median_us), 72);
FROZEN(offsetof(hoist_unit_timing_t, wait_max_us), 80);
FROZEN(offsetof(hoist_unit_timing_t, transfer_bytes), 88);

/* hoist_capability_t, device.h */
FROZEN(HOIST_CAPABILITY_REMAP, 128);
FROZEN(HOIST_CAPABILITY_WORDS, 256);
FROZEN(HOIST_CAPABILITY_GRAPH, 512);

/* hoist_device_properties_t, device.h */
FROZEN(sizeof(hoist_device_properties_t), 256);
FROZEN(offsetof(hoist_device_properties_t, struct_size), 0);
FROZEN(offsetof(hoist_device_properties_t, name), 8);
FROZEN(offsetof(hoist_device_properties_t, description), 72);
FROZEN(offsetof(hoist_device_properties_t, memory_bytes), 200);
FROZEN(offsetof(hoist_device_properties_t, alignment), 208);
FROZEN(offsetof(hoist_device_properties_t, capabilities), 216);
FROZEN(offsetof(hoist_device_properties_t, granularity), 224);
FROZEN(offsetof(hoist_device_properties_t, dlpack_type), 232);
FROZEN(offsetof(hoist_device_properties_t, dlpack_index), 236);
FROZEN(offsetof(hoist_device_properties_t, pci_address), 240);

/* hoist_word_op_kind_t, device_ops.h */
FROZEN(HOIST_WORD_WAIT, 0);
FROZEN(HOIST_WORD_WRITE, 1);
FROZEN(HOIST_WORD_OP_FORCE_32, 2147483647);

/* hoist_word_op_t, device_ops.h */
FROZEN(sizeof(hoist_word_op_t), 16);
FROZEN(offsetof(hoist_word_op_t, word), 0);
FROZEN(offsetof(hoist_word_op_t, value), 8);
FROZEN(offsetof(hoist_word_op_t, kind), 12);

/* hoist_device_ops_t, device_ops.h */
FROZEN(sizeof(hoist_device_ops_t), 384);
FROZEN(offsetof(hoist_device_ops_t, struct_size), 0);
FROZEN(offsetof(hoist_device_ops_t, abi_version), 8);
FROZEN(offsetof(hoist_device_ops_t, reserved), 12);
FROZEN(offsetof(hoist_device_ops_t, name), 16);
FROZEN(offsetof(hoist_device_ops_t, driver), 24);
FROZEN(offsetof(hoist_device_ops_t, count), 32);
FROZEN(offsetof(hoist_device_ops_t, describe), 40);
FROZEN(offsetof(hoist_device_ops_t, open), 48);
FROZEN(offsetof(hoist_device_ops_t, close), 56);
FROZEN(offsetof(hoist_device_ops_t, query), 64);
FROZEN(offsetof(hoist_device_ops_t, query_memory), 72);
FROZEN(offsetof(hoist_device_ops_t, set), 80);
FROZEN(offsetof(hoist_device_ops_t, get_time), 88);
FROZEN(offsetof(hoist_device_ops_t, memory_create), 96);
FROZEN(offsetof(hoist_device_ops_t, memory_destroy), 104);
FROZEN(offsetof(hoist_device_ops_t, host_register), 112);
FROZEN(offsetof(hoist_device_ops_t, host_unregister), 120);
FROZEN(offsetof(hoist_device_ops_t, stream_create), 128);
FROZEN(offsetof(hoist_device_ops_t, stream_destroy), 136);
FROZEN(offsetof(hoist_device_ops_t, stream_wrap), 144);
FROZEN(offsetof(hoist_device_ops_t, stream_wait), 152);
FROZEN(offsetof(hoist_device_ops_t, stream_wait_event), 160);
FROZEN(offsetof(hoist_device_ops_t, event_create), 168);
FROZEN(offsetof(hoist_device_ops_t, event_destroy), 176);
FROZEN(offsetof(hoist_device_ops_t, event_record), 184);
FROZEN(offsetof(hoist_device_ops_t, event_poll), 192);
FROZEN(offsetof(hoist_device_ops_t, event_wait), 200);
FROZEN(offsetof(hoist_device_ops_t, event_get_elapsed), 208);
FROZEN(offsetof(hoist_device_ops_t, copy), 216);
FROZEN(offsetof(hoist_device_ops_t, copy_batch), 224);
FROZEN(offsetof(hoist_device_ops_t, fill), 232);
FROZEN(offsetof(hoist_device_ops_t, host_function), 240);
FROZEN(offsetof(hoist_device_ops_t, access_begin), 248);
FROZEN(offsetof(hoist_device_ops_t, access_end), 256);
FROZEN(offsetof(hoist_device_ops_t, handle_create), 264);
FROZEN(offsetof(hoist_device_ops_t, handle_destroy), 272);
FROZEN(offsetof(hoist_device_ops_t, address_reserve), 280);
FROZEN(offsetof(hoist_device_ops_t, address_release), 288);
FROZEN(offsetof(hoist_device_ops_t, memory_map), 296);
FROZEN(offsetof(hoist_device_ops_t, memory_unmap), 304);
FROZEN(offsetof(hoist_device_ops_t, words_create), 312);
FROZEN(offsetof(hoist_device_ops_t, words_destroy), 320);
FROZEN(offsetof(hoist_device_ops_t, words_submit), 328);
FROZEN(offsetof(hoist_device_ops_t, capture_query), 336);
FROZEN(offsetof(hoist_device_ops_t, capture_begin), 344);
FROZEN(offsetof(hoist_device_ops_t, capture_end), 352);
FROZEN(offsetof(hoist_device_ops_t, graph_launch), 360);
FROZEN(offsetof(hoist_device_ops_t, graph_destroy), 368);
FROZEN(offsetof(hoist_device_ops_t, stream_create_aside), 376);

/* hoist_placement_t, budget.h */
FROZEN(HOIST_PLACEMENT_DEFAULT, 0);
FROZEN(HOIST_PLACEMENT_ARENA, 1);
FROZEN(HOIST_PLACEMENT_SLOTS, 2);
FROZEN(HOIST_PLACEMENT_FORCE_32, 2147483647);

/* hoist_budget_options_t, budget.h */
FROZEN(sizeof(hoist_budget_options_t), 56);
FROZEN(offsetof(hoist_budget_options_t, struct_size), 0);
FROZEN(offsetof(hoist_budget_options_t, budget_bytes), 8);
FROZEN(offsetof(hoist_budget_options_t, budget_share), 16);
FROZEN(offsetof(hoist_budget_options_t, pinned_limit_bytes), 24);
FROZEN(offsetof(hoist_budget_options_t, profile_steps), 32);
FROZEN(offsetof(hoist_budget_options_t, run_ahead_steps), 36);
FROZEN(offsetof(hoist_budget_options_t, plan_effort), 40);
FROZEN(offsetof(hoist_budget_options_t, trust), 44);
FROZEN(offsetof(hoist_budget_options_t, placement), 48);

/* hoist_replay_state_t, graph.h */
FROZEN(HOIST_REPLAY_NONE, 0);
FROZEN(HOIST_REPLAY_OPEN, 1);
FROZEN(HOIST_REPLAY_HELD, 2);
FROZEN(HOIST_REPLAY_STARVED, 3);
FROZEN(HOIST_REPLAY_FORCE_32, 2147483647);

/* hoist_replay_status_t, graph.h */
FROZEN(sizeof(hoist_replay_status_t), 64);
FROZEN(offsetof(hoist_replay_status_t, struct_size), 0);
FROZEN(offsetof(hoist_replay_status_t, state), 8);
FROZEN(offsetof(hoist_replay_status_t, placement), 12);
FROZEN(offsetof(hoist_replay_status_t, captures), 16);
FROZEN(offsetof(hoist_replay_status_t, begun), 24);
FROZEN(offsetof(hoist_replay_status_t, ended), 32);
FROZEN(offsetof(hoist_replay_status_t, aborted), 40);
FROZEN(offsetof(hoist_replay_status_t, last_us), 48);
FROZEN(offsetof(hoist_replay_status_t, reason), 56);

/* hoist_budget_status_t, budget.h */
FROZEN(offsetof(hoist_budget_status_t, reserved_bytes), 200);
