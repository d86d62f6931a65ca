package like

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/allow"
	"github.com/tarelab/tare/internal/base/hint"
)

// Trial asks the server program whether it takes settings and options. It returns what the program says against them.
type Trial func(settings map[string]string, options []string) (complaints []string, err error)

// try tries the settings on the server program. What it does not take is an error with its place; of a running server's
// settings it is left out.
func (a *Adopted) try(t Target, running bool) error {
	for t.Try != nil {
		complaints, err := t.Try(a.Settings, a.Options)
		if err != nil || len(complaints) == 0 {
			return err
		}
		name, said := a.blamed(complaints)
		said = a.withoutValue(name, said)
		if i := a.option(name); running && i >= 0 {
			a.Options = slices.Delete(a.Options, i, i+1)
			a.Changes = append(a.Changes, Change{From: a.Places[name], Name: allow.Canonical(strings.TrimPrefix(name, "--")), Why: notTaken(t.name(), said)})
			continue
		}
		err = fmt.Errorf("%s does not take it: %s", t.name(), said)
		if place := a.Places[name]; place != "" {
			err = fmt.Errorf("%s: %s: %w", place, strings.TrimPrefix(name, "--"), err)
		}
		return hint.New(err, "correct or remove it, or name the server of these settings: --server PATH")
	}
	return nil
}

// withoutValue takes the value of an option or setting out of a complaint: it may be a secret in the wrong line.
func (a *Adopted) withoutValue(name, said string) string {
	value := a.Settings[name]
	if i := a.option(name); i >= 0 {
		_, value, _ = strings.Cut(a.Options[i], "=")
	}
	if value == "" {
		return said
	}
	said = strings.ReplaceAll(said, "="+value, "")
	for _, quote := range []string{"'", `"`} {
		said = strings.ReplaceAll(said, quote+value+quote, "the value")
	}
	return strings.ReplaceAll(said, "value the value", "the value")
}

// option is the index of an option by its name, or -1.
func (a *Adopted) option(name string) int {
	return slices.IndexFunc(a.Options, func(o string) bool { o, _, _ = strings.Cut(o, "="); return o == name })
}

// blamed finds the option or setting that a complaint names, the one with the longest name; "" if it names none.
func (a *Adopted) blamed(complaints []string) (name, said string) {
	for _, said := range complaints {
		text := allow.Canonical(said)
		for _, known := range a.names() {
			bare := allow.Canonical(strings.TrimPrefix(known, "--"))
			if strings.Contains(text, bare) && len(known) > len(name) {
				name = known
			}
		}
		if name != "" {
			return name, said
		}
	}
	return "", complaints[0]
}

// names are the names of options and of settings that were set.
func (a *Adopted) names() (all []string) {
	for name := range a.Places {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
