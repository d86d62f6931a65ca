package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
)

// made writes a release of a real Go program, this test's, in a new directory.
func made(t *testing.T) release {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	r := release{version: "v1.2.3", commit: strings.Repeat("0a", 20), at: time.Unix(1_790_000_000, 0).UTC(),
		home: "https://git.example/weigh", root: "../..", work: t.TempDir(), out: filepath.Join(t.TempDir(), "dist")}
	put := func(name string, data []byte) {
		path := filepath.Join(r.work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range arches {
		put(a.name+"/tare", self)
	}
	put("man/tare.1", []byte(".TH TARE 1\n"))
	for _, shell := range []string{"bash", "zsh", "fish"} {
		put("completions/tare."+shell, []byte("# "+shell+"\n"))
	}
	put("schemas/plan.json", []byte("{}\n"))
	if err := r.write(); err != nil {
		t.Fatal(err)
	}
	return r
}

// Two releases of the same binaries, made in other directories and seconds, are the same; SHA256SUMS has the sums of
// all files.
func TestRelease(t *testing.T) {
	first := made(t)
	t.Run("home", func(t *testing.T) { home(t, first) })
	t.Run("sbom", func(t *testing.T) { sbom(t, first) })
	t.Run("archive", func(t *testing.T) { archive(t, first) })
	time.Sleep(1100 * time.Millisecond) // formats have times in whole seconds
	second := made(t)
	a, b := read(t, first), read(t, second)
	if got, want := sorted(b), sorted(a); !slices.Equal(got, want) || len(want) != 15 {
		t.Fatalf("%d files: %v, then %v", len(want), want, got)
	}
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s differs", name)
		}
		line := fmt.Sprintf("%x  %s\n", sha256.Sum256(a[name]), name)
		if name != "SHA256SUMS" && !strings.Contains(string(a["SHA256SUMS"]), line) {
			t.Errorf("SHA256SUMS has no line %q", line)
		}
	}
}

func read(t *testing.T, r release) map[string][]byte {
	t.Helper()
	all, err := allIn(r.out)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string][]byte{}
	for _, f := range all {
		m[f.name] = f.data
	}
	return m
}

// home: every channel names the home address; the manifest of krew and the formula have the sums of the archives.
func home(t *testing.T, r release) {
	t.Helper()
	all := read(t, r)
	for _, a := range arches {
		file := r.archiveName(a) + ".tar.gz"
		sum := fmt.Sprintf("%x", sha256.Sum256(all[file]))
		for _, name := range []string{"tare.krew.yaml", "tare.rb"} {
			for _, text := range []string{sum, "https://git.example/weigh/releases/download/v1.2.3/" + file} {
				if !strings.Contains(string(all[name]), text) {
					t.Errorf("%s has no %s", name, text)
				}
			}
		}
	}
	for name, data := range all {
		if text := string(data); strings.HasSuffix(name, ".yaml") && strings.Contains(text, "tarelab") {
			t.Errorf("%s has another home:\n%s", name, text)
		}
	}
	if name, err := r.imageName(); err != nil || name != "git.example/weigh:1.2.3" {
		t.Errorf("image %s, %v", name, err)
	}
	r.home = "file:///srv/tare"
	if name, err := r.imageName(); err != nil || name != "localhost/srv/tare:1.2.3" {
		t.Errorf("image %s, %v", name, err)
	}
}

// sbom: the bill of materials lists the modules that go version -m lists, each once.
func sbom(t *testing.T, r release) {
	t.Helper()
	data := read(t, r)["tare_1.2.3_linux_amd64.spdx.json"]
	doc, err := json.Read(bytes.NewReader(data))
	if err == nil {
		err = spdxlib.ValidateDocument(doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range doc.Packages {
		got[p.PackageName] = p.PackageVersion
	}
	out, err := exec.Command("go", "version", "-m", r.binary(arches[0])).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"tare": "v1.2.3", "std": got["std"]}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) >= 3 && f[0] == "dep" {
			want[f[1]] = f[2]
		}
	}
	if !maps.Equal(got, want) || len(doc.Packages) != len(want) || len(want) < 5 {
		t.Errorf("%v\nwant\n%v", got, want)
	}
}

// archive: it has one directory, the binary in it can be executed, and every file is root's.
func archive(t *testing.T, r release) {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(read(t, r)["tare_1.2.3_linux_arm64.tar.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for archive := tar.NewReader(zipped); ; {
		h, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Uid != 0 || !h.ModTime.Equal(r.at) || strings.HasSuffix(h.Name, "/tare") != (h.Mode == 0o755 && h.Typeflag == tar.TypeReg) {
			t.Errorf("%+v", h)
		}
	}
	top := "tare_1.2.3_linux_arm64/"
	want := []string{top, top + "CHANGELOG.md", top + "LICENSE", top + "LICENSES-OF-MODULES", top + "README.md", top + "completions/",
		top + "completions/tare.bash", top + "completions/tare.fish", top + "completions/tare.zsh", top + "docs/", top + "man/", top + "man/tare.1", top + "tare"}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%q, %v", pages, err)
	}
	for _, p := range pages {
		want = append(want, top+"docs/"+filepath.Base(p))
	}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("%q\nwant\n%q", names, want)
	}
}

func TestSection(t *testing.T) {
	const text = "# Changelog\n\n## Unreleased\n\nnew\n\n## v0.2.0 (2026-12-01)\n\n**b**\n- two\n\n## [0.1.0]\n\none\n"
	for title, want := range map[string]string{"Unreleased": "new", "v0.2.0": "**b**\n- two", "0.1.0": "one", "v0.1.0": "", "v0.2": ""} {
		if got := section(text, title); got != want {
			t.Errorf("%s: %q, want %q", title, got, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, version := range []string{"", "0.1.0", "v1", "v1.2.3 ", "v1.2.3;x"} {
		if err := (release{version: version}).check(); err == nil || !strings.Contains(err.Error(), "want v1.2.3") {
			t.Errorf("%q: %v", version, err)
		}
	}
}
