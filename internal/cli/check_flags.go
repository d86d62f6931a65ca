package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/tarelab/tare/internal/base/hint"
)

// flagChecker is a command with flags that have no effect together with others.
type flagChecker interface {
	// checkFlags returns an error if a flag is given that has no effect.
	checkFlags() error
}

// checkFlags refuses flags that would be ignored: a flag that has no effect together with others, and a
// flag with a single value that is given twice.
func checkFlags(ctx *kong.Context) error {
	given := map[string]int{}
	for _, p := range ctx.Path {
		if p.Flag == nil || p.Flag.IsCumulative() || p.Flag.IsBool() || p.Resolved {
			continue
		}
		if given[p.Flag.Name]++; given[p.Flag.Name] > 1 {
			return &usageError{hint.New(fmt.Errorf("--%s is given twice", p.Flag.Name), "give --"+p.Flag.Name+" once"), ""}
		}
	}
	node := ctx.Selected()
	if node == nil || !node.Target.CanAddr() {
		return nil
	}
	if command, ok := node.Target.Addr().Interface().(flagChecker); ok {
		return command.checkFlags()
	}
	return nil
}

// uselessError is about a flag that has no effect together with others.
type uselessError struct {
	flag string // as it is named: "-o", "--node-helper"
	error
}

func (e *uselessError) Unwrap() error { return e.error }

// useless is the error about a flag without effect, with the reason and the remedy.
func useless(flag, because, instead string) error {
	return &usageError{&uselessError{flag, hint.New(fmt.Errorf("%s does nothing %s", flag, because), instead)}, ""}
}

// checkVerbose refuses --verbose with a form other than text.
func checkVerbose(verbose bool, f format) error {
	if verbose && f != "text" {
		return useless("--verbose", "with --format "+string(f), "leave one of them out: --verbose is more text, and the other forms have everything")
	}
	return nil
}

func (r *runCommand) checkFlags() error {
	if r.Continue != "" {
		if err := r.checkContinue(); err != nil {
			return err
		}
	}
	if err := r.nodeFlags.checkFlags(); err != nil {
		return err
	}
	if r.Format == "html" && r.several() {
		return useless("--format html", "with several nodes, each of which has its page in DIR/NODE", "leave it out")
	}
	if r.throughHelpers() {
		for _, f := range []struct{ flag, value string }{{"--pod-image", r.PodImage}, {"--namespace", r.Namespace}} {
			if f.value != "" {
				return useless(f.flag, "with --node-helper, where tare itself is on the node of the pods", "leave it out, or leave out --node-helper and name one node")
			}
		}
	}
	if r.UntilDecided && r.Precision != "" {
		return useless("--precision", "with --until-decided, which stops at the limits", "leave one of them out")
	}
	return cmp.Or(r.checkProgress(), checkVerbose(r.Verbose, r.Format))
}

// checkContinue refuses the flags that --continue takes from the result.
func (r *runCommand) checkContinue() error {
	for _, f := range []struct {
		flag  string
		given bool
	}{
		{"-o", r.Output != ""}, {"--nodes " + strings.Join(r.Nodes, ","), r.several()}, {"--node-helper", r.NodeHelper},
		{"--helper-image", r.HelperImage != ""},
	} {
		if f.given {
			return useless(f.flag, "with --continue, which adds to that result where it was measured", "leave "+f.flag+" out")
		}
	}
	return nil
}

func (p *planCommand) checkFlags() error {
	on := nodeFlags{Nodes: p.Nodes, NodeHelper: p.NodeHelper && !p.RBAC}
	switch {
	case p.NodeHelper && !p.RBAC && len(p.Nodes) == 0:
		return useless("--node-helper", "without --nodes or --rbac", "tare plan --rbac --node-helper prints the rights that the helper needs")
	case p.Verbose && !p.RBAC && p.Format != "text":
		return useless("--verbose", "with --format json", "leave one of them out")
	case p.RBAC && p.Format != "text":
		return useless("--format", "with --rbac, which prints YAML for kubectl", "leave one of them out")
	case p.RBAC && p.NodeHelper && p.PodImage != "":
		return useless("--pod-image", "with --node-helper, where tare itself is on the node of the pods", "leave it out")
	}
	if on.throughHelpers() {
		return on.checkHelper()
	}
	return nil
}

func (r *reportCommand) checkFlags() error {
	const because, instead = "with --open, which shows the page", "leave one of them out"
	switch {
	case r.Open && r.Verbose:
		return useless("--verbose", because, instead)
	case r.Open && r.Format != "text":
		return useless("--format", because, instead)
	}
	return checkVerbose(r.Verbose, r.Format)
}

func (p *cachePrune) checkFlags() error {
	var given []string
	if p.All {
		given = append(given, "--all")
	}
	if p.Unused > 0 {
		given = append(given, "--unused")
	}
	if len(p.Keys) > 0 {
		given = append(given, p.Keys[0])
	}
	if len(given) > 1 {
		return &usageError{hint.New(fmt.Errorf("%s choose different data sets", strings.Join(given, " and ")), "give one of them, and -n to see what it would remove"), ""}
	}
	return nil
}

func (l *imageLoad) checkFlags() error {
	switch {
	case l.Into == "podman" && l.Address != "":
		return useless("--address", "with --into podman, which has no socket", "leave --address out")
	case l.Into != "containerd" && l.Namespace != "":
		return useless("--namespace", "with --into "+string(l.Into), "leave it out: only containerd has namespaces")
	}
	return nil
}
