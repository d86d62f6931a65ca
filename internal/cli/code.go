package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/plan"
)

// codeLines name the user's own programs and scripts that each workload executes on this host:
// one line for each account. Only root has such lines.
func codeLines(p *plan.Plan) (lines []string) {
	if os.Geteuid() != 0 || p.PodNode != "" {
		return nil
	}
	for _, l := range p.Loads {
		lines = append(lines, codeLinesOf(l)...)
	}
	return lines
}

func codeLinesOf(l plan.Load) (lines []string) {
	var accounts []string
	of := map[string][]string{}
	for _, a := range l.Arms {
		for _, c := range a.Stages.Code {
			who, text := executedBy(c), fmt.Sprintf("%s (%s of %s)", c.What, c.Is, l.Name)
			if !slices.Contains(accounts, who) {
				accounts = append(accounts, who)
			}
			if !slices.Contains(of[who], text) {
				of[who] = append(of[who], text)
			}
		}
	}
	for _, who := range accounts {
		lines = append(lines, fmt.Sprintf("runs as %s on this host: %s", who, strings.Join(of[who], ", ")))
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
