// On which side of a program a header is read: arithmetic and lists are the same text on the processor and on a GPU.
//
// A file of device code defines DSE_ON_DEVICE before its first include. What both sides have then lies in a namespace of
// its own, so that one program may hold both: a fault ends a thread of the GPU, and throws on the processor.
#pragma once

#ifdef DSE_ON_DEVICE
#define DSE_SPACE dse::inline on_device
#define DSE_FN __device__
#define DSE_APART __device__ __noinline__  // long and seldom used: one copy in a kernel
#ifdef __CUDACC__
#define DSE_LOOP _Pragma("unroll 1")  // or a kernel of some actors has a hundred thousand instructions
#else
#define DSE_LOOP
#endif
#include <cuda_runtime.h>
#else
#define DSE_SPACE dse
#define DSE_FN
#define DSE_APART
#define DSE_LOOP
#endif
