package redis

import (
	"maps"
	"slices"

	"github.com/tarelab/tare/internal/databases/redis/resp"
	"github.com/tarelab/tare/internal/loads/load"
)

// redisTest is a test of redis-benchmark: the commands of a load.
type redisTest struct {
	// fill are the commands that create element i before the load is ready.
	fill []element
	// next appends a command to b.
	next func(c *redisCommands, b []byte) []byte
}

// redisCommands makes the commands of one connection. Their order follows from the block's seed
// alone.
type redisCommands struct {
	test  redisTest
	rng   *load.Sequence
	keys  int
	value []byte
	name  []byte // buffer for the name of a key or element
	pop   bool   // the list test pushed last, so it pops next
}

func newRedisCommands(p Params, test redisTest, thread int) *redisCommands {
	return &redisCommands{
		test: test, rng: load.NewSequence(redisSeed, thread), keys: p.Keys, value: load.Noise(p.Bytes, uint64(thread)),
	}
}

func (c *redisCommands) next(b []byte) []byte { return c.test.next(c, b) }

// Tests are the names of the tests: those of redis-benchmark, and mixed. Unlike redis-benchmark's,
// lists and sets keep their size, however long the run.
func Tests() []string { return slices.Sorted(maps.Keys(redisTests())) }

func redisTests() map[string]redisTest {
	get, set, count := onKey("GET", "key:", false), onKey("SET", "key:", true), onKey("INCR", "counter:", false)
	add, put, rank := onElement("SADD", "myset", ""), onElement("HSET", "myhash", "value"), onElement("ZADD", "myzset", "rank")
	return map[string]redisTest{
		"ping":  {nil, func(_ *redisCommands, b []byte) []byte { return resp.Command(b, "PING") }},
		"set":   {[]element{set}, random(set)},
		"get":   {[]element{set}, random(get)},
		"incr":  {[]element{count}, random(count)},
		"list":  {nil, pushOrPop},
		"sadd":  {[]element{add}, random(add)},
		"hset":  {[]element{put}, random(put)},
		"zadd":  {[]element{rank}, random(rank)},
		"mset":  {[]element{set}, tenKeys},
		"mixed": {[]element{set, count, put}, mixed(random(get), random(set), random(count), random(put))},
	}
}

// element appends a command on key or element number i to b.
type element = func(c *redisCommands, b []byte, i int) []byte

// random is a command on a random key or element.
func random(what element) func(*redisCommands, []byte) []byte {
	return func(c *redisCommands, b []byte) []byte { return what(c, b, c.rng.IntN(c.keys)) }
}

// onKey is a command on a key, with a value if valued.
func onKey(command, prefix string, valued bool) element {
	return func(c *redisCommands, b []byte, i int) []byte {
		if !valued {
			return c.named(resp.Word(resp.Head(b, 2), command), prefix, i)
		}
		return resp.Word(c.named(resp.Word(resp.Head(b, 3), command), prefix, i), c.value)
	}
}

// onElement is a command on an element of a key: alone, with a value after it, or with a rank (its
// number) before it.
func onElement(command, key, with string) element {
	return func(c *redisCommands, b []byte, i int) []byte {
		words := 3
		if with != "" {
			words++
		}
		b = resp.Word(resp.Word(resp.Head(b, words), command), key)
		if with == "rank" {
			b = c.named(b, "", i)
		}
		if b = c.named(b, "element:", i); with == "value" {
			b = resp.Word(b, c.value)
		}
		return b
	}
}

// named appends a name with a number of twelve digits, as in redis-benchmark.
func (c *redisCommands) named(b []byte, prefix string, i int) []byte {
	const digits = 12
	c.name = append(append(c.name[:0], prefix...), "000000000000"...)
	for at := len(c.name) - 1; at >= len(c.name)-digits; at-- {
		c.name[at] = '0' + byte(i%10)
		i /= 10
	}
	return resp.Word(b, c.name)
}

// pushOrPop pushes and pops in turn, so the list does not grow.
func pushOrPop(c *redisCommands, b []byte) []byte {
	if c.pop = !c.pop; c.pop {
		return resp.Word(resp.Word(resp.Word(resp.Head(b, 3), "LPUSH"), "mylist"), c.value)
	}
	return resp.Command(b, "RPOP", "mylist")
}

// tenKeys is an MSET of ten random keys.
func tenKeys(c *redisCommands, b []byte) []byte {
	b = resp.Word(resp.Head(b, 21), "MSET")
	for range 10 {
		b = resp.Word(c.named(b, "key:", c.rng.IntN(c.keys)), c.value)
	}
	return b
}

// mixed is 80 % GET, 10 % SET, 4 % INCR, 4 % HSET and 2 % LPUSH and RPOP in turn.
func mixed(get, set, count, put func(*redisCommands, []byte) []byte) func(*redisCommands, []byte) []byte {
	return func(c *redisCommands, b []byte) []byte {
		switch x := c.rng.IntN(100); {
		case x < 80:
			return get(c, b)
		case x < 90:
			return set(c, b)
		case x < 94:
			return count(c, b)
		case x < 98:
			return put(c, b)
		}
		return pushOrPop(c, b)
	}
}
