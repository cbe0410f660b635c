// Times of the kernels of docs/gpu-truth.md over blocks, and micro-benchmarks of constants of device files, on the card
// that is there. Compiled and read by `python -m benchmarks.gpu_card`. The kernels do what configs/gpu-kernels does.
//
// Lines of the output:  card,NAME,CAPABILITY,SMS,MHZ
//                       row,BENCHMARK,KERNEL,N,X,Y,REPEATS,MIN_MS,MEDIAN_MS,MAX_MS
//                       constant,KEY,VALUE,HOW
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include <cuda_runtime.h>

static void check(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
    std::exit(1);
}

#define COLUMN (blockIdx.x * blockDim.x + threadIdx.x)
#define ROW (blockIdx.y * blockDim.y + threadIdx.y)

__global__ void conv2d(int n, const float* a, float* b) {
    const int j = COLUMN, i = ROW;
    if (i < 1 || j < 1 || i >= n - 1 || j >= n - 1) return;
    const float *up = a + (i - 1) * n + j, *at = up + n, *down = at + n;
    b[i * n + j] = 0.2f * up[-1] + 0.5f * up[0] - 0.8f * up[1] - 0.3f * at[-1] + 0.6f * at[0] - 0.9f * at[1] +
                   0.4f * down[-1] + 0.7f * down[0] + 0.1f * down[1];
}

__global__ void gemm(int n, float alpha, float beta, const float* a, const float* b, float* c) {
    const int j = COLUMN, i = ROW;
    if (i >= n || j >= n) return;
    c[i * n + j] *= beta;
    for (int k = 0; k < n; k++) c[i * n + j] += alpha * a[i * n + k] * b[k * n + j];
}

__global__ void syrk(int n, float alpha, float beta, const float* a, float* c) {
    const int j = COLUMN, i = ROW;
    if (i >= n || j >= n) return;
    c[i * n + j] *= beta;
    for (int k = 0; k < n; k++) c[i * n + j] += alpha * a[i * n + k] * a[j * n + k];
}

__global__ void atax_rows(int n, const float* a, const float* x, float* t) {
    const int i = COLUMN;
    if (i >= n) return;
    for (int j = 0; j < n; j++) t[i] += a[i * n + j] * x[j];
}

__global__ void atax_columns(int n, const float* a, float* y, const float* t) {
    const int j = COLUMN;
    if (j >= n) return;
    for (int i = 0; i < n; i++) y[j] += a[i * n + j] * t[i];
}

__global__ void gesummv(int n, float alpha, float beta, const float* a, const float* b, const float* x, float* y,
                        float* t) {
    const int i = COLUMN;
    if (i >= n) return;
    for (int j = 0; j < n; j++) {
        t[i] += a[i * n + j] * x[j];
        y[i] += b[i * n + j] * x[j];
    }
    y[i] = alpha * t[i] + beta * y[i];
}

__global__ void corr_mean(int n, float count, const float* data, float* average) {
    const int j = COLUMN + 1, w = n + 1;
    if (j > n) return;
    average[j] = 0;
    for (int i = 1; i <= n; i++) average[j] += data[i * w + j];
    average[j] /= count;
}

__global__ void corr_deviation(int n, float count, const float* data, const float* average, float* spread) {
    const int j = COLUMN + 1, w = n + 1;
    if (j > n) return;
    spread[j] = 0;
    for (int i = 1; i <= n; i++) spread[j] += (data[i * w + j] - average[j]) * (data[i * w + j] - average[j]);
    spread[j] = sqrtf(spread[j] / count);
}

__global__ void corr_normalise(int n, float root, float* data, const float* average, const float* spread) {
    const int j = COLUMN + 1, i = ROW + 1, w = n + 1;
    if (i > n || j > n) return;
    data[i * w + j] -= average[j];
    data[i * w + j] /= root * spread[j];
}

__global__ void corr_correlate(int n, const float* data, float* matrix) {
    const int a = COLUMN + 1, w = n + 1;
    if (a >= n) return;
    matrix[a * w + a] = 1;
    for (int b = a + 1; b <= n; b++) {
        matrix[a * w + b] = 0;
        for (int i = 1; i <= n; i++) matrix[a * w + b] += data[i * w + a] * data[i * w + b];
        matrix[b * w + a] = matrix[a * w + b];
    }
}

__global__ void fdtd_electric_y(int n, float source, float* ey, const float* hz) {
    const int j = COLUMN, i = ROW;
    if (i >= n || j >= n) return;
    if (i == 0)
        ey[j] = source;
    else
        ey[i * n + j] = ey[i * n + j] - 0.5f * (hz[i * n + j] - hz[(i - 1) * n + j]);
}

