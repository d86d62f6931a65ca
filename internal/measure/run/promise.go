package run

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/host/durability"
	"github.com/tarelab/tare/record"
)

// Promises lists the settings that decide which commits survive a crash, as the server reported them.
func Promises(settings []record.Setting) []durability.Promise {
	got := map[string]string{}
	for _, s := range settings {
		got[s.Name] = s.Got
	}
	var out []durability.Promise
	for _, k := range knownPromises() {
		if v, ok := got[k.Name]; ok {
			out = append(out, durability.Promise{Name: k.Name, Value: v, Means: k.Means(strings.ToLower(v), got)})
		}
	}
	return out
}

// knownPromises lists the promises of all databases, then the parameters of loads that sync by themselves.
func knownPromises() []db.Promise {
	var all []db.Promise
	for _, s := range databases.All() {
		for _, p := range s.Promises() {
			// MariaDB, MySQL and Percona declare the same promises.
			if !slices.ContainsFunc(all, func(k db.Promise) bool { return k.Name == p.Name }) {
				all = append(all, p)
			}
		}
	}
	return append(all, db.Promise{Name: "param.sync", Means: db.Verbatim}, db.Promise{Name: "param.fsync", Means: db.Verbatim})
}
