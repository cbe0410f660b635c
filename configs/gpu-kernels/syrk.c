/* C = alpha * A * A' + beta * C, all of C. x: columns. */
void syrk(float alpha, float beta, float A[N][N], float C[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            C[i][j] *= beta;
            for (int k = 0; k < N; k++)
                C[i][j] += alpha * A[i][k] * A[j][k];
        }
}
