package calibrate

// Sentences of the calibration for users.
const (
	title    = "what this host shows of losses whose size is known"
	noFigure = "no window of it counts"
)
