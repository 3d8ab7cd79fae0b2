/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: gives the library one wrong bit of the tensor FAULT_TENSOR, in the FAULT_MANAGER-th manager of the
 * process (from 1), so that what arrives on the device differs from the file. The checks must see it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "hoist/manager.h"

static int managers = 0;

hoist_status_t hoist_manager_create(hoist_device_t* device, const hoist_manager_options_t* options,
                                    hoist_manager_t** out_manager) {
  hoist_status_t (*real)(hoist_device_t*, const hoist_manager_options_t*, hoist_manager_t**);
  *(void**)&real = dlsym(RTLD_NEXT, "hoist_manager_create");
  ++managers;
  return real(device, options, out_manager);
}

hoist_status_t hoist_manager_add_tensor(hoist_manager_t* manager, hoist_unit_t unit, const hoist_tensor_desc_t* desc,
                                        hoist_tensor_t* out_tensor) {
  hoist_status_t (*real)(hoist_manager_t*, hoist_unit_t, const hoist_tensor_desc_t*, hoist_tensor_t*);
  *(void**)&real = dlsym(RTLD_NEXT, "hoist_manager_add_tensor");
  const char* name = getenv("FAULT_TENSOR");
  const char* which = getenv("FAULT_MANAGER");
  if (name == NULL || which == NULL || atoi(which) != managers || strcmp(name, desc->name) != 0) {
    return real(manager, unit, desc, out_tensor);
  }
  hoist_tensor_desc_t wrong = *desc;
  unsigned char* bytes = malloc(desc->bytes); /* read until commit, and this process is short */
  if (bytes == NULL) abort();
  memcpy(bytes, desc->host, desc->bytes);
  bytes[0] ^= 1; /* of a float the last bit of its fraction */
  wrong.host = bytes;
  return real(manager, unit, &wrong, out_tensor);
}
