package postgres

import "github.com/tarelab/tare/internal/databases/db"

// Promises are the settings that decide what a commit survives.
func (Service) Promises() []db.Promise {
	return []db.Promise{
		{Name: "fsync", Means: db.OnOff},
		{Name: "full_page_writes", Means: db.OnOff},
		{Name: "synchronous_commit", Means: func(v string, _ map[string]string) string {
			if v == "off" {
				return v
			}
			return "every commit" // the others differ only with standby servers
		}},
	}
}
