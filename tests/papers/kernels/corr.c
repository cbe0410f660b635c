/* The correlation matrix of N variables, N observations of each. */
#include <math.h>
#ifndef N
#define N 1024
#endif

void correlation(float n, float eps, float data[N][N], float mean[N], float stddev[N], float symmat[N][N])
{
    for (int j = 0; j < N; j++) {
        mean[j] = 0;
        for (int i = 0; i < N; i++)
            mean[j] += data[i][j];
        mean[j] /= n;
    }
    for (int j = 0; j < N; j++) {
        stddev[j] = 0;
        for (int i = 0; i < N; i++)
            stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        stddev[j] = sqrtf(stddev[j] / n);
        if (stddev[j] <= eps)
            stddev[j] = 1;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            data[i][j] = (data[i][j] - mean[j]) / (sqrtf(n) * stddev[j]);
    for (int j1 = 0; j1 < N - 1; j1++)
        for (int j2 = j1 + 1; j2 < N; j2++) {
            symmat[j1][j2] = 0;
            for (int i = 0; i < N; i++)
                symmat[j1][j2] += data[i][j1] * data[i][j2];
        }
}
