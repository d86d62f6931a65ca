// Package schemas makes JSON schemas (draft 2020-12) of the Go types that tare writes as JSON, and a page on their fields.
// Types, names and what is optional come from reflection, descriptions from the comments of the source.
package schemas

import (
	"cmp"
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Shape is a part of a JSON schema.
type Shape = map[string]any

// Maker makes schemas. It collects the problems: fields that nothing describes.
type Maker struct {
	// Own are the schemas of types that write their JSON themselves, Uses other types that such a schema refers to.
	Own  map[reflect.Type]Shape
	Uses map[reflect.Type]reflect.Type
	// Besides are rules of a type that Go cannot express.
	Besides map[reflect.Type]Shape

	source   *source
	problems []string
}

// New makes a Maker. top is the directory of the module, whose path is module.
func New(top, module string) *Maker {
	return &Maker{Own: map[reflect.Type]Shape{}, Uses: map[reflect.Type]reflect.Type{}, Besides: map[reflect.Type]Shape{}, source: newSource(top, module)}
}

// Schema is the schema of a type. Its property schema, if it has one, is name. address is where the schema can be read.
func (m *Maker) Schema(t reflect.Type, name, address string) (Shape, error) {
	definitions := Shape{}
	root := maps.Clone(m.object(t, definitions))
	fix(root, "schema", name)
	delete(definitions, t.Name())
	return m.top(root, definitions, name, address)
}

// Kind is one of the types that a value may have.
type Kind struct {
	Name string // the value of the property that tells the types apart
	Type reflect.Type
}

// OneOf is the schema of a value of one of several types, which a property tells apart. Each may have the properties
// more, too.
func (m *Maker) OneOf(kinds []Kind, property string, more Shape, name, address string) (Shape, error) {
	definitions, refs := Shape{}, []Shape{}
	for _, k := range kinds {
		refs = append(refs, m.value(k.Type, definitions))
		s := definitions[k.Type.Name()].(Shape)
		fix(s, property, k.Name)
		fix(s, "schema", name)
		maps.Copy(s["properties"].(Shape), more)
	}
	return m.top(Shape{"oneOf": refs}, definitions, name, address)
}

// fix sets the only value of a property, if the type has it.
func fix(object Shape, property, value string) {
	if p, ok := object["properties"].(Shape)[property]; ok {
		p.(Shape)["const"] = value
	}
}

// top makes a shape the root of a schema.
func (m *Maker) top(root, definitions Shape, name, address string) (Shape, error) {
	root["$schema"], root["$id"] = "https://json-schema.org/draft/2020-12/schema", address
	root["title"], root["$defs"] = name, definitions
	return root, m.err()
}

func (m *Maker) err() error {
	if len(m.problems) == 0 {
		return nil
	}
	slices.Sort(m.problems)
	return fmt.Errorf("%s", strings.Join(slices.Compact(m.problems), "\n"))
}

// Field is a field of a struct as JSON has it.
type Field struct {
	Name     string // in JSON
	Go       string
	Type     reflect.Type
	Optional bool // may be absent
	Is       string
}

// Fields are the fields of a struct, with those of embedded structs, in the order of the source.
func (m *Maker) Fields(t reflect.Type) (all []Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			all = append(all, m.Fields(f.Type)...)
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			m.problems = append(m.problems, fmt.Sprintf("%s.%s has no name in JSON", t.Name(), f.Name))
		}
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		is := cmp.Or(common[t.Name()+"."+name], m.source.describe(t, f.Name, optional), common[name])
		if is == "" {
			m.problems = append(m.problems, fmt.Sprintf("%s.%s (%s) has no comment", t.Name(), f.Name, name))
		}
		all = append(all, Field{Name: name, Go: f.Name, Type: f.Type, Optional: optional, Is: is})
	}
	return all
}

// object is the schema of a struct; the definitions that it needs are added.
func (m *Maker) object(t reflect.Type, definitions Shape) Shape {
	properties, required := Shape{}, []string{}
	out := Shape{"type": "object", "properties": properties, "additionalProperties": false}
	if text := m.source.describe(t, "", false); text != "" {
		out["description"] = text
	}
	for _, f := range m.Fields(t) {
		s := maps.Clone(m.value(f.Type, definitions))
		if kind := f.Type.Kind(); !f.Optional && (kind == reflect.Pointer || kind == reflect.Map || kind == reflect.Slice) {
			s = Shape{"anyOf": []Shape{s, {"type": "null"}}}
		}
		s["description"] = f.Is
		properties[f.Name] = s
		if !f.Optional {
			required = append(required, f.Name)
		}
	}
	if len(required) > 0 {
		out["required"] = required
	}
	maps.Copy(out, m.Besides[t])
	return out
}

var (
	timeType    = reflect.TypeFor[time.Time]()
	textMarshal = reflect.TypeFor[encoding.TextMarshaler]()
)

// value is the schema of a value of any type.
func (m *Maker) value(t reflect.Type, definitions Shape) Shape {
	if own, ok := m.Own[t]; ok {
		if other, ok := m.Uses[t]; ok {
			m.value(other, definitions)
		}
		return m.define(t, definitions, func() Shape { return own })
	}
	if t == timeType {
		return Shape{"type": "string", "format": "date-time"}
	}
	if words := m.source.words(t); len(words) > 0 {
		return m.define(t, definitions, func() Shape {
			return Shape{"enum": words, "description": m.source.describe(t, "", false) + " One of " + m.source.values(t) + "."}
		})
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.value(t.Elem(), definitions)
	case reflect.Struct:
		return m.define(t, definitions, func() Shape { return m.object(t, definitions) })
	case reflect.Slice, reflect.Array:
		return Shape{"type": "array", "items": m.value(t.Elem(), definitions)}
	case reflect.Map:
		return Shape{"type": "object", "additionalProperties": m.value(t.Elem(), definitions)}
	case reflect.String:
		return Shape{"type": "string"}
	case reflect.Bool:
		return Shape{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return Shape{"type": "integer"}
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		return Shape{"type": "integer", "minimum": 0}
	case reflect.Float64:
		return Shape{"type": "number"}
	}
	m.problems = append(m.problems, fmt.Sprintf("%s: no schema for %s", t.Name(), t.Kind()))
	return Shape{}
}

// define adds the definition of a named type once and returns a reference to it.
func (m *Maker) define(t reflect.Type, definitions Shape, make func() Shape) Shape {
	if _, ok := definitions[t.Name()]; !ok {
		definitions[t.Name()] = nil // the type may contain itself
		definitions[t.Name()] = make()
	}
	return Shape{"$ref": "#/$defs/" + t.Name()}
}
