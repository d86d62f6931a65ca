package cli

// gone are flags and their values of earlier versions, with what to use instead.
var gone = map[string]string{
	"jsonl":   "tare report DIR --format json | jq -c ... (docs/ci.md has the command)",
	"bencher": "tare report DIR --format json | jq ... (docs/ci.md has the command)",
}
