package clickhouse

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/databases/db"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The log of 18.16 is from Debian's package; the lines of other versions are from documentation and bug
// reports.
func TestIdentifyClickHouse(t *testing.T) {
	for _, c := range []struct {
		banner, want string // "" is an error
		number       [3]int
	}{
		{"Logging information to console\n2026.11.21 15:00:22.581449 [ 1 ] {} <Information> : Starting ClickHouse 18.16.1 with revision 54412\n" +
			"2026.11.21 15:00:22.583901 [ 1 ] {} <Information> Application: starting up\n", "clickhouse 18.16.1", [3]int{18, 16, 1}},
		{"ClickHouse server version 20.8.19.4 (official build).\n", "clickhouse 20.8.19.4", [3]int{20, 8, 19}},
		{"ClickHouse server version 23.8.2.7 (official build).", "clickhouse 23.8.2.7", [3]int{23, 8, 2}},
		{"ClickHouse local version 24.3.1.2672.", "clickhouse 24.3.1.2672", [3]int{24, 3, 1}},
		{"ClickHouse server version 1.1.54390.", "", [3]int{}},
		{"mariadbd  Ver 10.11.19-MariaDB for debian-linux-gnu on x86_64 (Debian 12)", "", [3]int{}},
		{"ClickHouse server version 99999999999999999999.1.1.", "", [3]int{}},
		{"", "", [3]int{}},
	} {
		v, err := Service{}.Identify(c.banner)
		if (err != nil) != (c.want == "") || err == nil && (v.String() != c.want || v.Number != c.number) {
			t.Errorf("from %q: got %v, %v; want %q", c.banner, v, err, c.want)
		}
	}
}

func recipe(t *testing.T, v db.Version, program string, given map[string]string, options ...string) db.Recipe {
	t.Helper()
	s, err := db.Complete(Service{}.Describe(), given)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Service{}.Recipe(v, db.Config{
		Programs: map[string]string{db.Server: program}, Dir: "/d", Host: "127.0.0.1", Port: 8123, Connections: 200, Settings: s, Options: options,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The configuration of each era, with every setting and with none. Tests of serve run 18.16 with it; no other
// version is available here.
func TestClickHouseConfig(t *testing.T) {
	all := map[string]string{
		"max_threads": "4", "max_memory_usage": "0", "max_block_size": "8192", "use_uncompressed_cache": "on",
		"uncompressed_cache_size": "1G", "mark_cache_size": "512M",
	}
	for name, c := range map[string]struct {
		v     db.Version
		given map[string]string
	}{
		"18.16":          {db.Version{Flavour: Name, Number: [3]int{18, 16, 1}, Text: "18.16.1"}, nil},
		"18.16-settings": {db.Version{Flavour: Name, Number: [3]int{18, 16, 1}, Text: "18.16.1"}, all},
		"20.8":           {db.Version{Flavour: Name, Number: [3]int{20, 8, 19}, Text: "20.8.19.4"}, nil},
		"25.3-settings":  {db.Version{Flavour: Name, Number: [3]int{25, 3, 1}, Text: "25.3.1.1"}, all},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, f := range recipe(t, c.v, "/usr/bin/clickhouse-server", c.given).Files {
				b.WriteString("-- " + f.Path + " --\n" + f.Text)
				wellFormed(t, f.Text)
			}
			golden := filepath.Join("testdata", "clickhouse", name+".txt")
			if *update {
				if err := errors.Join(os.MkdirAll(filepath.Dir(golden), 0o755), os.WriteFile(golden, []byte(b.String()), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || string(want) != b.String() {
				t.Errorf("%v; got\n%s", err, b.String())
			}
		})
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Error(err)
			return
		}
	}
}

func TestClickHouseCommand(t *testing.T) {
	v := db.Version{Flavour: Name, Number: [3]int{25, 3, 1}, Text: "25.3.1.1"}
	r := recipe(t, v, "/opt/clickhouse", nil, "--a=1")
	if want := []string{"server", "--config-file=run/config.xml", "--", "--a=1"}; !slices.Equal(r.Server.Args, want) {
		t.Errorf("%v", r.Server.Args)
	}
	r = recipe(t, v, "/usr/bin/clickhouse-server", nil)
	if want := []string{"--config-file=run/config.xml"}; !slices.Equal(r.Server.Args, want) {
		t.Errorf("%v", r.Server.Args)
	}
	for _, bad := range []db.Config{
		{Programs: map[string]string{db.Server: "/c"}, Dir: "d", Port: 1},
		{Programs: map[string]string{}, Dir: "/d", Port: 1},
		{Programs: map[string]string{db.Server: "/c"}, Dir: "/d"},
	} {
		bad.Settings, _ = db.Complete(Service{}.Describe(), nil)
		if _, err := (Service{}).Recipe(v, bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// The requested values are compared with the server's. Only new versions can be asked for settings of the
// server itself.
func TestClickHouseReadBack(t *testing.T) {
	given := map[string]string{"max_threads": "4", "max_memory_usage": "1G", "use_uncompressed_cache": "on"}
	find := func(r db.Recipe, name string) (q db.Query, ok bool) {
		i := slices.IndexFunc(r.ReadBack, func(q db.Query) bool { return q.Name == name })
		if i >= 0 {
			q = r.ReadBack[i]
		}
		return q, i >= 0
	}
	old := recipe(t, db.Version{Flavour: Name, Number: [3]int{18, 16, 1}, Text: "18.16.1"}, "/c", given)
	for name, values := range map[string][2]string{
		"max_threads": {"4", "2"}, "max_memory_usage": {"1073741824", "0"}, "use_uncompressed_cache": {"1", "0"}, "version": {"18.16.1", "18.14.1"},
	} {
		q, ok := find(old, name)
		if !ok || q.Wanted == "" || !q.Accepts(values[0]) || q.Accepts(values[1]) {
			t.Errorf("%s: %+v", name, q)
		}
	}
	if q, ok := find(old, "max_block_size"); !ok || q.Wanted != "" || q.Accepts != nil {
		t.Errorf("nothing was asked for: %+v", q)
	}
	if _, ok := find(old, "mark_cache_size"); ok {
		t.Error("18.16 has no table of its own settings")
	}
	current := recipe(t, db.Version{Flavour: Name, Number: [3]int{25, 3, 1}, Text: "25.3.1.1"}, "/c", given)
	if q, ok := find(current, "mark_cache_size"); !ok || !strings.Contains(q.Ask, "system.server_settings") || !q.Accepts("5368709120") {
		t.Errorf("%+v", q)
	}
}
