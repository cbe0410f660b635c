/* syr2k.c tiled into shared memory. */
#ifndef N
#define N 1024
#endif
#define TILE 32

void syr2k(float alpha, float beta, float A[N][N], float B[N][N], float C[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            __shared__ float Ai[TILE][TILE];
            __shared__ float Aj[TILE][TILE];
            __shared__ float Bi[TILE][TILE];
            __shared__ float Bj[TILE][TILE];
            int row = i % TILE;
            int column = j % TILE;
            C[i][j] *= beta;
            for (int t = 0; t < N; t += TILE) {
                Ai[row][column] = A[i][t + column];
                Aj[row][column] = A[j - column + row][t + column];
                Bi[row][column] = B[i][t + column];
                Bj[row][column] = B[j - column + row][t + column];
                __syncthreads();
                for (int k = 0; k < TILE; k++)
                    C[i][j] += alpha * Ai[row][k] * Bj[column][k] + alpha * Bi[row][k] * Aj[column][k];
                __syncthreads();
            }
        }
}
