package cli

// Words about the user's own database.
const (
	optionFileNames    = "*.cnf or my.ini, postgresql*.conf, redis*.conf or valkey*.conf, *.xml"
	serverAndFileNames = "a server program (mariadbd, mysqld, postgres, redis-server, clickhouse-server), its directory, or an option file: " + optionFileNames
	unpackIt           = "dpkg -x FILE.deb DIR for each package of the server and of its client's core, tar -xf FILE -C DIR, or docker cp CONTAINER:/usr DIR/usr; then name DIR"
)

// likeForms are the forms of the address of a running server.
const likeForms = "mysql://USER@HOST:PORT, postgres://USER@HOST:PORT, redis://HOST:PORT or clickhouse://HOST:PORT"
