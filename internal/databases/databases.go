package databases

import (
	"fmt"
	"strings"

	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/redis"
)

// All are the databases that tare can run.
func All() []db.Service {
	return []db.Service{
		mysql.Service{Flavour: mysql.MariaDB},
		mysql.Service{Flavour: mysql.Oracle},
		mysql.Service{Flavour: mysql.Percona},
		postgres.Service{},
		clickhouse.Service{},
		redis.Service{},
	}
}

// Find finds a database by name.
func Find(name string) (db.Service, error) {
	var names []string
	for _, s := range All() {
		n := s.Describe().Name
		if n == name {
			return s, nil
		}
		names = append(names, n)
	}
	return nil, fmt.Errorf("no service %q: want one of %s", name, strings.Join(names, ", "))
}

// Protocol finds a protocol by name. Services of one family have the same protocol.
func Protocol(name string) (db.Protocol, error) {
	for _, s := range All() {
		if s.Describe().Protocol == name {
			return s.Protocol(), nil
		}
	}
	return db.Protocol{}, fmt.Errorf("no protocol is called %q", name)
}
