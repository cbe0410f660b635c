void k(float a[64]) { for (int i = 0; i < 64; i++) a[i] = 99999999999999999999999; }
