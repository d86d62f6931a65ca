package serve

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/redis"
	"github.com/tarelab/tare/internal/testing/testneed"
)

var emptyRedis = sync.OnceValues(func() (dataset.Prepared, error) {
	dir, err := os.MkdirTemp(stores, "")
	if err != nil {
		return dataset.Prepared{}, err
	}
	return Prepare{}.Run(context.Background(), redis.Name, dataset.Store{Dir: dir}, io.Discard)
})

func needRedis(t *testing.T) {
	t.Helper()
	_, err := Find(t.Context(), redis.Name, "", "")
	testneed.Feature(t, "redis", err)
}

// copiedRedis is a copy of an empty data set, with a path that is too long for a socket, in directories that are closed
// to others.
func copiedRedis(t *testing.T) string {
	t.Helper()
	needRedis(t)
	p, err := emptyRedis()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), strings.Repeat("long-", 20), "data")
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	copyTree(t, dir, p.Dir)
	return dir
}

func redisAddress(t *testing.T, dir, dial string) db.Address {
	return db.Address{Protocol: redis.Name, Dir: dir, Dial: dial, User: db.User, Secret: secret(t, dir), Database: db.Database}
}

// The hidden command runs the server with another account than root's; it answers over TCP and socket, settings are
// read back, and it shuts down.
func TestServeRedis(t *testing.T) {
	t.Parallel()
	dir := copiedRedis(t)
	s := Server{Dir: dir, Listen: testneed.Address(t), Connections: 1500, Settings: map[string]string{
		"appendonly": "yes", "appendfsync": "always", "save": "3600,1,300,100", "io_threads": "2",
	}, Options: []string{"--maxmemory=100mb"}}
	b := begin(t, redis.Name, s)
	r, err := s.Recipe(t.Context(), redis.Name)
	if err != nil {
		t.Fatal(err)
	}
	tcp := client(t, redisAddress(t, dir, s.Listen))
	if err := tcp.Await(t.Context(), readyLimit, b.alive); err != nil {
		t.Fatalf("%v\n%s", err, b.out)
	}
	settings, err := tcp.ReadBack(t.Context(), r.ReadBack)
	if err != nil || len(settings) < 10 {
		t.Errorf("%v, %v", settings, err)
	}
	t.Logf("%+v", settings)
	socket := client(t, redisAddress(t, dir, ""))
	for query, want := range map[string]string{"SET a 1": "OK", "CONFIG GET maxmemory": "104857600", "CONFIG GET maxclients": "1520", "CONFIG GET bind": "127.0.0.1"} {
		if v, err := socket.Value(t.Context(), query); v != want || err != nil {
			t.Errorf("%s: %s, %v", query, v, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, db.DataDir)); err != nil {
		t.Error(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d", b.cmd.Process.Pid), &st); err != nil || os.Geteuid() == 0 && st.Uid == 0 {
		t.Errorf("it runs as user %d, %v", st.Uid, err)
	}
	onlyWhatRedisNeeds(t, socket, s.Listen)
	b.cmd.Process.Signal(os.Signal(sigterm))
	if err := <-b.ended; err != nil {
		t.Errorf("it ended with %v\n%s", err, b.out)
	}
	if password := secret(t, dir); strings.Contains(b.out.String(), password) || strings.Contains(strings.Join(b.cmd.Args, " "), password) {
		t.Error("the password was shown")
	}
	again := begin(t, redis.Name, s)
	c := client(t, redisAddress(t, dir, s.Listen))
	if err := c.Await(t.Context(), readyLimit, again.alive); err != nil {
		t.Fatalf("%v\n%s", err, again.out)
	}
	if v, err := c.Value(t.Context(), "GET a"); v != "1" || err != nil {
		t.Errorf("what was in the log is %q, %v", v, err)
	}
}

// onlyWhatRedisNeeds checks the rights of the load's user: all users of the host may reach the port, and must not get
// the rights of the server's account.
func onlyWhatRedisNeeds(t *testing.T, c *Client, dial string) {
	t.Helper()
	for _, forbidden := range []string{
		"CONFIG SET dir /tmp", "CONFIG REWRITE", "SAVE", "SHUTDOWN NOSAVE", "FLUSHALL", "REPLICAOF 127.0.0.1 1", "ACL LIST", "KEYS *",
		"EVAL return 0", "MODULE LIST", "CLIENT LIST", "MIGRATE 127.0.0.1 1 a 0 1",
	} {
		if v, err := c.Value(t.Context(), forbidden); err == nil || !strings.Contains(err.Error(), "NOPERM") {
			t.Errorf("the load's user may %s: %s, %v", forbidden, v, err)
		}
	}
	for _, user := range []string{"default", db.User} {
		a := db.Address{Protocol: redis.Name, Dial: dial, User: user}
		err := client(t, a).Await(t.Context(), readyLimit, func() error { return nil })
		if err == nil || !strings.Contains(err.Error(), "refuses the user and password") {
			t.Errorf("user %q without a password: %v", user, err)
		}
	}
}

// The error of a wrong option has the server's message.
func TestRedisRefusesAnOption(t *testing.T) {
	t.Parallel()
	dir := copiedRedis(t)
	p, _, err := Server{Dir: dir, Options: []string{"--maxmemory=lots"}}.Start(t.Context(), redis.Name, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if said := p.Ended().Error(); !strings.Contains(said, "argument must be a memory value") || !strings.Contains(said, "maxmemory") {
		t.Error(said)
	}
}

// A server that still loads its data is not ready, though it answers.
func TestRedisReadsItsData(t *testing.T) {
	t.Parallel()
	dir := copiedRedis(t)
	s := Server{Dir: dir, Listen: testneed.Address(t), Settings: map[string]string{"save": "3600,1"}}
	first := begin(t, redis.Name, s)
	c := client(t, redisAddress(t, dir, s.Listen))
	if err := c.Await(t.Context(), readyLimit, first.alive); err != nil {
		t.Fatalf("%v\n%s", err, first.out)
	}
	value := newSecret()
	for len(value) < 8192 {
		value += newSecret() // incompressible
	}
	for i := range 20 {
		if err := c.Exec(t.Context(), fmt.Sprintf("SET key%d %s", i, value)); err != nil {
			t.Fatal(err)
		}
	}
	first.cmd.Process.Signal(os.Signal(sigterm))
	if err := <-first.ended; err != nil {
		t.Fatalf("%v\n%s", err, first.out)
	}
	s.Options = []string{"--key-load-delay=50000", "--loading-process-events-interval-bytes=1024"} // µs for each key
	again := begin(t, redis.Name, s)
	if err := c.Await(t.Context(), readyLimit, again.alive); err != nil {
		t.Fatalf("%v\n%s", err, again.out)
	}
	if v, err := c.Value(t.Context(), "GET key19"); v != value || err != nil {
		t.Errorf("what was saved is %q, %v", v, err)
	}
}
