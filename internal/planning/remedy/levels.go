package remedy

import (
	"slices"
	"strings"
)

// Levels of a pod in an environment's word: "cpu=1,memory=2Gi".

// amounts are the levels that belong to a class.
var amounts = []string{"cpu", "memory", "cpu-limit", "memory-limit"}

// joinLevels is the word of another class with the levels that all classes have, and more.
func joinLevels(class, levels string, more ...string) string {
	var kept []string
	for _, level := range split(levels) {
		if name, _, _ := strings.Cut(level, "="); !slices.Contains(amounts, name) {
			kept = append(kept, level)
		}
	}
	return class + ":" + strings.Join(append(kept, more...), ",")
}

// withLevel is the word with one level set; false: it has that value already.
func withLevel(class, levels, name, value string) (string, bool) {
	var kept []string
	for _, level := range split(levels) {
		switch has, is, _ := strings.Cut(level, "="); {
		case has != name:
			kept = append(kept, level)
		case is == value:
			return class + ":" + levels, false
		}
	}
	return class + ":" + strings.Join(append(kept, name+"="+value), ","), true
}

// levelOf is the value of a level; empty: it is not given.
func levelOf(levels, name string) string {
	for _, level := range split(levels) {
		if has, is, _ := strings.Cut(level, "="); has == name {
			return is
		}
	}
	return ""
}

func split(levels string) []string {
	return strings.FieldsFunc(levels, func(r rune) bool { return r == ',' || r == ' ' })
}
