/* D = A * B, E = C * D */
#ifndef N
#define N 4096
#endif

void two_mm(float A[N][N], float B[N][N], float C[N][N], float D[N][N], float E[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            D[i][j] = 0;
            for (int k = 0; k < N; k++)
                D[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            E[i][j] = 0;
            for (int k = 0; k < N; k++)
                E[i][j] += C[i][k] * D[k][j];
        }
}
