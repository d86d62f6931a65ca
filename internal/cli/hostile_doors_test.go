package cli

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var ownColours = regexp.MustCompile("\x1b\\[(0|1|2|31|32|33)m")

// raw is the first character that no output of tare may have, with its surroundings.
func raw(s string) string {
	for i, r := range s {
		invisible := unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
		if unicode.IsControl(r) && r != '\n' || invisible || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			return fmt.Sprintf("%q", s[max(0, i-40):min(len(s), i+40)])
		}
	}
	return ""
}

// doors are the checks of each form of output.
var doors = map[string]func(string) error{
	"text": func(s string) error { return clean(ownColours.ReplaceAllString(s, "")) },
	"said": func(s string) error { // on standard error, where lines are short and not wrapped
		if m := regexp.MustCompile(`(?m)^injected.*`).FindString(s); m != "" {
			return fmt.Errorf("a name began a line: %q", m)
		}
		if len(s) > 40<<10 {
			return fmt.Errorf("%d bytes", len(s))
		}
		return clean(ownColours.ReplaceAllString(s, ""))
	},
	"markdown": markdownDoor,
	"html":     pageDoor,
	"csv":      csvDoor,
	"json": func(s string) error {
		for in := json.NewDecoder(strings.NewReader(s)); ; {
			var v any
			if err := in.Decode(&v); errors.Is(err, io.EOF) {
				return clean(s)
			} else if err != nil {
				return err
			}
		}
	},
	"openmetrics": func(s string) error {
		for line := range strings.Lines(s) {
			if !regexp.MustCompile(`^(# (TYPE|UNIT|HELP|EOF)|tare_[a-zA-Z0-9_]+\{)`).MatchString(line) {
				return fmt.Errorf("a line is none of the format: %q", line)
			}
		}
		return clean(s)
	},
	"junit": func(s string) error {
		for in := xml.NewDecoder(strings.NewReader(s)); ; {
			if _, err := in.Token(); errors.Is(err, io.EOF) {
				return clean(s)
			} else if err != nil {
				return err
			}
		}
	},
}

func clean(s string) error {
	if bad := raw(s); bad != "" {
		return fmt.Errorf("raw: %s", bad)
	}
	return nil
}

var (
	codeSpans   = regexp.MustCompile("(^|[^\\\\])`[^`\n]*`")
	linked      = regexp.MustCompile(`(?im)[@#][a-z0-9]|GH-[0-9]|://|www\.|mailto:|^[^<\n].*\]\(|<(img|script)`)
	begun       = regexp.MustCompile(`(?m)^(?:- |### |#### )?(?:[0-9]{1,9}[.)]|[-+]|#{1,6}|-{3,}|={3,})(?:\s|$)`)
	tares       = regexp.MustCompile(`(?m)^(- |#{3,4} )`)
	separations = regexp.MustCompile(`(^|[^\\])\|`)
)

func markdownDoor(s string) error {
	bare := codeSpans.ReplaceAllString(s, "${1}code")
	bare = strings.NewReplacer("&#34;", "", "&#39;", "").Replace(bare)
	if at := linked.FindStringIndex(bare); at != nil {
		return fmt.Errorf("a mention, a link or HTML: %q", bare[max(0, at[0]-30):min(len(bare), at[1]+30)])
	}
	if m := begun.FindString(tares.ReplaceAllString(bare, "")); m != "" {
		return fmt.Errorf("a name begins a line of Markdown: %q", m)
	}
	columns := 0
	for line := range strings.Lines(bare) {
		n := len(separations.FindAllString(line, -1))
		if !strings.HasPrefix(line, "|") {
			n = 0
		}
		if columns > 0 && n > 0 && n != columns {
			return fmt.Errorf("%d columns in a table of %d: %q", n, columns, line)
		}
		columns = n
	}
	return clean(strings.ReplaceAll(s, "\u200b", ""))
}

func csvDoor(s string) error {
	rows, err := csv.NewReader(strings.NewReader(s)).ReadAll()
	if err != nil {
		return err
	}
	for _, row := range rows {
		for _, f := range row {
			first, _ := utf8.DecodeRuneInString(strings.TrimSpace(f))
			if _, err := strconv.ParseFloat(f, 64); err != nil && strings.ContainsRune("=+-@＝＋－＠", first) && f != "" {
				return fmt.Errorf("a formula: %q", f)
			}
		}
	}
	return clean(s)
}

var downloads = regexp.MustCompile(`data:text/csv;charset=utf-8;base64,([A-Za-z0-9+/=&#;]+)`)

func pageDoor(s string) error {
	if m := regexp.MustCompile(`(?i)<img[^>]*onerror|<script>alert`).FindString(s); m != "" {
		return fmt.Errorf("a name became a tag: %q", m)
	}
	for _, m := range downloads.FindAllStringSubmatch(s, -1) {
		b, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(m[1], "&#43;", "+"))
		if err == nil {
			err = csvDoor(string(b))
		}
		if err != nil {
			return fmt.Errorf("a download: %w", err)
		}
	}
	return clean(strings.NewReplacer("\u2060", "", "\t", "").Replace(s)) // tare keeps numbers and units together, and indents its style
}
