package serve

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/logs/pgbench"
)

func TestFaultsOfPostgres(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() }) // the cases are tried after the end of this function
	for _, c := range []struct {
		name   string
		change func(t *testing.T, s *Server)
		want   []string
	}{
		{"port taken", func(t *testing.T, s *Server) { s.Listen = taken.Addr().String() }, []string{"address already in use", "ss -ltnp"}},
		{"unknown option", func(t *testing.T, s *Server) { s.Options = []string{"--no_such=1"} }, []string{`unrecognized configuration parameter "no_such"`}},
		{"impossible option", func(t *testing.T, s *Server) { s.Options = []string{"--shared_buffers=8TB"} }, []string{"FATAL"}},
		{"data damaged", func(t *testing.T, s *Server) { os.Truncate(filepath.Join(s.Dir, "db", "global", "pg_control"), 10) }, []string{"pg_control"}},
		{"data of another version", func(t *testing.T, s *Server) {
			os.WriteFile(filepath.Join(s.Dir, "db", "PG_VERSION"), []byte("9.6\n"), 0o600)
		}, []string{"database files are incompatible with server"}},
		{"unknown setting", func(t *testing.T, s *Server) { s.Settings = map[string]string{"doublewrite": "on"} }, []string{`no setting is called "doublewrite"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := Server{Dir: copiedAccounts(t)}
			c.change(t, &s)
			cmd, out := hiddenCommand(t, Command, Auto, s)
			if err := cmd.Run(); err == nil {
				t.Error("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
	t.Run("wrong password", func(t *testing.T) {
		dir := copiedAccounts(t)
		server, _, err := Server{Dir: dir}.Start(t.Context(), Auto, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		defer server.Kill()
		a := postgresAddress(t, dir, "")
		a.Secret = "guessed"
		err = client(t, a).Await(t.Context(), readyLimit, server.Alive)
		if err == nil || !strings.Contains(err.Error(), "password authentication failed") || hint.Of(err) == "" || strings.Contains(err.Error(), "guessed") {
			t.Errorf("%v (%s)", err, hint.Of(err))
		}
	})
}

func TestFaultsOfPreparingPostgres(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]Prepare{
		"pgbench missing":          {Pgbench: &pgbench.Data{Scale: 1}, Program: "/nowhere/pgbench"},
		"pgbench is another":       {Pgbench: &pgbench.Data{Scale: 1}, Program: "/bin/true"},
		"pgbench's option":         {Pgbench: &pgbench.Data{Scale: 1, Options: []string{"--no-such"}}},
		"server's option":          {Pgbench: &pgbench.Data{Scale: 1}, Options: []string{"--no_such=1"}},
		"no script":                {Dump: "/nowhere.sql"},
		"server is not there":      {Server: "/nowhere/postgres"},
		"server is something else": {Server: "/bin/true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needPostgres(t)
			store := dataset.Store{Dir: t.TempDir()}
			_, err := p.Run(t.Context(), postgres.Name, store, io.Discard)
			if err == nil {
				t.Fatal("no error")
			}
			t.Logf("%v (%s)", err, hint.Of(err))
			if left, _ := store.List(); len(left) > 0 {
				t.Errorf("left %+v", left)
			}
		})
	}
}
