package calibrate

// title is that of the calibration for users.
const title = "what this host shows of losses whose size is known"
