package session

// readElsewhere is why a probe has no value on a node where tare is not.
const readElsewhere = "it is read where the load is"
