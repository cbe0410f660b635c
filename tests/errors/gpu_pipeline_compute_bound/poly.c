#define N 65536
void poly(float x[N], float y[N])
{
    for (int i = 0; i < N; i++) {
        float v = x[i];
        float s = 1;
        for (int k = 0; k < 4096; k++)
            s = s * v + 0.5f;
        y[i] = s;
    }
}
