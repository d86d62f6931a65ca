package durability

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/record"
)

// promise is a setting with what it means for a commit. Settings that mean the
// same are equal, whatever their words.
type promise struct{ name, value, means string }

// promises are the settings that decide what a commit survives, as the server
// said them.
func promises(settings []record.Setting) []promise {
	got := map[string]string{}
	for _, s := range settings {
		got[s.Name] = s.Got
	}
	var out []promise
	for _, k := range known() {
		if v, ok := got[k.Name]; ok {
			out = append(out, promise{k.Name, v, k.Means(strings.ToLower(v), got)})
		}
	}
	return out
}

// known are the promises of databases, then parameters of loads that sync
// themselves.
func known() []db.Promise {
	all := []db.Promise{}
	for _, s := range databases.All() {
		for _, p := range s.Promises() {
			if !slices.ContainsFunc(all, func(k db.Promise) bool { return k.Name == p.Name }) { // two of one family
				all = append(all, p)
			}
		}
	}
	return append(all, db.Promise{Name: "param.sync", Means: db.Verbatim}, db.Promise{Name: "param.fsync", Means: db.Verbatim})
}
