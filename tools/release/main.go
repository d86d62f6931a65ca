// Command release writes the files of a release: archives, packages of Debian and RPM, images, schemas, bills of materials,
// a manifest of krew, a formula of Homebrew, notes and checksums. tools/release/make.sh compiles the binaries and
// calls it. The same binaries and arguments give the same bytes: every time is that of the commit.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// arch is an architecture under the names of Go, which Debian shares, and of RPM.
type arch struct{ name, rpm string }

var arches = []arch{{"amd64", "x86_64"}, {"arm64", "aarch64"}}

// release is what the files are made of.
type release struct {
	version string    // "v0.1.0"
	commit  string    // 40 hexadecimal digits, and "+changes" if the tree differed
	at      time.Time // of the commit
	home    string    // address of the project, without a slash at its end
	root    string    // of the repository
	// work has GOARCH/tare for each architecture, and man, completions and schemas, which may be empty.
	work string
	out  string
}

// number is the version without its v, as packages and files have it.
func (r release) number() string { return strings.TrimPrefix(r.version, "v") }

// binary is tare for an architecture.
func (r release) binary(a arch) string { return filepath.Join(r.work, a.name, "tare") }

var versions = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

func main() {
	var r release
	var epoch int64
	flag.StringVar(&r.version, "version", "", "version, such as v0.1.0")
	flag.StringVar(&r.commit, "commit", "", "commit of the source")
	flag.Int64Var(&epoch, "epoch", 0, "time of the commit in seconds since 1970")
	flag.StringVar(&r.home, "home", "", "address of the project")
	flag.StringVar(&r.root, "root", "../..", "directory of the repository")
	flag.StringVar(&r.work, "work", "", "directory with GOARCH/tare, man, completions and schemas")
	flag.StringVar(&r.out, "out", "", "directory for the files")
	flag.Parse()
	r.at, r.home = time.Unix(epoch, 0).UTC(), strings.TrimSuffix(r.home, "/")
	if err := r.write(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (r release) check() error {
	switch {
	case !versions.MatchString(r.version):
		return fmt.Errorf("version %q: want v1.2.3 or v1.2.3-rc.1", r.version)
	case r.at.Unix() <= 0 || r.commit == "" || r.home == "" || r.work == "" || r.out == "":
		return errors.New("-commit, -epoch, -home, -work and -out are needed")
	}
	return nil
}

// write writes all files into an empty directory.
func (r release) write() error {
	if err := r.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	modules, err := r.modules()
	if err != nil {
		return err
	}
	licences, err := licencesOf(modules)
	if err != nil {
		return err
	}
	for _, a := range arches {
		files, err := r.files(licences)
		if err != nil {
			return err
		}
		if err := errors.Join(r.archive(a, files), r.packages(a, files), r.image(a, licences), r.sbom(a, modules)); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return errors.Join(r.schemas(), r.krew(), r.formula(), r.notes(), r.sums())
}

// create writes a file into the release.
func (r release) create(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644)
}
