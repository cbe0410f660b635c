/* C = alpha * A * B + beta * C */
#ifndef N
#define N 1024
#endif

void gemm(float alpha, float beta, float A[N][N], float B[N][N], float C[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            C[i][j] *= beta;
            for (int k = 0; k < N; k++)
                C[i][j] += alpha * A[i][k] * B[k][j];
        }
}