__global__ void fdtd_electric_x(int n, float* ex, const float* hz) {
    const int j = COLUMN, i = ROW, w = n + 1;
    if (i >= n || j >= n || j < 1) return;
    ex[i * w + j] = ex[i * w + j] - 0.5f * (hz[i * n + j] - hz[i * n + j - 1]);
}

__global__ void fdtd_magnetic(int n, const float* ex, const float* ey, float* hz) {
    const int j = COLUMN, i = ROW, w = n + 1;
    if (i >= n || j >= n) return;
    hz[i * n + j] = hz[i * n + j] - 0.7f * (ex[i * w + j + 1] - ex[i * w + j] + ey[(i + 1) * n + j] - ey[i * n + j]);
}

// Times --------------------------------------------------------------------------------------------------------------

struct Times {
    float least, median, most;
};

static Times timed(int repeats, const std::function<void()>& launch) {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    launch();  // warms caches and clocks
    check(cudaGetLastError(), "launch");
    std::vector<float> found;
    for (int k = 0; k < repeats; k++) {
        check(cudaEventRecord(begin), "event");
        launch();
        check(cudaEventRecord(end), "event");
        check(cudaEventSynchronize(end), "kernel");
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin, end), "event");
        found.push_back(ms);
    }
    check(cudaEventDestroy(begin), "event");
    check(cudaEventDestroy(end), "event");
    std::sort(found.begin(), found.end());
    return {found.front(), found[found.size() / 2], found.back()};
}

struct Kernel {
    const char *benchmark, *name;
    bool one_loop;
    int launches, high;  // high: its blocks are (block_y, high), as those of the public measurements
    std::function<void(int n, dim3 grid, dim3 block)> launch;
};

static void measure(const Kernel& kernel, int n, int x, int y, int repeats) {
    const dim3 block = kernel.high ? dim3(y, kernel.high) : dim3(x, y);
    if (block.x * block.y > 1024) return;
    const dim3 grid((n + block.x - 1) / block.x, kernel.one_loop ? 1 : (n + block.y - 1) / block.y);
    const Times t = timed(repeats, [&] {
        for (int k = 0; k < kernel.launches; k++) kernel.launch(n, grid, block);
    });
    std::printf("row,%s,%s,%d,%d,%d,%d,%.6g,%.6g,%.6g\n", kernel.benchmark, kernel.name, n, x, y, repeats, t.least,
                t.median, t.most);
    std::fflush(stdout);
}

static void measure_all(const std::vector<int>& sizes, int repeats) {
    const size_t most = *std::max_element(sizes.begin(), sizes.end()) + 1;
    float* m[4];
    float* v[4];
    for (float*& one : m) check(cudaMalloc(&one, most * most * sizeof(float)), "memory of matrices");
    for (float*& one : v) check(cudaMalloc(&one, most * sizeof(float)), "memory of vectors");
    for (float* one : m) check(cudaMemset(one, 0, most * most * sizeof(float)), "memory");
    for (float* one : v) check(cudaMemset(one, 0, most * sizeof(float)), "memory");
    const Kernel kernels[] = {
        {"2DCONV", "Convolution2D_kernel", false, 1, 0, [&](int n, dim3 g, dim3 b) { conv2d<<<g, b>>>(n, m[0], m[1]); }},
        {"GEMM", "gemm_kernel", false, 1, 0,
         [&](int n, dim3 g, dim3 b) { gemm<<<g, b>>>(n, 0.5f, 0.5f, m[0], m[1], m[2]); }},
        {"SYRK", "syrk_kernel", false, 1, 0, [&](int n, dim3 g, dim3 b) { syrk<<<g, b>>>(n, 0.5f, 0.5f, m[0], m[2]); }},
        {"ATAX", "atax_kernel1", true, 1, 0, [&](int n, dim3 g, dim3 b) { atax_rows<<<g, b>>>(n, m[0], v[0], v[1]); }},
        {"ATAX", "atax_kernel2", true, 1, 0,
         [&](int n, dim3 g, dim3 b) { atax_columns<<<g, b>>>(n, m[0], v[2], v[1]); }},
        {"GESUMMV", "gesummv_kernel", true, 1, 0,
         [&](int n, dim3 g, dim3 b) { gesummv<<<g, b>>>(n, 0.5f, 0.5f, m[0], m[1], v[0], v[1], v[2]); }},
        {"CORR", "mean_kernel", true, 1, 0, [&](int n, dim3 g, dim3 b) { corr_mean<<<g, b>>>(n, n, m[0], v[0]); }},
        {"CORR", "std_kernel", true, 1, 0,
         [&](int n, dim3 g, dim3 b) { corr_deviation<<<g, b>>>(n, n, m[0], v[0], v[1]); }},
        {"CORR", "reduce_kernel", false, 1, 8,
         [&](int n, dim3 g, dim3 b) { corr_normalise<<<g, b>>>(n, 2.0f, m[0], v[0], v[1]); }},
        {"CORR", "corr_kernel", true, 1, 0, [&](int n, dim3 g, dim3 b) { corr_correlate<<<g, b>>>(n, m[0], m[1]); }},
        {"FDTD_2D", "fdtd_step1_kernel", false, 500, 0,
         [&](int n, dim3 g, dim3 b) { fdtd_electric_y<<<g, b>>>(n, 1.0f, m[1], m[2]); }},
        {"FDTD_2D", "fdtd_step2_kernel", false, 500, 0,
         [&](int n, dim3 g, dim3 b) { fdtd_electric_x<<<g, b>>>(n, m[0], m[2]); }},
        {"FDTD_2D", "fdtd_step3_kernel", false, 500, 0,
         [&](int n, dim3 g, dim3 b) { fdtd_magnetic<<<g, b>>>(n, m[0], m[1], m[2]); }},
    };
    for (const Kernel& kernel : kernels)
        for (const int n : sizes)
            for (int x = kernel.one_loop ? 32 : 4; x <= 1024; x *= 2)
                for (int y = 1; y <= (kernel.one_loop ? 1 : 1024 / x); y *= 2) {
                    if (kernel.high && x != 8) continue;  // x says nothing of its blocks
                    if (x * y >= 32) measure(kernel, n, x, y, repeats);
                }
    for (float* one : m) check(cudaFree(one), "memory");
    for (float* one : v) check(cudaFree(one), "memory");
}

