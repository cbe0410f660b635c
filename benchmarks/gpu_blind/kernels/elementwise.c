/* Elementwise operations, one element a thread; N elements. */
void binary_add(float a[N], float b[N], float c[N]) { for (long i = 0; i < N; i++) c[i] = a[i] + b[i]; }
void binary_mul(float a[N], float b[N], float c[N]) { for (long i = 0; i < N; i++) c[i] = a[i] * b[i]; }
void binary_div(float a[N], float b[N], float c[N]) { for (long i = 0; i < N; i++) c[i] = a[i] / b[i]; }
void binary_pow(float a[N], float b[N], float c[N]) { for (long i = 0; i < N; i++) c[i] = powf(a[i], b[i]); }
void unary_add(float s, float a[N], float c[N]) { for (long i = 0; i < N; i++) c[i] = a[i] + s; }
void unary_mul(float s, float a[N], float c[N]) { for (long i = 0; i < N; i++) c[i] = a[i] * s; }
void unary_div(float s, float a[N], float c[N]) { for (long i = 0; i < N; i++) c[i] = s / a[i]; }
void unary_pow(float s, float a[N], float c[N]) { for (long i = 0; i < N; i++) c[i] = powf(a[i], s); }
void relu(float a[N], float c[N]) { for (long i = 0; i < N; i++) c[i] = fmaxf(a[i], 0.0f); }
void hyperbolic(float a[N], float c[N]) { for (long i = 0; i < N; i++) c[i] = tanhf(a[i]); }
