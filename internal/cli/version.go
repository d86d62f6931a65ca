package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/tarelab/tare/internal/base/hint"
)

type versionCommand struct{}

func (versionCommand) Help() string { return exitCodes("printed", exitError, exitUsage) }

func (versionCommand) Run(c *console) error {
	_, err := fmt.Fprintln(c.stdout, versionLine()+"\n"+hint.Home)
	return err
}

func versionLine() string {
	return fmt.Sprintf("tare %s %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version is the module's version, or the commit of the build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+changes"
			}
		}
	}
	if revision == "" {
		return "devel"
	}
	return "devel-" + revision + dirty
}
