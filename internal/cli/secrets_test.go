package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/cli/settings"
)

// tare config and the errors of other commands show no password that a variable, a file or an argument has.
func TestNoPasswordInConfig(t *testing.T) {
	const secret = "gehe1m"
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	path := filepath.Join(dir, "tare", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	flags := []string{"like", "like-password", "command", "set", "statements", "dump", "output"}
	for _, f := range flags {
		t.Setenv(settings.Variable(f), "") // restored at the end
	}
	values := []string{
		"mysql://root:%s@db", "mysql://root:x%s/y@db?tls=true", "postgres://u@db?password=%s", "redis://:%s@db", "clickhouse://u@db?pwd=%s", "https://u:%s@db", "mysql://db?x%s", "oracle://u:%s@db",
	}
	rapid.Check(t, func(r *rapid.T) {
		value := strings.ReplaceAll(rapid.SampledFrom(values).Draw(r, "value"), "%s", secret)
		flag := rapid.SampledFrom(flags).Draw(r, "flag")
		if flag == "set" {
			value = "x.command=" + value
		}
		text := ""
		for _, f := range flags {
			os.Unsetenv(settings.Variable(f))
		}
		switch rapid.SampledFrom([]string{"variable", "file", "broken file"}).Draw(r, "where") {
		case "variable":
			os.Setenv(settings.Variable(flag), value)
		case "file":
			text = fmt.Sprintf("run:\n  %s: %q\n", flag, value)
		case "broken file":
			text = rapid.SampledFrom([]string{flag + ": *" + secret, flag + ": !<" + secret, flag + ": '" + secret, flag + ": [" + secret, "%" + secret, flag + ": {" + secret + ": 1}", flag + ": &" + secret + " *x" + secret}).Draw(r, "text")
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"config"}, {"config", "--format", "json"}} {
			out, said, _ := called(t, args...)
			if strings.Contains(out+said, secret) {
				r.Errorf("%q with %s %q, file %q:\n%s%s", args, flag, value, text, out, said)
			}
		}
	})
}

// An error about an argument that is an address has no password of it.
func TestNoPasswordInErrors(t *testing.T) {
	for _, value := range []string{"mysql://root:gehe1m@db", "mysql://root:x/gehe1m@db", "redis://:gehe1m@db/0"} {
		for _, args := range [][]string{
			{"plan", value}, {"run", value}, {"report", value}, {"check", value}, {"list", value}, {value}, {"compare", value, value}, {"import", value}, {"plan", "--set", value}, {"plan", "--budget", value},
			{"plan", "mysql-layers", "--like", value}, {"plan", "mysql-layers", "--dump", value}, {"plan", "mysql-layers", "--statements", value}, {"plan", "mysql-layers", "--like", "mysql://db", "--like-password", "gehe1m"},
			{"advise", value}, {"cleanup", value}, {"plan", "--arms", value}, {"plan", "--volume", value},
		} {
			for _, more := range [][]string{nil, {"--progress", "json"}} {
				if out, said, code := called(t, append(args, more...)...); code == exitOK && args[0] != "list" || strings.Contains(out+said, "gehe1m") {
					t.Errorf("%q: exit %d\n%s%s", args, code, out, said)
				}
			}
		}
	}
}
