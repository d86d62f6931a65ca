package cli

import "testing"

func TestEmptyValues(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--arms", ""}, "--arms is empty"}, {[]string{"run", "--arms="}, "--arms is empty"}, {[]string{"run", "-o", ""}, "-o is empty"}, {[]string{"run", "--arms", ","}, "--arms is empty"}, {[]string{"run", "--arms= ,"}, "--arms is empty"},
		{[]string{"run", ""}, "an argument is empty"}, {[]string{"report", "", "--open"}, "an argument is empty"}, {[]string{"run", "--set", "a.b="}, ""},
		{[]string{"run", "--set=a.b="}, ""}, {[]string{"run", "--open", "--budget", "5s"}, ""}, {nil, ""}, {[]string{"import", "a=b"}, ""},
	} {
		got := ""
		if err := checkNotEmpty(c.args); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
}
