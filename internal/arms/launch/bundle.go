package launch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// SpecVersion is the version of the OCI specification that runc 1.0, crun 1.0 and the first
// releases of runsc accept.
const SpecVersion = "1.0.2"

// OpenFiles is the limit of open files of this process, which all arms have. A runtime raises
// its own limit, as every Go program does, and old ones pass that on to the container: runc
// 1.1 where the soft limit is below the hard one.
func OpenFiles() []specs.POSIXRlimit {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return nil
	}
	return []specs.POSIXRlimit{{Type: "RLIMIT_NOFILE", Soft: l.Cur, Hard: l.Max}}
}

// WriteBundle makes an OCI bundle: a directory with a config.json.
func WriteBundle(dir string, spec *specs.Spec) error {
	text, err := json.MarshalIndent(spec, "", "\t")
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the bundle of the container: %w", err)
	}
	return nil
}
