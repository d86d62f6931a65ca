package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSize(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "64": 64, "7B": 7, "64KiB": 65536, "64K": 65536, "64kb": 65536, "512m": 512 << 20, "128Mi": 128 << 20, "2G": 2 << 30, "1GB": 1 << 30, "1TiB": 1 << 40, "3T": 3 << 40,
		"1.5GiB": 3 << 29, "1P": 1 << 50, "2 GiB": 2 << 30, "0.3k": 307, "9223372036854775807": math.MaxInt64,
	} {
		if got, err := Size(in); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", in, got, err, want)
		}
	}
	for _, bad := range []string{
		"", "K", "MiB", "-1", "-1M", "+1M", "1.5", "1.5B", "5iB", "5i", "1e3B", "1,5G", "0x10", "NaNG", "64 K iB", "  1M", "1M ", "1Mb/s", "1Mbit", "8EiB", "8192P", "9223372036854775808", "1m5", "1..5G", ".5G", "5.G",
	} {
		if got, err := Size(bad); err == nil {
			t.Errorf("%q: %d", bad, got)
		} else if !strings.Contains(err.Error(), SizeForms) {
			t.Error(err)
		}
	}
}

// All spellings of a unit are one size, in any case, and what Bytes writes is read back.
func TestSpellings(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.Int64Range(0, 8191).Draw(r, "n")
		power := rapid.IntRange(0, 4).Draw(r, "power")
		want := n << (10 * (power + 1))
		letter := string("kmgtp"[power])
		for _, end := range []string{"", "b", "B", "i", "I", "ib", "iB", "IB"} {
			for _, l := range []string{letter, strings.ToUpper(letter)} {
				for _, blank := range []string{"", " "} {
					if got, err := Size(fmt.Sprint(n, blank, l+end)); power < 4 && (err != nil || got != want) {
						r.Errorf("%d%s%s%s: %d, %v", n, blank, l, end, got, err)
					}
				}
			}
		}
		x := rapid.Int64Min(0).Draw(r, "bytes")
		if got, err := Size(Bytes(x)); err != nil || got != x {
			r.Errorf("%s: %d, %v", Bytes(x), got, err)
		}
		if got, err := Size(strconv.FormatInt(x, 10)); err != nil || got != x {
			r.Errorf("%d: %d, %v", x, got, err)
		}
	})
}

// Whatever the text, a size is not below 0.
func FuzzSize(f *testing.F) {
	for _, s := range []string{"1M", "1.999999999999999999P", "8191.9P", "9223372036854775807", "0.0000001k"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := Size(s); n < 0 || err != nil && n != 0 {
			t.Errorf("%q: %d, %v", s, n, err)
		}
	})
}
