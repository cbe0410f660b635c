/* A convolution of an image of 4096 x 4096 with a filter of 15 x 15, an element of the result a thread. */
#define N 4096
#define F 15
void convolution(float input[(N + F - 1) * (N + F - 1)], float filter[F * F], float output[N * N])
{
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            float sum = 0;
            for (int i = 0; i < F; i++)
                for (int j = 0; j < F; j++) sum += input[(y + i) * (N + F - 1) + x + j] * filter[i * F + j];
            output[y * N + x] = sum;
        }
}
