package sqlfile

// Reasons why a statement is refused, and remedies.
const (
	startsPrograms = "a command of a client, which could start a program or read a file"
	readsFiles     = "it reads or writes files of the server, or starts a program"
	changesUsers   = "it changes users or rights"
	setsServer     = "it changes the whole server"
	makesDatabase  = "it names a database, and tare has one of its own"
	endsServer     = "it ends the server or a connection"
	loadsCode      = "it loads code or reaches other servers or directories"
	changesQuotes  = "it changes which characters end a string, and the statements behind it could not be checked"

	noIf       = `no \if is open`
	openIf     = `\if without \endif`
	behindElse = `\else must be the last branch`
	notSet     = `no \set %s before it`
	wantBranch = `%q: want \if :NAME <= NUMBER, \elif :NAME <= NUMBER, \else or \endif`
	otherForms = "other expressions of pgbench are not for sysbench"

	zeroByte      = "a zero byte, which no SQL has"
	hiddenEnd     = "the end of a comment within a string or another comment: some servers would run the rest"
	twoStatements = "several statements before one delimiter"
	markedScript  = "the file begins with a byte order mark, which pgbench would send to the server"

	noPrivileges = "pg_dump --no-owner --no-privileges; or remove the line"
	noGlobals    = "mysqldump --set-gtid-purged=OFF; or remove the line"
	oneDatabase  = "mysqldump DATABASE without --databases, pg_dump without --create; or remove the line"
	noExtensions = "pg_dump --exclude-extension, or a dump of the tables alone; or remove the line"
	asInserts    = "dump the rows into the file: mysqldump without --tab, COPY ... FROM stdin"
	removeIt     = "remove the line"
	correctIt    = "correct the line"
	asUTF8       = "iconv -f UTF-16 -t UTF-8 FILE, or name a file of SQL"
	dumpAgain    = "make the dump again, or complete the file"
	smaller      = "mysqldump --net-buffer-length=1M, or smaller values"
	asTools      = "write the delimiter behind each statement"
	unmark       = "sed -i '1s/^\\xef\\xbb\\xbf//' FILE"
	nameRegular  = "name a regular file that this user can read"
	addOne       = "name a file with statements, each ended by ;"
)
