package load

import "math/rand/v2"

// sysbench's templates of texts: groups of eleven digits, joined by hyphens.
const (
	groupDigits = 11
	cGroups     = 10 // 119 characters, for CHAR(120)
	padGroups   = 5  // 59 characters, for CHAR(60)
)

// digits writes a random text of n groups into memory and returns it.
func digits(rng *rand.Rand, memory []byte, n int) []byte {
	b := memory[:n*(groupDigits+1)-1]
	for g := range n {
		at := g * (groupDigits + 1)
		if g > 0 {
			b[at-1] = '-'
		}
		for x, i := rng.Uint64(), 0; i < groupDigits; i++ {
			b[at+i] = '0' + byte(x%10)
			x /= 10
		}
	}
	return b
}

// pick returns a random number from 1 to n.
type pick func(n int) int

func uniform(rng *rand.Rand) pick {
	return func(n int) int { return 1 + rng.IntN(n) }
}

// special is sysbench's "special" distribution with its defaults (rand-spec-iter 12, -pct 1,
// -res 75; src/sb_rand.c): three quarters of the numbers are uniform over the middle 1 %, the
// others are the mean of twelve uniform numbers.
func special(rng *rand.Rand) pick {
	const iter, pct, res = 12, 1, 75
	return func(n int) int {
		x := rng.IntN(n * (100 / (100 - res)))
		if x < n {
			sum := 0
			for range iter {
				sum += rng.IntN(n)
			}
			return 1 + sum/iter
		}
		few := max(n*pct/100, 1)
		return 1 + x%few + n/2 - n*pct/200
	}
}
