package handover

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlLines are the lines of a tree of maps, lists, strings and numbers.
func yamlLines(tree any) []string {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(tree); err != nil {
		panic(err) // only a value that is no YAML, which a form has written
	}
	return strings.Split(strings.TrimSpace(b.String()), "\n")
}
