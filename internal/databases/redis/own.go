package redis

import (
	"strings"

	"github.com/tarelab/tare/internal/databases/db"
)

// own starts a server that listens on its socket alone, and asks it: the program has no option that prints values.
func own() db.Own {
	return db.Own{
		Names: []string{setAppend, setAppendSync, setSave, setIOThreads},
		Calls: func(_ db.Version, c db.Config, settings bool) ([][]string, error) {
			args := []string{"--port", "0", "--unixsocket", db.SocketFile, "--unixsocketperm", "700", "--daemonize", "no"}
			if !settings {
				return [][]string{args}, nil
			}
			more, err := optionWords(c.Options)
			args = append(args, "--appendonly", c.Settings[setAppend], "--appendfsync", c.Settings[setAppendSync], "--io-threads", c.Settings[setIOThreads])
			return [][]string{append(args, more...)}, err
		},
		Complaints: func(_ db.Version, _ db.Config, stdout, stderr string) (all []string) {
			lines := strings.Split(stdout+stderr, "\n")
			for i, line := range lines {
				named, found := strings.CutPrefix(strings.TrimSpace(line), ">>> ")
				if found && i+1 < len(lines) {
					all = append(all, strings.Trim(named, "'")+": "+strings.TrimSpace(lines[i+1]))
				}
			}
			return all
		},
	}
}
