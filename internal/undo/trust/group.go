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

// ownsAlone says whether a group's right to write is only this user's, because the user is the only
// member of the group. Debian and Fedora give each user such a group, and their umask (002) leaves the
// group the right to write. ownsAlone looks in passwd and group: a group of a directory service (LDAP)
// is in neither and counts as others. So does every group for root, because a wrong answer would let
// others act as root.
func (u user) ownsAlone(path string, gid uint32) bool {
	return u.uid != 0 && u.owns(gid) && !hasACL(path)
}

// owns says whether a user, under whatever names, is the only member of a group.
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

// entries are the lines of passwd or group, split into so many fields.
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

// hasACL says whether a path has an access control list, or may have one. The group bits of its mode then
// hold for the whole list, not for the group alone.
func hasACL(path string) bool {
	for _, list := range []string{"system.posix_acl_access", "system.nfs4_acl"} {
		_, err := unix.Lgetxattr(path, list, nil)
		if !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.EOPNOTSUPP) {
			return true
		}
	}
	return false
}
