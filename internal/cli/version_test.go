package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
)

// A release has its version and commit from make release, another build those of Go's version control stamp.
func TestBuildOf(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	stamped := func(version, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: version}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: commit}, {Key: "vcs.modified", Value: modified}}}
	}
	for _, c := range []struct {
		info            *debug.BuildInfo
		version, commit string
		want            string
		dirty           string
	}{
		{&debug.BuildInfo{}, "", "", "devel", "unknown"},
		{&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "", "", "devel", "unknown"},
		{&debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, "", "", "v0.1.0", "unknown"}, // go install ...@v0.1.0
		{stamped("(devel)", "false"), "", "", "devel (0123456789ab)", "clean"},
		{stamped("(devel)", "true"), "", "", "devel (0123456789ab+changes)", "dirty"},
		{stamped("v0.0.0-20261128005231-0123456789ab+dirty", "true"), "", "", "v0.0.0-20261128005231-0123456789ab+dirty", "dirty"},
		{&debug.BuildInfo{}, "v0.1.0", commit, "v0.1.0 (0123456789ab)", "clean"},
		{&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "v0.1.0", commit + "+changes", "v0.1.0 (0123456789ab+changes)", "dirty"},
	} {
		b := buildOf(c.info, c.version, c.commit)
		dirty := "unknown"
		if b.Dirty != nil {
			dirty = map[bool]string{true: "dirty", false: "clean"}[*b.Dirty]
		}
		if b.String() != c.want || dirty != c.dirty {
			t.Errorf("%q, %s; want %q, %s", b, dirty, c.want, c.dirty)
		}
	}
}

// tare version --format json has the version, Go and the modules, one of which is that of the flags.
func TestVersionAsJSON(t *testing.T) {
	var b build
	if err := json.Unmarshal([]byte(outputOf(t, "version", "--format", "json")), &b); err != nil {
		t.Fatal(err)
	}
	if b.Schema != "tare/version/v1" || b.Version == "" || b.Go != runtime.Version() || b.Arch != runtime.GOARCH || b.Home != hint.Home {
		t.Errorf("%+v", b)
	}
	if text := outputOf(t, "version", "-v"); text != b.text(true) { // the binary of a test does not know its modules
		t.Errorf("%q, want %q", text, b.text(true))
	}
}

// Modules are listed with the version that was built, also of those that another module or a directory replaces.
func TestModules(t *testing.T) {
	b := buildOf(&debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "example.org/a", Version: "v1.0.0", Sum: "h1:a"},
		{Path: "example.org/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/c", Version: "v2.0.0", Sum: "h1:c"}},
		{Path: "example.org/d", Version: "v1.0.0", Replace: &debug.Module{Path: "./d"}},
	}}, "v0.1.0", "")
	want := "  example.org/a v1.0.0\n  example.org/c v2.0.0\n  ./d unknown\n"
	if text := b.text(true); !strings.HasSuffix(text, "\n"+want) || b.Modules[0].Sum != "h1:a" || strings.Contains(b.text(false), "example.org") {
		t.Errorf("%q, want %q", text, want)
	}
}

// outputOf is what a command prints.
func outputOf(t *testing.T, args ...string) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if code := Main(args, file, file); code != exitOK {
		t.Errorf("tare %s ends with %d", strings.Join(args, " "), code)
	}
	out, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
