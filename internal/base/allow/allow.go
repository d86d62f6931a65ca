// Package allow decides which options an experiment may pass on to a program. It refuses every option
// that is not on the program's list, and every value that could be a path. A list of forbidden options
// would not do, because options that name files, directories, libraries or addresses have many
// spellings (mariadbd: --datadir, --datad, --loose-datadir, --maximum-datadir).
package allow

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
)

// List has the options of one program.
type List struct {
	// Program is the name of the program in messages.
	Program string
	// Names are the allowed options, in lower case with underscores, sorted.
	Names []string
	// Dashed is true if the program's manual writes names with dashes.
	Dashed bool
	// Ours has the options that tare sets itself. Each value is the remedy or the reason, as the hint
	// of the error.
	Ours map[string]string
	// Valued is true if each option needs a value: --name=value.
	Valued bool
	// Free also allows every name that is neither in Ours nor in Refused, for options that a user's
	// script adds to the program. It is safe only if Names, Ours and Refused together have all options
	// of the program itself, and the program refuses an option that neither it nor the script has.
	Free bool
	// Refused are the options that are refused although Free is true.
	Refused []string
}

// valuePattern matches numbers, sizes, words and lists of them. Without a slash a value can only name a file
// in the program's working directory, and no option on a list takes a file name.
var valuePattern = regexp.MustCompile(`^[A-Za-z0-9_.,:;+%=*-]*$`)

var namePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// Words splits text into sorted words.
func Words(text string) []string {
	words := strings.Fields(text)
	slices.Sort(words)
	return words
}

// Ours makes the map for List.Ours. parameters has tare's parameter for each option that an experiment
// can set only through it; fixed are options that no experiment can set.
func Ours(parameters map[string]string, fixed ...string) map[string]string {
	all := map[string]string{}
	for option, parameter := range parameters {
		all[option] = setParameter + parameter
	}
	for _, option := range fixed {
		all[option] = "it is the same in all arms"
	}
	return all
}

// setParameter begins the remedy about an option that a parameter of tare's sets.
const setParameter = "set the parameter "

// Parameter returns tare's parameter for an option that an experiment can set only through it; "": there
// is none.
func (l List) Parameter(name string) string {
	parameter, _ := strings.CutPrefix(l.Ours[Canonical(name)], setParameter)
	if parameter == l.Ours[Canonical(name)] {
		return ""
	}
	return parameter
}

// Fixed says whether an option is the same in all arms.
func (l List) Fixed(name string) bool {
	return l.Ours[Canonical(name)] != "" && l.Parameter(name) == ""
}

// Has says whether an option is on the list.
func (l List) Has(name string) bool { return slices.Contains(l.Names, Canonical(name)) }

// Plain says whether a value is a number, a word or a list of them.
func Plain(value string) bool { return valuePattern.MatchString(value) }

// Canonical spells a name as the lists do: in lower case, with underscores.
func Canonical(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "_")) }

// Check returns why an option of the form --name or --name=value is refused, or nil.
func (l List) Check(option string) error {
	n, v, valued, err := parse(option)
	switch {
	case err != nil:
		return err
	case l.Valued && !valued:
		return fmt.Errorf("%q: want --name=value", option)
	case l.Ours[n] != "":
		return hint.New(fmt.Errorf("%q: tare sets this option of %s itself", option, l.Program), l.Ours[n])
	case !slices.Contains(l.Names, n) && (!l.Free || slices.Contains(l.Refused, n)):
		return hint.New(fmt.Errorf("%q is not an option that may be passed on to %s", option, l.Program), l.nearest(n))
	case !valuePattern.MatchString(v):
		return fmt.Errorf("%q: the value is to be a number, a word or a list of them, and no path", option)
	}
	return nil
}

// parse splits --name=value. valued is false without "=".
func parse(option string) (n, v string, valued bool, err error) {
	text, found := strings.CutPrefix(option, "--")
	n, v, valued = strings.Cut(text, "=")
	if !found || !namePattern.MatchString(n) {
		return "", "", false, fmt.Errorf("%q: want --name=value", option)
	}
	return strings.ReplaceAll(n, "-", "_"), v, valued, nil
}

// nearest returns the hint about a name that is not allowed: the nearest allowed one, or the rule.
func (l List) nearest(n string) string {
	if near := hint.Nearest(n, l.Names); near != "" && near != n {
		if l.Dashed {
			near = strings.ReplaceAll(near, "_", "-")
		}
		return "did you mean --" + near + "?"
	}
	return "options that change speed or memory are allowed, those that name files, addresses or code are not"
}