// Constants ----------------------------------------------------------------------------------------------------------

__global__ void copy(size_t n, const float4* from, float4* to) {
    for (size_t k = COLUMN; k < n; k += size_t(gridDim.x) * blockDim.x) to[k] = from[k];
}

// One thread follows addresses, each of which is in the element before: cycles of an access whose data are where the
// working set fits. `cached`: through L1, as loads of data that are only read.
template <bool cached>
__global__ void chase(const unsigned* next, unsigned steps, long long* cycles, unsigned* sink) {
    unsigned at = 0;
    for (unsigned k = 0; k < steps; k++) at = cached ? __ldca(next + at) : __ldcg(next + at);  // warms
    const long long begin = clock64();
    for (unsigned k = 0; k < steps; k++) at = cached ? __ldca(next + at) : __ldcg(next + at);
    *cycles = clock64() - begin;
    *sink = at;
}

__global__ void dependent_adds(float by, int rounds, long long* cycles, float* sink) {
    float x = by;
    const long long begin = clock64();
#pragma unroll 16
    for (int k = 0; k < rounds; k++) x = x * by + by;
    *cycles = clock64() - begin;
    *sink = x;
}

// Warps of one multiprocessor load words `stride` apart from L2: cycles for each line of 128 bytes that a warp touches.
__global__ void loads_of_lines(const float* from, int stride, int rounds, unsigned mask, long long* cycles, float* sink) {
    float sum = 0;
    unsigned at = threadIdx.x * stride;
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 8
    for (int k = 0; k < rounds; k++) {
        sum += __ldcg(from + (at & mask));
        at += blockDim.x * stride;
    }
    __syncthreads();
    if (threadIdx.x == 0) *cycles = clock64() - begin;
    sink[threadIdx.x] = sum;
}

__global__ void nothing() {}

static double chased(unsigned bytes, unsigned stride_bytes, bool cached) {
    const unsigned count = bytes / 4, stride = stride_bytes / 4, steps = count / stride;
    std::vector<unsigned> next(count, 0);
    for (unsigned k = 0; k < steps; k++) next[k * stride] = ((k + 1) % steps) * stride;
    unsigned *there, *sink;
    long long* cycles;
    check(cudaMalloc(&there, bytes), "memory of the chase");
    check(cudaMalloc(&sink, 4), "memory");
    check(cudaMalloc(&cycles, 8), "memory");
    check(cudaMemcpy(there, next.data(), bytes, cudaMemcpyHostToDevice), "copy");
    if (cached)
        chase<true><<<1, 1>>>(there, steps, cycles, sink);
    else
        chase<false><<<1, 1>>>(there, steps, cycles, sink);
    long long found = 0;
    check(cudaMemcpy(&found, cycles, 8, cudaMemcpyDeviceToHost), "chase");
    for (void* one : {(void*)there, (void*)sink, (void*)cycles}) check(cudaFree(one), "memory");
    return double(found) / steps;
}

