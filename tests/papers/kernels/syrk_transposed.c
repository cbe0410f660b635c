/* syrk.c with a transposed copy of A for the accesses that are a row apart (CGPredict, section 4.4.1). */
#ifndef N
#define N 1024
#endif

void syrk(float alpha, float beta, float A[N][N], float At[N][N], float C[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            C[i][j] *= beta;
            for (int k = 0; k < N; k++)
                C[i][j] += alpha * A[i][k] * At[k][j];
        }
}
