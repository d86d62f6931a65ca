package report

import (
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/quantity"
	catalogue "github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Calibration is the answer of tare calibrate.
func Calibration(a *record.Calibration) Document {
	d := Document{title: msg("calibration.title", "host", a.Host.Name, "time", quantity.Duration(a.Seconds), "blocks", number("count.blocks", a.Blocks))}
	t := table{columns: []column{{head: text("head.metric"), flex: 10}, {head: text("calibration.how")}, {head: text("calibration.planted"), align: right},
		{head: text("calibration.measured"), align: interval}, {head: text("head.verdict"), flex: 12}}}
	for _, l := range a.Losses {
		m, _ := catalogue.Find(nil, l.Metric)
		t.rows = append(t.rows, row{{m.Label, plain}, {howPlanted(l.How), plain}, {quantity.Size(l.Planted), plain}, {measuredLoss(l), plain}, judgedLoss(l)})
	}
	says := block{notes: []sentence{
		msg("calibration.covered", "n", a.Covered.Count, "of", a.Covered.Of),
		msg("calibration.found", "n", a.FalsePositives.Count, "of", a.FalsePositives.Of),
	}}
	if s := Smallest(a.Smallest); s != "" {
		says.notes = append(says.notes, msg("calibration.smallest", "losses", s))
	}
	for _, l := range a.Left {
		says.notes = append(says.notes, msg("calibration.left", "arm", l.Arm, "reason", l.Reason))
	}
	d.add(section{blocks: []block{{tables: []table{t}}, says}})
	return d
}

// howPlanted is the word for how a loss was planted; one that is not known stays as it is.
func howPlanted(how string) string {
	switch how {
	case "none":
		return text("calibration.how.none")
	case "pauses":
		return text("calibration.how.pauses")
	case "work":
		return text("calibration.how.work")
	case "quota":
		return text("calibration.how.quota")
	}
	return how
}

func measuredLoss(l record.PlantedLoss) string {
	if l.Measured == nil {
		return none
	}
	decimals := func(x float64) string { return strconv.FormatFloat(100*x, 'f', 2, 64) }
	return decimals(l.Measured.Cost) + " % [" + decimals(l.Measured.Low) + ", " + decimals(l.Measured.High) + "]"
}

// judgedLoss says whether an interval covers the planted loss.
func judgedLoss(l record.PlantedLoss) cell {
	switch {
	case l.Measured == nil:
		return cell{l.Reason, unsure}
	case l.Planted == 0 && l.Found:
		return cell{text("calibration.false"), bad}
	case !l.Covered:
		return cell{text("calibration.missed"), bad}
	case l.Planted != 0 && !l.Found:
		return cell{text("calibration.small"), unsure}
	}
	return cell{text("calibration.right"), good}
}

// Calibrated says what a host showed of losses of known size; kernel is the one that
// it runs now.
func Calibrated(c *record.Calibrated, kernel string) string {
	pairs := []any{"day", c.Started.UTC().Format("2006-01-02"), "covered", c.Covered.Count, "of", c.Covered.Of,
		"found", c.FalsePositives.Count, "equal", c.FalsePositives.Of, "smallest", Smallest(c.Smallest), "kernel", c.Kernel}
	if c.Kernel != kernel {
		return text("calibrated.then", pairs...)
	}
	return text("calibrated", pairs...)
}

// Smallest is the smallest loss that shows in which time: "1.2 % in 1 min, 0.7 % in
// 3 min".
func Smallest(all []record.SmallestLoss) string {
	var parts []string
	for _, s := range all {
		loss := strconv.FormatFloat(100*s.Loss, 'g', 2, 64) + " %"
		parts = append(parts, text("calibrated.loss", "loss", loss, "time", quantity.Duration(s.Seconds)))
	}
	return strings.Join(parts, ", ")
}
