package experiment

import (
	"encoding/json"
	"maps"
	"regexp"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/units"
)

// shape is a part of a JSON schema: which values a key takes.
type shape map[string]any

// described is a copy of a shape with a description.
func described(text string, s shape) shape {
	out := maps.Clone(s)
	out["description"] = text
	return out
}

func anyOf(all ...shape) shape { return shape{"anyOf": all} }

func patternShape(expression string) shape { return shape{"type": "string", "pattern": expression} }

func reference(to string) shape { return shape{"$ref": "#/$defs/" + to} }

// Forms of values, as the functions of value.go and units.go read them.
const (
	durationForm     = `([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)`
	durationPattern  = `^\+?(` + durationForm + `)+$`
	ratioPattern     = `^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)? *%?$`
	bytesPattern     = `^([0-9]+ ?[bB]?|[0-9]+(\.[0-9]+)? ?[kKmMgGtTpP][iI]?[bB]?)$`
	objectivePattern = `^ *(p50|p95|p99) *<= *(` + durationForm + `)+ *$`
	wholePattern     = `^[0-9]+$`
	numberPattern    = `^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`
)

// textShape takes any scalar: Parse reads 5 and true as the texts that they are in the file.
func textShape(least int) shape {
	s := shape{"type": []string{"string", "number", "boolean"}, "maxLength": longestText}
	if least > 0 {
		s["minLength"] = least
	}
	return s
}

func wordShape(words []string) shape {
	all := []any{}
	for _, w := range words {
		all = append(all, w)
		if _, isText := literal(w).(string); !isText {
			all = append(all, literal(w))
		}
	}
	return shape{"enum": all}
}

// literal is a text as YAML reads it without quotes: a number, a truth value or the text.
func literal(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		switch v.(type) {
		case float64:
			return json.Number(text)
		case bool:
			return v
		}
	}
	return text
}

func durationShape(least, most time.Duration, auto bool) shape {
	s := patternShape(durationPattern)
	if auto {
		s = anyOf(shape{"enum": []any{autoWord}}, s)
	}
	s["title"] = formatDuration(least) + " to " + formatDuration(most)
	return s
}

func ratioShape(least, most float64) shape {
	s := anyOf(shape{"type": "number", "minimum": least, "maximum": most}, patternShape(ratioPattern))
	s["title"] = formatRatio(least) + " to " + formatRatio(most)
	return s
}

func bytesShape(least, most int64) shape {
	s := anyOf(shape{"type": "integer", "minimum": least, "maximum": most}, patternShape(bytesPattern))
	s["title"] = units.Bytes(least) + " to " + units.Bytes(most)
	return s
}

func numberShape(least, most float64) shape {
	return anyOf(shape{"type": "number", "minimum": least, "maximum": most}, patternShape(numberPattern))
}

// wholeShape takes whole numbers; most 0: without an upper end.
func wholeShape(least, most int) shape {
	number := shape{"type": "integer", "minimum": least}
	if most > 0 {
		number["maximum"] = most
	}
	return anyOf(number, patternShape(wholePattern))
}

// countShape takes whole numbers and the word auto.
func countShape(least, most int) shape {
	return anyOf(shape{"const": autoWord}, wholeShape(least, most))
}

// nameShape takes the names that an experiment gives itself; known ones are offered first.
func nameShape(known []string) shape {
	return anyOf(wordShape(known), patternShape(workloadName.String()))
}

// byName takes a mapping of at least so many names to values of a definition. One name is reserved. orNull: a name may
// stand without a value.
func byName(definition, reserved string, least int, orNull bool) shape {
	of := reference(definition)
	if orNull {
		of = anyOf(of, shape{"type": "null"})
	}
	s := shape{
		"type": "object", "additionalProperties": of,
		"propertyNames": shape{"pattern": workloadName.String(), "not": shape{"const": reserved}},
	}
	if least > 0 {
		s["minProperties"] = least
	}
	return s
}

// listShape takes one item, several with commas, a list of items or nothing.
func listShape(form string, items shape) shape {
	return anyOf(shape{"type": "null"}, items, patternShape(`^ *`+form+`( *, *`+form+`)* *$`), shape{"type": "array", "items": items})
}

func armsShape(words Words) shape {
	const name = `[a-z0-9][a-z0-9_-]{0,39}`
	return anyOf(listShape(name, nameShape(words.Arms)), byName("arm", twinWord, 1, true))
}

func isolationShape(words Words) shape {
	known := []string{noneWord}
	var forms []string
	for _, m := range append(known, words.Mechanisms...) {
		name, _, _ := strings.Cut(m, "=")
		forms = append(forms, regexp.QuoteMeta(name))
	}
	form := `(` + strings.Join(forms, "|") + `)(=[^,]+)?`
	return listShape(form, anyOf(wordShape(append(known, words.Mechanisms...)), patternShape(`^`+form+`$`)))
}

// levelledShape takes NAME and NAME:LEVELS.
func levelledShape(names []string) shape {
	var forms []string
	for _, n := range names {
		forms = append(forms, regexp.QuoteMeta(n))
	}
	return anyOf(wordShape(names), patternShape(`^(`+strings.Join(forms, "|")+`):.+$`))
}

func limitsShape() shape {
	size := anyOf(shape{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, patternShape(ratioPattern))
	return shape{"type": "object", "additionalProperties": size}
}

func sizesShape() shape {
	settings := shape{"type": "object", "additionalProperties": textShape(0)}
	return shape{"type": "object", "additionalProperties": settings, "propertyNames": shape{"pattern": workloadName.String()}}
}
