package cli

// Words about the user's own database.
const (
	optionFileNames    = "*.cnf or my.ini, postgresql*.conf, redis*.conf or valkey*.conf, *.xml"
	serverAndFileNames = "a server program (mariadbd, mysqld, postgres, redis-server, clickhouse-server), its directory, or an option file: " + optionFileNames
	unpackIt           = "name a server program, its directory or an option file; of a package: dpkg -x FILE DIR, of an image: docker cp, then name DIR"
)

// likeForms are the forms of the address of a running server.
const likeForms = "mysql://USER@HOST:PORT, postgres://USER@HOST:PORT, redis://HOST:PORT or clickhouse://HOST:PORT"
