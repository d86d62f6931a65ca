package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/planning/experiment"
)

func TestScratchAt(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("disk", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, given := range []string{"disk", "./disk/", filepath.Join(dir, "disk")} {
		if got, err := scratchAt(given); err != nil || got != filepath.Join(dir, "disk") {
			t.Errorf("%s: %q, %v", given, got, err)
		}
	}
	for given, want := range map[string]string{"dsik": "there is no scratch directory", file: "is a file", file + "/below": "not a directory"} {
		_, err := scratchAt(given)
		if exitCode(err) != exitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", given, err)
		}
		if _, err := os.Stat("dsik"); err == nil {
			t.Error("it was made")
		}
	}
	if _, err := scratchAt("dsik"); !strings.Contains(hint.Of(err), "mount it") {
		t.Errorf("no remedy: %v", err)
	}
}

// tare makes no directory in the data directory of a server, wherever its name comes from.
func TestNothingInLiveData(t *testing.T) {
	data := filepath.Join(t.TempDir(), "mysql")
	if err := errors.Join(os.MkdirAll(filepath.Join(data, "mysql"), 0o755), os.Mkdir(filepath.Join(data, "shop"), 0o755), os.WriteFile(filepath.Join(data, "ibdata1"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(data, link); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if exitCode(err) != exitUsage || !strings.Contains(err.Error(), "data directory "+data+" of MySQL or MariaDB") || hint.Of(err) == "" {
			t.Errorf("%s: code %d, %v, hint %q", what, exitCode(err), err, hint.Of(err))
		}
	}
	for _, dir := range []string{data, filepath.Join(data, "shop"), link} {
		_, err := scratchAt(dir)
		refused("--scratch "+dir, err)
		_, err = resultDir(newDir(filepath.Join(dir, "result")), time.Now())
		refused("-o "+dir, err)
		refused("--volume dir:"+dir, checkVolumeDirs([]string{"dir:" + dir}))
		refused("volume of an arm", volumesOutsideData(&experiment.Experiment{Volume: "dir:" + dir}))
		t.Setenv("XDG_CACHE_HOME", dir)
		refused("data sets", ownDirsOutsideData())
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		t.Setenv("XDG_STATE_HOME", dir)
		refused("journal", ownDirsOutsideData())
		t.Setenv("XDG_STATE_HOME", t.TempDir())
		if err := ownDirsOutsideData(); err != nil {
			t.Error(err)
		}
	}
	t.Chdir(filepath.Join(data, "shop"))
	_, err := resultDir("", time.Now())
	refused("no -o", err)
}

// Where /proc is hidden, the error names it and no user: root cannot see through a mount either.
func TestProcHere(t *testing.T) {
	if err := procHere("/proc"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := procHere(dir); exitCode(err) != exitUnsupported || hint.Of(err) != "mount -t proc proc "+dir {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
}