static void constant(const char* key, double value, const char* how) {
    std::printf("constant,%s,%.6g,%s\n", key, value, how);
    std::fflush(stdout);
}

static double line_cycles(int stride, const float* from, unsigned mask) {
    const int rounds = 512, threads = 1024;
    long long *cycles, found = 0;
    float* sink;
    check(cudaMalloc(&cycles, 8), "memory");
    check(cudaMalloc(&sink, threads * sizeof(float)), "memory");
    for (int k = 0; k < 2; k++) loads_of_lines<<<1, threads>>>(from, stride, rounds, mask, cycles, sink);
    check(cudaMemcpy(&found, cycles, 8, cudaMemcpyDeviceToHost), "loads of lines");
    check(cudaFree(cycles), "memory");
    check(cudaFree(sink), "memory");
    return double(found) / (double(rounds) * threads / 32);  // a warp instruction
}

static void measure_constants(const cudaDeviceProp& card) {
    const unsigned l2 = card.l2CacheSize ? card.l2CacheSize : 1u << 20;
    constant("latency_cycles.l1", chased(8192, 128, true), "pointer chase in 8 KB through L1");
    constant("latency_cycles.l2", chased(l2 / 4, 128, false), "pointer chase in a quarter of L2 past L1");
    constant("latency_cycles.memory", chased(std::min(l2 * 16u, 1u << 30), 512, false), "pointer chase in 16 times L2");
    long long *cycles, found = 0;
    float *sink, *lines;
    check(cudaMalloc(&cycles, 8), "memory");
    check(cudaMalloc(&sink, 4), "memory");
    dependent_adds<<<1, 1>>>(0.5f, 1 << 16, cycles, sink);
    check(cudaMemcpy(&found, cycles, 8, cudaMemcpyDeviceToHost), "additions");
    constant("latency_cycles.arithmetic", double(found) / (1 << 16), "dependent multiply and add");
    unsigned words = 1;
    while (words * 2 * sizeof(float) <= l2 / 2) words *= 2;
    check(cudaMalloc(&lines, words * sizeof(float)), "memory of lines");
    check(cudaMemset(lines, 0, words * sizeof(float)), "memory");
    const double one = line_cycles(1, lines, words - 1), sector = line_cycles(8, lines, words - 1),
                 line = line_cycles(32, lines, words - 1);
    constant("load_store.load_sector", (sector - one) / 28, "loads of 32 sectors less loads of 4; from L2");
    constant("load_store.load_line", std::max(0.0, (line - sector) / 24), "loads of 32 lines less those of 8 at 32 sectors");
    const size_t bytes = size_t(256) << 20;
    float4 *from, *to;
    check(cudaMalloc(&from, bytes), "memory of the copy");
    check(cudaMalloc(&to, bytes), "memory of the copy");
    check(cudaMemset(from, 0, bytes), "memory");
    const Times copying = timed(9, [&] { copy<<<card.multiProcessorCount * 8, 512>>>(bytes / 16, from, to); });
    constant("dram.reached_gb_s", 2e-6 * bytes / copying.median, "copy of 256 MB; dram.efficiency is this by the data sheet");
    constant("host.kernel_start_us", 1e3 * timed(99, [] { nothing<<<1, 1>>>(); }).median, "an empty kernel between events");
    std::vector<char> host(64 << 20);
    const Times moving =
        timed(5, [&] { check(cudaMemcpy(from, host.data(), host.size(), cudaMemcpyHostToDevice), "copy"); });
    constant("host.transfer_gb_s", 1e-6 * host.size() / moving.median, "64 MB of pageable memory to the card");
    for (void* one_of : {(void*)cycles, (void*)sink, (void*)lines, (void*)from, (void*)to})
        check(cudaFree(one_of), "memory");
}

int main(int count, char** words) {
    const bool quick = count > 1 && !std::strcmp(words[1], "--quick");
    std::vector<int> sizes = quick ? std::vector<int>{512} : std::vector<int>{1024, 2048};
    if (count > 2 && !std::strcmp(words[1], "--n")) sizes = {std::atoi(words[2])};
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "no card");
    cudaDeviceProp card;
    check(cudaGetDeviceProperties(&card, 0), "properties of the card");
    int khz = 0;
    check(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0), "clock of the card");
    std::printf("card,%s,%d%d,%d,%d\n", card.name, card.major, card.minor, card.multiProcessorCount, khz / 1000);
    measure_constants(card);
    measure_all(sizes, quick ? 3 : 5);
    return 0;
}
