/* The loops that element-wise ops and sums are held against: plain C, for the compiler to vectorise. */
#include <stddef.h>

void add(const float *a, const float *b, float *c, size_t n) {
    for (size_t i = 0; i < n; i++) c[i] = a[i] + b[i];
}

void relu(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0;
}

/* Sixteen sums side by side: in source order a compiler may not vectorise a sum. */
void sum_rows(const float *x, float *sums, size_t rows, size_t columns) {
    for (size_t row = 0; row < rows; row++) {
        const float *from = x + row * columns;
        float partial[16] = {0};
        size_t i = 0;
        for (; i + 16 <= columns; i += 16)
            for (size_t lane = 0; lane < 16; lane++) partial[lane] += from[i + lane];
        float total = 0;
        for (size_t lane = 0; lane < 16; lane++) total += partial[lane];
        for (; i < columns; i++) total += from[i];
        sums[row] = total;
    }
}
