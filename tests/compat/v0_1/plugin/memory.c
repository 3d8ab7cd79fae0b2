/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory, which is the host's here but counted, and host memory that is registered. */
#include <stdlib.h>

#include "my_device.h"

static uint64_t free_bytes(const my_device_t* device) {
  const uint64_t held = device->used + device->taken;
  return held < device->total ? device->total - held : 0;
}

static uint64_t charged(uint64_t bytes) { return (bytes + MY_ALIGNMENT - 1) / MY_ALIGNMENT * MY_ALIGNMENT; }

hoist_status_t my_query_memory(void* self, uint64_t* out_free, uint64_t* out_total) {
  my_device_t* device = self;
  const hoist_status_t status = my_fault(device, "query_memory");
  if (status != HOIST_OK) return status;
  pthread_mutex_lock(&device->mutex);
  *out_free = free_bytes(device);
  *out_total = device->total;
  pthread_mutex_unlock(&device->mutex);
  return HOIST_OK;
}

static bool add_range(my_range_t** list, void* begin, uint64_t bytes) {
  my_range_t* range = malloc(sizeof *range);
  if (range == NULL) return false;
  *range = (my_range_t){*list, begin, bytes};
  *list = range;
  return true;
}

/* The bytes of the range that begins there, which is taken off the list; -1 where none does. */
static int64_t remove_range(my_range_t** list, const void* begin) {
  for (; *list != NULL; list = &(*list)->next) {
    my_range_t* range = *list;
    if (range->begin != begin) continue;
    const int64_t bytes = (int64_t)range->bytes;
    *list = range->next;
    free(range);
    return bytes;
  }
  return -1;
}

void my_free_ranges(my_range_t* ranges, bool with_memory) {
  while (ranges != NULL) {
    my_range_t* next = ranges->next;
    if (with_memory) free(ranges->begin);
    free(ranges);
    ranges = next;
  }
}

hoist_status_t my_memory_create(void* self, uint64_t bytes, void** out_memory) {
  my_device_t* device = self;
  const hoist_status_t status = my_fault(device, "memory_create");
  if (status != HOIST_OK) return status;
  void* memory = NULL;
  pthread_mutex_lock(&device->mutex);
  const uint64_t left = free_bytes(device);
  const bool fits = bytes <= left && charged(bytes) <= left &&
                    posix_memalign(&memory, MY_ALIGNMENT, charged(bytes) + MY_ALIGNMENT) == 0;
  const bool made = fits && add_range(&device->memory, memory, bytes);
  if (made) device->used += charged(bytes);
  pthread_mutex_unlock(&device->mutex);
  if (made) {
    *out_memory = memory;
    return HOIST_OK;
  }
  if (fits) free(memory);
  return my_fail(HOIST_ERROR_OUT_OF_MEMORY, "ask for less",
                 "asked for %llu bytes of device memory; %llu of %llu are free", (unsigned long long)bytes,
                 (unsigned long long)left, (unsigned long long)device->total);
}

void my_memory_destroy(void* self, void* memory) {
  my_device_t* device = self;
  pthread_mutex_lock(&device->mutex);
  const int64_t bytes = remove_range(&device->memory, memory);
  if (bytes >= 0) device->used -= charged((uint64_t)bytes);
  pthread_mutex_unlock(&device->mutex);
  if (bytes >= 0) {
    free(memory);
  } else if (memory != NULL) {
    my_services->log(HOIST_LOG_ERROR, "my device: memory_destroy of a pointer that it never gave");
  }
}

bool my_owns(my_device_t* device, const void* memory, uint64_t bytes) {
  const char* begin = memory;
  bool found = false;
  pthread_mutex_lock(&device->mutex);
  for (const my_range_t* range = device->memory; range != NULL && !found; range = range->next) {
    found = begin >= range->begin && begin <= range->begin + range->bytes &&
            bytes <= (uint64_t)(range->begin + range->bytes - begin);
  }
  pthread_mutex_unlock(&device->mutex);
  return found;
}

/* Nothing needs pinning here; a device of hardware would pin, and remember what it pinned, as this does. */
hoist_status_t my_host_register(void* self, void* memory, uint64_t bytes) {
  my_device_t* device = self;
  const hoist_status_t status = my_fault(device, "host_register");
  if (status != HOIST_OK) return status;
  if (memory == NULL || bytes == 0) {
    return my_fail(HOIST_ERROR_INVALID_ARGUMENT, "", "host memory %p of %llu bytes cannot be registered", memory,
                   (unsigned long long)bytes);
  }
  const char* begin = memory;
  bool meets = false;
  pthread_mutex_lock(&device->mutex);
  for (const my_range_t* range = device->registered; range != NULL && !meets; range = range->next) {
    meets = begin < range->begin + range->bytes && range->begin < begin + bytes;
  }
  const bool added = !meets && add_range(&device->registered, memory, bytes);
  pthread_mutex_unlock(&device->mutex);
  if (added) return HOIST_OK;
  if (meets) return my_fail(HOIST_ERROR_ALREADY_EXISTS, "", "a part of host memory %p is registered already", memory);
  return my_fail(HOIST_ERROR_OUT_OF_MEMORY, "", "no host memory to remember a registration");
}

hoist_status_t my_host_unregister(void* self, void* memory, uint64_t bytes) {
  my_device_t* device = self;
  const hoist_status_t status = my_fault(device, "host_unregister");
  if (status != HOIST_OK) return status;
  bool known = false;
  pthread_mutex_lock(&device->mutex);
  for (const my_range_t* range = device->registered; range != NULL && !known; range = range->next) {
    known = range->begin == memory && range->bytes == bytes;
  }
  if (known) remove_range(&device->registered, memory);
  pthread_mutex_unlock(&device->mutex);
  if (known) return HOIST_OK;
  return my_fail(HOIST_ERROR_INVALID_ARGUMENT, "unregister exactly what was registered",
                 "host memory %p of %llu bytes is not registered", memory, (unsigned long long)bytes);
}
