package main

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// schemas publishes the schemas at the path of their $id, and lists them.
func (s *site) schemas() error {
	files, err := s.glob("docs/schema/*.json")
	if err != nil {
		return err
	}
	w := saying[english]
	var all strings.Builder
	fmt.Fprintf(&all, "# %s\n\n%s\n\n| schema | of |\n|---|---|\n", w.schemas, w.schemasLead)
	for _, f := range files {
		b, err := s.read(f)
		if err != nil {
			return err
		}
		var schema struct {
			ID          string `json:"$id"`
			Title       string
			Description string
		}
		if err := json.Unmarshal(b, &schema); err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		b = []byte(strings.Replace(string(b), `"$id": "`+schema.ID+`"`, `"$id": "`+schemaID(s.home, f)+`"`, 1))
		if err := s.put(english, f, b); err != nil {
			return err
		}
		name, of := strings.TrimSuffix(path.Base(f), ".json"), firstOf(schema.Description, schema.Title)
		fmt.Fprintf(&all, "| [%s](%s) | %s |\n", name, f, of)
	}
	return s.generated(english, "docs/schema/"+index, all.String())
}

func firstOf(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// schemaID is the address of a schema: tare names the same one (hint.Schema).
func schemaID(home, file string) string {
	if strings.HasPrefix(home, github) {
		return home + "/raw/main/" + file
	}
	return home + "/" + file
}

// published is the path below the site at which an address is served. GitHub serves the tree itself.
func published(home, id string) (string, bool) {
	rest, ok := strings.CutPrefix(id, home+"/")
	if strings.HasPrefix(home, github) {
		rest = strings.TrimPrefix(rest, "raw/main/")
	}
	return rest, ok
}

// prints is an error if tare names another address of a schema than the site does.
func (s *site) prints(file string) error {
	out, err := s.command(s.out, english, "presets", "show", quick)
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(out, "\n")
	_, address, ok := strings.Cut(first, "$schema=")
	if want := schemaID(s.home, file); !ok || address != want {
		return fmt.Errorf("tare names the schema %s, want %s: it was built with another HOME_URL", address, want)
	}
	return nil
}
