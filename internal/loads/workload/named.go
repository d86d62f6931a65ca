package workload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/sqlfile"
	"github.com/tarelab/tare/internal/undo/trust"
)

// Named is a file or a program that the user names in a parameter.
type Named struct {
	Param, Value string
	// InArm says that an arm opens it: an arm with an image has the image's instead of the host's.
	InArm bool
	// Check returns why the load could not use it; nil if it can. It changes nothing.
	Check func() error
}

// NamedText is a file whose text the load reads on this host. check returns what is wrong with the text; nil:
// any text.
func NamedText(param, path string, check func([]byte) error) Named {
	return Named{Param: param, Value: path, Check: func() error {
		text, err := trust.ReadGiven(path)
		if err == nil && check != nil {
			err = check(text)
			if err != nil {
				return hint.New(fmt.Errorf("%s: %w", path, err), hint.Of(err))
			}
		}
		return missingFile(err, path)
	}}
}

// NamedScript is the user's script of a client; path is empty for one of the client's own. SQLOf has files of SQL.
func NamedScript(v Values, path string) []Named {
	if path == "" || strings.HasSuffix(path, sqlfile.Ending) {
		return nil
	}
	n := NamedText("script", path, nil)
	n.InArm = v["client"] == "inside"
	return []Named{n}
}

// missingFile has the remedy for a file that cannot be read.
func missingFile(err error, path string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return hint.New(fmt.Errorf("there is no file %s", path), "name a file that is there, with its absolute path")
	}
	return hint.New(err, "name a regular file that this user can read")
}

// namedCopies are files and directories that are copied into the data directory.
func namedCopies(param string, paths []string) (all []Named) {
	for _, path := range paths {
		all = append(all, Named{Param: param, Value: path, Check: func() error {
			info, err := os.Stat(path)
			if err == nil && (info.IsDir() || info.Mode().IsRegular()) {
				var f *os.File
				if f, err = os.Open(path); err == nil {
					return f.Close()
				}
			} else if err == nil {
				err = fmt.Errorf("%s is neither a regular file nor a directory", path)
			}
			return missingFile(err, path)
		}})
	}
	return all
}
