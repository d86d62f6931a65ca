package cli

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// spelling is a row of flags of other tools, with tare's. It holds for commands that have the
// flag has.
type spelling struct{ names, has, instead string }

// spellings may have a name in several rows: the first that holds for the command counts.
var spellings = []spelling{
	{"dry-run n", "continue", "tare plan"},
	{"no-color no-colour no-colors nocolor", "color", "--color never"},
	{"colour colors", "color", "--color always, or --color never"},
	{"silent no-tty s", "quiet", "-q"},
	{"debug trace verbosity details all-metrics", "verbose", "-v"},
	{"timeout runtime max-time time-limit minutes seconds d t", "budget", "--budget 3m"},
	{"confidence ci error", "precision", "--precision 1%"},
	{"threshold effect", "margin", "--margin 1%"},
	{"threshold thresholds limit limits fail-on max max-loss regression throughput", "max-cost", "--max-cost throughput=5%"},
	{"max-cost", "open", "tare check DIR --max-cost throughput=5%"},
	{"generations runs repeat repeats iterations launches count rounds samples r", "set", "--set generations=N"},
	{"targets target env environment runtime engine container docker podman", "arms", "--arms host,container"},
	{"docker podman containerd engine to", "into", "--into docker, podman or containerd"},
	{"threads clients connections concurrency size rate param params parameter", "set", "--set WORKLOAD.PARAM=VALUE (tare presets show NAME lists them)"},
	{"baseline", "set", "--set WORKLOAD.baseline=ARM"},
	{"my-cnf mycnf defaults-file option-file conf settings dsn", "like", "--like FILE"},
	{"sql queries query script", "statements", "--statements FILE"},
	{"restore sql-dump schema import", "dump", "--dump FILE"},
	{"before before-image base-version", "old", "tare run ab --old PATH --new PATH"},
	{"preset experiment config file bench f", "workload", "tare run PRESET, or tare run FILE"},
	{"load loads only filter test w", "workload", "--workload NAME"},
	{"dir datadir data-dir data disk device path directory tmpdir", "scratch", "--scratch DIR"},
	{"fs filesystem storage mount volumes", "volume", "--volume WORD"},
	{"exec cmd run", "command", "--command CMD"},
	{"out output-dir outdir result dir directory save", "output", "--output DIR"},
	{"o out output output-dir", "rbac", "a plan is on standard output: tare plan > FILE; results are in the directory of tare run -o DIR"},
	{"o out output save file export", "open", "tare report DIR --format html > report.html"},
	{"browser web show", "open", "--open"},
	{"serve listen http port addr address bind host server", "open", "--open, or copy DIR/report.html: a page is one file"},
	{"older-than age max-age before days unused-for keep", "unused", "--unused 720h"},
	{"f yes y", "force", "--force"},
	{"resume append extend", "continue", "--continue DIR"},
	{"node", "nodes", "--nodes NAME"},
	{"all-nodes", "nodes", "--nodes all"},
	{"version", "help", "tare version"},
	{"image", "pod-image", "--pod-image IMAGE"},
	{"type tool input-format parser", "kind", "--kind KIND"},
	{"output-format form o", "format", "--format FORM"},
	{"context-name cluster", "context", "--context NAME"},
	{"ns n all-namespaces A", "namespace", "--namespace NAME"},
	{"selector l label labels", "nodes", "--nodes NAME,NAME; kubectl get nodes -l LABEL=VALUE lists them"},
	{"user as token as-group", "context", "--context NAME: a context of the kubeconfig has server and user"},
}

// meantFlag is a hint for a flag that the command does not have; "": none is known.
func meantFlag(command *kong.Node, name string) string {
	for _, s := range spellings {
		if slices.Contains(strings.Fields(s.names), name) && hasFlag(command, s.has) {
			return s.instead
		}
	}
	return ""
}

func hasFlag(command *kong.Node, name string) bool {
	for _, group := range command.AllFlags(false) {
		if slices.ContainsFunc(group, func(f *kong.Flag) bool { return f.Name == name }) {
			return true
		}
	}
	return false
}

// formAliases are other names of formats that tare accepts.
var formAliases = map[string]string{"md": "markdown", "prometheus": "openmetrics"}

// otherForms are values of other tools for --format and --color, with tare's.
var otherForms = map[string]string{
	"github": "markdown", "prom": "openmetrics", "metrics": "openmetrics",
	"xml": "junit", "htm": "html", "page": "html", "web": "html",
	"jsonl": "json", "ndjson": "json", "txt": "text", "plain": "text", "human": "text", "table": "text", "excel": "csv", "tsv": "csv",
	"on": "always", "yes": "always", "true": "always", "force": "always", "off": "never", "no": "never", "false": "never", "none": "never",
}

// usualUse names the arguments of a command, with an example.
type usualUse struct{ wants, example string }

// uses are the commands with required arguments, by path.
var uses = map[string]usualUse{
	"completion":   {"the name of a shell", "tare completion bash > /etc/bash_completion.d/tare (zsh and fish: tare completion --help)"},
	"check":        {"the directory of a result", "tare check DIR --max-cost throughput=5%"},
	"compare":      {"the directories of two results", "tare compare BEFORE AFTER"},
	"import":       {"an arm with its files, as NAME=FILE", "tare import host=bare.log pod=pod.log"},
	"presets show": {"the name of a preset", "tare presets show quick"},
	"image":        {"the command load, an archive, and --into", "tare image load image.tar --into docker"},
	"image load":   {"an archive, and --into", "tare image load image.tar --into docker"},
}
