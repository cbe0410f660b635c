/* Fourier transforms of TILE complex numbers each, radix 2, decimation in frequency, in local memory; the results stand in
   the order of reversed bits. Every item takes part in one butterfly of each stage, of which it keeps its own half. N is a
   multiple of TILE, which is a power of two. */
__kernel void fft(__global const float2 *signal, __global float2 *spectrum)
{
    __local float2 part[TILE];
    int item = get_local_id(0);
    part[item] = signal[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = TILE / 2; half_size > 0; half_size >>= 1) {
        int place = item & (half_size - 1);
        int lower = item & half_size;
        float2 own = part[item];
        float2 other = part[item ^ half_size];
        float angle = -3.14159274f * place / half_size;
        float2 result;
        if (lower) {
            float2 off = other - own;
            result.x = off.x * cos(angle) - off.y * sin(angle);
            result.y = off.x * sin(angle) + off.y * cos(angle);
        } else {
            result = own + other;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        part[item] = result;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    spectrum[get_global_id(0)] = part[item];
}
