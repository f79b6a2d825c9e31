// Package journal keeps the records of one piece of work in a file that survives a kill and a power cut at any instant.
//
// Each line is the CRC32C of its JSON in eight hex digits, a space, the JSON. The first line says the format and the machine, the second is the first
// record; both are there from the beginning, because the file is made under another name. What an Append that returned has written is on the disk;
// of one that did not return, the last line may be missing or torn, and is cut off.
package journal
