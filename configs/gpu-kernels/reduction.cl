/* Sums of TILE numbers each, by a tree in local memory. N is a multiple of TILE, which is a power of two. */
__kernel void reduction(__global const float *values, __global float *sums)
{
    __local float part[TILE];
    int item = get_local_id(0);
    part[item] = values[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int distance = TILE / 2; distance > 0; distance >>= 1) {
        if (item < distance)
            part[item] += part[item + distance];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        sums[get_group_id(0)] = part[0];
}
