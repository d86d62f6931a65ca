package handover

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/record"
)

// onServer: the socket of a server is a setting of the load's arm.
var onServer = []record.SettingOn{record.OnServer, record.OnLoad}

// server is a kind of server with an option file of its own, which the server's main file includes after the others.
type server struct {
	name, file, service string
	section             []string
	notes               []record.Said
	table               map[record.SettingKey]form
	read                func(keys []record.SettingKey) []string
	set                 func(all []record.RemedySetting) string // sets them while the server runs; nil: none can be
}

// target is the option file. What the server sets while it runs needs no restart.
func (s server) target() Target {
	return Target{Name: s.name, on: onServer, forms: s.table, others: notInServer, whole: func(_ Thing, c change) Snippet {
		then, back := "systemctl restart "+s.service, "systemctl restart "+s.service
		if s.set != nil && c.live(s.table) {
			then = s.set(c.apply)
			if !slices.ContainsFunc(c.undo, func(u record.RemedySetting) bool { return u.Value == "" }) {
				back = s.set(c.undo)
			}
		}
		var keys []record.SettingKey
		for _, a := range c.apply {
			keys = append(keys, a.Key)
		}
		return Snippet{
			File: s.file, Lines: append(s.section[:len(s.section):len(s.section)], c.lines...), Then: []string{then}, Notes: s.notes, Check: s.read(keys),
			Undo: []string{"rm " + s.file, back},
		}
	}}
}

// Debian's packages read conf.d first, and then the directory of the server: what stands there holds.
func mariadb() Target {
	return myCnf("my.cnf of MariaDB", "/etc/mysql/mariadb.conf.d/", "mariadb", "mariadb")
}

func mysql() Target { return myCnf("my.cnf of MySQL", "/etc/mysql/mysql.conf.d/", "mysql", "mysql") }

func myCnf(name, dir, service, client string) Target {
	const socket = "socket"
	table := map[record.SettingKey]form{record.KeyConnect: socketLines(socket + " = /run/mysqld/mysqld.sock")}
	for _, k := range []record.SettingKey{record.KeyBufferPool, record.KeyIOCapacity} {
		table[k] = flat(string(k)+" = %s", asIs).whileItRuns()
	}
	table[record.KeyFlushMethod] = flat(string(record.KeyFlushMethod)+" = %s", asIs)
	return server{name, dir + last + ".cnf", service, []string{"[mysqld]"}, []record.Said{otherDirectories}, table, func(keys []record.SettingKey) []string {
		var names []string
		for _, k := range keys {
			name := string(k)
			if k == record.KeyConnect {
				name = socket
			}
			names = append(names, "'"+name+"'")
		}
		return []string{client + ` --execute "SHOW GLOBAL VARIABLES WHERE Variable_name IN (` + strings.Join(names, ", ") + `)"`}
	}, func(all []record.RemedySetting) string {
		var sets []string
		for _, a := range all {
			sets = append(sets, fmt.Sprintf("SET GLOBAL %s = %s", a.Key, a.Value))
		}
		return client + ` --execute "` + strings.Join(sets, "; ") + `"`
	}}.target()
}

// postgres has a size in bytes with its unit, B.
func postgres() Target {
	const file, directories = "/etc/postgresql/VERSION/main/conf.d/" + last + ".conf", "unix_socket_directories"
	return server{"postgresql.conf", file, "postgresql", nil, nil, map[record.SettingKey]form{
		record.KeySharedBuffers: flat(string(record.KeySharedBuffers)+" = '%sB'", asIs).noting(alterSystem),
		record.KeyConnect:       socketLines(directories + " = '/run/postgresql'"),
	}, func(keys []record.SettingKey) (out []string) {
		for _, k := range keys {
			name := string(k)
			if k == record.KeyConnect {
				name = directories
			}
			out = append(out, fmt.Sprintf("psql --command 'SHOW %s'", name))
		}
		return out
	}, nil}.target()
}

// redis has no directory of option files: its main file gets a line at its end.
func redis() Target {
	const main, file = "/etc/redis/redis.conf", "/etc/redis/" + last + ".conf"
	t := server{"redis.conf", file, "redis-server", nil, nil, map[record.SettingKey]form{
		record.KeyConnect: socketLines("unixsocket /run/redis/redis-server.sock", "unixsocketperm 770"),
	}, func([]record.SettingKey) []string { return []string{"redis-cli CONFIG GET unixsocket"} }, nil}.target()
	whole := t.whole
	t.whole = func(x Thing, c change) Snippet {
		s := whole(x, c)
		s.Then = append([]string{"echo 'include " + file + "' >>" + main}, s.Then...)
		s.Undo = append([]string{"sed -i '\\|^include " + file + "$|d' " + main}, s.Undo...)
		return s
	}
	return t
}

// socketLines name the socket of the server.
func socketLines(all ...string) form {
	return lines(func(Thing, string) []string { return all }).noting(clientSocket)
}
