package redis

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/databases/db"
)

// The first line is from Debian's package, the others from the projects' documentation.
func TestIdentifyRedis(t *testing.T) {
	for banner, want := range map[string]string{
		"Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0\n": "redis 7.0.15",
		"Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1\n":               "valkey 8.1.1-valkey",
		"Redis server v=5.0.14 sha=00000000:0 malloc=jemalloc-5.1.0 bits=64 build=1\n":               "",
		"Redis server v=99999999999999999999.0.1 sha=0":                                              "",
		"Redis server version 2.4.10 (00000000:0)\n":                                                 "",
		"": "",
	} {
		v, err := Service{}.Identify(banner)
		if (err != nil) != (want == "") || err == nil && v.String() != want {
			t.Errorf("from %q: got %v, %v; want %q", banner, v, err, want)
		}
	}
}

func TestRedisRecipe(t *testing.T) {
	v := db.Version{Flavour: Name, Number: [3]int{7, 0, 15}, Text: "7.0.15"}
	settings, err := db.Complete(Service{}.Describe(), map[string]string{"save": "3600,1,300,100", "appendonly": "yes"})
	if err != nil {
		t.Fatal(err)
	}
	good := db.Config{Programs: map[string]string{db.Server: "/r"}, Dir: "/d", Settings: settings, Options: []string{"--hz=100"}}
	r, err := Service{}.Recipe(v, good)
	if err != nil {
		t.Fatal(err)
	}
	if args := r.Server.Args; !slices.Equal(args[1:], []string{"--hz", "100"}) {
		t.Errorf("%q", args)
	}
	for _, line := range []string{"port 0", "save 3600 1 300 100", "appendonly yes", "user default off"} {
		if !strings.Contains(r.Files[0].Text, line+"\n") {
			t.Errorf("no line %q in\n%s", line, r.Files[0].Text)
		}
	}
	for name, change := range map[string]func(*db.Config){
		"a relative directory": func(c *db.Config) { c.Dir = "d" },
		"no program":           func(c *db.Config) { c.Programs = nil },
		"an option":            func(c *db.Config) { c.Options = []string{"--hz"} },
	} {
		bad := good
		change(&bad)
		if _, err := (Service{}).Recipe(v, bad); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	for _, bad := range []string{"", "1", "1,2,3", "a,b", "0,1", "1 2"} {
		if _, err := db.Complete(Service{}.Describe(), map[string]string{"save": bad}); err == nil {
			t.Errorf("save %q was accepted", bad)
		}
	}
}
