// Package sqlfile reads SQL that the user gives: logical dumps of mysqldump and pg_dump, and files of
// statements. It splits the text into statements with their lines, and refuses those that start programs,
// read or write files, change users or settings of the whole server, or are commands of a client. tare sends
// the statements itself, as the load's user, who may do none of that: the server refuses what this package
// does not recognise. It must not connect to anything.
package sqlfile
