package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/outside/nodes"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/internal/undo/hostlock"
)

// usageError is a wrong command line; help is a command or sentence that explains it, or empty.
type usageError struct {
	error
	help string
}

func (e *usageError) Unwrap() error { return e.error }

// signalError is the error of a run that a signal ended.
type signalError struct {
	signal syscall.Signal
	error
}

func (e *signalError) Unwrap() error { return e.error }

// answerError is the result of a check that did not pass.
type answerError struct {
	code int
	text string
}

func (e *answerError) Error() string { return e.text }

// codeError is an error with an exit code of its own.
type codeError struct {
	code int
	error
}

func (e *codeError) Unwrap() error { return e.error }

// exitCode is the code for an error.
func exitCode(err error) int {
	var usage *usageError
	var problems experiment.Problems
	var signal *signalError
	var answer *answerError
	var coded *codeError
	var params *plan.ParamsError
	var bounds *plan.BoundsError
	var arm *plan.ArmError
	var onNode *nodes.ExitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &signal):
		return exitSignal + int(signal.signal)
	case errors.Is(err, run.ErrUnequal): // the experiment compares what cannot be compared
		return exitUsage
	case errors.As(err, &usage), errors.As(err, &problems), errors.As(err, &params), errors.As(err, &bounds), errors.As(err, &arm):
		return exitUsage
	case errors.As(err, &answer):
		return answer.code
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &onNode):
		return onNode.Code
	case errors.Is(err, run.ErrLeft): // whatever the reason, the host could do it
		return exitError
	case errors.Is(err, hostlock.ErrHeld):
		return exitBusy
	case errors.Is(err, facts.ErrUnsupported), errors.Is(err, reserve.ErrShort), errors.Is(err, kube.ErrRefused):
		return exitUnsupported
	}
	return exitError
}

// fail prints an error and its hint, if any, in English, and returns the exit code.
func (c *console) fail(err error) int {
	if err == nil {
		return exitOK
	}
	if err.Error() == "" { // the answer was printed on standard output
		return exitCode(err)
	}
	if several := (refusals)(nil); errors.As(err, &several) && several.Error() == err.Error() && !c.events {
		for _, one := range several {
			c.fail(one)
		}
		return exitCode(err)
	}
	remedy, text := hint.Of(err), withoutPasswords(c.given.placed(message(err)))
	var usage *usageError
	if remedy == "" && errors.As(err, &usage) && usage.help != "" {
		remedy = usage.help
	}
	text, remedy = hint.WithPages(text), hint.WithPages(remedy)
	if c.events {
		writeEvent(c.stderr, errorEvent{"error", export.Clean(text), export.Clean(remedy), exitCode(err)})
		return exitCode(err)
	}
	fmt.Fprintln(c.stderr, c.tint(c.stderr, red, cmp.Or(c.name, ownName)+":"), indented(c.renamed.text(text)))
	if remedy != "" {
		fmt.Fprintln(c.stderr, c.tint(c.stderr, bold, "hint:"), indented(c.renamed.text(remedy)))
	}
	return exitCode(err)
}

// longestError bounds an error on the terminal: it may quote a file of others.
const longestError = 16 << 10 // bytes

// indented removes escape sequences from a text and indents its further lines: a name with a line
// end cannot imitate a line of tare's.
func indented(text string) string {
	if len(text) > longestError {
		text = text[:longestError] + "…"
	}
	return strings.ReplaceAll(export.Terminal(strings.ReplaceAll(text, "\t", " ")), "\n", "\n  ")
}

// message is the text of an error; several problems have a line each.
func message(err error) string {
	text := strings.TrimRight(err.Error(), "\n")
	lines := strings.Split(text, "\n")
	var problems experiment.Problems
	if len(lines) == 1 || !errors.As(err, &problems) {
		return text
	}
	return fmt.Sprintf("the experiment has %d problems\n%s", len(problems), strings.Join(lines, "\n"))
}
