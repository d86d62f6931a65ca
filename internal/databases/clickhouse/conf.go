package clickhouse

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/undo/trust"
)

// conf reads config.xml and users.xml, each with the files that override it.
func conf() db.Conf {
	return db.Conf{
		Names: []string{"*.xml"},
		Read: func(path string, _ db.Version) ([]db.Given, error) {
			given, err := readConf(path)
			base := strings.TrimSuffix(filepath.Base(path), ".xml")
			for _, dir := range []string{base + ".d", "conf.d"} {
				files, found := db.Included(filepath.Join(filepath.Dir(path), dir), "*.xml")
				if found != nil && !errors.Is(found, fs.ErrNotExist) {
					return nil, found
				}
				for _, f := range files {
					more, failed := readConf(f)
					given, err = append(given, more...), errors.Join(err, failed)
				}
			}
			return given, err
		},
		Value: confValue,
		Omit: map[string]string{
			"keep_alive_timeout": db.Pauses, "max_connections": db.LoadConnects, "max_concurrent_queries": db.LoadConnects,
			"max_concurrent_insert_queries": db.LoadConnects, "max_concurrent_select_queries": db.LoadConnects, "max_waiting_queries": db.LoadConnects,
		},
		Memory:    []string{setMarkCache, setPlainCache, "max_server_memory_usage"},
		Variables: variables,
	}
}

// errXML is the error of a text that is no XML.
var errXML = errors.New("XML that is not well-formed")

// profile is the path of the settings of queries in a users file.
const profile = "profiles.default."

// readConf reads one file. The name of a setting is its path below the root, with dots.
func readConf(path string) (given []db.Given, err error) {
	text, err := trust.ReadGiven(path)
	if err != nil {
		return nil, err
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	var at []string
	var value strings.Builder
	leaf, root := false, false
	for {
		token, err := d.Token()
		line, _ := d.InputPos()
		if err == io.EOF {
			break
		}
		if err != nil {
			var syntax *xml.SyntaxError
			if errors.As(err, &syntax) {
				line = syntax.Line
			}
			return nil, &db.LineError{Path: path, Line: line, Err: errXML} // the decoder's text has words of the file
		}
		switch t := token.(type) {
		case xml.StartElement:
			at, leaf, root = append(at, t.Name.Local), true, true
			value.Reset()
		case xml.CharData:
			value.Write(t)
		case xml.EndElement:
			if leaf && len(at) > 1 {
				name := strings.TrimPrefix(strings.Join(at[1:], "."), profile)
				given = append(given, db.Given{Name: name, Value: strings.TrimSpace(value.String()), Valued: true, From: db.Place(path, line)})
			}
			at, leaf = at[:len(at)-1], false
		}
	}
	if !root {
		return nil, &db.LineError{Path: path, Line: 1, Err: errors.New("no XML with settings")}
	}
	return given, nil
}

// confValue is the value of a setting of tare's. A server that chooses its threads says 0, auto or auto(8).
func confValue(setting string, g db.Given, _ map[string]db.Given) (string, error) {
	if setting == setMaxThreads && (g.Value == "0" || strings.HasPrefix(strings.Trim(g.Value, "'"), "auto")) {
		return db.Leave, nil
	}
	if setting != setUsePlain {
		return g.Value, nil
	}
	switch strings.ToLower(g.Value) {
	case "1", "true":
		return "on", nil
	case "0", "false":
		return "off", nil
	}
	return "", db.Want(g.Value, "0 or 1")
}

// variables asks a running server: settings of queries that were changed, and from 23.3 on those of the
// server; those that are tare's in any case.
func variables(ask func(string) ([][]string, error)) (given []db.Given, err error) {
	which := " WHERE changed OR name IN ('" + strings.Join(ownNames(), "', '") + "')"
	rows, err := ask("SELECT name, value, changed FROM system.settings" + which)
	if err != nil {
		return nil, err
	}
	server, err := ask("SELECT name, value, changed FROM system.server_settings" + which)
	if err == nil {
		rows = slices.Concat(rows, server)
	}
	for _, row := range rows {
		if len(row) == 3 {
			given = append(given, db.Given{Name: row[0], Value: row[1], Valued: true, Own: row[2] == "0" || row[2] == "false"})
		}
	}
	return given, nil
}

// ownNames are the variables behind tare's settings. The program cannot be asked for them: what nobody has set is left
// to the server.
func ownNames() (names []string) {
	for _, s := range settings() {
		names = append(names, s.Name)
	}
	return names
}
