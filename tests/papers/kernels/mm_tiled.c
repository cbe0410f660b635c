/* One product of 2mm.c and 3mm.c, tiled into shared memory. */
#ifndef N
#define N 4096
#endif
#define TILE 32

void mm(float A[N][N], float B[N][N], float C[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            __shared__ float As[TILE][TILE];
            __shared__ float Bs[TILE][TILE];
            int row = i % TILE;
            int column = j % TILE;
            C[i][j] = 0;
            for (int t = 0; t < N; t += TILE) {
                As[row][column] = A[i][t + column];
                Bs[row][column] = B[t + row][j];
                __syncthreads();
                for (int k = 0; k < TILE; k++)
                    C[i][j] += As[row][k] * Bs[k][column];
                __syncthreads();
            }
        }
}
