void f(float a[8])
{
    a[0] = 0;
}
