package pgbench

import "github.com/tarelab/tare/internal/format"

// cursor walks through a line; the first thing that does not fit makes it bad.
type cursor struct {
	b   []byte
	i   int
	bad bool
}

// lit passes over a text.
func (c *cursor) lit(s string) {
	if !c.try(s) {
		c.bad = true
	}
}

// try passes over a text if it is there.
func (c *cursor) try(s string) bool {
	if len(c.b)-c.i < len(s) || string(c.b[c.i:c.i+len(s)]) != s {
		return false
	}
	c.i += len(s)
	return true
}

// num passes over a number that is not negative.
func (c *cursor) num() float64 {
	x, n := format.Number(c.b[min(c.i, len(c.b)):])
	if n == 0 || x < 0 {
		c.bad = true
		return 0
	}
	c.i += n
	return x
}

// orNaN passes over a number or the nan that old versions print for nothing.
func (c *cursor) orNaN() format.Num {
	for _, w := range []string{"nan", "-nan", "NaN", "-NaN"} {
		if c.try(w) {
			return format.Num{}
		}
	}
	return format.Some(c.num())
}
