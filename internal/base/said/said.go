// Package said makes sentences of what is said by codes with values (record.Said), in the language of a catalogue.
// The sentences are in said-english.txt and said-chinese.txt of package messages.
package said

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// English is the sentence in English.
func English(s record.Said) string { return Text(messages.In(messages.English), s) }

// Text is the sentence; empty if nothing is said. Prose is printed as it is, translated where the catalogue knows it.
func Text(c messages.Catalog, s record.Said) string {
	if s.Code == record.Prose {
		text, _ := s.Value("text").(string)
		return Phrase(c, text)
	}
	pairs := s.Pairs()
	pieces := c.OfCode(s.Code, pairs...)
	if pieces == nil {
		return s.String() // of a newer tare
	}
	parts := make([]string, len(pieces))
	for i, p := range pieces {
		if parts[i] = p.Text; p.Name != "" {
			parts[i] = formatted(c, p.Format, messages.Value(p.Name, pairs))
		}
	}
	return c.Join(parts...)
}

// formatted is a value in a format: one of words, or as in Python ".3g", "+.2f", and ".0%" for a ratio in percent.
func formatted(c messages.Catalog, format string, value any) string {
	switch v := value.(type) {
	case nil:
		return quantity.None
	case record.Said:
		return Text(c, v)
	case []any:
		return list(c, format, v)
	case string:
		return text(c, format, v)
	case map[string]any:
		return object(v)
	case float64:
		return number(c, format, v)
	}
	return fmt.Sprint(value)
}

// text is a text in a format: quoted; a label, which the catalogue may translate; a phrase; or as it is.
func text(c messages.Catalog, format, v string) string {
	switch format {
	case "quoted":
		return strconv.Quote(v)
	case "text":
		return c.Static(v)
	case "phrase", "clauses":
		return Phrase(c, v)
	}
	return v
}

// Phrase is a value or a name of a setting: words are translated, one word is the same in every language.
func Phrase(c messages.Catalog, v string) string {
	if !strings.Contains(v, " ") {
		return v
	}
	return c.Static(v)
}

// number is a number in a format.
func number(c messages.Catalog, format string, x float64) string {
	if to, ok := numbers[format]; ok {
		return to(x)
	}
	switch {
	case format == "":
		return strconv.FormatFloat(x, 'f', -1, 64)
	case format == "about":
		return quantity.AboutIn(c, x)
	case format == "amount":
		return Text(c, record.Say("cpu_amount", "n", strconv.FormatFloat(x, 'g', 3, 64)))
	case format == "cpus":
		return Text(c, record.Say("cpus", "n", quantity.Round(x, 2)))
	case strings.HasSuffix(format, "%"):
		return fmt.Sprintf("%"+strings.TrimSuffix(format, "%")+"f %%", 100*x)
	}
	return fmt.Sprintf("%"+format, x)
}

// numbers are formats of numbers: seconds, bytes, ratios and others in base units.
var numbers = map[string]func(float64) string{
	"bytes": quantity.Bytes, "change": quantity.Percent, "duration": quantity.Duration, "latency": quantity.Latency,
	"exact": exact, "figure": figure, "length": length, "rate": quantity.Rate, "seconds": seconds, "share": quantity.Share, "short": quantity.Short, "size": quantity.Size, "typed": typed,
}

// exact prints bytes in the largest unit in which they are a whole number.
func exact(bytes float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for len(units) > 1 && bytes != 0 && math.Mod(bytes, 1024) == 0 {
		bytes, units = bytes/1024, units[1:]
	}
	return quantity.WithUnit(strconv.FormatFloat(bytes, 'f', -1, 64), units[0])
}

// figure prints a number to four digits without an exponent.
func figure(x float64) string {
	if math.Abs(x) >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// length prints the length of a window or of a settle time.
func length(seconds float64) string {
	if seconds < 1 {
		return fmt.Sprintf("%d ms", int(1e3*seconds+1e-6))
	}
	return fmt.Sprintf("%g s", math.Round(10*seconds)/10)
}

// typed prints a time as somebody types it.
func typed(seconds float64) string {
	return time.Duration(math.Round(seconds * 1e9)).String()
}

// seconds prints a time to three digits, from a second on to 10 ms.
func seconds(x float64) string {
	switch {
	case x >= 0.9995:
		return fmt.Sprintf("%.2f s", x)
	case x >= 0.9995e-3:
		return fmt.Sprintf("%.3g ms", x*1e3)
	}
	return fmt.Sprintf("%.3g µs", x*1e6)
}

// object prints a change in percent with its decimals, or a ratio with its interval.
func object(v map[string]any) string {
	var r record.Ratio
	if decimals, ok := v["decimals"].(float64); ok {
		ratio, _ := v["ratio"].(float64)
		return fmt.Sprintf("%+.*f %%", int(decimals), 100*ratio)
	}
	r.Ratio, _ = v["ratio"].(float64)
	r.Low, _ = v["low"].(float64)
	r.High, _ = v["high"].(float64)
	return quantity.Interval(&r)
}

// list joins items: names and phrases by commas, with a word before the last one in the format "and", sentences by
// semicolons in the format "clauses", phrases by commas in the format "commas".
func list(c messages.Catalog, format string, items []any) string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = formatted(c, format, item)
	}
	last := len(all) - 1
	switch {
	case last < 0:
		return quantity.None
	case format == "clauses":
		return strings.Join(all, c.Text("join.semicolon", "before", "", "after", ""))
	case format == "commas":
		return strings.Join(all, c.Text("join.comma", "before", "", "after", ""))
	case last > 0 && (format == "and" || c.Language() == messages.Chinese):
		return c.Text("list.and", "most", strings.Join(all[:last], c.Text("join.names", "before", "", "after", "")), "last", all[last])
	}
	return strings.Join(all, ", ")
}
