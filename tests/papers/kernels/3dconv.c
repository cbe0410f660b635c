/* A convolution over three planes; the threads cover the two inner dimensions, each walks along the outer. */
#ifndef N
#define N 256
#endif

void convolution_3d(float A[N][N][N], float B[N][N][N])
{
    const float c11 = 2, c21 = 5, c31 = -8, c12 = -3, c22 = 6, c32 = -9, c13 = 4, c23 = 7, c33 = 10;

    for (int j = 1; j < N - 1; j++)
        for (int k = 1; k < N - 1; k++)
            for (int i = 1; i < N - 1; i++)
                B[i][j][k] = c11 * A[i - 1][j - 1][k - 1] + c13 * A[i + 1][j - 1][k - 1]
                           + c21 * A[i - 1][j - 1][k - 1] + c23 * A[i + 1][j - 1][k - 1]
                           + c31 * A[i - 1][j - 1][k - 1] + c33 * A[i + 1][j - 1][k - 1]
                           + c12 * A[i][j - 1][k] + c22 * A[i][j][k] + c32 * A[i][j + 1][k]
                           + c11 * A[i - 1][j - 1][k + 1] + c13 * A[i + 1][j - 1][k + 1]
                           + c21 * A[i - 1][j][k + 1] + c23 * A[i + 1][j][k + 1]
                           + c31 * A[i - 1][j + 1][k + 1] + c33 * A[i + 1][j + 1][k + 1];
}
