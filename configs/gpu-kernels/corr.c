/* Correlation of N columns with N rows, which are numbered from 1. REPEAT threads in y do the same work again. */
#include <math.h>

void mean(float count, float data[N + 1][N + 1], float average[N + 1])
{
#pragma dse parallel(r, j)
    for (int r = 0; r < REPEAT; r++)
        for (int j = 0; j < N; j++) {
            average[j + 1] = 0;
            for (int i = 1; i <= N; i++)
                average[j + 1] += data[i][j + 1];
            average[j + 1] /= count;
        }
}

void deviation(float count, float data[N + 1][N + 1], float average[N + 1], float spread[N + 1])
{
#pragma dse parallel(r, j)
    for (int r = 0; r < REPEAT; r++)
        for (int j = 0; j < N; j++) {
            spread[j + 1] = 0;
            for (int i = 1; i <= N; i++)
                spread[j + 1] += (data[i][j + 1] - average[j + 1]) * (data[i][j + 1] - average[j + 1]);
            spread[j + 1] = sqrtf(spread[j + 1] / count);
        }
}

void normalise(float root, float data[N + 1][N + 1], float average[N + 1], float spread[N + 1])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            data[i + 1][j + 1] -= average[j + 1];
            data[i + 1][j + 1] /= root * spread[j + 1];
        }
}

void correlate(float data[N + 1][N + 1], float matrix[N + 1][N + 1])
{
#pragma dse parallel(r, a)
    for (int r = 0; r < REPEAT; r++)
        for (int a = 0; a < N - 1; a++) {
            matrix[a + 1][a + 1] = 1;
            for (int b = a + 2; b <= N; b++) {
                matrix[a + 1][b] = 0;
                for (int i = 1; i <= N; i++)
                    matrix[a + 1][b] += data[i][a + 1] * data[i][b];
                matrix[b][a + 1] = matrix[a + 1][b];
            }
        }
}
