package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/report/export"
)

// What make release writes into the binary (go build -ldflags -X); empty in other builds.
var (
	releaseVersion string // "v0.1.0"
	releaseCommit  string // 40 hexadecimal digits, and "+changes" if the tree differed from the commit
)

type versionCommand struct {
	Format  planFormat `group:"output" default:"text" placeholder:"text|json" help:"Output format."`
	Verbose bool       `short:"v" group:"output" help:"Every module in the binary, with its version."`
}

func (versionCommand) exits() []codeMeaning {
	return exitCodes("printed", exitError, exitUsage)
}

func (v *versionCommand) checkFlags() error { return checkVerbose(v.Verbose, format(v.Format)) }

func (v versionCommand) Run(c *console) error {
	b := thisBuild()
	if v.Format == "json" {
		return export.Object(c.stdout, b)
	}
	_, err := io.WriteString(c.stdout, b.text(v.Verbose))
	return err
}

// versionSchema is the schema of tare version's output.
const versionSchema = "tare/version/v1"

// build is the output of tare version: what this binary was made of.
type build struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`          // "v0.1.0"; a pseudo-version or "devel" if it is not a release
	Commit  string `json:"commit,omitempty"` // 40 hexadecimal digits; empty: not known
	// Dirty says that the source differed from the commit; nil: there is no commit.
	Dirty   *bool    `json:"dirty,omitempty"`
	Go      string   `json:"go"`      // the compiler that made it
	OS      string   `json:"os"`      // operating system
	Arch    string   `json:"arch"`    // architecture: amd64 or arm64
	Home    string   `json:"home"`    // address of the project
	Modules []module `json:"modules"` // the modules in the binary
}

// module is a Go module that is linked.
type module struct {
	Path    string `json:"path"` // as it is imported
	Version string `json:"version"`
	Sum     string `json:"sum,omitempty"` // its line in go.sum; empty: it was replaced by a directory
}

// thisBuild describes this binary.
func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	return buildOf(info, releaseVersion, releaseCommit)
}

// buildOf describes a binary from what Go and make release have written into it.
func buildOf(info *debug.BuildInfo, version, commit string) build {
	b := build{
		Schema: versionSchema, Version: version, Go: info.GoVersion, OS: runtime.GOOS, Arch: runtime.GOARCH,
		Home: hint.Home, Modules: []module{},
	}
	if own := info.Main.Version; b.Version == "" && own != "(devel)" {
		b.Version = own
	}
	b.Version = cmp.Or(b.Version, "devel")
	commit, dirty := strings.CutSuffix(commit, "+changes")
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && commit == "":
			commit = s.Value
		case s.Key == "vcs.modified":
			dirty = dirty || s.Value == "true"
		}
	}
	if b.Commit = commit; commit != "" {
		b.Dirty = &dirty
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Modules = append(b.Modules, module{m.Path, m.Version, m.Sum})
	}
	return b
}

// String is the version with the commit: "v0.1.0 (0123456789ab)". A pseudo-version contains the commit.
func (b build) String() string {
	short := b.Commit[:min(12, len(b.Commit))]
	if short == "" || strings.Contains(b.Version, short) {
		return b.Version
	}
	if *b.Dirty {
		short += "+changes"
	}
	return b.Version + " (" + short + ")"
}

// text has the version, the home and, in detail, each module on a line.
func (b build) text(details bool) string {
	text := fmt.Sprintf("tare %s %s %s/%s\n%s\n", b, b.Go, b.OS, b.Arch, b.Home)
	if details {
		for _, m := range b.Modules {
			text += fmt.Sprintf("  %s %s\n", m.Path, cmp.Or(m.Version, "unknown"))
		}
	}
	return text
}

// version is the version of this binary in results.
func version() string { return thisBuild().String() }
