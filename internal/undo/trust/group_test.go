package trust

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/testneed"
)

const (
	ann   = 12345 // a user's id
	group = 12346 // id of that user's own group
)

// accounts is a directory with passwd and group.
func accounts(t *testing.T, passwd, group string) string {
	t.Helper()
	etc := t.TempDir()
	for name, text := range map[string]string{"passwd": passwd, "group": group} {
		if err := os.WriteFile(filepath.Join(etc, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return etc
}

const (
	alonePasswd = "root:x:0:0:root:/root:/bin/sh\nann:x:12345:12346::/home/ann:/bin/sh\n"
	aloneGroup  = "root:x:0:\nann:x:12346:\n"
)

func TestOwnGroup(t *testing.T) {
	for name, c := range map[string]struct {
		uid           int
		passwd, group string
		want          bool
	}{
		"own":                       {ann, alonePasswd, aloneGroup, true},
		"named in it":               {ann, alonePasswd, "ann:x:12346:ann\n", true},
		"two names of one":          {ann, alonePasswd + "anna:x:12345:12346::/:/bin/sh\n", "ann:x:12346:anna\n", true},
		"no newline":                {ann, "ann:x:12345:12346::/home/ann:/bin/sh", "ann:x:12346:", true},
		"with a member":             {ann, alonePasswd, "ann:x:12346:ann,bob\n", false},
		"a member by another name":  {ann, alonePasswd, aloneGroup + "all:x:12346:bob\n", false},
		"another's too":             {ann, alonePasswd + "bob:x:12347:12346::/:/bin/sh\n", aloneGroup, false},
		"another's before":          {ann, "bob:x:12347:12346::/:/bin/sh\n" + alonePasswd, aloneGroup, false},
		"not the first group":       {ann, "ann:x:12345:100::/home/ann:/bin/sh\n", "ann:x:12346:ann\n", false},
		"one name, not first group": {ann, alonePasswd + "anna:x:12345:100::/:/bin/sh\n", aloneGroup, false},
		"user of a directory":       {ann, "root:x:0:0:root:/root:/bin/sh\n", aloneGroup, false},
		"group of a directory":      {ann, alonePasswd, "root:x:0:\n", false},
		"broken lines":              {ann, "ann:x:12345\n", "ann:x\n", false},
		"no accounts":               {ann, "", "", false},
		"root's":                    {0, "root:x:0:12346::/:/bin/sh\n", aloneGroup, false},
	} {
		u := user{c.uid, accounts(t, c.passwd, c.group)}
		if got := u.ownsAlone(t.TempDir(), group); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (user{ann, filepath.Join(t.TempDir(), "none")}).ownsAlone(t.TempDir(), group) {
		t.Error("without accounts a group is somebody's own")
	}
}

// A file of a user with umask 002 is trusted, unless others have rights as well.
func TestOwnGroupWrites(t *testing.T) {
	testneed.Root(t)
	u := user{ann, accounts(t, alonePasswd, aloneGroup)}
	for name, c := range map[string]struct {
		gid    int
		mode   os.FileMode
		also   func(dir string) error
		trusts bool
	}{
		"own group":       {group, 0o775, nil, true},
		"for all":         {group, 0o777, nil, false},
		"another's group": {group + 1, 0o775, nil, false},
		"a list of users": {group, 0o775, func(dir string) error { return unix.Setxattr(dir, "system.posix_acl_access", listFor(ann+5), 0) }, false},
	} {
		dir := filepath.Join(t.TempDir(), ".local")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, ann, c.gid), os.Chmod(dir, c.mode)); err != nil {
			t.Fatal(err)
		}
		if c.also != nil {
			err := c.also(dir)
			if errors.Is(err, unix.EOPNOTSUPP) {
				testneed.Feature(t, "acl", err)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := u.walk(filepath.Join(dir, "state", "tare")); (err == nil) != c.trusts {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// listFor is the access control list of a directory of mode 0775 on which a user may write too:
// version 2, then tag, rights and id of each entry.
func listFor(uid uint32) []byte {
	const none = 0xffffffff
	list := []byte{2, 0, 0, 0}
	for _, e := range [][3]uint32{{1, 7, none}, {2, 7, uid}, {4, 5, none}, {0x10, 7, none}, {0x20, 5, none}} {
		list = append(list, byte(e[0]), 0, byte(e[1]), 0, byte(e[2]), byte(e[2]>>8), byte(e[2]>>16), byte(e[2]>>24))
	}
	return list
}
