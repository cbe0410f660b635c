/* The strided access of Hu, Liu and Dong, section V.B: neighbouring threads touch elements that are STRIDE apart. */
#ifndef N
#define N 16384
#endif
#ifndef STRIDE
#define STRIDE 1
#endif

void strided(float a[N * STRIDE], float b[N * STRIDE])
{
    int i;
    for (i = 0; i < N; i++)
        b[i * STRIDE] = a[i * STRIDE];
}
