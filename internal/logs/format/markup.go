package format

import "bytes"

// markup removes what a page puts around the lines of an output: HTML tags and entities, and the
// backticks of Markdown.
type markup struct{ html bool }

// tags are the names of tags that pages put around an output.
var tags = map[string]bool{"pre": true, "code": true, "div": true, "span": true, "p": true, "td": true, "th": true, "tr": true, "li": true,
	"br": true, "samp": true, "tt": true, "kbd": true, "blockquote": true, "b": true, "strong": true, "em": true, "i": true, "font": true,
	"table": true, "tbody": true, "section": true, "article": true, "body": true, "html": true, "a": true, "ul": true, "ol": true, "details": true}

// learnMarkup finds out from the beginning of a text whether it is HTML.
func learnMarkup(head []byte) markup {
	for rest := head; ; {
		i := bytes.IndexByte(rest, '<')
		if i < 0 {
			return markup{}
		}
		if n, name := tagOf(rest[i:]); n > 0 && (name == "pre" || name == "code" || name == "html" || name == "div" || name == "br" || name == "span") {
			return markup{html: true}
		}
		rest = rest[i+1:]
	}
}

// tagOf returns the length of the HTML tag at the beginning of b, and its name; 0: none.
func tagOf(b []byte) (n int, name string) {
	end := bytes.IndexByte(b[:min(len(b), 400)], '>')
	if end < 2 {
		return 0, ""
	}
	word := bytes.TrimLeft(b[1:end], "/")
	for n < len(word) && word[n]|0x20 >= 'a' && word[n]|0x20 <= 'z' {
		n++
	}
	name = string(bytes.ToLower(word[:n]))
	if !tags[name] || n < len(word) && word[n] != ' ' && word[n] != '/' {
		return 0, ""
	}
	return end + 1, name
}

var entities = [][2][]byte{{[]byte("&lt;"), []byte("<")}, {[]byte("&gt;"), []byte(">")}, {[]byte("&quot;"), []byte(`"`)}, {[]byte("&#39;"), []byte("'")},
	{[]byte("&#34;"), []byte(`"`)}, {[]byte("&nbsp;"), []byte(" ")}, {[]byte("\u00a0"), []byte(" ")}, {[]byte("&amp;"), []byte("&")}}

var bold = []byte("**")

// strip removes the markup of a line.
func (m markup) strip(line []byte) []byte {
	if len(line) > 0 && (line[0] == '`' || line[len(line)-1] == '`') && !isFence(line) {
		line = bytes.Trim(line, "`")
	}
	if begins, ends := bytes.HasPrefix(line, bold), bytes.HasSuffix(line, bold); begins != ends { // bold text over several lines
		line = bytes.TrimSuffix(bytes.TrimPrefix(line, bold), bold)
	}
	if !m.html || bytes.IndexByte(line, '<') < 0 && bytes.IndexByte(line, '&') < 0 && bytes.IndexByte(line, 0xc2) < 0 {
		return line
	}
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] == '<' {
			if n, _ := tagOf(line[i:]); n > 0 {
				i += n - 1
				continue
			}
		}
		out = append(out, line[i])
	}
	for _, e := range entities {
		out = bytes.ReplaceAll(out, e[0], e[1])
	}
	return out
}

// isFence reports whether a line begins or ends a Markdown code block: ``` and perhaps a language.
func isFence(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("```"))
	return ok && len(rest) < 20 && bytes.IndexByte(rest, ' ') < 0
}
