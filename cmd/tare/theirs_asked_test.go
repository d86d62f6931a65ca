package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/redis"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/record"
)

// asked are a user's running server and how tare is told to ask it.
type asked struct {
	kind, preset    string
	server          serve.Server
	makes           []string // statements that make the user asker, who has no rights; none: the load's user asks
	param, want     string   // of the workload
	options, scheme string   // passed on to the server
}

const askerSecret = "a-password-of-the-user-0815"

var servers = map[string]asked{
	"mariadb": {
		kind: mysql.MariaDB, preset: "mysql-layers", scheme: "mariadb",
		server: serve.Server{Settings: map[string]string{"buffer_pool": "48M"}, Options: []string{"--innodb-io-capacity=345"}},
		makes:  []string{"CREATE USER asker@'%' IDENTIFIED BY '" + askerSecret + "'", "SET GLOBAL log_output = 'TABLE'", "SET GLOBAL general_log = ON"},
		param:  "buffer_pool", want: "50331648", options: "--innodb-io-capacity=345",
	},
	"postgres": {
		kind: postgres.Name, preset: "postgres-layers", scheme: "postgres",
		server: serve.Server{Settings: map[string]string{"shared_buffers": "48M"}, Options: []string{"--work_mem=7MB"}},
		makes:  []string{"CREATE ROLE asker LOGIN PASSWORD '" + askerSecret + "'"},
		param:  "shared_buffers", want: "48M", options: "--work_mem=7MB",
	},
	"redis": {
		kind: redis.Name, preset: "redis-layers", scheme: "redis", server: serve.Server{Options: []string{"--hz=37"}},
		param: "appendfsync", want: "everysec", options: "--hz=37",
	},
	"clickhouse": {
		kind: clickhouse.Name, preset: "clickhouse-colocation", scheme: "clickhouse",
		server: serve.Server{Settings: map[string]string{"max_threads": "1"}}, param: "max_threads", want: "1",
	},
}

