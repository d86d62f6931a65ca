package quantity

import (
	"math"
	"testing"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/record"
)

func TestNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	about := func(seconds float64) string { return AboutIn(messages.In(messages.English), seconds) }
	for _, c := range []struct{ got, want string }{
		{Percent(0.969), "-3.1 %"}, {Percent(1), "0.0 %"}, {Percent(0.9999), "0.0 %"}, {Percent(1.0149), "+1.5 %"},
		{Percent(2.5), "+150 %"}, {Percent(0), "-100 %"}, {Percent(124), "+12300 %"}, {Percent(nan), "–"}, {Percent(inf), "–"},
		{PlusMinus(0.018), "±1.8 %"}, {PlusMinus(-0.018), "±1.8 %"}, {PlusMinus(nan), "–"},
		{Interval(nil), "–"},
		{Interval(&record.Ratio{Ratio: 0.969, Low: 0.962, High: 0.976}), "-3.1 % [-3.8, -2.4]"},
		{Interval(&record.Ratio{Ratio: 1.0002, Low: 0.9998, High: 1.0006}), "+0.02 % [-0.02, +0.06]"},
		{Interval(&record.Ratio{Ratio: 0.994, Low: 0.988, High: 0.9999}), "-0.60 % [-1.20, -0.01]"},
		{Interval(&record.Ratio{Ratio: 0.994, Low: 0.988, High: 1.0001}), "-0.6 % [-1.2, 0.0]"},
		{Rate(12340), "12.3k/s"}, {Rate(999.7), "1.00k/s"}, {Rate(812), "812/s"}, {Rate(0), "0/s"}, {Rate(1.5e20), "1.5e+08T/s"},
		{Latency(81e-6), "81.0 µs"}, {Latency(0.0012), "1.20 ms"}, {Latency(0.9996), "1.00 s"}, {Latency(3e-10), "0.30 ns"},
		{Duration(0.25), "250 ms"}, {Duration(0.05), "50 ms"}, {Duration(2.14), "2.1 s"}, {Duration(45.4), "45 s"},
		{Duration(89.6), "90 s"}, {Duration(187.4), "3 min 7 s"}, {Duration(180), "3 min"}, {Duration(3599.7), "60 min"},
		{Duration(3720), "1 h 2 min"}, {Duration(200000), "2 d 8 h"}, {Duration(nan), "–"}, {Duration(1e300), "1.0e+288T s"},
		{Bytes(43 << 20), "43 MiB"}, {Bytes(3.4e6), "3.24 MiB"}, {Bytes(0), "0 B"}, {Bytes(nan), "–"},
		{about(3), "5 s"}, {about(47), "50 s"}, {about(127), "3 min"}, {about(7200), "2 h"}, {about(7201), "2.5 h"}, {about(39000), "11 h"}, {about(1e9), "over a month"},
		{Share(0.0041), "0.4 %"}, {Share(0.21), "21 %"}, {Size(0.01), "1 %"}, {Size(0.005), "0.5 %"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
