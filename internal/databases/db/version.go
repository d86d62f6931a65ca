package db

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseVersion is what a banner says, with its numbers; one that is not there is 0.
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

func FirstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s[:min(len(s), 200)]
}
