// Package databases is the list of the databases that tare can run, and the folder of the servers
// under a load.
//
//	db       the contract of a recipe: configuration, readiness, read-back
//	mysql, postgres, clickhouse, redis
//	         the recipes; none has SQL forced on it
//	serve    starts a server from its recipe and fills it
//	dataset  prepared data sets: cache, ownership, copies
//
// It may import logs, wire, linux, base, undo/trust and record.
//
// To add: a database is one folder with a recipe and one line in All.
package databases
