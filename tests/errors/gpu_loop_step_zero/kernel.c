#define N 256
void f(float A[N]) { for (int i = 0; i < N; i += 0) A[i] = 1; }
