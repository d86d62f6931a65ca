package engines

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
)

// account is an ordinary user of this host.
type account struct {
	name     string
	uid, gid int
	groups   []int
}

func lookUp(name string) (account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return account{}, err
	}
	a := account{name: u.Username}
	if a.uid, err = strconv.Atoi(u.Uid); err != nil {
		return a, err
	}
	if a.gid, err = strconv.Atoi(u.Gid); err != nil {
		return a, err
	}
	ids, err := u.GroupIds()
	if err != nil {
		return a, err
	}
	for _, id := range ids {
		n, err := strconv.Atoi(id)
		if err != nil {
			return a, err
		}
		a.groups = append(a.groups, n)
	}
	return a, nil
}

// runtimeOf is the OCI runtime of a rootless container: crun, which does without
// groups by itself, but gives up where version 2 has controllers beside version 1.
func runtimeOf(t *cgroup.Tree) string {
	if t != nil && t.Layout == cgroup.Hybrid {
		return "runc"
	}
	return "crun"
}

// tool is a program, how to get it, and what it is for.
type tool struct{ name, remedy, why string }

// can says whether this host lets the user have containers with these programs; root
// is where its etc, proc and dev are.
func (a account) can(root string, tools []tool) environment.Support {
	for _, file := range []string{"etc/subuid", "etc/subgid"} {
		if !a.hasRange(root + file) {
			return environment.Unsupported(fmt.Sprintf("/%s has no ids for user %s: its containers would hold nobody but root", file, a.name),
				"usermod --add-subuids 100000-165535 --add-subgids 100000-165535 "+a.name)
		}
	}
	for _, switched := range []struct{ file, off string }{
		{"user/max_user_namespaces", "0"}, {"kernel/unprivileged_userns_clone", "0"},
	} {
		b, err := os.ReadFile(root + "proc/sys/" + switched.file)
		if err == nil && strings.TrimSpace(string(b)) == switched.off {
			name := strings.ReplaceAll(switched.file, "/", ".")
			return environment.Unsupported("this kernel gives ordinary users no user namespaces: "+name+" is "+switched.off, "sysctl "+name+", and set it to more than 0")
		}
	}
	if st, err := os.Stat(root + "dev/net/tun"); err != nil || st.Mode()&0o006 != 0o006 {
		return environment.Unsupported("/dev/net/tun is not for ordinary users: slirp4netns needs it", "modprobe tun; chmod 666 /dev/net/tun")
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool.name); err != nil {
			return environment.Unsupported(fmt.Sprintf("%s is not installed: %s", tool.name, tool.why), tool.remedy)
		}
	}
	return environment.Supported()
}

// hasRange looks for the user, by name or number, in a file as subuid(5) has it.
func (a account) hasRange(file string) bool {
	b, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) != 3 || f[0] != a.name && f[0] != strconv.Itoa(a.uid) {
			continue
		}
		if n, err := strconv.Atoi(f[2]); err == nil && n > 0 {
			return true
		}
	}
	return false
}
