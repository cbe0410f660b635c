/* A cosine transform of each row as a product with the table of cosines. */
#ifndef N
#define N 1024
#endif

void dct1d(float in[N][N], float cosine[N][N], float out[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            out[i][j] = 0;
            for (int k = 0; k < N; k++)
                out[i][j] += in[i][k] * cosine[j][k];
        }
}
