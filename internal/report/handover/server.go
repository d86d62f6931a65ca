package handover

import "github.com/tarelab/tare/record"

// onServer: the socket of a server is a setting of the load's arm.
var onServer = []record.SettingOn{record.OnServer, record.OnLoad}

// options is a target that is an option file of its own, which the server's main file includes.
func options(name, file, service string, section []string, table map[record.SettingKey]form) Target {
	return Target{Name: name, on: onServer, forms: table, others: notInServer, whole: func(_ Thing, c change) Snippet {
		again := "systemctl restart " + service
		return Snippet{File: file, Lines: append(section[:len(section):len(section)], c.lines...), Then: []string{again},
			Undo: []string{"rm " + file, again}}
	}}
}

func mysql() Target {
	table := map[record.SettingKey]form{record.KeyConnect: socketLines("socket = /run/mysqld/mysqld.sock")}
	for _, k := range []record.SettingKey{record.KeyBufferPool, record.KeyFlushMethod, record.KeyIOCapacity} {
		table[k] = flat(string(k)+" = %s", asIs)
	}
	return options("my.cnf", "/etc/mysql/conf.d/50-tare.cnf", "mysql", []string{"[mysqld]"}, table)
}

// postgres has a size in bytes with its unit, B.
func postgres() Target {
	const file = "/etc/postgresql/VERSION/main/conf.d/50-tare.conf"
	return options("postgresql.conf", file, "postgresql", nil, map[record.SettingKey]form{
		record.KeySharedBuffers: flat(string(record.KeySharedBuffers)+" = '%sB'", asIs),
		record.KeyConnect:       socketLines("unix_socket_directories = '/run/postgresql'"),
	})
}

// redis has no directory of option files: its main file gets a line.
func redis() Target {
	const main, file = "/etc/redis/redis.conf", "/etc/redis/50-tare.conf"
	t := options("redis.conf", file, "redis-server", nil, map[record.SettingKey]form{
		record.KeyConnect: socketLines("unixsocket /run/redis/redis-server.sock", "unixsocketperm 770"),
	})
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
