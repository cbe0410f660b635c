#define N 64
#define ALPHA 1.5f

float scale(float x) { return x * ALPHA; }

void kernel(float a[N][N], float b[N][N], int c[N], int d[N])
{
    for (int i = 0; i < N; i++) {
        int sum = 0;
        for (int j = 0; j < N; j++) {
            a[i][j] = scale(b[i][j]) + (float)(c[j] >> 2);
            if (c[j] > 3 && j % 2 == 0)
                sum += c[j];
        }
        int k = 0;
        while (k < 4) { sum ^= k; k = k + 1; }
        d[i] = sum;
    }
}
