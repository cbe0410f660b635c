/* y = A' * (A * x): a thread has a row of A, then a column. REPEAT threads in y do the same work again. */
void rows(float A[N][N], float x[N], float t[N])
{
#pragma dse parallel(r, i)
    for (int r = 0; r < REPEAT; r++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                t[i] += A[i][j] * x[j];
}

void columns(float A[N][N], float y[N], float t[N])
{
#pragma dse parallel(r, j)
    for (int r = 0; r < REPEAT; r++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                y[j] += A[i][j] * t[i];
}
