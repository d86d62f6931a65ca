package pgbench

import (
	"slices"
	"strings"
	"testing"
)

// Lines of pgbench 15.18; those that failed, were skipped or have a lag are as
// its documentation shows them.
const sample = `0 1 1205 0 1795251711 123456
1 1 884 0 1795251711 123999
0 199 2241 0 1175850568 995598
3 0 failed 0 1499414498 84905
3 0 deadlock 0 1499414498 84905 9
0 5 skipped 0 1412881037 915578 5000
0 2 1021 1 1412881037 912698 85 0
`

func TestPieces(t *testing.T) {
	want := []Transaction{
		{Latency: 1205e3, Ended: 1795251711_123456e3}, {Client: 1, Latency: 884e3, Ended: 1795251711_123999e3}, {Latency: 2241e3, Ended: 1175850568_995598e3},
		{Client: 3, Failed: true, Ended: 1499414498_084905e3}, {Client: 3, Failed: true, Ended: 1499414498_084905e3}, {Skipped: true, Ended: 1412881037_915578e3},
		{Latency: 1021e3, Ended: 1412881037_912698e3},
	}
	for size := 1; size < len(sample); size++ {
		var l Pieces
		var got []Transaction
		for b := []byte(sample); len(b) > 0; b = b[min(size, len(b)):] {
			if err := l.Feed(b[:min(size, len(b))], func(t Transaction) { got = append(got, t) }); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("in pieces of %d: %v", size, got)
		}
	}
	for _, bad := range []string{"\n", "x\n", "0 1\n", "0 1 2 3\n", "0 1 -2 0 1 2\n", "0 1 99999999999999999999 0 1 2\n", "0 1 gone 0 1 2\n", "0 1 5 0 1\n", "0 1 5 0 1 1000000\n"} {
		var l Pieces
		if err := l.Feed([]byte(bad), func(Transaction) {}); err == nil || !strings.Contains(err.Error(), "unknown line") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzPieces(f *testing.F) {
	f.Add([]byte(sample), 7)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		var whole, split []Transaction
		var one, two Pieces
		err := one.Feed(b, func(x Transaction) { whole = append(whole, x) })
		cut = min(max(cut, 0), len(b))
		if err2 := two.Feed(b[:cut], func(x Transaction) { split = append(split, x) }); err2 != nil {
			if err == nil {
				t.Fatal(err2)
			}
			return
		}
		err2 := two.Feed(b[cut:], func(x Transaction) { split = append(split, x) })
		if (err != nil) != (err2 != nil) || !slices.Equal(whole, split) {
			t.Fatalf("%v, %v; %v, %v", whole, err, split, err2)
		}
		for _, x := range whole {
			if x.Latency < 0 {
				t.Fatal(x)
			}
		}
	})
}

func BenchmarkPieces(b *testing.B) {
	b.SetBytes(int64(len(sample)))
	var l Pieces
	for b.Loop() {
		l.Feed([]byte(sample), func(Transaction) {})
	}
}
