package redis

import (
	"strings"

	"github.com/tarelab/tare/internal/databases/db"
)

// Promises are the settings that decide what a command survives.
func (Service) Promises() []db.Promise {
	return []db.Promise{
		{Name: "appendonly", Means: db.OnOff},
		{Name: "appendfsync", Means: func(v string, all map[string]string) string {
			if db.OnOff(strings.ToLower(all["appendonly"]), all) == "off" {
				return "no log"
			}
			return v
		}},
		{Name: "save", Means: db.Verbatim},
	}
}
