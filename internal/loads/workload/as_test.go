package workload_test

import (
	"os/exec"
	"syscall"
)

// as runs a command as another user.
func as(cmd *exec.Cmd, uid, gid uint32) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	cmd.Dir = "/"
}
