package cli

import (
	"os"
	"os/exec"
	"slices"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/undo/trust"
)

// codeLines name the user's own programs and scripts that each workload executes on this host:
// one line for each account. Only root has such lines.
func codeLines(p *plan.Plan, in messages.Catalog) (lines []string) {
	if os.Geteuid() != 0 || p.PodNode != "" {
		return nil
	}
	for _, l := range p.Loads {
		lines = append(lines, codeLinesOf(l, in)...)
	}
	return lines
}

func codeLinesOf(l plan.Load, in messages.Catalog) (lines []string) {
	var accounts []string
	of := map[string][]string{}
	for _, a := range l.Arms {
		for _, x := range a.Stages.Code {
			who, text := executedBy(x), in.Text("plan.code.of", "what", x.What, "is", x.Is, "load", l.Name)
			if !slices.Contains(accounts, who) {
				accounts = append(accounts, who)
			}
			if !slices.Contains(of[who], text) {
				of[who] = append(of[who], text)
			}
		}
	}
	for _, who := range accounts {
		lines = append(lines, in.Text("plan.runs", "user", who, "list", of[who]))
	}
	return lines
}

// executedBy is the name of the account that executes a program.
func executedBy(c workload.Code) string {
	const root = "root"
	if len(c.Users) == 0 {
		return root
	}
	a, ok, err := account.First(c.Users...)
	if !ok && err == nil && slices.Contains(c.Users, account.Nobody.Name) && len(c.Users) == 1 {
		a, ok = account.Nobody, true
	}
	if err != nil || !ok || !account.CanGive() || !a.Mapped() || slices.ContainsFunc(c.Programs, func(p string) bool { return !a.Executes(p) }) {
		return root
	}
	return a.Name
}

// byRoot are the programs found by name that root executes itself, not as another account.
var byRoot = []string{"runc", "crun", "runsc", "podman", "docker"}

// warnOfPrograms warns root of such programs that another user could have put into a directory of PATH.
func (c *console) warnOfPrograms() {
	if os.Geteuid() != 0 {
		return
	}
	for _, name := range byRoot {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if err := trust.Dir(path); err != nil {
			c.note("plan.root", "path", path, "why", err)
		}
	}
}
