/* SPDX-License-Identifier: Apache-2.0 */
/* A C program outside the tree: finds hoist by pkg-config, opens a device, moves a byte there and back. */
#include <hoist/hoist.h>
#include <stdio.h>

int main(void) {
  hoist_device_t* device = NULL;
  hoist_stream_t* stream = NULL;
  void* memory = NULL;
  const char sent = 42;
  char received = 0;
  if (hoist_device_open("host:0", &device) != HOIST_OK) return 1;
  if (hoist_stream_create(device, &stream) != HOIST_OK) return 2;
  if (hoist_memory_create(device, 1, &memory) != HOIST_OK) return 3;
  if (hoist_stream_submit_copy(stream, HOIST_COPY_H2D, memory, &sent, 1) != HOIST_OK) return 4;
  if (hoist_stream_submit_copy(stream, HOIST_COPY_D2H, &received, memory, 1) != HOIST_OK) return 5;
  if (hoist_stream_wait(stream) != HOIST_OK) return 6;
  printf("C: hoist %s, byte %d\n", hoist_version_string(), received);
  hoist_memory_destroy(device, memory);
  hoist_stream_destroy(stream);
  hoist_device_close(device);
  return received == sent ? 0 : 7;
}
