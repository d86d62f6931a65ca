package handover

import "github.com/tarelab/tare/record"

var onServer = []record.SettingOn{record.OnServer}

// options is a target that is an option file: NAME = VALUE in a section.
func options(name, file, service string, section []string, keys ...record.SettingKey) Target {
	table := map[record.SettingKey]form{}
	for _, k := range keys {
		table[k] = flat(string(k)+" = %s", asIs)
	}
	return Target{name, onServer, from(table, notInServer), func(_ Thing, lines []string) Snippet {
		return Snippet{File: file, Lines: append(section[:len(section):len(section)], lines...),
			Undo: []string{"rm " + file, "systemctl restart " + service}}
	}}
}

func mysql() Target {
	return options("my.cnf", "/etc/mysql/conf.d/50-tare.cnf", "mysql", []string{"[mysqld]"},
		record.KeyBufferPool, record.KeyFlushMethod, record.KeyIOCapacity)
}

// postgres has a size in bytes with its unit, B.
func postgres() Target {
	t := options("postgresql.conf", "/etc/postgresql/VERSION/main/conf.d/50-tare.conf", "postgresql", nil)
	t.lines = from(map[record.SettingKey]form{record.KeySharedBuffers: flat(string(record.KeySharedBuffers)+" = '%sB'", asIs)}, notInServer)
	return t
}
