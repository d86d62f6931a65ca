package run

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/durability"
	"github.com/tarelab/tare/record"
)

// Arms differ where a setting of the server, or a parameter of the load, loses commits in one of them only.
func TestPromises(t *testing.T) {
	arm := func(name string, settings ...string) durability.ArmFacts {
		var all []record.Setting
		for i := 0; i < len(settings); i += 2 {
			all = append(all, record.Setting{Name: settings[i], Got: settings[i+1]})
		}
		return durability.ArmFacts{Name: name, Promises: Promises(all)}
	}
	for name, c := range map[string]struct {
		base, arm durability.ArmFacts
		want      string // in the one difference; empty: equal
	}{
		"commits that wait":       {arm("host", "innodb_flush_log_at_trx_commit", "1"), arm("t", "innodb_flush_log_at_trx_commit", "2"), "innodb_flush_log_at_trx_commit is 2 in t and 1 in host"},
		"flush methods":           {arm("host", "innodb_flush_method", "O_DIRECT"), arm("t", "innodb_flush_method", "fsync"), ""},
		"data not flushed":        {arm("host", "innodb_flush_method", "O_DIRECT"), arm("t", "innodb_flush_method", "O_DIRECT_NO_FSYNC"), "innodb_flush_method"},
		"doublewrite in words":    {arm("host", "innodb_doublewrite", "1"), arm("t", "innodb_doublewrite", "ON"), ""},
		"doublewrite":             {arm("host", "innodb_doublewrite", "1"), arm("t", "innodb_doublewrite", "0"), "innodb_doublewrite"},
		"no binary log":           {arm("host", "log_bin", "0", "sync_binlog", "1"), arm("t", "log_bin", "0", "sync_binlog", "0"), ""},
		"a binary log behind":     {arm("host", "log_bin", "ON", "sync_binlog", "1"), arm("t", "log_bin", "ON", "sync_binlog", "100"), "sync_binlog"},
		"fsync":                   {arm("host", "fsync", "on"), arm("t", "fsync", "off"), "fsync"},
		"commits without standby": {arm("host", "synchronous_commit", "on"), arm("t", "synchronous_commit", "local"), ""},
		"synchronous_commit":      {arm("host", "synchronous_commit", "on"), arm("t", "synchronous_commit", "off"), "synchronous_commit"},
		"a log that is off":       {arm("host", "appendonly", "no", "appendfsync", "always"), arm("t", "appendonly", "no", "appendfsync", "everysec"), ""},
		"a log that lags":         {arm("host", "appendonly", "yes", "appendfsync", "always"), arm("t", "appendonly", "yes", "appendfsync", "everysec"), "appendfsync"},
		"a parameter of the load": {arm("host", "param.fsync", "1"), arm("t", "param.fsync", "0"), "param.fsync"},
		"another one":             {arm("host", "param.threads", "1"), arm("t", "param.threads", "2"), ""},
	} {
		got := durability.Compare(c.base, c.arm)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(said.English(got[0]), c.want)) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
