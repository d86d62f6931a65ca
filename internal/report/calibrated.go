package report

import (
	"strconv"

	"github.com/tarelab/tare/internal/base/quantity"
	catalogue "github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Calibration is the answer of tare calibrate.
func (in Language) Calibration(a *record.Calibration) Document {
	d := Document{in: in, title: in.msg("calibration.title", "host", a.Host.Name, "time", quantity.Duration(a.Seconds), "blocks", in.number("count.blocks", a.Blocks))}
	t := table{columns: []column{{head: in.text("head.metric"), flex: 10}, {head: in.text("calibration.how")}, {head: in.text("calibration.planted"), align: right},
		{head: in.text("calibration.measured"), align: interval}, {head: in.text("head.verdict"), flex: 12}}}
	for _, l := range a.Losses {
		m, _ := catalogue.Find(nil, l.Metric)
		t.rows = append(t.rows, row{cell{in.metricLabel(m), plain}, cell{in.howPlanted(l.How), plain}, cell{quantity.Size(l.Planted), plain}, measuredLoss(l), in.judgedLoss(l)})
	}
	says := block{notes: []sentence{
		in.msg("calibration.covered", "n", a.Covered.Count, "of", a.Covered.Of),
		in.msg("calibration.found", "n", a.FalsePositives.Count, "of", a.FalsePositives.Of),
	}}
	if s := in.Smallest(a.Smallest); s != "" {
		says.notes = append(says.notes, in.msg("calibration.smallest", "losses", s))
	}
	for _, l := range a.Left {
		says.notes = append(says.notes, in.msg("calibration.left", "arm", l.Arm, "reason", in.said(l.Reason)))
	}
	d.add(section{blocks: []block{{tables: []table{t}}, says}})
	return d
}

// howPlanted is the word for how a loss was planted; one that is not known stays as it is.
func (in Language) howPlanted(how string) string {
	switch how {
	case "none":
		return in.text("calibration.how.none")
	case "pauses":
		return in.text("calibration.how.pauses")
	case "work":
		return in.text("calibration.how.work")
	case "quota":
		return in.text("calibration.how.quota")
	}
	return how
}

func measuredLoss(l record.PlantedLoss) figure {
	if l.Measured == nil {
		return cell{none, plain}.figure()
	}
	decimals := func(x float64) string { return strconv.FormatFloat(100*x, 'f', 2, 64) }
	return figure{cell{decimals(l.Measured.Cost) + " %", plain}, "[" + decimals(l.Measured.Low) + ", " + decimals(l.Measured.High) + "]", ""}
}

// judgedLoss says whether an interval covers the planted loss.
func (in Language) judgedLoss(l record.PlantedLoss) cell {
	switch {
	case l.Measured == nil:
		return cell{in.said(l.Reason), unsure}
	case l.Planted == 0 && l.Found:
		return cell{in.text("calibration.false"), bad}
	case !l.Covered:
		return cell{in.text("calibration.missed"), bad}
	case l.Planted != 0 && !l.Found:
		return cell{in.text("calibration.small"), unsure}
	}
	return cell{in.text("calibration.right"), good}
}

// Calibrated says what a host showed of losses of known size; kernel is the one that
// it runs now.
func (in Language) Calibrated(c *record.Calibrated, kernel string) string {
	pairs := []any{"day", c.Started.UTC().Format("2006-01-02"), "covered", c.Covered.Count, "of", c.Covered.Of,
		"found", c.FalsePositives.Count, "equal", c.FalsePositives.Of, "smallest", in.Smallest(c.Smallest), "kernel", c.Kernel}
	if c.Kernel != kernel {
		return in.text("calibrated.then", pairs...)
	}
	return in.text("calibrated", pairs...)
}

// Smallest is the smallest loss that shows in which time: "1.2 % in 1 min, 0.7 % in
// 3 min".
func (in Language) Smallest(all []record.SmallestLoss) string {
	var parts []string
	for _, s := range all {
		loss := strconv.FormatFloat(100*s.Loss, 'g', 2, 64) + " %"
		parts = append(parts, in.text("calibrated.loss", "loss", loss, "time", quantity.Duration(s.Seconds)))
	}
	return in.commas(parts...)
}
