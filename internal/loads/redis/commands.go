package redis

import (
	"maps"
	"slices"

	"github.com/tarelab/tare/internal/databases/redis/resp"
	"github.com/tarelab/tare/internal/loads/load"
)

// redisTest is a kind of commands.
type redisTest struct {
	// fill are the commands that make element i before the load begins.
	fill []element
	// next adds a command.
	next func(c *redisCommands, b []byte) []byte
}

// redisCommands makes the commands of one connection, in an order that depends on
// nothing but the seed of the block.
type redisCommands struct {
	test  redisTest
	rng   *load.Sequence
	keys  int
	value []byte
	name  []byte // of the key or element of now
	pop   bool   // what the list test does next
}

func newRedisCommands(p Params, test redisTest, thread int) *redisCommands {
	return &redisCommands{
		test: test, rng: load.NewSequence(redisSeed, thread), keys: p.Keys, value: load.Noise(p.Bytes, uint64(thread)),
	}
}

func (c *redisCommands) next(b []byte) []byte { return c.test.next(c, b) }

// Tests are the names of the tests: those of redis-benchmark, but that lists
// and sets stay as long as they are, whatever the length of the run; and mixed.
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

// element is a command about key or element number i.
type element = func(c *redisCommands, b []byte, i int) []byte

// random picks the number.
func random(what element) func(*redisCommands, []byte) []byte {
	return func(c *redisCommands, b []byte) []byte { return what(c, b, c.rng.IntN(c.keys)) }
}

// onKey is a command on a key, with a value or without.
func onKey(command, prefix string, valued bool) element {
	return func(c *redisCommands, b []byte, i int) []byte {
		if !valued {
			return c.named(resp.Word(resp.Head(b, 2), command), prefix, i)
		}
		return resp.Word(c.named(resp.Word(resp.Head(b, 3), command), prefix, i), c.value)
	}
}

// onElement is a command on an element of one key, alone, with a value behind it or
// with a rank, its own number, before it.
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

// named adds a name with a number of twelve digits, as redis-benchmark makes them.
func (c *redisCommands) named(b []byte, prefix string, i int) []byte {
	const digits = 12
	c.name = append(append(c.name[:0], prefix...), "000000000000"...)
	for at := len(c.name) - 1; at >= len(c.name)-digits; at-- {
		c.name[at] = '0' + byte(i%10)
		i /= 10
	}
	return resp.Word(b, c.name)
}

// pushOrPop does both in turn: the list does not grow.
func pushOrPop(c *redisCommands, b []byte) []byte {
	if c.pop = !c.pop; c.pop {
		return resp.Word(resp.Word(resp.Word(resp.Head(b, 3), "LPUSH"), "mylist"), c.value)
	}
	return resp.Command(b, "RPOP", "mylist")
}

// tenKeys sets ten keys at once.
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
