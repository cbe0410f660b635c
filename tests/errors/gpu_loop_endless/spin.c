#define N 32
void spin(float a[N])
{
    for (int i = 0; i < N; i++) {
        int k = 0;
        while (k >= 0)
            a[i] += 1;
    }
}
