package proc

import "strings"

// Status is /proc/PID/status, of a process or thread, by field name with trimmed values:
// Seccomp, Speculation_Store_Bypass, CapEff, VmHWM.
type Status map[string]string

// ParseStatus parses the text of a status file. It skips a last line that is cut off.
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
