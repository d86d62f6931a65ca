package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Rules for Services and published ports: kube-proxy's are in its own tables of nftables, those of the
// plugin portmap in chains of the table nat.

// proxyTable is the name of kube-proxy's table, for both address families.
const proxyTable = "ip kube-proxy"

// proxyConfig lets kube-proxy make rules of nftables and change nothing else. oomScoreAdj is for hosts
// without CAP_SYS_RESOURCE, which cannot lower it. The sync period is short because chains of a deleted
// Service go with the next sync. masqueradeAll is needed because pods on one bridge would answer each
// other directly, past the rules.
func (n node) proxyConfig(p ports) error {
	return n.write("proxy.yaml", fmt.Sprintf(`apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
hostnameOverride: %s
clientConnection: {kubeconfig: %q}
healthzBindAddress: 127.0.0.1:%d
metricsBindAddress: 127.0.0.1:%d
oomScoreAdj: 0
detectLocalMode: ClusterCIDR
clusterCIDR: %s
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
nftables: {syncPeriod: 3s, minSyncPeriod: 500ms, masqueradeAll: true}
`, n.name, n.in("proxy.kubeconfig"), p.health, p.metrics, allPods))
}

func output(in string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// tables are the tables of nftables, for example "ip nat".
func tables() ([]string, error) {
	out, err := output("", "nft", "list", "tables")
	var all []string
	for line := range strings.Lines(out) {
		all = append(all, strings.TrimPrefix(strings.TrimSpace(line), "table "))
	}
	return all, err
}

// hasRules is true if the node's kube-proxy has made its table.
func (n node) hasRules() error {
	return n.inside(func() error {
		all, err := tables()
		if err == nil && !slices.Contains(all, proxyTable) {
			err = fmt.Errorf("there is no table %s", proxyTable)
		}
		return err
	})
}

// natTable is the table with the plugin's chains.
const natTable = "ip nat"

// portChains are the plugin's chains; their prefix is CNI-.
func portChains(tables []string) ([]string, error) {
	if !slices.Contains(tables, natTable) {
		return nil, nil
	}
	out, err := output("", "iptables-save", "-t", "nat")
	var all []string
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(line, ":CNI-"); ok {
			all = append(all, "CNI-"+strings.Fields(name)[0])
		}
	}
	return all, err
}

// removeRules removes the tables and chains that did not exist before the cluster.
func removeRules(tablesBefore, chainsBefore []string) error {
	now, err := tables()
	if err != nil {
		return err
	}
	errs := []error{removePortChains(now, chainsBefore)}
	for _, t := range now {
		switch {
		case slices.Contains(tablesBefore, t):
		case strings.HasSuffix(t, " kube-proxy"), strings.HasSuffix(t, " nat") && bare(t):
			_, err := output("", "nft", append([]string{"delete", "table"}, strings.Fields(t)...)...)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// bare is true if a table has no rules, and no chains but iptables' built-in ones.
func bare(table string) bool {
	out, err := output("", "nft", append([]string{"list", "table"}, strings.Fields(table)...)...)
	if err != nil {
		return false
	}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) > 0 && !slices.Contains([]string{"table", "chain", "type", "}", "#"}, f[0]) {
			return false
		}
	}
	return true
}

func removePortChains(tables, before []string) error {
	chains, err := portChains(tables)
	if err != nil {
		return err
	}
	chains = slices.DeleteFunc(chains, func(c string) bool { return slices.Contains(before, c) })
	if len(chains) == 0 {
		return nil
	}
	saved, err := output("", "iptables-save", "-t", "nat")
	if err != nil {
		return err
	}
	text := "*nat\n"
	for line := range strings.Lines(saved) {
		f := strings.Fields(line)
		if len(f) > 3 && f[0] == "-A" && slices.Contains(chains, after(f, "-j")) && !slices.Contains(chains, f[1]) {
			text += "-D" + strings.TrimPrefix(line, "-A")
		}
	}
	for _, c := range chains {
		text += "-F " + c + "\n"
	}
	for _, c := range chains {
		text += "-X " + c + "\n"
	}
	_, err = output(text+"COMMIT\n", "iptables-restore", "--noflush")
	return err
}

// after is the word that follows another one.
func after(words []string, word string) string {
	if i := slices.Index(words, word); i >= 0 && i+1 < len(words) {
		return words[i+1]
	}
	return ""
}
