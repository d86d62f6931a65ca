package redis

import (
	"bytes"
	"testing"

	"github.com/tarelab/tare/internal/databases/redis/resp"
)

// The commands of a block are the same in all arms, and follow the protocol.
func TestRedisCommands(t *testing.T) {
	for name, test := range redisTests() {
		p := Params{Bytes: 5, Keys: 100}
		a, b, other := newRedisCommands(p, test, 0), newRedisCommands(p, test, 0), newRedisCommands(p, test, 1)
		var one, two, three []byte
		for range 200 {
			one, two, three = a.next(one), b.next(two), other.next(three)
		}
		if !bytes.Equal(one, two) {
			t.Errorf("%s: the same seed makes other commands", name)
		}
		if bytes.Equal(one, three) && name != "ping" && name != "list" {
			t.Errorf("%s: two connections send the same", name)
		}
		r := resp.NewReader(bytes.NewReader(one)) // a command has the form of an array
		for range 200 {
			if err := r.Answer(nil); err != nil {
				t.Fatalf("%s: %v in %q", name, err, one[:100])
			}
		}
		if r.Buffered() {
			t.Errorf("%s: more bytes than commands", name)
		}
		var batch []byte
		if n := testing.AllocsPerRun(100, func() {
			batch = a.next(a.next(batch[:0]))
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
