package hidden

import (
	"slices"
	"testing"
)

// A role runs with as many arguments as it names, and not with others.
func TestRun(t *testing.T) {
	var got []string
	roles := []Role{
		{Name: "__none", Run: func(args []string) int { got = args; return 10 }},
		{Name: "__two", Args: "FROM TO", Run: func(args []string) int { got = args; return 20 }},
		{Name: "__optional", Args: "SOCKET [DIR]", Run: func(args []string) int { got = args; return 30 }},
		{Name: "__any", Args: "...", Run: func(args []string) int { got = args; return 40 }},
	}
	for _, c := range []struct {
		args []string
		code int
		ok   bool
	}{
		{nil, 0, false},
		{[]string{"run"}, 0, false},
		{[]string{"__none"}, 10, true},
		{[]string{"__none", "a"}, wrongArguments, true},
		{[]string{"__two", "a"}, wrongArguments, true},
		{[]string{"__two", "a", "b"}, 20, true},
		{[]string{"__two", "a", "b", "c"}, wrongArguments, true},
		{[]string{"__optional"}, wrongArguments, true},
		{[]string{"__optional", "a"}, 30, true},
		{[]string{"__optional", "a", "b"}, 30, true},
		{[]string{"__optional", "a", "b", "c"}, wrongArguments, true},
		{[]string{"__any"}, 40, true},
		{[]string{"__any", "a", "b", "c"}, 40, true},
	} {
		got = nil
		code, ok := Run(roles, c.args)
		if code != c.code || ok != c.ok {
			t.Errorf("%q: %d %v", c.args, code, ok)
		}
		if ok && code != wrongArguments && !slices.Equal(got, c.args[1:]) {
			t.Errorf("%q: it has %q", c.args, got)
		}
	}
}
