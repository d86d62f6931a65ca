// Package foreign asks servers that are not tare's own. Their answers are not trusted: a child process with a bound of
// memory and CPU time has the connection, so a driver that panics or allocates without end ends the child alone. All
// connections of a child together read at most maxBytes, in at most maxTime. A password goes out only over TLS, to
// loopback or to a Unix socket.
//
// It may import the databases. To add a form of TLS: TLS.config.
package foreign
