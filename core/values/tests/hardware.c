/* Computes IEEE 754 operations as the processor and the C library do, in the rounding mode that each record asks for.
   Reads records of five words of 64 bits (operation, mode, three operands) and writes one word for each. */
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The remainder is taken of long doubles, for which x86-64 has an instruction: the C library's own code for shorter
   formats gives some zeros the wrong sign. It is exact, hence the same. */
#pragma STDC FENV_ACCESS ON

static double d(uint64_t w) { volatile double x; memcpy((void *)&x, &w, 8); return x; }
static float f(uint64_t w) { volatile float x; uint32_t v = (uint32_t)w; memcpy((void *)&x, &v, 4); return x; }
static uint64_t wd(volatile double x) { uint64_t w; memcpy(&w, (void *)&x, 8); return w; }
static uint64_t wf(volatile float x) { uint32_t w; memcpy(&w, (void *)&x, 4); return w; }

int main(void)
{
	static const int modes[4] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
	uint64_t r[5];
	while (fread(r, sizeof r, 1, stdin) == 1) {
		volatile double a = d(r[2]), b = d(r[3]), c = d(r[4]);
		volatile float x = f(r[2]), y = f(r[3]), z = f(r[4]);
		uint64_t out = 0;
		fesetround(modes[r[1] & 3]);
		switch (r[0]) {
		case 0: out = wd(a + b); break;
		case 1: out = wd(a - b); break;
		case 2: out = wd(a * b); break;
		case 3: out = wd(a / b); break;
		case 4: out = wd(fma(a, b, c)); break;
		case 5: out = wd(sqrt(a)); break;
		case 6: out = wd((double)remainderl(a, b)); break;
		case 7: out = wd(rint(a)); break;
		case 8: out = wd(fmin(a, b)); break;
		case 9: out = wd(fmax(a, b)); break;
		case 10: out = (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4; break;
		case 11: out = !!isnormal(a) | (fpclassify(a) == FP_SUBNORMAL) << 1 | (a == 0) << 2 | !!isinf(a) << 3
			| !!isnan(a) << 4; break;
		case 12: out = wf((float)a); break;
		case 13: out = wd((double)(int64_t)r[2]); break;
		case 14: out = wd((double)r[2]); break;
		case 15: out = (uint64_t)llrint(a); break;
		case 16: out = wd(fabs(a)); break;
		case 17: out = wd(-a); break;
		case 32: out = wf(x + y); break;
		case 33: out = wf(x - y); break;
		case 34: out = wf(x * y); break;
		case 35: out = wf(x / y); break;
		case 36: out = wf(fmaf(x, y, z)); break;
		case 37: out = wf(sqrtf(x)); break;
		case 38: out = wf((float)remainderl(x, y)); break;
		case 39: out = wf(rintf(x)); break;
		case 40: out = wf(fminf(x, y)); break;
		case 41: out = wf(fmaxf(x, y)); break;
		case 42: out = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4; break;
		case 43: out = !!isnormal(x) | (fpclassify(x) == FP_SUBNORMAL) << 1 | (x == 0) << 2 | !!isinf(x) << 3
			| !!isnan(x) << 4; break;
		case 44: out = wd((double)x); break;
		case 45: out = wf((float)(int64_t)r[2]); break;
		case 46: out = wf((float)r[2]); break;
		case 47: out = (uint64_t)llrintf(x); break;
		case 48: out = wf(fabsf(x)); break;
		case 49: out = wf(-x); break;
		}
		fesetround(FE_TONEAREST);
		fwrite(&out, sizeof out, 1, stdout);
	}
	return 0;
}
