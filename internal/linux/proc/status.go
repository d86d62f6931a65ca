package proc

import "strings"

// Status is the text of /proc/PID/status (or of a thread) by field name, values
// trimmed: Seccomp, Speculation_Store_Bypass, CapEff, VmHWM ...
type Status map[string]string

// ParseStatus reads the text of a status file. A cut-off last line is left out.
func ParseStatus(text []byte) Status {
	s := Status{}
	for len(text) > 0 {
		line, rest, whole := cutLine(text)
		text = rest
		key, value, found := strings.Cut(string(line), ":")
		if _, twice := s[key]; whole && found && key != "" && !twice {
			s[key] = strings.TrimSpace(value)
		}
	}
	return s
}
