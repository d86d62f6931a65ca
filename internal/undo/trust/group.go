package trust

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// alone says that what a group may write only this user may: the group is his own, as
// Debian and Fedora give one to each user, whose umask (002) then leaves it the right to
// write. That is read in passwd and group. A group that a directory service has is in
// neither, and so not his own. Root has none: what root does by a file is worth more
// than a look into two others.
func (u user) alone(path string, gid uint32) bool {
	return u.uid != 0 && u.owns(gid) && !listed(path)
}

// owns says that a user, by whatever names, is all that there is in a group.
func (u user) owns(gid uint32) bool {
	group := strconv.Itoa(int(gid))
	var names []string
	for _, f := range u.entries("passwd", 7) { // name, password, user, group, ...
		switch {
		case f[2] == strconv.Itoa(u.uid):
			names = append(names, f[0])
			if f[3] != group {
				return false
			}
		case f[3] == group:
			return false
		}
	}
	known := false
	for _, f := range u.entries("group", 4) { // name, password, group, members
		if f[2] != group {
			continue
		}
		known = true
		for _, member := range strings.Split(f[3], ",") {
			if member != "" && !slices.Contains(names, member) {
				return false
			}
		}
	}
	return known && len(names) > 0
}

// entries are the lines of a file of accounts, in so many fields each.
func (u user) entries(file string, fields int) (all [][]string) {
	text, err := os.ReadFile(filepath.Join(u.accounts, file))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) == fields {
			all = append(all, f)
		}
	}
	return all
}

// listed says that more than owner and group may have rights: where there is a list of
// them, the mode shows those of the whole list in place of the group's.
func listed(path string) bool {
	for _, list := range []string{"system.posix_acl_access", "system.nfs4_acl"} {
		_, err := unix.Lgetxattr(path, list, nil)
		if !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.EOPNOTSUPP) {
			return true
		}
	}
	return false
}
