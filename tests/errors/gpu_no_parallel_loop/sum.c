#define N 1024
void prefix(float a[N], float b[N])
{
    for (int i = 1; i < N; i++)
        a[i] = a[i - 1] + b[i];
}
void total(float s[1], float b[N])
{
    for (int i = 0; i < N; i++)
        s[0] += b[i];
}
