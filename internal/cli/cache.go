package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/report/export"
)

type cacheCommand struct {
	List  cacheList  `cmd:"" default:"1" help:"List the data sets: what is in them, how large they are, when they were last used."`
	Prune cachePrune `cmd:"" help:"Remove data sets: those named, those not used for long, or all; without either, broken ones."`
}

// Help is the list's too: cache without a command lists.
func (cacheCommand) exits() []codeMeaning {
	return exitCodes("listed", exitError, exitUsage)
}

type cacheList struct{}

func (cacheList) exits() []codeMeaning {
	return exitCodes("listed", exitError, exitUsage)
}

func (cacheList) Run(c *console) error {
	store, err := dataset.Default()
	if err != nil {
		return err
	}
	all, err := store.List()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		c.say("cache.none", "dir", store.Dir)
		return nil
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 3, ' ', 0)
	var sum float64
	for _, e := range all {
		sum += float64(e.Bytes)
		fmt.Fprintf(w, "%s\t%s\t%s\n", export.Clean(e.Key), quantity.Bytes(float64(e.Bytes)), export.Clean(describe(e, c.in)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	c.say("cache.sum", "size", quantity.Bytes(sum), "dir", store.Dir)
	return nil
}

// describe says when a data set was used and what made it, or why it is broken.
func describe(e dataset.Entry, in messages.Catalog) string {
	if e.Broken != "" {
		return in.Text("cache.broken", "why", e.Broken)
	}
	return in.Text("cache.used", "when", e.Used.Local().Format(time.DateTime), "program", strings.TrimSpace(e.About.Kind+" "+e.About.Version))
}

type cachePrune struct {
	Keys   []string `arg:"" optional:"" name:"data set" help:"Names or patterns as tare cache list shows them, such as mariadb-*."`
	Unused age      `placeholder:"720h" help:"Data sets that were not used for this long."`
	All    bool     `act:"" help:"All data sets."`
	DryRun bool     `short:"n" help:"Only list what would be removed."`
}

// age is the value of --unused.
type age time.Duration

func (a *age) UnmarshalText(b []byte) error {
	d, err := experiment.ParseDuration(string(b))
	if err == nil && d <= 0 {
		err = fmt.Errorf("%s must be positive", b)
	}
	if err != nil && strings.HasSuffix(string(b), "d") {
		err = fmt.Errorf("%s: days are written as hours: 720h is 30 days", b)
	}
	*a = age(d)
	return err
}

func (cachePrune) Help() string {
	return "What a run prepares or uses at the moment stays.\n\nExamples:\n\n  tare cache prune\n  tare cache prune --unused 720h\n  tare cache prune 'mariadb-*'"
}

func (cachePrune) exits() []codeMeaning {
	return exitCodes("removed, or nothing to remove", exitError, exitUsage)
}

func (p cachePrune) Run(c *console) error {
	for _, k := range p.Keys {
		if _, err := filepath.Match(k, ""); err != nil {
			return &usageError{fmt.Errorf("data set %q: %w", k, err), "tare cache list"}
		}
	}
	store, err := dataset.Default()
	if err != nil {
		return err
	}
	if p.DryRun {
		return p.preview(c, store)
	}
	removed, err := store.Prune(p.selects)
	var freed float64
	for _, e := range removed {
		freed += float64(e.Bytes)
		c.say("cache.removed", "name", e.Key)
	}
	if len(removed) == 0 && err == nil {
		return p.noneRemoved(c, store)
	}
	c.say("cache.freed", "size", quantity.Bytes(freed))
	return err
}

// preview lists the data sets that would be removed.
func (p cachePrune) preview(c *console, store dataset.Store) error {
	all, err := store.List()
	if err != nil {
		return err
	}
	found := 0
	for _, e := range all {
		if p.selects(e) {
			found++
			c.say("cache.would", "name", e.Key, "size", quantity.Bytes(float64(e.Bytes)))
		}
	}
	if found > 0 {
		return nil
	}
	return p.noneRemoved(c, store)
}

// noneRemoved says why nothing was removed. A name that no data set has is wrong usage.
func (p cachePrune) noneRemoved(c *console, store dataset.Store) error {
	all, err := store.List()
	if err != nil {
		return err
	}
	for _, e := range all {
		if p.selects(e) {
			return hint.New(errors.New("the data sets are in use"), "wait until the runs that use them have ended")
		}
	}
	if len(p.Keys) > 0 {
		return &usageError{fmt.Errorf("no data set called %s", p.Keys[0]), "tare cache list"}
	}
	c.say("cache.nothing")
	return nil
}

// selects says whether the arguments choose a data set.
func (p cachePrune) selects(e dataset.Entry) bool {
	if p.All {
		return true
	}
	for _, k := range p.Keys {
		if ok, _ := filepath.Match(k, e.Key); ok {
			return true
		}
	}
	if p.Unused > 0 && e.Broken == "" && time.Since(e.Used) > time.Duration(p.Unused) {
		return true
	}
	return len(p.Keys) == 0 && e.Broken != ""
}
