package db

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseVersion makes a version of the parts of a banner; an empty number is 0.
func ParseVersion(flavour, text string, numbers []string) (Version, error) {
	v := Version{Flavour: flavour, Text: text}
	for i, s := range numbers {
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			return Version{}, fmt.Errorf("unknown version %q: %w", text, err)
		}
		v.Number[i] = n
	}
	return v, nil
}

// FirstLine is the first line of a text, at most 200 bytes of it, for an error.
func FirstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s[:min(len(s), 200)]
}
