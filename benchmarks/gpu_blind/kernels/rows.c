/* Work on the rows of a matrix, WIDTH threads a row that take its elements in turn. The few steps in which the threads of
   a row put together what each of them found are left out. */
void softmax(float x[ROWS][COLUMNS], float y[ROWS][COLUMNS], float total[ROWS][WIDTH])
{
    for (int r = 0; r < ROWS; r++)
        for (int t = 0; t < WIDTH; t++) {
            float most = x[r][t];
            for (int k = 0; k < COLUMNS / WIDTH; k++) most = fmaxf(most, x[r][k * WIDTH + t]);
            float sum = 0;
            for (int k = 0; k < COLUMNS / WIDTH; k++) sum += expf(x[r][k * WIDTH + t] - most);
            total[r][t] = sum;
            for (int k = 0; k < COLUMNS / WIDTH; k++) y[r][k * WIDTH + t] = expf(x[r][k * WIDTH + t] - most) / sum;
        }
}

void layer_norm(float x[ROWS][COLUMNS], float y[ROWS][COLUMNS], float g[COLUMNS], float b[COLUMNS], float total[ROWS][WIDTH])
{
    for (int r = 0; r < ROWS; r++)
        for (int t = 0; t < WIDTH; t++) {
            float sum = 0;
            float squares = 0;
            for (int k = 0; k < COLUMNS / WIDTH; k++) {
                sum += x[r][k * WIDTH + t];
                squares += x[r][k * WIDTH + t] * x[r][k * WIDTH + t];
            }
            total[r][t] = sum;
            for (int k = 0; k < COLUMNS / WIDTH; k++)
                y[r][k * WIDTH + t] = (x[r][k * WIDTH + t] - sum) * squares * g[k * WIDTH + t] + b[k * WIDTH + t];
        }
}
