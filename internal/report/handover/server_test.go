package handover

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// has says whether a line of out has these two words alone.
func has(out, name, value string) bool {
	return slices.ContainsFunc(strings.Split(out, "\n"), func(l string) bool { return slices.Equal(strings.Fields(l), []string{name, value}) })
}

// MariaDB reads the option file of every remedy.
func TestMariaDBReadsTheFile(t *testing.T) {
	tool := testneed.Tool(t, "mariadbd")
	file := filepath.Join(t.TempDir(), "own.cnf")
	help := func(lines []string) string {
		write(t, file, lines...)
		return run(t, true, nil, tool, "--defaults-file="+file, "--help", "--verbose")
	}
	for _, m := range append(all(t, mariadb()), every(t, mariadb())) {
		out := help(m.Lines)
		for _, l := range m.Lines[1:] {
			key, value, _ := strings.Cut(l, " = ")
			if !has(out, strings.ReplaceAll(key, "_", "-"), value) {
				t.Errorf("%s: %s is not read", m.remedy, l)
			}
		}
	}
	if out := run(t, true, nil, tool, "--defaults-file="+file, "--help", "--verbose", "--innodb-io-capacity=400"); !has(out, "innodb-io-capacity", "400") {
		t.Error("the server's answer has no values")
	}
	write(t, file, "[mysqld]", "innodb_buffer_pool = 1")
	if out, _ := exec.Command(tool, "--defaults-file="+file, "--help", "--verbose").CombinedOutput(); !strings.Contains(string(out), "innodb_buffer_pool") {
		t.Error("a wrong line is not seen")
	}
}

// The server reads the file of a remedy last, whatever else the directories of Debian's package have: what stands in it
// holds.
func TestMariaDBReadsTheFileLast(t *testing.T) {
	tool := testneed.Tool(t, "mariadbd")
	dir := t.TempDir()
	s := mariadb().Of(Thing{}, []record.RemedySetting{{On: record.OnServer, Key: record.KeyBufferPool, Value: "268435456"}}, nil)
	main, own := filepath.Join(dir, "my.cnf"), filepath.Join(dir, strings.TrimPrefix(s.File, "/etc/mysql"))
	write(t, main, "!includedir "+filepath.Join(dir, "conf.d"), "!includedir "+filepath.Join(dir, "mariadb.conf.d"))
	for _, other := range []string{"conf.d/zzz.cnf", "mariadb.conf.d/50-server.cnf", "mariadb.conf.d/99-mine.cnf", "mariadb.conf.d/my-own.cnf"} {
		write(t, filepath.Join(dir, other), "[mysqld]", "innodb_buffer_pool_size = 8388608")
	}
	defaults := func() []string {
		return strings.Fields(run(t, true, nil, tool, "--defaults-file="+main, "--print-defaults"))
	}
	if all := defaults(); all[len(all)-1] != "--innodb_buffer_pool_size=8388608" {
		t.Fatalf("%v", all)
	}
	write(t, own, s.Lines...)
	if all := defaults(); all[len(all)-1] != "--innodb_buffer_pool_size=268435456" {
		t.Errorf("%v", all)
	}
}

// A server that can set a value while it runs is not restarted.
func TestServersSetWhatTheyCan(t *testing.T) {
	set := func(key record.SettingKey, value string) record.RemedySetting {
		return record.RemedySetting{On: record.OnServer, Key: key, Value: value}
	}
	for _, c := range []struct {
		apply, undo []record.RemedySetting
		then, back  string
	}{
		{[]record.RemedySetting{set(record.KeyBufferPool, "268435456")}, []record.RemedySetting{set(record.KeyBufferPool, "8388608")},
			`mysql --execute "SET GLOBAL innodb_buffer_pool_size = 268435456"`, `mysql --execute "SET GLOBAL innodb_buffer_pool_size = 8388608"`},
		{[]record.RemedySetting{set(record.KeyIOCapacity, "2000")}, []record.RemedySetting{set(record.KeyIOCapacity, "")},
			`mysql --execute "SET GLOBAL innodb_io_capacity = 2000"`, "systemctl restart mysql"},
		{[]record.RemedySetting{set(record.KeyFlushMethod, "fsync")}, []record.RemedySetting{set(record.KeyFlushMethod, "O_DIRECT")}, "systemctl restart mysql", "systemctl restart mysql"},
	} {
		s := mysql().Of(Thing{}, c.apply, c.undo)
		if !slices.Equal(s.Then, []string{c.then}) || s.Undo[len(s.Undo)-1] != c.back {
			t.Errorf("%v, back %v", s.Then, s.Undo)
		}
	}
}

// PostgreSQL reads the option file of every remedy.
func TestPostgresReadsTheFile(t *testing.T) {
	tool := testneed.Tool(t, "postgres")
	dir := t.TempDir()
	file := filepath.Join(dir, "own.conf")
	is := func(ok bool, key string) string {
		lines := strings.Fields(run(t, ok, nil, tool, "-C", key, "-D", dir, "-c", "config_file="+file))
		return lines[len(lines)-1]
	}
	for _, m := range all(t, postgres()) {
		write(t, file, m.Lines...)
		for _, l := range m.Lines {
			switch key, value, _ := strings.Cut(l, " = "); {
			case key == "unix_socket_directories" && is(true, key) != strings.Trim(value, "'"), key == "shared_buffers" && is(true, key) == "16384": // 128 MiB, the default
				t.Errorf("%s: %s is %s", m.remedy, l, is(true, key))
			}
		}
	}
	write(t, file, every(t, postgres()).Lines...)
	if got := is(true, "shared_buffers"); got != "32768" { // blocks of 8 KiB
		t.Errorf("shared_buffers is %s", got)
	}
	write(t, file, "shared_buffers = 'much'")
	is(false, "shared_buffers")
}

// Redis starts with the file and says that it has the socket. The commands before put it behind the main file,
// the way back takes it out.
func TestRedisReadsTheFile(t *testing.T) {
	tool, client := testneed.Tool(t, "redis-server"), testneed.Tool(t, "redis-cli")
	dir := t.TempDir()
	here := strings.NewReplacer("/etc/redis", dir, "/run/redis", dir)
	s := redis().Of(Thing{}, []record.RemedySetting{{On: record.OnLoad, Key: record.KeyConnect, Value: "socket"}}, nil)
	main, socket := filepath.Join(dir, "redis.conf"), filepath.Join(dir, "redis-server.sock")
	write(t, main, "port 0", "save ''", "dir "+dir)
	commands := func(all []string) {
		for _, l := range all {
			if !strings.HasPrefix(l, "systemctl ") {
				run(t, true, nil, "sh", "-c", here.Replace(l))
			}
		}
	}
	write(t, filepath.Join(dir, last+".conf"), strings.Split(here.Replace(strings.Join(s.Lines, "\n")), "\n")...)
	commands(s.Then)
	ctx, cancel := context.WithCancel(t.Context())
	server := exec.CommandContext(ctx, tool, main)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); _ = server.Wait() }()
	for end := time.Now().Add(time.Minute); !fileThere(socket) && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
	}
	out := run(t, true, nil, client, "-s", socket, "CONFIG", "GET", "unixsocket*")
	if !strings.Contains(out, socket) || !strings.Contains(out, "770") {
		t.Error(out)
	}
	commands(s.Undo)
	if main := run(t, true, nil, "cat", main); strings.Contains(main, "include") || !strings.Contains(main, "port 0") || fileThere(filepath.Join(dir, last+".conf")) {
		t.Errorf("after the way back: %s", main)
	}
}
