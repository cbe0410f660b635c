/* Column K of a Gram-Schmidt orthogonalisation: its normalisation and the update of the columns behind it. */
#ifndef N
#define N 2048
#endif
#ifndef K
#define K 0
#endif

void gramschmidt_column(float norm, float A[N][N], float R[N][N], float Q[N][N])
{
    for (int i = 0; i < N; i++)
        Q[i][K] = A[i][K] / norm;
    for (int j = K + 1; j < N; j++) {
        R[K][j] = 0;
        for (int i = 0; i < N; i++)
            R[K][j] += Q[i][K] * A[i][j];
        for (int i = 0; i < N; i++)
            A[i][j] -= Q[i][K] * R[K][j];
    }
}
