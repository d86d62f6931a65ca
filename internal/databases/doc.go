// Package databases is the list of the databases that tare can run, and the folder of database
// servers.
//
//	db       the contract: programs, versions, settings, recipe, protocol
//	mysql, postgres, clickhouse, redis
//	         one database each
//	serve    finds, fills, starts, queries and stops a server by its recipe
//	dataset  the cache of prepared data sets
//
// It may import logs (options of the tools that fill a server), wire/hidden, linux, undo/trust,
// undo/journal/steps, base and record. It must not know loads or environments.
//
// To add a database: one folder with a db.Service and one line in All. A new tool that fills servers
// needs a file in serve (fill_*.go) and a case in fill.go.
package databases
