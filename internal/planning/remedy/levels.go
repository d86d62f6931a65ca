package remedy

import (
	"slices"
	"strconv"
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

// withoutLevel is the word without a level.
func withoutLevel(class, levels, name string) string {
	kept := slices.DeleteFunc(split(levels), func(level string) bool { return strings.HasPrefix(level, name+"=") })
	if len(kept) == 0 {
		return class
	}
	return class + ":" + strings.Join(kept, ",")
}

// cpusOf is an amount of CPUs of Kubernetes, such as 1500m or 2, in CPUs; 0: it is a word or not given.
func cpusOf(amount string) float64 {
	digits, milli := strings.CutSuffix(amount, "m")
	n, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil:
		return 0
	case milli:
		return n / 1000
	}
	return n
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
