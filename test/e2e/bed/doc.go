// Package bed is what end-to-end tests of the product stand on: a real cluster of the testbed, the programs built from this source, Releases that were made
// as a person makes them and a server that has their files, and looks at hosts and objects that tell whether all is as it should be.
package bed
