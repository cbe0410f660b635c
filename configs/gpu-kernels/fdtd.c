/* One time step of a two-dimensional finite difference scheme. x: columns. */
void electric_y(float source, float ey[N + 1][N], float hz[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            if (i == 0)
                ey[i][j] = source;
            else
                ey[i][j] = ey[i][j] - 0.5f * (hz[i][j] - hz[i - 1][j]);
        }
}

void electric_x(float ex[N][N + 1], float hz[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 1; j < N; j++)
            ex[i][j] = ex[i][j] - 0.5f * (hz[i][j] - hz[i][j - 1]);
}

void magnetic(float ex[N][N + 1], float ey[N + 1][N], float hz[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            hz[i][j] = hz[i][j] - 0.7f * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
}
