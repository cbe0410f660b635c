/* A = A + u1 * v1' + u2 * v2', the first of the loop nests of gemver */
#ifndef N
#define N 2048
#endif

void gemver1(float A[N][N], float u1[N], float v1[N], float u2[N], float v2[N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
}
