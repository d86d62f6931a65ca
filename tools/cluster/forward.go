package main

import (
	"errors"
	"slices"
	"strings"
)

// Docker sets the policy of the chain FORWARD to DROP and leaves it so when it ends. Packets between
// pods and to the second node go through that chain, so they need rules that accept them.

// filterTable is the table with the chain FORWARD.
const filterTable = "ip filter"

// forwardMark is the comment of the cluster's rules in that chain.
const forwardMark = "tare-cluster"

// openForward accepts the packets of the bridge and of the link to the second node, on a host that
// drops what it forwards.
func openForward() error {
	rules, err := forwardRules()
	if err != nil || !slices.Contains(rules, "-P FORWARD DROP") {
		return err
	}
	for _, name := range []string{bridge, link[0].name} {
		for _, direction := range []string{"-i", "-o"} {
			_, e := output("", "iptables", "-w", "-I", "FORWARD", direction, name,
				"-m", "comment", "--comment", forwardMark, "-j", "ACCEPT")
			err = errors.Join(err, e)
		}
	}
	return err
}

// closeForward removes the rules of openForward.
func closeForward() error {
	rules, err := forwardRules()
	for _, r := range rules {
		if f := strings.Fields(r); strings.Trim(after(f, "--comment"), `"`) == forwardMark {
			_, e := output("", "iptables", append([]string{"-w", "-D"}, f[1:]...)...)
			err = errors.Join(err, e)
		}
	}
	return err
}

// forwardRules are the policy and the rules of the chain FORWARD, as arguments of iptables. It makes no
// table on a host that has none.
func forwardRules() ([]string, error) {
	all, err := tables()
	if err != nil || !slices.Contains(all, filterTable) {
		return nil, err
	}
	out, err := output("", "iptables", "-w", "-S", "FORWARD")
	return strings.Split(out, "\n"), err
}
