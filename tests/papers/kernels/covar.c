/* The covariance matrix of N variables, N observations of each. */
#ifndef N
#define N 1024
#endif

void covariance(float n, float data[N][N], float mean[N], float symmat[N][N])
{
    for (int j = 0; j < N; j++) {
        mean[j] = 0;
        for (int i = 0; i < N; i++)
            mean[j] += data[i][j];
        mean[j] /= n;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            data[i][j] -= mean[j];
    for (int j1 = 0; j1 < N; j1++)
        for (int j2 = j1; j2 < N; j2++) {
            symmat[j1][j2] = 0;
            for (int i = 0; i < N; i++)
                symmat[j1][j2] += data[i][j1] * data[i][j2];
        }
}