// start starts the server and makes its user. It returns the DSN and the password.
func (a asked) start(t *testing.T) (their *theirs, dsn, secret string) {
	t.Helper()
	their = startTheirs(t, a.kind, serve.Prepare{}, a.server)
	user, secret := db.User, their.secret()
	if len(a.makes) > 0 {
		user, secret = "asker", askerSecret
		admin := their.connect(their.recipe.Admin, "")
		for _, s := range a.makes {
			if err := admin.Exec(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	return their, a.scheme + "://" + user + "@" + their.listen, secret
}

// A running server of each kind gives its settings to a user who may do nothing but ask. A wrong password and
// a server that does not answer are errors with a remedy.
func TestTheirServersAreAsked(t *testing.T) {
	t.Parallel()
	for name, a := range servers {
		t.Run(name, func(t *testing.T) {
			_, dsn, secret := a.start(t)
			d := newRun(t)
			cmd := d.tool("plan", a.preset, "--format=json", "--like="+dsn, "--like-password="+written(t, "password", secret+"\n"))
			var failed bytes.Buffer
			cmd.Stderr = &failed
			out, err := cmd.Output()
			var p record.Plan
			if err := json.Unmarshal(out, &p); err != nil || len(p.Workloads) == 0 {
				t.Fatalf("%v: %s\n%s", err, failed.String(), out)
			}
			if v := p.Workloads[0].Params; err != nil || v[a.param] != a.want || !strings.Contains(v["server_options"], a.options) {
				t.Errorf("%v, %+v\n%+v", err, v, p.Adopted)
			}
			if bytes.Contains(out, []byte(secret)) || bytes.Contains(failed.Bytes(), []byte(secret)) {
				t.Error("the password is in the plan")
			}
			refusedPlan(t, "hint: --like-password FILE", a.preset, "--like="+dsn, "--like-password="+written(t, "password", "guessed\n"))
			refusedPlan(t, "hint: check host, port and TLS", a.preset, "--like="+a.scheme+"://someone@127.0.0.1:1")
		})
	}
}

// The password of the user's server comes from a file and goes nowhere but to that server: no process has it in its
// arguments or environment, no file of the run has it, and the server is asked and never changed.
func TestTheirPassword(t *testing.T) {
	t.Parallel()
	a := servers["mariadb"]
	their, dsn, secret := a.start(t)
	d := newRun(t)
	d.begin("run", "mysql-layers", "-o", d.dir, "--budget=12s", "--arms=host,cgroup", "--like="+dsn, "--like-password="+written(t, "password", secret),
		"--dump="+shop(t), "--statements="+written(t, "mine.sql", shopping))
	seen := map[string]bool{}
	for end := time.Now().Add(stuck); !d.ended() && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		d.look([][]byte{[]byte(secret)}, seen)
	}
	measured(t, d, d.end(0))
	if !seen["mariadbd"] || !seen["tare"] {
		t.Errorf("of the run only %v was seen", seen)
	}
	assertNoPassword(t, d, []byte(secret))
	log := logged(t, their)
	if !strings.Contains(log, "system_variables") {
		t.Errorf("the server was not asked:\n%s", log)
	}
	for _, l := range strings.Split(log, "\n") {
		if word, _, _ := strings.Cut(l, " "); word != "SELECT" && word != "SHOW" && word != "SET" || strings.HasPrefix(l, "SET GLOBAL") {
			t.Errorf("the server was told: %s", l)
		}
	}
}

// logged are the statements of the user asker, one a line.
func logged(t *testing.T, their *theirs) string {
	t.Helper()
	text, err := their.connect(their.recipe.Admin, "").Value(t.Context(),
		"SELECT GROUP_CONCAT(argument SEPARATOR '\n') FROM mysql.general_log WHERE user_host LIKE '%asker%' AND command_type IN ('Query', 'Prepare', 'Execute')")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Without a file tare asks once for the password, on the terminal, and does not show it.
func TestTheirPasswordIsAsked(t *testing.T) {
	t.Parallel()
	_, dsn, secret := servers["postgres"].start(t)
	master, slave, err := pty()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	cmd := newRun(t).tool("plan", "postgres-layers", "--arms=host,cgroup", "--like="+dsn)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	slave.Close()
	if err != nil {
		t.Fatal(err)
	}
	prompt := "password for " + dsn + ": "
	var out bytes.Buffer
	for !strings.Contains(out.String(), prompt) {
		if _, err := io.CopyN(&out, master, 1); err != nil {
			t.Fatalf("no question: %v\n%s", err, out.String())
		}
	}
	if _, err := fmt.Fprintln(master, secret); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(&out, master) // ends with EIO when the last writer is gone
	if err := cmd.Wait(); err != nil || strings.Count(out.String(), prompt) != 1 || strings.Contains(out.String(), secret) || !strings.Contains(out.String(), "--like="+dsn) {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// A statement of the dump that fails in the middle is named by file and line; nothing is left of the data set.
func TestTheirDumpFails(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(shop(t))
	if err != nil {
		t.Fatal(err)
	}
	spoilt := strings.Replace(string(text), "INSERT INTO film_actor VALUES", "INSERT INTO film_actress VALUES", 1)
	before, _, _ := strings.Cut(spoilt, "INSERT INTO film_actress")
	path := written(t, "shop.sql", spoilt)
	d := newRun(t)
	r := d.begin("run", "mysql-layers", "-o", d.dir, "--budget=12s", "--arms=host,cgroup", "--dump="+path).end(1)
	want := fmt.Sprintf("%s:%d: ", path, 1+strings.Count(before, "\n"))
	if out := d.out.String(); !strings.Contains(out, want) || !strings.Contains(out, "film_actress") || !strings.Contains(out, "hint: ") {
		t.Errorf("want %s:\n%s", want, out)
	}
	if last := r.Lines[len(r.Lines)-1].End; last == nil || last.Reason != "error" {
		t.Errorf("the record ends with %+v", last)
	}
	if left, err := os.ReadDir(d.data() + "/tare/data"); err != nil || len(left) > 0 && !onlyLocks(left) {
		t.Errorf("left: %v, %v", left, err)
	}
}

// onlyLocks says whether no data set is among the files of a cache.
func onlyLocks(files []os.DirEntry) bool {
	for _, f := range files {
		if f.IsDir() {
			return false
		}
	}
	return true
}
