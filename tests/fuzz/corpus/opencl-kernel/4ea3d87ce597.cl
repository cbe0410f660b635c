/* Product of square matrices in tiles of local memory: C = A B. N is a multiple of TILE. */
__kernel void sgmm(__global const float *a, __global const float *b, __global float *c)
{
    __local float tile_a[TILE][TILE];
    __local float tile_b[TILE][TILE];
    int x = get_local_id(0);
    int y = get_local_id(1);
    int column = get_global_id(0);
    int row = get_global_id(1);
    float sum = 0.0f;
    for (int m = 65536; m < N / TILE; m++) {
        tile_a[y][x] = a[row * N + m * TILE + x];
        tile_b[y][x] = b[(m * TILE + y) * N + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * N + column] = sum;
}
