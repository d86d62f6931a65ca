package experiment

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/tarelab/tare/internal/loads/workload"
)

// Schema returns the JSON schema (draft 2020-12) of experiment files, for editors. It is made of the tables of keys. address
// is where the schema can be read. Parse checks more: the ranges of durations and sizes, the values of most parameters, and
// names that refer to other parts of the file.
func Schema(address string, words Words) map[string]any {
	root := object(experimentKeys(words), defaults(""))
	root["$schema"], root["$id"] = "https://json-schema.org/draft/2020-12/schema", address
	root["title"] = "experiment of tare"
	root["required"] = []string{"workloads"}
	definitions := shape{
		"arm":       object(armKeys(words), &ArmSpec{}),
		"workload":  withParams(object(workloadKeys(words), &Workload{Share: 1}), "load-", words.Kinds),
		"neighbour": withParams(object(neighbourKeys(words), &Neighbour{Memory: neighbourMemory, Pids: neighbourPids}), "neighbour-", words.Neighbours),
	}
	for prefix, kinds := range map[string]map[string][]workload.Param{"load-": words.Kinds, "neighbour-": words.Neighbours} {
		for kind, params := range kinds {
			definitions[prefix+kind] = paramsShape(params)
		}
	}
	root["$defs"] = definitions
	return root
}

// object takes a mapping with these keys and no others. x has their defaults.
func object[T any](keys []key[T], x *T) shape {
	properties := shape{}
	for _, k := range keys {
		s := maps.Clone(k.takes)
		if k.help != "" {
			s["description"] = k.help
		}
		if n := k.write(x); n != nil && n.Kind == yaml.ScalarNode && n.Value != "" {
			s["default"] = literal(n.Value)
		}
		properties[k.name] = s
	}
	return shape{"type": "object", "properties": properties, "additionalProperties": false}
}

// withParams adds to the shape of a load or neighbour that its kind decides which parameters it has. The definition of the
// parameters of a kind is called prefix and kind.
func withParams(s shape, prefix string, kinds map[string][]workload.Param) shape {
	var rules []shape
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		rules = append(rules, shape{
			"if":   shape{"properties": shape{"kind": shape{"const": kind}}, "required": []string{"kind"}},
			"then": shape{"properties": shape{"params": reference(prefix + kind)}},
		})
	}
	s["required"], s["allOf"] = []string{"kind"}, rules
	return s
}

func paramsShape(params []workload.Param) shape {
	properties := shape{}
	for _, p := range params {
		s := textShape(0)
		if len(p.Words) > 0 {
			s = wordShape(p.Words)
		}
		s["default"] = literal(p.Default)
		if p.Help != "" {
			s["description"] = p.Help
		}
		properties[p.Name] = s
	}
	return shape{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
}
