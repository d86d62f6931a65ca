package workload

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"

	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire"
)

// PackageOf is the Debian package of a service, that of MariaDB for serve.Auto.
func PackageOf(service string) string {
	for _, s := range databases.All() {
		if d := s.Describe(); d.Name == service || service == serve.Auto && d.Protocol == mysql.Family {
			return d.Package
		}
	}
	return ""
}

// ServerParam is the path of the server's program; help is added to its help.
func ServerParam(help string) Param {
	return Param{Name: "server", Default: serve.Auto, Check: CheckProgram, Help: "path of the server's program" + help}
}

// ClientParam is where the client runs; runs is subject and verb of its help: "pgbench runs".
func ClientParam(runs string) Param {
	return Choice("client", "outside", "where "+runs+": outside of the arm, or in it with the server", "outside", "inside")
}

// ConnectParam is how the client reaches the server: TCP or socket.
func ConnectParam() Param {
	return Choice("connect", "tcp", "how it reaches the server; a socket needs client=inside", "tcp", "socket")
}

// OptionsParam is a list of options that are passed on; check allows each.
func OptionsParam(name, help string, check func(string) error) Param {
	return Param{Name: name, Default: None, Check: options(check), Help: help + ", --name=value with spaces between"}
}

// ServerOptions is the parameter for options of the server's program.
func ServerOptions(s db.Service) Param {
	return OptionsParam("server_options", "options passed on to the server", s.Describe().Options.Check)
}

// SettingParams are the settings of a service as parameters.
func SettingParams(s db.Service) (params []Param) {
	for _, s := range s.Describe().Settings {
		check := s.Check
		if check == nil {
			check = oneOf(s.Words...)
		}
		params = append(params, Param{Name: s.Name, Default: s.Default, Words: s.Words, Help: "server: " + s.Help, Check: check, Text: s.Open})
	}
	return params
}

// Database is the server of a service with its settings, and where the client runs.
func (r *Reader) Database(name string, s db.Service, connections int) load.Database {
	settings := map[string]string{}
	for _, x := range s.Describe().Settings {
		settings[x.Name] = r.Values[x.Name]
	}
	inside, socket := r.Values["client"] == "inside", r.Values["connect"] == "socket"
	if socket && !inside && r.Err == nil {
		r.Err = errors.New("connect=socket needs client=inside: a socket does not reach out of an arm")
	}
	return load.Database{
		Service: name, Inside: inside, TCP: inside && !socket,
		Server: serve.Server{Settings: settings, Options: List(r.Values["server_options"]), Connections: connections},
	}
}

// RunWith sets Server and Load: the server runs in the arm, the client outside of it, or one process
// in the arm starts both.
func (s *Stages) RunWith(d load.Database, task func(load.Database) Task) {
	if d.Inside {
		s.Load = func(at wire.Place) Task {
			here := d
			here.Server.Dir, here.Server.Program, here.Files = at.Volume, at.Program, at.Volume
			here.Server.Walled, here.Server.OwnRoot = at.Walled, at.OwnRoot
			return task(here)
		}
		return
	}
	s.Carried = []string{dataset.MarkerFile, db.SecretFile}
	s.Server = func(at wire.Place) Task {
		here := d.Server
		here.Dir, here.Listen, here.Program = at.Volume, at.Listen, at.Program
		here.Walled, here.OwnRoot = at.Walled, at.OwnRoot
		return HiddenTask(serve.Command, d.Service, here)
	}
	s.Load = func(at wire.Place) Task {
		here := d
		here.Server.Dir = cmp.Or(at.ClientVolume, at.HostVolume, at.Volume)
		here.Files = cmp.Or(at.ClientFiles, here.Server.Dir)
		here.Server.Listen, here.Dial = at.Listen, at.Dial
		return task(here)
	}
}

// HashOf is a hash of parameters for Stages.Key. The key in the cache is another one, which also
// has the version of the server.
func HashOf(values ...string) uint32 {
	h := fnv.New32a()
	for _, x := range values {
		h.Write([]byte(x + "\x00"))
	}
	return h.Sum32()
}

// CheckProgram allows an absolute path or serve.Auto.
func CheckProgram(s string) error {
	if s != serve.Auto && !filepath.IsAbs(s) {
		return fmt.Errorf("%q is neither %s nor an absolute path", s, serve.Auto)
	}
	return nil
}

// ProgramPath is the path of a program, "" for serve.Auto.
func ProgramPath(s string) string {
	if s == serve.Auto {
		return ""
	}
	return s
}

// options checks each option of a list.
func options(check func(string) error) func(string) error {
	return func(s string) error {
		if s == None {
			return nil
		}
		list := strings.Fields(s)
		if len(list) == 0 {
			return fmt.Errorf("%q is neither %s nor a list of options", s, None)
		}
		for _, o := range list {
			if err := check(o); err != nil {
				return err
			}
		}
		return nil
	}
}

// List splits a list of options at spaces; "none" is an empty list.
func List(s string) []string {
	if s == None {
		return nil
	}
	return strings.Fields(s)
}
