/* A 3 by 3 stencil. x: columns. */
void conv2d(float A[N][N], float B[N][N])
{
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            B[i][j] = 0.2f * A[i - 1][j - 1] + 0.5f * A[i - 1][j] - 0.8f * A[i - 1][j + 1]
                    - 0.3f * A[i][j - 1] + 0.6f * A[i][j] - 0.9f * A[i][j + 1]
                    + 0.4f * A[i + 1][j - 1] + 0.7f * A[i + 1][j] + 0.1f * A[i + 1][j + 1];
}
