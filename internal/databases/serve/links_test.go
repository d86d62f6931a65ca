package serve

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// theirs is a data set that the server's account owns, and a directory of the host with a file of the same name
// as one of the server's.
func theirs(t *testing.T) (dir, target string) {
	t.Helper()
	dir, target = t.TempDir(), t.TempDir()
	err := errors.Join(os.WriteFile(filepath.Join(target, "precious"), nil, 0o600), os.WriteFile(filepath.Join(dir, db.SecretFile), []byte("x"), 0o600),
		os.Mkdir(filepath.Join(dir, db.RunDir), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	return dir, target
}

func untouched(t *testing.T, target string) {
	t.Helper()
	entries, err := os.ReadDir(target)
	if err != nil || len(entries) != 1 || entries[0].Name() != "precious" {
		t.Errorf("on the host: %v %v", entries, err)
	}
	var st unix.Stat_t
	if err := unix.Stat(filepath.Join(target, "precious"), &st); err != nil || int(st.Uid) != os.Geteuid() || st.Size != 0 {
		t.Errorf("on the host: a file of user %d, %d bytes, %v", st.Uid, st.Size, err)
	}
}

// clear removes files in the data set alone.
func TestClearBehindALink(t *testing.T) {
	dir, target := theirs(t)
	if err := errors.Join(os.Remove(filepath.Join(dir, db.RunDir)), os.Symlink(target, filepath.Join(dir, db.RunDir))); err != nil {
		t.Fatal(err)
	}
	b := &building{dir: dir}
	_ = b.removeLeftovers(db.Recipe{Leftovers: []string{db.RunDir + "/*"}})
	untouched(t, target)
}

// The server's account replaces the directory of sockets by a link, over and over: the configuration is written
// nowhere else, and the account gets no other file.
func TestReadyWhileSwapped(t *testing.T) {
	testneed.Root(t)
	dir, target := theirs(t)
	run, aside := filepath.Join(dir, db.RunDir), filepath.Join(dir, "aside")
	over, swapping := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(swapping)
		for {
			select {
			case <-over:
				return
			default:
				_ = unix.Rename(run, aside)
				_ = unix.Symlink(target, run)
				_ = unix.Unlink(run)
				_ = unix.Rename(aside, run)
			}
		}
	}()
	at, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	s, who := Server{Dir: dir}, &runAs{Account: account.Account{UID: 12345, GID: 12345}, dir: at}
	for i := range 800 {
		r := db.Recipe{Files: []db.File{{Path: db.RunDir + "/config" + strconv.Itoa(i%3), Text: "password {secret}"}}}
		_ = s.makeReady(r) // it may fail, but must not follow links
		_ = who.giveFiles()
	}
	close(over)
	<-swapping
	untouched(t, target)
}
