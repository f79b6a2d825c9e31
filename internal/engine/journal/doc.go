// Package journal keeps the records of one upgrade of a host in a file that survives a kill and a
// power failure at any moment.
//
// Each line is the CRC32C of its JSON in eight hex digits, a space, and the JSON. The first line
// has the format and the machine, the second is the first record; both exist from the start,
// because the file is created under another name. A record is on disk when Append returns. If
// Append did not return, the last line may be missing or incomplete, and Open removes it.
package journal
