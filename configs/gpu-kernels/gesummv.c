/* y = alpha * A * x + beta * B * x. REPEAT threads in y do the same work again. */
void gesummv(float alpha, float beta, float A[N][N], float B[N][N], float x[N], float y[N], float t[N])
{
#pragma dse parallel(r, i)
    for (int r = 0; r < REPEAT; r++)
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                t[i] += A[i][j] * x[j];
                y[i] += B[i][j] * x[j];
            }
            y[i] = alpha * t[i] + beta * y[i];
        }
}
